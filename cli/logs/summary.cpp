// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "logs/summary.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "logs/scores.hpp"
#include "words/failure.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr const char* kShownPools[] = {"mean", "harmonic_mean", "min", "max", "p5"};
constexpr size_t kColumn = 14;

std::string padded(const std::string& text, size_t width, bool to_the_right = true) {
    const std::string space(text.size() < width ? width - text.size() : 0, ' ');
    return to_the_right ? space + text : text + space;
}

std::string number_text(const Json& value) {
    return value.is_number() ? fixed(value.get<double>(), 6) : "-";
}

bool is_model(const Json& log, const std::string& score) {
    if (!log.contains("models")) return false;
    const auto& models = log["models"];
    return std::any_of(models.begin(), models.end(), [&](const auto& each) { return each.value("name", "") == score; });
}

/// Scores that a metric has for the whole video.
std::string stream_lines_of(const Json& log, size_t width) {
    std::string text;
    const auto found = log.find("aggregate_metrics");
    if (found == log.end() || !found->is_object()) return text;
    for (const auto& [score, value] : found->items())
        text += padded(score, width, false) + padded(number_text(value), kColumn) + "  of the whole video\n";
    return text;
}

std::string rows_of(const Json& log, bool everything, size_t width) {
    std::string text;
    for (const auto& [score, pools] : log["pooled_metrics"].items()) {
        if (!everything && !is_model(log, score)) continue;
        text += padded(score, width, false);
        for (const char* pool : kShownPools)
            text += padded(pools.contains(pool) ? number_text(pools[pool]) : "-", kColumn);
        text += "\n";
    }
    return text;
}

} // namespace

std::string table_of(const std::vector<Json>& logs, bool everything) {
    std::string text;
    size_t width = 8;
    for (const auto& log : logs)
        for (const auto& [score, pools] : log["pooled_metrics"].items()) width = std::max(width, score.size());
    for (size_t k = 0; k < logs.size(); ++k) {
        const auto& pairing = logs[k].value("pairing", Json::object());
        if (logs.size() > 1) text += (k > 0 ? "\n" : "") + std::string("rendition ") + std::to_string(k) + "\n";
        text += padded("score", width, false);
        for (const char* pool : kShownPools) text += padded(pool, kColumn);
        text += "\n" + rows_of(logs[k], everything, width) + stream_lines_of(logs[k], width);
        text += "frames: " + std::to_string(pairing.value("frames", int64_t{0})) +
                ", scored: " + std::to_string(pairing.value("scored", int64_t{0})) +
                (logs[k].value("complete", false) ? "" : ", INCOMPLETE") + "\n";
    }
    return text;
}

Condition parse_condition(const std::string& text) {
    Condition condition;
    condition.text = text;
    const size_t relation = text.find_first_of("<>"), dot = text.substr(0, relation).rfind('.');
    const Failure misused("--fail-if=" + text + ": SCORE.POOL<NUMBER is accepted (or <=, >, >=), e.g. vmaf.p5<90",
                          kMisused);
    if (relation == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == relation) throw misused;
    const size_t number = relation + (relation + 1 < text.size() && text[relation + 1] == '=' ? 2 : 1);
    condition.score = text.substr(0, dot);
    condition.pool = text.substr(dot + 1, relation - dot - 1);
    condition.relation = text.substr(relation, number - relation);
    char* end = nullptr;
    condition.limit = std::strtod(text.c_str() + number, &end);
    if (end == text.c_str() + number || *end != '\0') throw misused;
    constexpr std::array kPools = {"mean", "harmonic_mean", "min", "max", "p1", "p5", "p10", "p50", "stddev"};
    if (std::find(kPools.begin(), kPools.end(), condition.pool) == kPools.end())
        throw Failure("--fail-if=" + text + ": " + condition.pool +
                          " is no way of pooling; mean, harmonic_mean, min, max, p1, p5, p10, p50 and stddev are",
                      kMisused);
    return condition;
}

std::optional<std::string> judge(const Condition& condition, const Json& log, const std::string& name) {
    const auto& pooled = log["pooled_metrics"];
    if (!pooled.contains(condition.score) || !pooled[condition.score].contains(condition.pool)) {
        std::string known;
        for (const auto& [score, pools] : pooled.items()) known += (known.empty() ? "" : ", ") + score;
        throw Failure("--fail-if=" + condition.text + ": " + name + " has no such value; its scores are " + known,
                      kMisused);
    }
    const auto& value = pooled[condition.score][condition.pool];
    if (!value.is_number())
        return name + ": " + condition.score + "." + condition.pool + " is no number (" + condition.text + ")";
    const double score = value.get<double>();
    const bool below = condition.relation[0] == '<', or_equal = condition.relation.size() > 1;
    const bool is_met =
        (or_equal && score == condition.limit) || (below ? score < condition.limit : score > condition.limit);
    if (!is_met) return std::nullopt;
    return name + ": " + condition.score + "." + condition.pool + " is " + number_text(value) + " (" + condition.text +
           ")";
}

} // namespace qc::cli
