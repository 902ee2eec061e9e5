// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/account/conditions.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "run/account/interlaced.hpp"
#include "run/account/names.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace {

constexpr int kUnspecified = 2; ///< matrix, primaries and transfer that are not known
constexpr int kTimeDecimals = 3;

/// A pair with frames that a decoder calls damaged.
struct CorruptPair {
    int64_t row = 0;
    uint32_t inputs = 0; ///< bit i: that of input i is
};

struct Colours {
    bool is_checked = false, has_warned = false;
    qc_colour latest{};
    int64_t changes = 0;
};

} // namespace

struct qcr_conditions {
    qcr_condition_rules rules{};
    std::vector<CorruptPair> corrupt; ///< in order
    bool warned_corrupt = false, warned_hdr = false;
    qc::run::Fields fields[QCR_MAX_VIDEOS];
    double interlaced_since[QCR_MAX_VIDEOS] = {}; ///< seconds, where it is
    uint32_t told_interlaced = 0;                 ///< bit i: it was said of input i
    Colours colours[QCR_MAX_VIDEOS];

    std::string name(int input) const { return qc::run::input_name(*rules.names, input); }
    qcr_level level() const { return rules.is_quiet != 0 ? QCR_LEVEL_VERBOSE : QCR_LEVEL_WARNING; }
    void warn(const std::string& text) const { qc::run::say(rules.sink, level(), text); }
    /// Of what is warned of under libvmaf's name, too.
    void warn_anyway(const std::string& text) const { qc::run::say(rules.sink, QCR_LEVEL_WARNING, text); }
};

namespace qc::run {

namespace {

std::string seconds(double time) {
    return number(time, kTimeDecimals);
}

// ---- colours

const char* or_unknown(const char* name) {
    return name != nullptr ? name : "unknown";
}

std::string tags_of(const qcr_frame_facts& facts) {
    return formatted("range %s, matrix %s", or_unknown(range_name(facts.range)), or_unknown(matrix_name(facts.matrix)));
}

bool same_colour(const qc_colour& a, const qc_colour& b) {
    return a.matrix == b.matrix && a.range == b.range && a.primaries == b.primaries && a.transfer == b.transfer &&
           a.chroma_location == b.chroma_location;
}

bool ranges_differ(const qcr_frame_facts& a, const qcr_frame_facts& b) {
    return a.range != 0 && b.range != 0 && a.range != b.range;
}

bool is_rgb(const qcr_frame_facts& facts) {
    constexpr int kNoMatrix = 0;
    return facts.matrix == kNoMatrix;
}

/// @param with_rgb RGB may stand beside what is not; @param with_ranges so may ranges that differ
bool colours_differ(const qcr_frame_facts& a, const qcr_frame_facts& b, bool with_rgb, bool with_ranges) {
    if (with_rgb && is_rgb(a) != is_rgb(b)) return false;
    return (!with_ranges && ranges_differ(a, b)) ||
           (a.matrix != kUnspecified && b.matrix != kUnspecified && a.matrix != b.matrix);
}

// ---- HDR

/// @param model "version=NAME:...", a bare name or path, or "path=FILE:..."
bool is_built_in(std::string_view model) {
    const std::string_view name = model.substr(0, model.find(':'));
    if (model.find("version=") != std::string_view::npos || name == "auto") return true;
    for (int i = 0; const char* known = qc_model_name(i); ++i)
        if (name == known) return true;
    return false;
}

/// @param models with bars between them
bool has_built_in_model(std::string_view models) {
    bool found = models.empty();
    while (!found && !models.empty()) {
        const size_t bar = models.find('|');
        found = is_built_in(models.substr(0, bar));
        models.remove_prefix(bar == std::string_view::npos ? models.size() : bar + 1);
    }
    return found;
}

const char* first_model(const qc_session* session) {
    qc_feature feature;
    for (int f = 0; f < qc_session_feature_count(session); ++f)
        if (qc_session_feature(session, f, &feature) == QC_OK && feature.is_model != 0) return feature.name;
    return nullptr;
}

// ---- frames

void warn_of_corrupt(qcr_conditions* conditions, int input, const qcr_frame_facts& facts) {
    if (std::exchange(conditions->warned_corrupt, true)) return;
    conditions->warn(conditions->name(input) + " has damaged frames, the first one at " + seconds(facts.time) + " s" +
                     (facts.is_concealed != 0 ? " (concealed)" : "") +
                     ": scores tell what the decoder made of it; they carry lavfi.quality_cuda.*corrupt, mend the "
                     "stream or leave them out");
}

void note_interlaced(qcr_conditions* conditions, int input, const qcr_frame_facts& facts) {
    if (std::exchange(conditions->fields[input].is_interlaced, true)) return;
    conditions->interlaced_since[input] = facts.time;
}

/// Says of all inputs at once which are interlaced, and again if more of them turn out to be. @param is_over no frame
/// follows, so that nothing is waited for
void warn_of_interlaced(qcr_conditions* conditions, bool is_over) {
    const qcr_names& names = *conditions->rules.names;
    const std::span<const Fields> inputs(conditions->fields, static_cast<size_t>(names.inputs));
    uint32_t interlaced = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].is_interlaced) interlaced |= uint32_t{1} << i;
        if (inputs[i].rate <= 0 && !is_over) return;
    }
    const uint32_t news = interlaced & ~conditions->told_interlaced;
    if (news == 0) return;
    const int first = std::countr_zero(news);
    std::string others;
    for (int i = first + 1; i < names.inputs; ++i)
        if ((news >> i & 1) != 0) others += std::string(others.empty() ? ", so has " : ", ") + names.role[i];
    const bool is_more = std::exchange(conditions->told_interlaced, interlaced) != 0;
    conditions->warn(conditions->name(first) + " has interlaced frames" + (is_more ? " too" : "") +
                     ", the first one at " + seconds(conditions->interlaced_since[first]) + " s" + others +
                     ": scores are made for progressive ones; " + deinterlacing_advice(names, inputs));
}

