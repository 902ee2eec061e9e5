// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/alert.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "scores/pooling.hpp"

namespace qc::run {

namespace {

constexpr double kRounding = 1e-6;    // seconds by which sums of frames' durations may be off
constexpr int kMostDigits = 15;       // of a number: so many a double holds exactly
constexpr size_t kMostScores = 65536; // of a stretch of time, whatever the time stamps say

bool starts_with_one_of(std::string_view text, std::string_view characters) {
    return !text.empty() && characters.find(text.front()) != std::string_view::npos;
}

/// Takes a decimal number from the beginning of the text, in every locale the same.
std::optional<double> take_number(std::string_view& text) {
    const bool is_negative = starts_with_one_of(text, "-");
    if (starts_with_one_of(text, "+-")) text.remove_prefix(1);
    double digits = 0.0, scale = 1.0;
    int count = 0;
    for (bool is_fraction = false; starts_with_one_of(text, is_fraction ? "0123456789" : "0123456789.");
         text.remove_prefix(1)) {
        if (text.front() == '.') {
            is_fraction = true;
            continue;
        }
        digits = digits * 10.0 + (text.front() - '0');
        if (is_fraction) scale *= 10.0;
        ++count;
    }
    if (count == 0 || count > kMostDigits) return std::nullopt;
    return (is_negative ? -digits : digits) / scale;
}

Comparison take_comparison(std::string_view& text) {
    const bool is_below = text.front() == '<';
    text.remove_prefix(1);
    const bool or_equal = starts_with_one_of(text, "=");
    if (or_equal) text.remove_prefix(1);
    if (is_below) return or_equal ? Comparison::kNotAbove : Comparison::kBelow;
    return or_equal ? Comparison::kNotBelow : Comparison::kAbove;
}

/// Takes a duration with its unit. @return nothing: there is none, or something else behind it
std::optional<double> take_duration(std::string_view& text) {
    if (!starts_with_one_of(text, ":@")) return std::nullopt;
    text.remove_prefix(1);
    std::optional<double> number = take_number(text);
    if (!number || *number < 0.0) return std::nullopt;
    if (text.starts_with("ms")) *number /= 1000.0;
    text.remove_prefix(text.starts_with("ms") ? 2 : text.starts_with("s") ? 1 : 0);
    return number;
}

bool is_low(const Limit& limit) {
    return limit.comparison == Comparison::kBelow || limit.comparison == Comparison::kNotAbove;
}

/// Takes a comparison, a number and a duration. @return nullptr, or what is wrong
const char* take_limit(std::string_view& text, Limit& limit) {
    limit.comparison = take_comparison(text);
    const std::optional<double> threshold = take_number(text);
    if (!threshold) return "there is no number behind the comparison";
    limit.threshold = *threshold;
    limit.duration = 0.0;
    if (text.empty() || starts_with_one_of(text, "<>")) return nullptr;
    const std::optional<double> duration = take_duration(text);
    if (!duration || !(text.empty() || starts_with_one_of(text, "<>"))) return "the duration is none";
    limit.duration = *duration;
    return nullptr;
}

/// "mean(vmaf)" or "vmaf". @return nullptr, or what is wrong
const char* read_subject(std::string_view text, Condition& condition) {
    static constexpr std::pair<std::string_view, Statistic> kWords[] = {{"mean", Statistic::kMean},
                                                                        {"min", Statistic::kMin},
                                                                        {"max", Statistic::kMax},
                                                                        {"p5", Statistic::kP5},
                                                                        {"p95", Statistic::kP95}};
    condition.statistic = Statistic::kFrame;
    condition.score = text;
    const size_t bracket = text.find('(');
    if (bracket == std::string_view::npos) return nullptr;
    const std::string_view word = text.substr(0, bracket);
    const auto* const found =
        std::find_if(std::begin(kWords), std::end(kWords), [&](const auto& each) { return each.first == word; });
    if (found == std::end(kWords)) return "of a stretch of time there are mean, min, max, p5 and p95";
    if (!text.ends_with(')')) return "a bracket is missing behind the score";
    condition.statistic = found->second;
    condition.score = text.substr(bracket + 1, text.size() - bracket - 2);
    return condition.score.empty() ? "a score is missing" : nullptr;
}

bool meets(const Limit& limit, double value) {
    switch (limit.comparison) {
    case Comparison::kBelow:
        return value < limit.threshold;
    case Comparison::kNotAbove:
        return value <= limit.threshold;
    case Comparison::kAbove:
        return value > limit.threshold;
    default:
        return value >= limit.threshold;
    }
}

double worse_of(const Limit& limit, double a, double b) {
    return is_low(limit) ? std::fmin(a, b) : std::fmax(a, b);
}

/// A name that says all, with the sign that needs no escape in a graph.
std::string whole_name(std::string_view text) {
    std::string name(text);
    std::replace(name.begin(), name.end(), ':', '@');
    return name;
}

} // namespace

const char* parse_condition(std::string_view text, Condition& condition) {
    const size_t comparison = text.find_first_of("<>");
    if (text.empty() || comparison == 0) return "a score is missing";
    if (comparison == std::string_view::npos) return "a comparison (< <= > >=) is missing";
    if (text.size() >= kConditionBytes) return "it is too long";
    const char* wrong = read_subject(text.substr(0, comparison), condition);
    if (wrong != nullptr) return wrong;
    std::string_view rest = text.substr(comparison);
    wrong = take_limit(rest, condition.begin);
    if (wrong != nullptr) return wrong;
    const bool is_of_frames = condition.statistic == Statistic::kFrame;
    if (!is_of_frames && condition.begin.duration <= 0.0)
        return "the length of the stretch of time is missing, such as @1s";
    if (!is_of_frames && condition.begin.duration > kLongestStretch) return "the stretch of time is longer than 300 s";
    condition.end.reset();
    condition.name = is_of_frames ? std::string(text.substr(0, text.find_first_of(":@"))) : whole_name(text);
    if (rest.empty()) return nullptr;
    condition.name = whole_name(text);
    Limit end;
    wrong = take_limit(rest, end);
    if (wrong != nullptr) return wrong;
    const double step = (end.threshold - condition.begin.threshold) * (is_low(condition.begin) ? 1.0 : -1.0);
    if (!rest.empty() || is_low(end) == is_low(condition.begin) || step < 0.0)
        return "its end has to be the other way and not within it, as in vmaf<80>85";
    condition.end = end;
    return nullptr;
}

bool Row::lasts(double time, double duration) {
    const double gap = time - latest_;
    is_new_ = !is_met_ || gap < 0.0 || gap > duration + kRounding;
    if (is_new_) since_ = time;
    is_met_ = true;
    latest_ = time;
    return time - since_ >= duration - kRounding;
}

bool RecentScores::add(double value, double time, double length) {
    if (!scores_.empty()) {
        const double gap = time - scores_.back().time;
        if (gap < 0.0 || gap > length + kRounding) scores_.clear();
    }
    if (scores_.empty()) first_ = time;
    while (!scores_.empty() && (scores_.front().time <= time - length + kRounding || scores_.size() >= kMostScores))
        scores_.pop_front();
    scores_.push_back({time, value});
    return time - first_ >= length - kRounding;
}

double RecentScores::pool(Statistic statistic) {
    if (statistic == Statistic::kP5 || statistic == Statistic::kP95) {
        values_.clear();
        for (const Score& each : scores_) values_.push_back(each.value);
        return percentile_of(values_, statistic == Statistic::kP5 ? 5.0 : 95.0);
    }
    RunningPool pool;
    for (const Score& each : scores_) pool.add(each.value);
    return statistic == Statistic::kMean ? pool.mean() : statistic == Statistic::kMin ? pool.minimum() : pool.maximum();
}

AlertChange Alert::begin(double time) {
    if (!meets(condition.begin, value)) {
        beginning_.break_off();
        return AlertChange::kNone;
    }
    const bool is_of_frames = condition.statistic == Statistic::kFrame;
    const bool lasts = beginning_.lasts(time, is_of_frames ? condition.begin.duration : 0.0);
    worst = beginning_.is_new() ? value : worse_of(condition.begin, worst, value);
    if (!lasts) return AlertChange::kNone;
    since = is_of_frames ? beginning_.since() : recent_.since();
    is_active = true;
    ending_.break_off();
    ++times;
    return AlertChange::kBegins;
}

AlertChange Alert::end(double time) {
    const bool ends = condition.end ? meets(*condition.end, value) : !meets(condition.begin, value);
    if (meets(condition.begin, value)) worst = worse_of(condition.begin, worst, value);
    if (!ends) ending_.break_off();
    if (!ends || !ending_.lasts(time, condition.end ? condition.end->duration : 0.0)) return AlertChange::kNone;
    is_active = false;
    beginning_.break_off();
    return AlertChange::kEnds;
}

AlertChange Alert::update(double score, double time) {
    if (std::isnan(score)) return AlertChange::kNone;
    value = score;
    if (condition.statistic != Statistic::kFrame) {
        if (!recent_.add(score, time, condition.begin.duration)) return AlertChange::kNone;
        value = recent_.pool(condition.statistic);
        if (std::isnan(value)) return AlertChange::kNone; // percentiles between infinities
    }
    return is_active ? end(time) : begin(time);
}

} // namespace qc::run
