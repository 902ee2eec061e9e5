// SPDX-License-Identifier: BSD-2-Clause-Patent
// How each rendition fared: where there are several, all of them side by side, as a table for people and as JSON for
// programs.
#include <algorithm>
#include <string_view>
#include <vector>

#include "run/report/report.hpp"
#include "run/text/text.hpp"

namespace qc::run {

int feature_count(const qcr_report& report) {
    return report.session != nullptr ? qc_session_feature_count(report.session) : 0;
}

bool is_asked_for(const qcr_report& report, int feature) {
    qc_feature known;
    return report.shows_all_features != 0 ||
           (qc_session_feature(report.session, feature, &known) == QC_OK && known.is_model != 0);
}

const qcr_report_input& input_of(const qcr_report& report, int rendition) {
    return report.input[qcr_input_of(rendition)];
}

const char* role_of(const qcr_report& report, int rendition) {
    return report.alignment_rules.names->role[qcr_input_of(rendition)];
}

namespace {

constexpr size_t kLongestRow = 120; ///< characters of a row; further scores get rows of their own
constexpr size_t kGap = 2;          ///< blanks between two columns
constexpr size_t kLongestCell = 63;

// ---- how it ended

/// A program that is told to stop ends its inputs one after the other, which says nothing of any of them.
bool is_cut_off(const qcr_report& report, int rendition) {
    return report.end == QCR_END_BY_SIGNAL && input_of(report, rendition).is_cut_off != 0;
}

/// How the rendition ended, in a word or two; the worst that holds.
const char* fate_of(const qcr_report& report, int rendition) {
    const qcr_report_input& input = input_of(report, rendition);
    const qcr_counts& counts = report.counts[rendition];
    const int64_t behind_its_end = rendition != 0 ? counts.ended : lacking(report, 0);
    if (report.end == QCR_END_BY_FAILURE || *input.refusal != '\0') return "failed";
    if (input.is_stalled != 0) return "stalled";
    if (!is_cut_off(report, rendition) && behind_its_end != 0) return "ended early";
    if (counts.late != 0 || counts.holes != 0 || report.failed[rendition] != 0) return "incomplete";
    if (rendition != 0 && lacking(report, 0) != 0) return "ended with main";
    if (report.end == QCR_END_BY_SIGNAL) return "interrupted";
    return report.end == QCR_END_OF_STREAM ? "complete" : "stopped early";
}

// ---- JSON

/// The ways of pooling that summaries show.
bool is_shown(const qcr_report& report, qc_pool pool) {
    return pool == QC_POOL_MEAN || pool == QC_POOL_HARMONIC_MEAN || pool == QC_POOL_MIN || pool == QC_POOL_MAX ||
           pool == QC_POOL_P5 || pool == report.pool;
}

std::string pooled_json(const qcr_report& report, int rendition) {
    std::string text;
    for (int f = 0; f < feature_count(report); ++f) {
        qc_feature feature;
        if (qc_session_feature(report.session, f, &feature) != QC_OK ||
            !pooled(report.session, rendition, f, QC_POOL_MEAN))
            continue;
        std::string values;
        for (int pool = 0; pool < QC_POOL_COUNT; ++pool) {
            const auto way = static_cast<qc_pool>(pool);
            const auto value = is_shown(report, way) ? pooled(report.session, rendition, f, way) : std::nullopt;
            if (value)
                values += formatted("%s\"%s\": ", values.empty() ? "" : ", ", qc_pool_name(way)) + json_number(*value);
        }
        text += (text.empty() ? "" : ", ") + json_string(feature.name) + ": {" + values + "}";
    }
    return text;
}

std::string rendition_json(const qcr_report& report, int rendition) {
    const qcr_report_input& input = input_of(report, rendition);
    return formatted("{\"rendition\": %d, \"input\": ", rendition) + json_string(role_of(report, rendition)) +
           formatted(", \"width\": %d, \"height\": %d, \"scored_width\": %d, \"scored_height\": %d, \"format\": ",
                     input.width, input.height, report.scored_width, report.scored_height) +
           json_string(input.format) + ", \"bit_rate\": " + (input.bit_rate >= 0 ? number(input.bit_rate, 0) : "null") +
           formatted(", \"frames\": %lld, \"scored\": %lld, \"lacking\": %lld, \"end\": ",
                     wide(report.counts[rendition].frames), wide(report.scored[rendition]),
                     wide(lacking(report, rendition))) +
           json_string(fate_of(report, rendition)) + ", \"pooled_metrics\": {" + pooled_json(report, rendition) + "}}";
}

// ---- table

struct Column {
    std::string title;
    bool is_text = false; ///< aligned to the left
    std::vector<std::string> cells;

