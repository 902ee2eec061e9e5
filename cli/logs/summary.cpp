// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "logs/summary.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "logs/scores.hpp"
#include "words/failure.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

/// What has no upper end: a log in JSON, which has no word for infinity, says null of it.
bool is_unbounded(const std::string& score) {
    constexpr std::string_view kBeginnings[] = {"psnr", "apsnr", "float_psnr", "xpsnr", "axpsnr", "ciede"};
    return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                       [&](std::string_view each) { return score.starts_with(each); });
}

/// @return NaN for what is no number. A deviation from infinity is none.
double value_of(const std::string& score, const std::string& pool, const Json& value) {
    if (value.is_number()) return value.get<double>();
    return is_unbounded(score) && pool != "stddev" ? std::numeric_limits<double>::infinity()
                                                   : std::numeric_limits<double>::quiet_NaN();
}

std::string number_text(double value) {
    return std::isinf(value) ? "inf" : fixed(value, 6);
}

} // namespace

double pooled_of(const Json& log, const std::string& score, const char* pool) {
    const Json& pools = member(member(log, "pooled_metrics"), score.c_str());
    return pools.contains(pool) ? value_of(score, pool, pools[pool]) : std::numeric_limits<double>::quiet_NaN();
}

double without_word(const std::string& score) {
    return value_of(score, "", Json());
}

double whole_value_of(const Json& log, const std::string& score) {
    return value_of(score, "", member(member(log, "aggregate_metrics"), score.c_str()));
}

Condition parse_condition(const std::string& text) {
    Condition condition;
    condition.text = text;
    const size_t relation = text.find_first_of("<>"), dot = text.substr(0, relation).rfind('.');
    const Failure misused(
        "--fail-if=" + text +
            ": SCORE.POOL<NUMBER is accepted (or <=, >, >=), e.g. vmaf.p5<90, or SCORE<NUMBER for one "
            "of the whole video, e.g. axpsnr_y<33",
        kMisused);
    if (relation == std::string::npos || relation == 0 || dot == 0 || dot + 1 == relation) throw misused;
    const size_t number = relation + (relation + 1 < text.size() && text[relation + 1] == '=' ? 2 : 1);
    condition.score = text.substr(0, std::min(dot, relation));
    if (dot != std::string::npos) condition.pool = text.substr(dot + 1, relation - dot - 1);
    condition.relation = text.substr(relation, number - relation);
    // Whatever else counts as a number elsewhere, such as nan or 0x5A: a gate that always opens is none.
    const auto [end, error] = std::from_chars(text.data() + number, text.data() + text.size(), condition.limit);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(condition.limit)) throw misused;
    constexpr std::array kPools = {"mean", "harmonic_mean", "min", "max", "p1", "p5", "p10", "p50", "stddev"};
    if (!condition.pool.empty() && std::find(kPools.begin(), kPools.end(), condition.pool) == kPools.end())
        throw Failure("--fail-if=" + text + ": " + condition.pool +
                          " is no way of pooling; mean, harmonic_mean, min, max, p1, p5, p10, p50 and stddev are",
                      kMisused);
    return condition;
}

void require_score(const Condition& condition, const Names& names, const std::string& whose) {
    const auto has = [&](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), condition.score) != list.end();
    };
    const std::vector<std::string>& fitting = condition.pool.empty() ? names.whole : names.pooled;
    if (has(fitting)) return;
    std::string known;
    for (const std::string& each : fitting) known += (known.empty() ? "" : ", ") + each;
    const std::string start = "--fail-if=" + condition.text + ": ";
    if (condition.pool.empty() && has(names.pooled))
        throw Failure(start + condition.score + " is a score of each frame, and one of its pools is accepted, e.g. " +
                          condition.score + ".mean",
                      kMisused);
    if (has(names.whole))
        throw Failure(start + condition.score + " is one value of the whole video: " + condition.score +
                          condition.relation + "NUMBER is accepted",
                      kMisused);
    throw Failure(
        start + whose + " has no such value; its scores are " + (known.empty() ? "none of that kind" : known) +
            (names.whole.empty() || condition.pool.empty() ? "" : ", and of the whole video some without a pool"),
        kMisused);
}

std::optional<std::string> judge(const Condition& condition, const Json& log, const std::string& name) {
    Names names;
    const Json& pooled = member(log, "pooled_metrics");
    const Json& whole = member(log, "aggregate_metrics");
    for (const auto& [score, pools] : pooled.items()) names.pooled.push_back(score);
    if (whole.is_object())
        for (const auto& [score, value] : whole.items()) names.whole.push_back(score);
    require_score(condition, names, name);
    const Json& value = condition.pool.empty() ? member(whole, condition.score.c_str())
                                               : member(pooled[condition.score], condition.pool.c_str());
    const std::string what = condition.score + (condition.pool.empty() ? "" : "." + condition.pool);
    const double score = value_of(condition.score, condition.pool, value);
    if (std::isnan(score)) return name + ": " + what + " is no number (" + condition.text + ")";
    const bool below = condition.relation[0] == '<', or_equal = condition.relation.size() > 1;
    const bool is_met =
        (or_equal && score == condition.limit) || (below ? score < condition.limit : score > condition.limit);
    if (!is_met) return std::nullopt;
    return name + ": " + what + " is " + number_text(score) + " (" + condition.text + ")";
}

} // namespace qc::cli
