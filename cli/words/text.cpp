// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "words/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "words/failure.hpp"

namespace qc::cli {

namespace {

bool is_plain(char c) {
    constexpr std::string_view kOthers = "-_./:=,+@%^";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
}

std::string quoted(const std::string& argument) {
    if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) return argument;
    std::string text = "'";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

} // namespace

std::string fixed(double value, int decimals) {
    if (!std::isfinite(value)) return "-";
    std::array<char, 400> text{}; // the largest double has 309 digits
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
}

std::string signed_text(double value, int decimals) {
    return (value > 0 ? "+" : "") + fixed(value, decimals);
}

std::string percent_text(double share) {
    return fixed(100 * share, 1) + " %";
}

std::vector<std::string> split_names(const std::string& text, char separator, const char* option) {
    std::vector<std::string> names;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(separator, at), text.size());
        names.push_back(text.substr(at, end - at));
        if (names.back().empty())
            throw Failure(std::string(option) + "=" + text + ": one of the names is empty; names joined by '" +
                              separator + "' are accepted",
                          kMisused);
        at = end + 1;
    }
    return names;
}

std::string shell_text(const std::vector<std::string>& arguments) {
    std::string text;
    for (const std::string& each : arguments) text += (text.empty() ? "" : " ") + quoted(each);
    return text;
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::vector<std::string> arguments_of(const std::string& shell_text) {
    std::vector<std::string> arguments;
    bool is_quoted = false, has_begun = false;
    for (size_t i = 0; i < shell_text.size(); ++i) {
        const char c = shell_text[i];
        if (!is_quoted && c == ' ') {
            has_begun = false;
            continue;
        }
        if (!std::exchange(has_begun, true)) arguments.emplace_back();
        if (c == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && c == '\\' && i + 1 < shell_text.size())
            arguments.back() += shell_text[++i];
        else
            arguments.back() += c;
    }
    return is_quoted ? std::vector<std::string>() : arguments;
}

} // namespace qc::cli
