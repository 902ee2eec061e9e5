// SPDX-License-Identifier: BSD-2-Clause-Patent
// The first screen: what was compared, which one is better and by how much, whether that holds, where it is worst; then
// a row for each encode.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "logs/table.hpp"
#include "report/html.hpp"
#include "report/models.hpp"
#include "report/plot.hpp"
#include "report/report_sections.hpp"
#include "report/worst.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr int kExact = 6; ///< decimals of a log
constexpr int kDecimals = 2, kSmallDecimals = 4;
constexpr double kSmall = 2;          ///< up to which a score has the latter
constexpr size_t kDetailedScores = 3; ///< with more than their mean in the first table
constexpr size_t kColours = 6;

std::string counted(size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Adds what is not there yet.
void add_once(const std::string& text, std::vector<std::string>* list) {
    if (!text.empty() && std::find(list->begin(), list->end(), text) == list->end()) list->push_back(text);
}

std::string joined(const std::vector<std::string>& texts, const char* separator) {
    std::string all;
    for (const std::string& each : texts) all += (all.empty() ? "" : separator) + each;
    return all;
}

/// Of the one title, if it is known: "ref.mkv".
std::string reference_name(const Report& report) {
    return report.titles.size() == 1 ? report.titles.front() : "";
}

/// Of all encodes, in the order in which they come.
std::vector<std::string> headlines_of(const Report& report) {
    std::vector<std::string> names;
    for (const Encode& encode : report.encodes)
        for (const std::string& name : headline_scores(encode.log)) add_once(name, &names);
    return names;
}

/// "vmaf by vmaf_v0.6.1"
std::vector<std::string> models_of(const Report& report) {
    std::vector<std::string> texts;
    for (const std::string& score : headlines_of(report))
        for (const Encode& encode : report.encodes)
            if (const std::string model = model_of(encode.log, score); !model.empty())
                add_once(score.find('(') == std::string::npos ? std::string(score).append(" by ").append(model) : score,
                         &texts);
    return texts;
}

// ---- verdicts

/// "24.5 % less"
std::string less_or_more(double percent) {
    return fixed(std::fabs(percent), 1) + " % " + (percent < 0 ? "less" : "more");
}

/// " (22.1 to 26.8, 95 % interval over scenes)"; with signs where 0 is among it
std::string interval_text(const LadderDifference& each, double confidence) {
    if (!each.interval) return "";
    const auto [low, high] = *each.interval;
    const bool has_sign = low <= 0 && high >= 0;
    const double near = std::min(std::fabs(low), std::fabs(high)), far = std::max(std::fabs(low), std::fabs(high));
    return " (" +
           (has_sign ? signed_text(low, 1) + " to " + signed_text(high, 1) : fixed(near, 1) + " to " + fixed(far, 1)) +
           ", " + fixed(confidence, 0) + " % interval over " + each.drawn + ")";
}

std::string verdict_of(const Report& report, const LadderDifference& each) {
    const Ladder& ladder = report.ladders[each.ladder];
    const bool is_open = each.interval && each.interval->low <= 0 && each.interval->high >= 0;
    const std::string where = report.titles.size() > 1 ? " of " + report.titles[ladder.title] : "";
    if (is_open)
        return ladder.name + where + " takes about as much rate as " + each.base + " at equal " + each.score + ": " +
               signed_text(each.difference.percent, 1) + " %" + interval_text(each, report.confidence);
    return ladder.name + where + " needs " + less_or_more(each.difference.percent) + " rate than " + each.base +
           " at equal " + each.score + interval_text(each, report.confidence);
}

/// Which of them is better, and by how much.
std::vector<std::string> rate_verdicts(const Report& report) {
    std::vector<std::string> texts;
    for (const AverageDifference& each : report.averages)
        if (each.score == report.score)
            texts.push_back(each.ladder + " needs " + less_or_more(each.percent) + " rate than " + each.base +
                            " at equal " + each.score + ", on average over " + counted(each.titles, "title"));
    if (!texts.empty()) return texts;
    for (const LadderDifference& each : report.differences)
        if (each.score == report.score && each.difference.is_known) texts.push_back(verdict_of(report, each));
    return texts;
}

/// The best and the worst mean.
std::string range_verdict(const Report& report) {
    const double sign = better(report.score) == Better::kLower ? -1 : 1;
    const Encode *best = nullptr, *worst = nullptr;
    for (const Encode& each : report.encodes) {
        const double mean = each.log.mean(report.score);
        if (!std::isfinite(mean)) continue;
        if (best == nullptr || sign * mean > sign * best->log.mean(report.score)) best = &each;
        if (worst == nullptr || sign * mean < sign * worst->log.mean(report.score)) worst = &each;
    }
    if (best == nullptr) return "";
    const int decimals = decimals_of(report, report.score);
    const auto told = [&](const Encode& each) {
        return each.label + ", " + report.score + " " + fixed(each.log.mean(report.score), decimals);
    };
    if (best == worst && better(report.score) == Better::kLower)
        return told(*best) + " on average, and " + fixed(best->log.pooled(report.score, "max"), decimals) +
               " in its worst frame";
    if (best == worst)
        return told(*best) + " on average; 5 % of its frames are at " +
               fixed(best->log.pooled(report.score, "p5"), decimals) + " or below";
    return "Best on average: " + told(*best) + "; worst: " + told(*worst);
}

std::string soundness(const Report& report, const std::vector<std::string>& findings) {
    if (!findings.empty())
        return counted(findings.size(), "finding") + (findings.size() == 1 ? " speaks" : " speak") +
               " against the scores, in red above";
    const bool is_lacking = std::any_of(report.encodes.begin(), report.encodes.end(), [](const Encode& each) {
        return *lack_of(each.log.layout) != '\0' || !member(each.log.head, "pairing").is_object();
    });
    if (is_lacking) return "Nothing speaks against the scores, but some logs do not hold how frames were paired";
    return report.encodes.size() == 1
               ? "Nothing speaks against the scores: every frame was compared with one of its own"
               : "Nothing speaks against the scores: every frame was compared with one of its own, "
                 "by the same models and conventions";
}

/// Where it is worst.
std::string worst_verdict(const Report& report) {
    const WorstScene* const found = worst_of_all(report);
    if (found == nullptr) return "";
    const Encode& encode = report.encodes[found->encode];
    const int decimals = decimals_of(report, report.score);
    const std::vector<int64_t>& frames = encode.log.frames;
    const std::string time = time_text(frames[found->scene.begin], encode.log.frame_rate());
    return "Worst: " + encode.label + (time.empty() ? "" : " at " + time) + ", frames " +
           std::to_string(frames[found->scene.begin]) + " to " + std::to_string(frames[found->scene.end - 1]) + ", " +
           report.score + " " + fixed(found->mean, decimals) + " on average, " + fixed(found->lowest, decimals) +
           " at frame " + std::to_string(frames[found->worst_frame]);
}

// ---- the table

std::string line_sample(const Style& style) {
    return "<svg class=\"sample\" viewBox=\"0 0 42 14\" aria-hidden=\"true\"><line x1=\"1\" y1=\"7\" x2=\"41\" "
           "y2=\"7\" "
           "stroke-width=\"3\" stroke-dasharray=\"" +
           dash_of(style) + "\" style=\"stroke: var(--series-" + std::to_string(style.colour % kColours) +
           ")\"/></svg>";
}

/// A column in front of the scores.
struct Fact {
    const char* name;
    bool is_number, is_minor; ///< left out where the page is narrow
    std::string (*text)(const Encode&);
};

constexpr Fact kFacts[] = {
    {"size", false, true, [](const Encode& each) { return each.size; }},
    {"codec", false, true, [](const Encode& each) { return each.source.facts.codec; }},
    {"kbit/s", true, false,
     [](const Encode& each) {
         return each.bit_rate > 0 ? fixed(each.bit_rate / 1000, each.bit_rate < 1e5 ? 1 : 0) : "";
     }},
    {"MB", true, true,
     [](const Encode& each) {
         return each.source.bytes > 0 ? fixed(static_cast<double>(each.source.bytes) / 1e6, 2) : std::string();
     }},
    {"frames", true, true, [](const Encode& each) { return std::to_string(each.log.frames.size()); }},
};

std::string class_of(const Fact& fact) {
    if (!fact.is_minor) return fact.is_number ? " class=\"number\"" : "";
    return fact.is_number ? " class=\"number minor\"" : " class=\"minor\"";
}

std::vector<const Fact*> known_facts(const Report& report) {
    std::vector<const Fact*> facts;
    for (const Fact& fact : kFacts)
        if (std::any_of(report.encodes.begin(), report.encodes.end(),
                        [&](const Encode& each) { return !fact.text(each).empty(); }))
            facts.push_back(&fact);
    return facts;
}

/// The mean, and of the first scores the bad end.
std::vector<const char*> shown_pools(const std::vector<std::string>& scores, size_t number) {
    return number < kDetailedScores ? pools_of(scores[number]) : std::vector<const char*>{"mean"};
}

std::string matrix_head(const Report& report, const std::vector<const Fact*>& facts,
                        const std::vector<std::string>& scores) {
    std::string first = "<tr><th scope=\"col\" rowspan=\"2\">encode</th>", second = "<tr>";
    for (const Fact* fact : facts)
        first += "<th scope=\"col\" rowspan=\"2\"" + class_of(*fact) + ">" + fact->name + "</th>";
    for (size_t i = 0; i < scores.size(); ++i) {
        std::string model;
        for (const Encode& each : report.encodes)
            if (model.empty() && scores[i].find('(') == std::string::npos) model = model_of(each.log, scores[i]);
        const std::string unit = unit_of(scores[i]);
        const std::vector<const char*> pools = shown_pools(scores, i);
        first += "<th scope=\"colgroup\" class=\"number group\" colspan=\"" + std::to_string(pools.size()) + "\">" +
                 escaped(scores[i] + (unit.empty() ? "" : ", " + unit)) +
                 (model.empty() ? "" : "<br><small>" + escaped(model) + "</small>") + "</th>";
        for (const char* pool : pools)
            second += std::string("<th scope=\"col\" class=\"number") + (pool == pools.front() ? " group\">" : "\">") +
                      pool + "</th>";
    }
    return "<thead>" + first + "</tr>\n" + second + "</tr></thead>\n";
}

std::string matrix_row(const Report& report, const Encode& encode, const std::vector<const Fact*>& facts,
                       const std::vector<std::string>& scores) {
    const bool is_complete = member(encode.log.head, "complete") != false;
    std::string html = "<tr><th scope=\"row\">" + line_sample(encode.style) + escaped(encode.label) +
                       (is_complete ? "" : " (NOT COMPLETE)") + "</th>";
    const auto cell = [&](const std::string& text, const std::string& classes) {
        html += "<td" + classes + ">" + escaped(text.empty() ? "-" : text) + "</td>";
    };
    for (const Fact* fact : facts) cell(fact->text(encode), class_of(*fact));
    for (size_t i = 0; i < scores.size(); ++i) {
        const std::vector<const char*> pools = shown_pools(scores, i);
        for (size_t k = 0; k < pools.size(); ++k)
            cell(fixed(k == 0 ? encode.log.mean(scores[i]) : encode.log.pooled(scores[i], pools[k]),
                       decimals_of(report, scores[i])),
                 k == 0 ? " class=\"number group\"" : " class=\"number\"");
    }
    return html + "</tr>\n";
}

/// Ladder by ladder, so that rows of one colour stand together.
std::string matrix(const Report& report) {
    const std::vector<const Fact*> facts = known_facts(report);
    const std::vector<std::string> scores = headlines_of(report);
    std::string html =
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Encodes\"><table class=\"matrix\">"
        "<caption>Encodes</caption>\n" +
        matrix_head(report, facts, scores) + "<tbody>\n";
    for (const Ladder& ladder : report.ladders)
        for (const size_t number : ladder.encodes) html += matrix_row(report, report.encodes[number], facts, scores);
    return html + "</tbody></table></div>\n";
}

std::string all_statistics(const Report& report) {
    std::string html;
    for (const std::string& score : headlines_of(report)) {
        std::vector<std::vector<Cell>> rows;
        for (const Encode& encode : report.encodes) {
            if (encode.log.find(score) == nullptr) continue;
            rows.push_back({head_cell(encode.label), number_cell(std::to_string(encode.log.frames.size())),
                            number_cell(fixed(encode.log.mean(score), kExact))});
            for (const char* pool : {"harmonic_mean", "min", "max", "p1", "p5", "p50", "stddev"})
                rows.back().push_back(number_cell(fixed(encode.log.pooled(score, pool), kExact)));
        }
        html += table(score, {"encode", "frames", "mean", "harmonic mean", "min", "max", "p1", "p5", "p50", "stddev"},
                      rows, "class=\"summary\"");
    }
    return "<details class=\"all\"><summary>All statistics, with the logs' decimals</summary>\n" + html +
           "</details>\n";
}

} // namespace

