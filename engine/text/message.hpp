// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pieces of messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qc {

/// What a terminal or a log would not take for text becomes '?'.
inline std::string one_line(std::string_view text) {
    std::string safe(text);
    for (char& c : safe)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return safe;
}

/// Text in double quotes, fit for one line; what is too long is cut.
inline std::string in_quotes(std::string_view text) {
    constexpr size_t kLongest = 300;
    return "\"" + one_line(text.substr(0, kLongest)) + (text.size() > kLongest ? "...\"" : "\"");
}

/// "a, b, c"
inline std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

} // namespace qc
