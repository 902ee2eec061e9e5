// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/feature_name.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

namespace qc {

namespace {

constexpr int kGeneralDigits = 6; ///< of printf's %g without a precision

bool starts_a_number(std::string_view text) {
    if (!text.empty() && text.front() == '-') text.remove_prefix(1);
    return !text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9'));
}

/// from_chars takes no '+'; and it takes "nan" and "inf", which are no numbers here.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
    if (!text.empty() && text.front() == '+') {
        text.remove_prefix(1);
        if (!text.empty() && text.front() == '-') return std::nullopt;
    }
    if (!starts_a_number(text)) return std::nullopt;
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

std::string option_value_text(const OptionSpec& spec, double value) {
    if (spec.type == OptionType::kChoice) return std::string(spec.choices[static_cast<size_t>(value)]);
    return spec.type == OptionType::kInt ? std::to_string(static_cast<int>(value)) : general_text(value);
}

} // namespace

std::optional<double> parse_double(std::string_view text) {
    return parse_number<double>(text);
}

std::string general_text(double value) {
    char buffer[64];
    const auto [end, error] =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, kGeneralDigits);
    return error == std::errc{} ? std::string(buffer, end) : std::string();
}

std::string normalised_number(std::string_view text) {
    std::optional<float> single = parse_number<float>(text);
    if (!single) {
        // Too small for single precision (from_chars refuses, C's strtof rounds to 0) or no number at all.
        const std::optional<double> wide = parse_double(text);
        if (!wide || std::abs(*wide) > 1.0) return std::string(text);
        single = static_cast<float>(*wide);
    }
    return general_text(static_cast<double>(*single));
}

std::string option_suffix(const OptionValues& options) {
    std::vector<size_t> changed;
    for (size_t i = 0; i < options.specs().size(); ++i)
        if (options.specs()[i].in_name() && !options.is_default(i)) changed.push_back(i);
    std::sort(changed.begin(), changed.end(),
              [&](size_t a, size_t b) { return options.specs()[a].name < options.specs()[b].name; });

    std::string suffix;
    for (size_t i : changed) {
        const OptionSpec& spec = options.specs()[i];
        suffix += '_';
        suffix += spec.alias;
        if (spec.type != OptionType::kBool) suffix += '_' + option_value_text(spec, options.number(i));
    }
    return suffix;
}

std::string instance_suffix(const MetricDescriptor& metric, const OptionValues& options) {
    return metric.templated_names ? option_suffix(options) : std::string();
}

std::string stored_name(const MetricDescriptor& metric, const OutputSpec& output, const OptionValues& options) {
    const std::string suffix = output.plain_name ? std::string() : instance_suffix(metric, options);
    return suffix.empty() ? std::string(output.name) : std::string(output.alias) + suffix;
}

std::string log_name(const MetricDescriptor& metric, const OutputSpec& output, const OptionValues& options) {
    return std::string(output.alias) + (output.plain_name ? std::string() : instance_suffix(metric, options));
}

std::string metadata_key(std::string_view log_name) {
    std::string key(log_name);
    for (char& c : key)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return key;
}

} // namespace qc
