// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the page says of several encodes: ladders, and comparisons of one encode with another.
#include <algorithm>
#include <cmath>

#include "report/html.hpp"
#include "report/report_sections.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr int kDecimals = 6;
constexpr size_t kShownScenes = 5;

std::string interval_text(const std::optional<Interval>& interval) {
    return interval ? signed_text(interval->low, kDecimals) + " to " + signed_text(interval->high, kDecimals) : "-";
}

bool has_rates(const Report& report) {
    return std::any_of(report.encodes.begin(), report.encodes.end(),
                       [](const Encode& each) { return each.bit_rate > 0; });
}

std::string points_table(const Report& report) {
    std::vector<std::vector<Cell>> rows;
    for (const Ladder& ladder : report.ladders)
        for (const size_t number : ladder.encodes) {
            const Encode& each = report.encodes[number];
            rows.push_back({head_cell(each.label), text_cell(ladder.name),
                            number_cell(each.bit_rate > 0 ? fixed(each.bit_rate / 1000, 1) : "-"),
                            text_cell(each.bit_rate > 0 ? each.bit_rate_source : "-"),
                            number_cell(fixed(each.log.mean(report.score), kDecimals))});
        }
    return table("Points of the curves", {"encode", "ladder", "kbit/s", "from", "mean " + report.score}, rows);
}

std::string differences_table(const Report& report) {
    std::vector<std::vector<Cell>> rows;
    for (const LadderDifference& each : report.differences) {
        const RateDifference& difference = each.difference;
        rows.push_back({head_cell(report.ladders[each.ladder].name), text_cell(each.score)});
        if (difference.is_known) {
            rows.back().push_back(number_cell(signed_text(difference.percent, 2) + " %"));
            rows.back().push_back(
                text_cell(fixed(difference.lowest_score, 2) + " to " + fixed(difference.highest_score, 2)));
        } else {
            rows.back().push_back(number_cell("-"));
            rows.back().push_back(text_cell(difference.why_not));
        }
    }
    return table("BD-rate against " + report.ladders[0].name + ": bit rate at equal score, below 0 is less",
                 {"ladder", "score", "BD-rate", "scores compared"}, rows, "id=\"bd-rate\"");
}

std::string scores_table(const Comparison& comparison) {
    std::vector<std::vector<Cell>> rows;
    for (const ScoreDifference& each : comparison.scores)
        rows.push_back({head_cell(each.name), number_cell(fixed(each.mean_a, kDecimals)),
                        number_cell(fixed(each.mean_b, kDecimals)), number_cell(signed_text(each.mean, kDecimals)),
                        number_cell(interval_text(each.intervals.mean)), number_cell(signed_text(each.p5, kDecimals)),
                        number_cell(interval_text(each.intervals.p5)), number_cell(percent_text(each.better_share)),
                        number_cell(percent_text(each.worse_share)), number_cell(fixed(each.threshold, 3)),
                        text_cell(each.verdict().empty() ? "-" : each.verdict())});
    return table("B against A",
                 {"score", "mean A", "mean B", "difference", "interval", "p5 difference", "interval", "frames better",
                  "frames worse", "by more than", "verdict"},
                 rows, "class=\"comparison\"");
}

std::string scenes_table(const Comparison& comparison) {
    const ScoreDifference& score = comparison.scores.front();
    std::vector<std::vector<Cell>> rows;
    for (size_t i = 0; i < std::min(kShownScenes, score.worst.size()); ++i) {
        const Scene& scene = score.worst[i].scene;
        rows.push_back({head_cell(scene_text(comparison, scene)),
                        number_cell(signed_text(score.worst[i].mean, kDecimals)),
                        Cell{"<button type=\"button\" class=\"show\" data-first=\"" +
                             std::to_string(comparison.frame_numbers[scene.begin]) + "\" data-last=\"" +
                             std::to_string(comparison.frame_numbers[scene.end - 1]) + "\">show</button>"}});
    }
    return table("Scenes where B lost most, or gained least, by " + score.name, {"frames", "difference", "in the plot"},
                 rows);
}

} // namespace

std::string ladder_section(const Report& report) {
    if (!has_rates(report))
        return paragraph("No bit rate is known: the logs have none, and neither files (--distorted, --plan) nor "
                         "--bit-rates were given.",
                         "note");
    std::string html = points_table(report);
    if (report.ladders.size() > 1)
        html += differences_table(report);
    else
        html += paragraph("BD-rate compares ladders, and there is one.", "note");
    return html;
}

std::string comparison_section(const Report& report) {
    if (report.comparisons.empty()) return "";
    std::string html;
    for (const ComparedPair& each : report.comparisons) {
        const Comparison& comparison = each.comparison;
        const Resampling& way = comparison.resampling;
        html += "<h3>" + escaped(report.encodes[each.b].label) + " (B) against " +
                escaped(report.encodes[each.a].label) + " (A)</h3>\n" +
                paragraph(std::to_string(comparison.frames) + " frames, " +
                          std::to_string(comparison.scenes.list.size()) + " scenes (" + comparison.scenes.source +
                          "). Differences are B - A; intervals of " + fixed(way.confidence, 1) + " %, from " +
                          std::to_string(way.count) + " draws of scenes, seed " + std::to_string(way.seed) + ".") +
                scores_table(comparison) + scenes_table(comparison);
        for (const std::string& note : comparison.notes) html += paragraph("Note: " + note, "note");
    }
    return html;
}

} // namespace qc::cli
