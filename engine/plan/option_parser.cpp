// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/option_parser.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "text/message.hpp"
#include "text/number.hpp"

namespace qc {

namespace {

std::string option_list(const MetricDescriptor& metric) {
    if (metric.options.empty()) return "it has none";
    std::string list = "it has ";
    for (size_t i = 0; i < metric.options.size(); ++i) {
        if (i > 0) list += ", ";
        list += metric.options[i].name;
    }
    return list;
}

std::string range_text(const OptionSpec& spec) {
    switch (spec.type) {
    case OptionType::kBool:
        return "true or false";
    case OptionType::kInt:
        return "a whole number from " + general_text(spec.minimum) + " to " + general_text(spec.maximum);
    case OptionType::kChoice: {
        std::string list;
        for (const std::string_view choice : spec.choices) list += (list.empty() ? "" : " or ") + std::string(choice);
        return list;
    }
    case OptionType::kText:
        return "text";
    case OptionType::kDouble:
        break;
    }
    return "a number from " + general_text(spec.minimum) + " to " + general_text(spec.maximum);
}

std::optional<double> parse_value(const OptionSpec& spec, std::string_view text) {
    if (spec.type == OptionType::kBool) {
        if (text == "true") return 1.0;
        if (text == "false") return 0.0;
        return std::nullopt;
    }
    if (spec.type == OptionType::kChoice) {
        const auto found = std::find(spec.choices.begin(), spec.choices.end(), text);
        if (found == spec.choices.end()) return std::nullopt;
        return static_cast<double>(found - spec.choices.begin());
    }
    const std::optional<double> value = parse_double(normalised_number(text));
    if (!value || *value < spec.minimum || *value > spec.maximum) return std::nullopt;
    if (spec.type == OptionType::kInt && *value != std::floor(*value)) return std::nullopt;
    return value;
}

/// Position of the first of `characters` that is neither escaped nor quoted, or the text's size.
size_t find_unescaped(std::string_view text, std::string_view characters, size_t from) {
    bool quoted = false;
    for (size_t i = from; i < text.size(); ++i) {
        if (text[i] == '\'') {
            quoted = !quoted;
        } else if (!quoted && text[i] == '\\') {
            ++i;
        } else if (!quoted && characters.find(text[i]) != std::string_view::npos) {
            return i;
        }
    }
    return text.size();
}

} // namespace

Status set_option(const MetricDescriptor& metric, std::string_view name, std::string_view text, UnknownOption unknown,
                  OptionValues* options) {
    for (size_t i = 0; i < metric.options.size(); ++i) {
        const OptionSpec& spec = metric.options[i];
        if (spec.name != name) continue;
        if (spec.type == OptionType::kText) {
            options->set_text(i, std::string(text));
            return {};
        }
        const std::optional<double> value = parse_value(spec, text);
        if (!value) {
            return invalid("option " + std::string(name) + " of metric " + std::string(metric.name) + ": " +
                           in_quotes(text) + " is not accepted, it takes " + range_text(spec));
        }
        options->set(i, *value);
        return {};
    }
    if (unknown == UnknownOption::kIgnore) return {};
    return invalid("metric " + std::string(metric.name) + " has no option " + in_quotes(name) + ": " +
                   option_list(metric));
}

std::vector<std::string> split_escaped(std::string_view text, std::string_view separators) {
    std::vector<std::string> pieces;
    size_t begin = 0;
    while (true) {
        const size_t end = find_unescaped(text, separators, begin);
        pieces.emplace_back(text.substr(begin, end - begin));
        if (end == text.size()) return pieces;
        begin = end + 1;
    }
}

std::string unescape(std::string_view text) {
    std::string plain;
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\'') {
            quoted = !quoted;
        } else if (!quoted && text[i] == '\\' && i + 1 < text.size()) {
            plain += text[++i];
        } else {
            plain += text[i];
        }
    }
    return plain;
}

std::vector<KeyValue> parse_key_values(std::string_view text) {
    std::vector<KeyValue> pairs;
    for (const std::string& piece : split_escaped(text, ":")) {
        const size_t equals = find_unescaped(piece, "=", 0);
        KeyValue pair;
        pair.key = unescape(std::string_view(piece).substr(0, equals));
        pair.has_value = equals < piece.size();
        if (pair.has_value) pair.value = unescape(std::string_view(piece).substr(equals + 1));
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

} // namespace qc
