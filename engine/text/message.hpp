// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pieces of messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contract/status.hpp"

namespace qc {

/// Text in double quotes, fit for one line: control characters become '?', what is too long is cut.
inline std::string in_quotes(std::string_view text) {
    constexpr size_t kLongest = 300;
    return "\"" + one_line(std::string(text.substr(0, kLongest))) + (text.size() > kLongest ? "...\"" : "\"");
}

/// "a, b, c"
inline std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ") {
    std::string text;
    for (const std::string& word : words) {
        if (!text.empty()) text += separator;
        text += word;
    }
    return text;
}

} // namespace qc