    size_t width() const {
        size_t widest = title.size();
        for (const std::string& cell : cells) widest = std::max(widest, cell.size());
        return widest;
    }
};

std::string size_of(const qcr_report& report, const qcr_report_input& input) {
    std::string own = formatted("%dx%d", input.width, input.height);
    if (input.width == report.scored_width && input.height == report.scored_height) return own;
    return own + formatted(" -> %dx%d", report.scored_width, report.scored_height);
}

std::string cell_of(const qcr_report& report, int rendition, std::string_view title) {
    constexpr double kKilo = 1000;
    const qcr_report_input& input = input_of(report, rendition);
    const bool goes_on = rendition == 0 && report.reference_ended == 0 && lacking(report, 0) != 0;
    if (title == "rendition") return std::to_string(rendition);
    if (title == "input") return role_of(report, rendition);
    if (title == "size") return size_of(report, input);
    if (title == "kbit/s") return input.bit_rate >= 0 ? number(input.bit_rate / kKilo, 0) : "-";
    if (title == "frames") return std::to_string(report.counts[rendition].frames);
    if (title == "scored") return std::to_string(report.scored[rendition]);
    if (title == "lacking") return std::to_string(lacking(report, rendition)) + (goes_on ? "+" : "");
    return fate_of(report, rendition);
}

Column column_of_facts(const qcr_report& report, const char* title, bool is_text) {
    Column column{title, is_text, {}};
    for (int k = 0; k < report.renditions; ++k)
        column.cells.push_back(cell_of(report, k, title).substr(0, kLongestCell));
    return column;
}

Column column_of_scores(const qcr_report& report, int feature) {
    Column column{score_name(report.session, 0, feature).substr(0, kLongestCell), false, {}};
    for (int k = 0; k < report.renditions; ++k) {
        const auto value =
            input_of(report, k).is_refused == 0 ? pooled(report.session, k, feature, report.pool) : std::nullopt;
        column.cells.push_back(value ? score_text(*value) : "-");
    }
    return column;
}

bool knows_rates(const qcr_report& report) {
    bool knows = false;
    for (int k = 0; k < report.renditions; ++k) knows = knows || input_of(report, k).bit_rate >= 0;
    return knows;
}

/// Those that there is something to say in.
std::vector<Column> columns_of(const qcr_report& report) {
    static constexpr struct {
        const char* title;
        bool is_text;
    } kFacts[] = {{"rendition", false}, {"input", true},   {"size", true},     {"kbit/s", false},
                  {"frames", false},    {"scored", false}, {"lacking", false}, {"end", true}};
    std::vector<Column> columns;
    for (const auto& fact : kFacts)
        if (std::string_view(fact.title) != "kbit/s" || knows_rates(report))
            columns.push_back(column_of_facts(report, fact.title, fact.is_text));
    if (report.end == QCR_END_BY_FAILURE) return columns;
    qc_feature feature;
    for (const bool models : {true, false}) // those first: they are looked for
        for (int f = 0; f < feature_count(report); ++f)
            if (is_asked_for(report, f) && qc_session_feature(report.session, f, &feature) == QC_OK &&
                (feature.is_model != 0) == models)
                columns.push_back(column_of_scores(report, f));
    return columns;
}

std::string padded(const Column& column, const std::string& text, bool is_last) {
    const std::string blanks(column.width() - text.size(), ' ');
    if (!column.is_text) return blanks + text;
    return is_last ? text : text + blanks;
}

/// One line: the titles (row -1) or a rendition, in the first column and those of a stretch.
std::string row_of(const std::vector<Column>& columns, size_t from, size_t to, int row) {
    std::string line;
    for (size_t c = 0; c < to; c = c != 0 ? c + 1 : std::max<size_t>(from, 1)) {
        const std::string& text = row < 0 ? columns[c].title : columns[c].cells[static_cast<size_t>(row)];
        line += std::string(c != 0 ? kGap : 0, ' ') + padded(columns[c], text, c == to - 1);
    }
    return line;
}

/// The columns behind those of a stretch that fit into its rows, at least one of them.
size_t end_of_stretch(const std::vector<Column>& columns, size_t from) {
    size_t to = from, length = from != 0 ? columns[0].width() + kGap : 0;
    length += columns[to++].width();
    while (to < columns.size() && length + kGap + columns[to].width() <= kLongestRow)
        length += kGap + columns[to++].width();
    return to;
}

} // namespace

int64_t lacking(const qcr_report& report, int rendition) {
    const qcr_counts& counts = report.counts[rendition];
    const int64_t behind_its_end = rendition != 0 ? counts.ended : report.behind;
    const int64_t all = rendition != 0 ? qcr_rendition_missing(&counts) : behind_its_end;
    return is_cut_off(report, rendition) ? all - behind_its_end : all;
}

std::string renditions_json(const qcr_report& report) {
    std::string text = "[";
    for (int k = 0; k < report.renditions; ++k) text += (k != 0 ? ", " : "") + rendition_json(report, k);
    return text + "]";
}

void say_ladder(const qcr_report& report, const qcr_sink& sink) {
    if (report.renditions < 2) return;
    const std::vector<Column> columns = columns_of(report);
    say(sink, QCR_LEVEL_INFO, formatted("%d renditions; scores: %s", report.renditions, qc_pool_name(report.pool)));
    for (size_t from = 0, to = 0; from < columns.size(); from = to) {
        to = end_of_stretch(columns, from);
        for (int k = -1; k < report.renditions; ++k) say(sink, QCR_LEVEL_INFO, row_of(columns, from, to, k));
    }
    if (lacking(report, 0) != 0)
        say(sink, QCR_LEVEL_WARNING,
            "main ended before the reference did, and with it all renditions: make the longest one the first input");
}

} // namespace qc::run

double qcr_bit_rate(int64_t bytes, int64_t frames, double seconds) {
    constexpr double kBits = 8;
    if (bytes <= 0 || frames < 2) return -1;
    const double duration = seconds + seconds / static_cast<double>(frames - 1); // for as long as the last frame lasts
    return duration > 0 ? static_cast<double>(bytes) * kBits / duration : -1;
}