void add_to_side(qcr_conditions* conditions, int input, const qcr_frame_facts& facts, qcr_side* side) {
    side->corrupt += facts.is_corrupt;
    side->interlaced += facts.is_interlaced;
    side->with_grain += facts.has_grain;
    if (facts.is_corrupt != 0) warn_of_corrupt(conditions, input, facts);
    if (facts.is_interlaced != 0) note_interlaced(conditions, input, facts);
}

/// What was met in an input so far is part of what counts up to this frame.
void carry_counts(const qcr_conditions& conditions, int input, const qcr_frame_facts& facts, qcr_side* side) {
    side->colour_changes = conditions.colours[input].changes;
    side->jumps = facts.jumps;
}

uint32_t corrupt_inputs(const qcr_conditions& conditions, const qcr_frame_facts* facts, bool is_pair) {
    uint32_t inputs = 0;
    for (int i = 0; i < (is_pair ? conditions.rules.names->inputs : 1); ++i)
        if (facts[i].held != 0 && facts[i].is_corrupt != 0) inputs |= uint32_t{1} << i;
    return inputs;
}

void note_frames(qcr_conditions* conditions, const qcr_frame_facts* facts, int64_t row, qcr_counts* counts) {
    const qcr_frame_facts& reference = facts[QCR_REFERENCE];
    for (int k = 0; k < conditions->rules.names->inputs - 1; ++k) {
        const int input = qcr_input_of(k);
        carry_counts(*conditions, input, facts[input], &counts[k].own);
        carry_counts(*conditions, QCR_REFERENCE, reference, &counts[k].reference);
        if (row < 0 || facts[input].held == 0) continue;
        add_to_side(conditions, input, facts[input], &counts[k].own);
        add_to_side(conditions, QCR_REFERENCE, reference, &counts[k].reference);
    }
    for (int i = 0; i < conditions->rules.names->inputs; ++i) conditions->fields[i].rate = facts[i].rate;
    warn_of_interlaced(conditions, false);
}