int decimals_of(const Report& report, const std::string& score) {
    const bool is_small = std::all_of(report.encodes.begin(), report.encodes.end(), [&](const Encode& each) {
        const double mean = each.log.mean(score);
        return std::isnan(mean) || std::fabs(mean) <= kSmall;
    });
    return is_small ? kSmallDecimals : kDecimals;
}

std::vector<std::string> verdicts_of(const Report& report, const std::vector<std::string>& findings) {
    std::vector<std::string> texts = rate_verdicts(report);
    if (texts.empty()) add_once(range_verdict(report), &texts);
    add_once(soundness(report, findings), &texts);
    add_once(worst_verdict(report), &texts);
    return texts;
}

std::string heading_of(const Report& report) {
    const std::string reference = reference_name(report);
    if (report.encodes.size() == 1) return report.encodes[0].label + (reference.empty() ? "" : " against " + reference);
    std::string heading = counted(report.encodes.size(), "encode");
    if (report.titles.size() > 1) heading += " of " + counted(report.titles.size(), "title");
    if (!reference.empty()) heading += " of " + reference;
    std::vector<std::string> names;
    for (const Ladder& each : report.ladders)
        if (each.encodes.size() > 1) add_once(each.name, &names);
    return names.size() > 1 && names.size() < 5 ? joined(names, " and ") + ": " + heading : heading;
}

