// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/feature_name.hpp"

#include <algorithm>
#include <vector>

#include "text/number.hpp"

namespace qc {

namespace {

std::string option_value_text(const OptionSpec& spec, double value) {
    if (spec.type == OptionType::kChoice) return std::string(spec.choices[static_cast<size_t>(value)]);
    return spec.type == OptionType::kInt ? std::to_string(static_cast<int>(value)) : general_text(value);
}

} // namespace

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
