// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the page says of several encodes: ladders, and comparisons of one encode with another.
#include <algorithm>
#include <cmath>

#include "report/html.hpp"
#include "report/report_sections.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr int kDecimals = 2;
constexpr size_t kShownScenes = 5;

std::string interval_text(const std::optional<Interval>& interval, int decimals) {
    return interval ? signed_text(interval->low, decimals) + " to " + signed_text(interval->high, decimals) : "-";
}

bool has_rates(const Report& report) {
    return std::any_of(report.encodes.begin(), report.encodes.end(),
                       [](const Encode& each) { return each.bit_rate > 0; });
}

/// "-24.50 % (-26.80 to -22.10)"
std::string rate_text(const LadderDifference& each) {
    return signed_text(each.difference.percent, kDecimals) + " %" +
           (each.interval ? " (" + interval_text(each.interval, kDecimals) + ")" : "");
}

/// What all BD-rates of a list are against; empty: titles begin with other ladders.
template <class List>
std::string common_base(const List& list) {
    const std::string& first = list.front().base;
    return std::all_of(list.begin(), list.end(), [&](const auto& each) { return each.base == first; }) ? first : "";
}
std::string against(const std::string& base) {
    return base.empty() ? "the first ladder of each title" : base;
}

std::string differences_table(const Report& report) {
    std::vector<std::vector<Cell>> rows;
    const std::string base = common_base(report.differences);
    std::vector<std::string> columns{"ladder", "score", "BD-rate", "scores compared"};
    const bool has_titles = report.titles.size() > 1;
    if (has_titles) columns.insert(columns.begin() + 1, "title");
    for (const LadderDifference& each : report.differences) {
        const RateDifference& difference = each.difference;
        const Ladder& ladder = report.ladders[each.ladder];
        rows.push_back({head_cell(ladder.name + (base.empty() ? " against " + each.base : ""))});
        if (has_titles) rows.back().push_back(text_cell(report.titles[ladder.title]));
        rows.back().push_back(text_cell(each.score));
        if (difference.is_known) {
            rows.back().push_back(number_cell(rate_text(each)));
            rows.back().push_back(
                text_cell(fixed(difference.lowest_score, 2) + " to " + fixed(difference.highest_score, 2)));
        } else {
            rows.back().push_back(number_cell("-"));
            rows.back().push_back(text_cell(difference.why_not));
        }
    }
    return table("BD-rate against " + against(base) + ": bit rate at equal score, below 0 is less", columns, rows,
                 "id=\"bd-rate\"");
}

std::string averages_table(const Report& report) {
    if (report.averages.empty()) return "";
    std::vector<std::vector<Cell>> rows;
    const std::string base = common_base(report.averages);
    for (const AverageDifference& each : report.averages)
        rows.push_back({head_cell(each.ladder + (base.empty() ? " against " + each.base : "")), text_cell(each.score),
                        number_cell(signed_text(each.percent, kDecimals) + " %"),
                        number_cell(std::to_string(each.titles))});
    return table("BD-rate against " + against(base) + ", on average over titles",
                 {"ladder", "score", "BD-rate", "titles"}, rows);
}

std::string scores_table(const Report& report, const Comparison& comparison) {
    std::vector<std::vector<Cell>> rows;
    for (const ScoreDifference& each : comparison.scores) {
        const int decimals = decimals_of(report, each.name);
        rows.push_back(
            {head_cell(each.name), number_cell(fixed(each.mean_a, decimals)), number_cell(fixed(each.mean_b, decimals)),
             number_cell(signed_text(each.mean, decimals)), number_cell(interval_text(each.intervals.mean, decimals)),
             number_cell(signed_text(each.p5, decimals)), number_cell(interval_text(each.intervals.p5, decimals)),
             number_cell(percent_text(each.better_share)), number_cell(percent_text(each.worse_share)),
             number_cell(fixed(each.threshold, 3)), text_cell(each.verdict().empty() ? "-" : each.verdict())});
    }
    return table("B against A",
                 {"score", "mean A", "mean B", "difference", "interval", "p5 difference", "interval", "frames better",
                  "frames worse", "by more than", "verdict"},
                 rows, "class=\"comparison\"");
}

std::string scenes_table(const Report& report, const Comparison& comparison) {
    const ScoreDifference& score = comparison.scores.front();
    std::vector<std::vector<Cell>> rows;
    for (size_t i = 0; i < std::min(kShownScenes, score.worst.size()); ++i) {
        const Scene& scene = score.worst[i].scene;
        rows.push_back({head_cell(scene_text(comparison, scene)),
                        number_cell(signed_text(score.worst[i].mean, decimals_of(report, score.name))),
                        Cell{"<button type=\"button\" class=\"show\" data-first=\"" +
                             std::to_string(comparison.frame_numbers[scene.begin]) + "\" data-last=\"" +
                             std::to_string(comparison.frame_numbers[scene.end - 1]) + "\">show</button>"}});
    }
    return table("Scenes where B lost most, or gained least, by " + score.name, {"frames", "difference", "in the plot"},
                 rows);
}

} // namespace

std::string ladder_section(const Report& report) {
    if (!has_rates(report)) return "";
    const std::string plot =
        "<div>\n<p id=\"ladder-text\" class=\"hint\" hidden></p>\n<div id=\"ladder-plot\" class=\"plot\" "
        "role=\"img\" aria-labelledby=\"ladder-text\" hidden></div>\n<ul id=\"ladder-legend\" "
        "class=\"legend\" hidden></ul>\n</div>\n";
    const std::string tables =
        report.differences.empty()
            ? paragraph(report.encodes.size() > 1 ? "BD-rate compares ladders, and there is one." : "", "note")
            : averages_table(report) + differences_table(report);
    return "<div class=\"beside\">\n" + plot + "<div>\n" + tables + "</div>\n</div>\n";
}

std::string comparison_section(const Report& report) {
    if (report.comparisons.empty()) return "";
    std::string html;
    for (const ComparedPair& each : report.comparisons) {
        const Comparison& comparison = each.comparison;
        const Resampling& way = comparison.resampling;
        html += "<h3>" + escaped(report.encodes[each.b].label) + " (B) against " +
                escaped(report.encodes[each.a].label) + " (A)</h3>\n";
        if (!each.refusal.empty()) {
            html += paragraph("Not compared: " + each.what_differs + ".");
            continue;
        }
        html +=
            paragraph(std::to_string(comparison.frames) + " frames, " + std::to_string(comparison.scenes.list.size()) +
                      " scenes (" + comparison.scenes.source + "). Differences are B - A; intervals of " +
                      fixed(way.confidence, 1) + " %, from " + std::to_string(way.count) + " draws of " +
                      comparison.drawn_text() + ", seed " + std::to_string(way.seed) + ".") +
            scores_table(report, comparison) + scenes_table(report, comparison);
        for (const std::string& note : comparison.notes) html += paragraph("Note: " + note, "note");
    }
    return html;
}

} // namespace qc::cli
