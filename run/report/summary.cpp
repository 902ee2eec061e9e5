// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is said at the end of a run.
#include <algorithm>
#include <string_view>
#include <vector>

#include "run/account/conditions.hpp"
#include "run/account/verdict.hpp"
#include "run/report/report.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

/// ", rendition 1", or nothing.
std::string where(int rendition) {
    return rendition != 0 ? formatted(", rendition %d", rendition) : "";
}

// ---- counts

/// Every frame that counts has a reference frame of its own, and every reference frame was one.
bool is_exact(const qcr_report& report) {
    const qcr_counts& counts = report.counts[0];
    const bool reads_to_the_end = report.only_left_counts != 0 || report.reference_ended != 0;
    return qcr_unscored(&counts) == counts.disabled && report.failed[0] == 0 && counts.repeated == 0 &&
           counts.unused == 0 && reads_to_the_end && report.late_scores == 0;
}

void say_pairing(const qcr_report& report, const qcr_sink& sink) {
    const qcr_counts& counts = report.counts[0];
    const bool goes_on = report.end == QCR_END_OF_STREAM && report.reference_ended == 0;
    say(sink, is_exact(report) || report.is_alias != 0 ? QCR_LEVEL_INFO : QCR_LEVEL_WARNING,
        formatted("frames:%lld scored:%lld unscored:%lld (before the reference:%lld after it:%lld in gaps:%lld "
                  "disabled:%lld without time stamp:%lld) reference frames repeated:%lld unused:%lld%s max |dt|:",
                  wide(counts.frames), wide(report.scored[0]), wide(qcr_unscored(&counts) + report.failed[0]),
                  wide(counts.before), wide(counts.after), wide(counts.gaps), wide(counts.disabled),
                  wide(counts.untimed), wide(counts.repeated), wide(counts.unused),
                  goes_on ? " and more that were not read" : "") +
            score_text(counts.max_abs_dt) + " mean dt:" + score_text(qcr_mean_dt(&counts)));
}

void say_rendition(const qcr_report& report, int rendition, const qcr_sink& sink) {
    const qcr_counts& counts = report.counts[rendition];
    const int64_t missing = qcr_rendition_missing(&counts);
    const bool exact = missing == 0 && counts.repeated == 0 && counts.unused == 0;
    say(sink, exact ? QCR_LEVEL_INFO : QCR_LEVEL_WARNING,
        formatted("rendition %d: frames:%lld scored:%lld without its frame:%lld (not begun:%lld in gaps:%lld "
                  "ended:%lld) its frames repeated:%lld unused:%lld max |dt|:",
                  rendition, wide(counts.frames), wide(report.scored[rendition]), wide(missing), wide(counts.late),
                  wide(counts.holes), wide(counts.ended), wide(counts.repeated), wide(counts.unused)) +
            score_text(counts.max_abs_dt) + (missing != 0 ? "; its scores are of those frames only" : ""));
}

// ---- scores

void append_pooled(const qcr_report& report, int rendition, int feature, qc_pool pool, std::string* line) {
    if (const auto value = pooled(report.session, rendition, feature, pool))
        *line += std::string(" ") + qc_pool_name(pool) + ":" + score_text(*value);
}

/// Features that only feed the default model would drown its score: they are shown to who asks for more.
void say_feature(const qcr_report& report, int rendition, int feature, const qcr_sink& sink) {
    static constexpr qc_pool kPools[] = {QC_POOL_MEAN, QC_POOL_HARMONIC_MEAN, QC_POOL_MIN, QC_POOL_MAX, QC_POOL_P5};
    const bool is_shown = is_asked_for(report, feature) && report.is_alias == 0;
    std::string line;
    for (const qc_pool pool : kPools) append_pooled(report, rendition, feature, pool, &line);
    if (std::find(std::begin(kPools), std::end(kPools), report.pool) == std::end(kPools))
        append_pooled(report, rendition, feature, report.pool, &line);
    if (line.empty()) line = " no value, or not in every scored frame;";
    say(sink, is_shown ? QCR_LEVEL_INFO : QCR_LEVEL_VERBOSE,
        "quality_cuda " + score_name(report.session, rendition, feature) + line +
            formatted(" frames:%lld scored:%lld", wide(report.counts[rendition].frames),
                      wide(report.scored[rendition])));
}