std::string subject_section(const Report& report) {
    std::vector<std::string> facts = models_of(report), engines, versions;
    for (const Encode& each : report.encodes) {
        add_once(text_of(each.log.head, "engine"), &engines);
        add_once(text_of(each.log.head, "quality_cuda_version"), &versions);
    }
    for (const std::string& each : engines) facts.push_back(each);
    const ScoreLog& log = report.encodes[0].log;
    std::string length = counted(log.frames.size(), "frame");
    if (const double rate = log.frame_rate(); rate > 0)
        length += " at " + fixed(rate, 2) + " a second, to " + time_text(log.frames.back() + 1, rate);
    facts.push_back(length);
    for (const std::string& each : versions) facts.push_back("quality_cuda " + each);
    return paragraph(joined(facts, " · "), "subject");
}

std::string summary_section(const Report& report) {
    const std::vector<std::string> findings = findings_of(report);
    std::string html;
    if (!findings.empty())
        html += "<div class=\"banner\" role=\"group\" aria-label=\"Findings\">\n" + list_of(findings, "problems") +
                "</div>\n";
    return html + list_of(verdicts_of(report, findings), "verdicts") + matrix(report) + list_of(report.notes, "notes") +
           all_statistics(report);
}

// ---- the distribution's table

std::string shares_section(const Report& report) {
    constexpr double kLevels[] = {95, 90, 80};
    std::vector<std::vector<Cell>> rows;
    for (const Encode& encode : report.encodes) {
        const Scores* const scores = encode.log.find(report.score);
        const bool is_of_hundred = !model_of(encode.log, report.score).empty() || report.score.starts_with("vmaf") ||
                                   report.score.starts_with("ssimulacra2");
        if (scores == nullptr || !is_of_hundred) continue;
        rows.push_back({head_cell(encode.label)});
        for (const double level : kLevels) {
            double count = 0, above = 0;
            for (const double value : scores->values) {
                count += std::isnan(value) ? 0 : 1;
                above += value > level ? 1 : 0;
            }
            rows.back().push_back(number_cell(count > 0 ? percent_text(above / count) : "-"));
        }
    }
    if (rows.empty()) return "";
    return table("Share of frames by " + report.score, {"encode", "above 95", "above 90", "above 80"}, rows);
}

} // namespace qc::cli
