// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "summary.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "failure.hpp"
#include "files.hpp"
#include "scores.hpp"

namespace qc::cli {

namespace {

constexpr const char* kShownPools[] = {"mean", "harmonic_mean", "min", "max", "p5"};
constexpr size_t kColumn = 14;

std::string padded(const std::string& text, size_t width, bool to_the_right = true) {
    const std::string space(text.size() < width ? width - text.size() : 0, ' ');
    return to_the_right ? space + text : text + space;
}

std::string number_text(const nlohmann::json& value) {
    return value.is_number() ? fixed(value.get<double>(), 6) : "-";
}

bool is_model(const nlohmann::json& log, const std::string& score) {
    if (!log.contains("models")) return false;
    const auto& models = log["models"];
    return std::any_of(models.begin(), models.end(), [&](const auto& each) { return each.value("name", "") == score; });
}

/// Scores that a metric has for the whole video.
std::string stream_lines_of(const nlohmann::json& log, size_t width) {
    std::string text;
    const auto found = log.find("aggregate_metrics");
    if (found == log.end() || !found->is_object()) return text;
    for (const auto& [score, value] : found->items())
        text += padded(score, width, false) + padded(number_text(value), kColumn) + "  of the whole video\n";
    return text;
}

std::string rows_of(const nlohmann::json& log, bool everything, size_t width) {
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

namespace {

/// A log without its frames: of long videos they are nearly all of it, and a parser of JSON takes its time over them.
class FramesLeftOut {
public:
    /// @return the text, but for what the array "frames" of the outermost object holds
    std::string of(std::string_view text) {
        for (const char c : text) {
            if (is_string_)
                take_of_string(c);
            else
                take(c);
        }
        return std::move(rest_);
    }

private:
    void take_of_string(char c) {
        keep(c);
        if (is_escaped_) {
            is_escaped_ = false;
        } else if (c == '\\') {
            is_escaped_ = true;
        } else if (c == '"') {
            is_string_ = false;
        } else if (depth_ == 1) {
            latest_ += c;
        }
    }

    void take(char c) {
        if (c == ']' || c == '}') --depth_;
        if (depth_ == 1 && is_in_frames_) is_in_frames_ = false;
        keep(c);
        if (c == '[' && depth_ == 1 && latest_ == "frames") is_in_frames_ = true;
        if (c == '[' || c == '{') ++depth_;
        if (c == '"') {
            is_string_ = true;
            latest_.clear();
        }
    }

    void keep(char c) {
        if (!is_in_frames_) rest_ += c;
    }

    std::string rest_, latest_; ///< the latest string of the outermost object: a key, where a value begins
    int depth_ = 0;
    bool is_string_ = false, is_escaped_ = false, is_in_frames_ = false;
};

} // namespace

nlohmann::json read_summary(const std::string& log) {
    auto parsed = nlohmann::json::parse(FramesLeftOut().of(read_whole(log)), nullptr, false);
    if (parsed.is_discarded() || !parsed.contains("pooled_metrics")) throw Failure(log + " is no log of scores");
    return parsed;
}

std::vector<std::string> log_names(const std::string& log, size_t renditions) {
    std::vector<std::string> names{log};
    const size_t dot = log.rfind('.'), slash = log.rfind('/');
    const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
    for (size_t k = 1; k < renditions; ++k) {
        const std::string number = ".rendition" + std::to_string(k);
        names.push_back(has_ending ? log.substr(0, dot) + number + log.substr(dot) : log + number);
    }
    return names;
}

std::string table_of(const std::vector<nlohmann::json>& logs, bool everything) {
    std::string text;
    size_t width = 8;
    for (const auto& log : logs)
        for (const auto& [score, pools] : log["pooled_metrics"].items()) width = std::max(width, score.size());
    for (size_t k = 0; k < logs.size(); ++k) {
        const auto& pairing = logs[k].value("pairing", nlohmann::json::object());
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

std::optional<std::string> judge(const Condition& condition, const nlohmann::json& log, const std::string& name) {
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