/// Of metrics that have one score for a whole video.
void say_stream_scores(const qcr_report& report, int rendition, const qcr_sink& sink) {
    const char* title = "";
    double value = 0;
    for (int i = 0;; ++i) {
        const qc_status status = qc_session_stream_score(report.session, rendition, i, &title, &value);
        if (status != QC_OK && status != QC_AGAIN) return;
        if (status == QC_OK) say(sink, QCR_LEVEL_INFO, title + where(rendition) + ": " + score_text(value));
    }
}

/// The members of a bootstrap collection and their spread are called after it: outputs of a model, but no scores of a
/// video.
bool is_part_of(std::string_view key, std::string_view collection) {
    static constexpr std::string_view kSpreads[] = {"_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi"};
    constexpr size_t kMemberDigits = 4;
    if (!key.starts_with(collection)) return false;
    const std::string_view tail = key.substr(collection.size());
    if (std::find(std::begin(kSpreads), std::end(kSpreads), tail) != std::end(kSpreads)) return true;
    return tail.size() == 1 + kMemberDigits && tail.front() == '_' &&
           tail.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

/// Models themselves, by their index.
std::vector<int> models_of(const qcr_report& report) {
    std::vector<int> models;
    std::string key;
    for (int f = 0; f < feature_count(report); ++f) {
        qc_feature feature;
        if (qc_session_feature(report.session, f, &feature) != QC_OK || feature.is_model == 0 ||
            (!models.empty() && is_part_of(feature.key, key)))
            continue;
        key = feature.key;
        models.push_back(f);
    }
    return models;
}

void say_model(const qcr_report& report, int rendition, int model, bool is_last_word, const qcr_sink& sink) {
    const auto value = pooled(report.session, rendition, model, report.pool);
    qc_feature feature;
    if (!value || qc_session_feature(report.session, model, &feature) != QC_OK) return;
    const std::string what = is_last_word || report.is_alias != 0
                                 ? "VMAF score"
                                 : std::string("score of ") + feature.name + where(rendition);
    say(sink, QCR_LEVEL_INFO, what + ": " + score_text(*value));
}

/// Programs look for one line with the score of the first model, or take the last one: the others read differently.
void say_models(const qcr_report& report, const qcr_sink& sink) {
    const std::vector<int> models = models_of(report);
    const bool ends_with_first = report.is_alias == 0 && !models.empty(); // libvmaf's filter keeps their order
    for (int k = 0; k < report.renditions; ++k)
        for (const int model : models)
            if (input_of(report, k).is_refused == 0 && !(ends_with_first && k == 0 && model == models.front()))
                say_model(report, k, model, false, sink);
    say_ladder(report, sink);
    if (ends_with_first) say_model(report, 0, models.front(), true, sink);
}

void say_scores(const qcr_report& report, const qcr_sink& sink) {
    for (int k = 0; k < report.renditions; ++k)
        for (int f = 0; f < feature_count(report) && input_of(report, k).is_refused == 0; ++f)
            say_feature(report, k, f, sink);
    for (int k = 0; k < report.renditions; ++k)
        if (input_of(report, k).is_refused == 0) say_stream_scores(report, k, sink);
    say_models(report, sink);
}

// ---- all

void say_what_lacks_scores(const qcr_report& report, const qcr_sink& sink) {
    if (report.failed[0] != 0)
        say(sink, QCR_LEVEL_WARNING,
            formatted("frames without scores because scoring failed:%lld (%s)", wide(report.failed[0]),
                      report.has_failed != 0 ? report.reason : report.gpu_failure));
    if (report.counts[0].passed != 0)
        say(sink, QCR_LEVEL_WARNING,
            formatted("frames without scores because scoring was slower than the stream:%lld",
                      wide(report.counts[0].passed)));
}

/// @return whether there may be scores
bool say_end(const qcr_report& report, const qcr_sink& sink) {
    const std::string incomplete = formatted("INCOMPLETE after %lld frames", wide(report.scored[0]));
    if (report.end == QCR_END_BY_FAILURE) {
        say_ladder(report, sink);
        say(sink, QCR_LEVEL_WARNING, incomplete);
        return false;
    }
    if (report.end == QCR_END_BY_SIGNAL || report.end == QCR_END_TAKEN_DOWN)
        say(sink, QCR_LEVEL_WARNING,
            incomplete + ": " + (report.end == QCR_END_BY_SIGNAL ? report.signal : kTakenDown));
    else if (report.end != QCR_END_OF_STREAM)
        say(sink, QCR_LEVEL_INFO, "stopped before the inputs ended; the scores are those of the frames up to there");
    return true;
}

void say_counts(const qcr_report& report, const qcr_sink& sink) {
    say_pairing(report, sink);
    say_what_lacks_scores(report, sink);
    for (int k = 1; k < report.renditions; ++k) say_rendition(report, k, sink);
    say_conditions(*report.alignment_rules.names, report.counts, report.is_alias != 0, sink);
}

void say_summary(const qcr_report& report, const qcr_sink& sink) {
    say_counts(report, sink);
    if (!say_end(report, sink)) return;
    if (report.counts[0].paired != 0) return say_scores(report, sink);
    say_ladder(report, sink);
    say(sink, report.is_alias != 0 ? QCR_LEVEL_ERROR : QCR_LEVEL_WARNING, "no frame was scored");
}

/// A score of 0 is mostly that of other pictures. Where it was found which, that has been said.
void doubt_zero(const qcr_report& report, int rendition, const qcr_sink& sink) {
    constexpr double kZero = 0.005; // as it is shown
    const bool is_explained = report.alignment != nullptr && report.alignment->said[rendition] != 0;
    if (report.is_alias != 0 || is_explained || input_of(report, rendition).is_refused != 0) return;
    for (const int model : models_of(report)) {
        const auto value = pooled(report.session, rendition, model, report.pool);
        qc_feature feature;
        if (!value || !(*value < kZero) || qc_session_feature(report.session, model, &feature) != QC_OK) continue;
        say(sink, QCR_LEVEL_WARNING,
            std::string(feature.name) + where(rendition) +
                " is 0, which pictures have that have next to nothing in common: look at both inputs, at their order "
                "and at "
                "where they begin, before you take it for the worst of encodes");
        return;
    }
}

} // namespace

void doubt_zeros(const qcr_report& report, const qcr_sink& sink) {
    for (int k = 0; k < report.renditions; ++k) doubt_zero(report, k, sink);
}

std::vector<std::string> warnings_of_counts(const qcr_report& report) {
    std::vector<std::string> warnings;
    const auto keep = [](void* opaque, qcr_level level, const char* text) {
        if (level == QCR_LEVEL_WARNING) static_cast<std::vector<std::string>*>(opaque)->emplace_back(text);
    };
    if (report.end != QCR_END_NONE) say_counts(report, {keep, &warnings});
    return warnings;
}

} // namespace qc::run

void qcr_report_pairs(qcr_report* report, const qcr_pairs* pairs, const qcr_tally* tally) {
    const qcr_input reference = qcr_pairs_input(pairs, QCR_REFERENCE);
    report->max_dt = qcr_pairs_tolerance(pairs);
    report->reference_ended = reference.ended;
    report->behind = reference.behind;
    report->late_scores = tally->late_scores;
    report->scored = tally->scored;
    report->failed = tally->failed;
}

qc_status qcr_say_summary(const qcr_report* report, const qcr_sink* sink) {
    return qc::run::guarded([&] { qc::run::say_summary(*report, *sink); });
}
