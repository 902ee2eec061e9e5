// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/alert.hpp"

#include <cmath>
#include <optional>

namespace qc::run {

namespace {

constexpr double kRounding = 1e-6; // seconds by which sums of frames' durations may be off
constexpr int kMostDigits = 15;    // of a number: so many a double holds exactly

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

std::optional<double> duration_of(std::string_view text) {
    const std::optional<double> number = take_number(text);
    if (!number || *number < 0.0) return std::nullopt;
    if (text == "ms") return *number / 1000.0;
    return text.empty() || text == "s" ? number : std::nullopt;
}

bool meets(const Condition& condition, double value) {
    switch (condition.comparison) {
    case Comparison::kBelow:
        return value < condition.threshold;
    case Comparison::kNotAbove:
        return value <= condition.threshold;
    case Comparison::kAbove:
        return value > condition.threshold;
    default:
        return value >= condition.threshold;
    }
}

double worse_of(const Condition& condition, double a, double b) {
    const bool is_low = condition.comparison == Comparison::kBelow || condition.comparison == Comparison::kNotAbove;
    return is_low ? std::fmin(a, b) : std::fmax(a, b);
}

} // namespace

const char* parse_condition(std::string_view text, Condition& condition) {
    const size_t comparison = text.find_first_of("<>");
    if (text.empty() || comparison == 0) return "a score is missing";
    if (comparison == std::string_view::npos) return "a comparison (< <= > >=) is missing";
    if (text.size() >= kConditionBytes) return "it is too long";
    std::string_view rest = text.substr(comparison);
    condition.score = text.substr(0, comparison);
    condition.comparison = take_comparison(rest);
    const std::optional<double> threshold = take_number(rest);
    if (!threshold) return "there is no number behind the comparison";
    condition.threshold = *threshold;
    condition.name = text.substr(0, text.size() - rest.size());
    condition.duration = 0.0;
    if (rest.empty()) return nullptr;
    const std::optional<double> duration =
        starts_with_one_of(rest, ":@") ? duration_of(rest.substr(1)) : std::optional<double>();
    if (!duration) return "the duration is none";
    condition.duration = *duration;
    return nullptr;
}

AlertChange Alert::update(double value, double time) {
    if (std::isnan(value)) return AlertChange::kNone;
    if (!meets(condition, value)) {
        const bool was_active = is_active;
        is_met = is_active = false;
        return was_active ? AlertChange::kEnds : AlertChange::kNone;
    }
    const double gap = time - latest;
    if (!is_met || (!is_active && (gap < 0.0 || gap > condition.duration + kRounding))) {
        since = time;
        worst = value;
    }
    is_met = true;
    latest = time;
    worst = worse_of(condition, worst, value);
    if (is_active || time - since < condition.duration - kRounding) return AlertChange::kNone;
    is_active = true;
    ++times;
    return AlertChange::kBegins;
}

} // namespace qc::run