const qcr_side& side_of(const qcr_counts* counts, int input) {
    if (input == QCR_REFERENCE) return counts[0].reference;
    return counts[input == 0 ? 0 : input - 1].own;
}

} // namespace

// ---- what is told

std::string stream_json(const qc_colour& colour, const qcr_side& side) {
    const auto name = [](const char* key, int code, const char* text) {
        return formatted("\"%s\": ", key) + (code != 0 && text != nullptr ? json_string(text) : "null") + ", ";
    };
    return "{" + name("range", colour.range, range_name(colour.range)) +
           name("matrix", colour.matrix, matrix_name(colour.matrix)) +
           name("primaries", colour.primaries, primaries_name(colour.primaries)) +
           name("transfer", colour.transfer, transfer_name(colour.transfer)) +
           name("hdr", colour.transfer, hdr_name(colour.transfer)) +
           formatted("\"corrupt_frames\": %lld, \"interlaced_frames\": %lld, \"film_grain_frames\": %lld, "
                     "\"colour_changes\": %lld, "
                     "\"timestamp_jumps\": %lld}",
                     wide(side.corrupt), wide(side.interlaced), wide(side.with_grain), wide(side.colour_changes),
                     wide(side.jumps));
}

std::string corrupt_json(const qcr_conditions* conditions, int rendition, int n_subsample, int64_t paired) {
    const uint32_t sides = uint32_t{1} << QCR_REFERENCE | uint32_t{1} << qcr_input_of(rendition);
    std::string text = "[";
    for (const CorruptPair& pair : conditions->corrupt)
        if ((pair.inputs & sides) != 0 && pair.row % n_subsample == 0 && pair.row < paired)
            text += (text.size() > 1 ? ", " : "") + std::to_string(pair.row);
    return text + "]";
}

void say_conditions(const qcr_names& names, const qcr_counts* counts, bool is_quiet, const qcr_sink& sink) {
    static constexpr struct {
        int64_t qcr_side::*count;
        const char* text;
        qcr_level level = QCR_LEVEL_WARNING;
    } kConditions[] = {
        {&qcr_side::corrupt, "damaged frames among the pairs, whose scores count like others:"},
        {&qcr_side::interlaced, "interlaced frames among the pairs:"},
        {&qcr_side::with_grain,
         "frames with parameters of film grain among the pairs, scored without the grain:", QCR_LEVEL_INFO},
        {&qcr_side::colour_changes, "changes of colour tags:"},
        {&qcr_side::jumps, "jumps of time stamps:"},
    };
    for (const auto& condition : kConditions) {
        std::string listed;
        for (int i = 0; i < names.inputs; ++i)
            if (const int64_t count = side_of(counts, i).*condition.count; count != 0)
                listed += formatted(" %s:%lld", names.role[i], wide(count));
        if (!listed.empty()) say(sink, is_quiet ? QCR_LEVEL_VERBOSE : condition.level, condition.text + listed);
    }
}

} // namespace qc::run

// ---- C interface

using namespace qc::run;

qcr_conditions* qcr_conditions_create(const qcr_condition_rules* rules) {
    auto* conditions = new (std::nothrow) qcr_conditions;
    if (conditions != nullptr) conditions->rules = *rules;
    return conditions;
}

void qcr_conditions_destroy(qcr_conditions* conditions) {
    delete conditions;
}

