// SPDX-License-Identifier: BSD-2-Clause-Patent
// Foreign text inside messages.
#pragma once

#include <string>
#include <string_view>

namespace qc {

/// Text in double quotes, fit for one line: control characters become '?', what is too long is cut.
inline std::string in_quotes(std::string_view text) {
    constexpr size_t kLongest = 300;
    std::string safe = "\"";
    for (char c : text.substr(0, kLongest)) safe += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    return safe + (text.size() > kLongest ? "...\"" : "\"");
}

} // namespace qc
