// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/graph_text.hpp"

#include <algorithm>
#include <utility>

namespace qc::cli {
namespace {

std::string escaped(std::string_view text, std::string_view special) {
    std::string result;
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

/// A value for one of FFmpeg's parsers, which take blanks off either end.
std::string for_parser(std::string_view text, std::string_view special) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
    const size_t last = text.find_last_not_of(kBlanks) + 1; // 0, if there is nothing else
    if (first == text.size()) return escaped(text, kBlanks);
    return escaped(text.substr(0, first), kBlanks) + escaped(text.substr(first, last - first), special) +
           escaped(text.substr(last), kBlanks);
}

} // namespace

GraphText GraphText::value(std::string_view text) {
    return filters(for_parser(for_parser(text, "\\':"), "\\'[],;"));
}

GraphText GraphText::number(size_t number) {
    return filters(std::to_string(number));
}

GraphText GraphText::filters(std::string text) {
    GraphText result;
    result.text_ = std::move(text);
    return result;
}

} // namespace qc::cli