qc_status qcr_check_colour(qcr_conditions* conditions, int input, const qcr_frame_facts* own,
                           const qcr_frame_facts* distorted, qc_error* error) {
    const bool is_ignored = conditions->rules.range == QCR_RANGE_IGNORE;
    const bool is_error = conditions->rules.range == QCR_RANGE_ERROR, converts = conditions->rules.converts != 0;
    if (std::exchange(conditions->colours[input].is_checked, true) || is_ignored ||
        !colours_differ(*own, *distorted, converts, converts && !is_error))
        return QC_OK;
    const qc_status status = guarded([&] {
        const std::string text =
            conditions->name(input) + " is tagged " + tags_of(*own) + "; main " + tags_of(*distorted);
        if (is_error)
            std::snprintf(error->text, sizeof(error->text), "%s (range=error)", text.c_str());
        else
            conditions->warn_anyway(text + (converts
                                                ? "; matrices that differ are not converted: metrics that read colours "
                                                  "go by each input's, others score samples as they are"
                                                : "; samples are scored as they are"));
    });
    return status == QC_OK && is_error ? QC_ERROR_INVALID : status;
}

qc_colour qcr_colour_of(const qcr_frame_facts* facts) {
    const auto known = [](int code) { return code == kUnspecified ? 0 : code; };
    return {known(facts->matrix), facts->range, known(facts->primaries), known(facts->transfer),
            facts->chroma_location};
}

void qcr_adopt_colour(qcr_conditions* conditions, int input, const qc_colour* colour) {
    conditions->colours[input].latest = *colour;
}

int qcr_converts_range(const qcr_conditions* conditions, int rendition) {
    if (conditions == nullptr || conditions->rules.converts == 0) return 0;
    const int own = conditions->colours[qcr_input_of(rendition)].latest.range,
              reference = conditions->colours[QCR_REFERENCE].latest.range;
    return own != 0 && reference != 0 && own != reference ? 1 : 0;
}

void qcr_follow_colour(qcr_conditions* conditions, int input, const qcr_frame_facts* facts) {
    Colours& mine = conditions->colours[input];
    const qc_colour colour = qcr_colour_of(facts);
    if (same_colour(colour, mine.latest)) return;
    mine.latest = colour;
    ++mine.changes;
    if (conditions->rules.range == QCR_RANGE_IGNORE || std::exchange(mine.has_warned, true)) return;
    if_possible([&] {
        conditions->warn_anyway(conditions->name(input) + " changes its colour tags at " + seconds(facts->time) +
                                " s; those of the first pair go on being used: score parts of different colours "
                                "apart, e.g. with trim");
    });
}

void qcr_check_hdr(qcr_conditions* conditions, const qc_session* session, const char* models, const qc_colour* colour) {
    if_possible([&] {
        const char* model = first_model(session);
        if (model == nullptr || !has_built_in_model(models != nullptr ? models : "")) return;
        for (int i = 0; i < conditions->rules.names->inputs; ++i) {
            const char* hdr = hdr_name(colour[i].transfer);
            if (hdr == nullptr || std::exchange(conditions->warned_hdr, true)) continue;
            conditions->warn(conditions->name(i) + formatted(" is HDR (%s): models such as %s were made for SDR, and "
                                                             "what they score it is no viewer's opinion; map all "
                                                             "inputs to SDR before quality_cuda, e.g. with libplacebo "
                                                             "or zscale and tonemap, or use a model of your own, "
                                                             "model=path=FILE",
                                                             hdr, model));
        }
    });
}

qc_status qcr_note_frames(qcr_conditions* conditions, const qcr_frame_facts* facts, int64_t row, qcr_counts* counts,
                          uint32_t* corrupt) {
    *corrupt = corrupt_inputs(*conditions, facts, row >= 0);
    return guarded([&] {
        note_frames(conditions, facts, row, counts);
        if (row >= 0 && *corrupt != 0 && conditions->corrupt.size() < QCR_MOST_CORRUPT)
            conditions->corrupt.push_back({row, *corrupt});
    });
}

void qcr_conclude_conditions(qcr_conditions* conditions) {
    if_possible([&] { warn_of_interlaced(conditions, true); });
}

const char* qcr_corrupt_key(int input, char* key, size_t size) {
    if (input <= QCR_REFERENCE)
        std::snprintf(key, size, "%s", input != 0 ? "ref_corrupt" : "corrupt");
    else
        std::snprintf(key, size, "%d.corrupt", input - 1);
    return key;
}
