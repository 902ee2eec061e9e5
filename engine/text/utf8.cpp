// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "text/utf8.hpp"

#include <cstdint>

namespace qc {

namespace {

/// Bytes of the character that the text begins with, 0 if it begins with none. As in RFC 3629: shortest forms only, no
/// surrogates, nothing above U+10FFFF.
size_t character_size(std::string_view text) {
    const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<unsigned char>(text[at])); };
    const uint32_t lead = byte(0);
    const size_t size = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
    if (size <= 1) return size;
    if (text.size() < size) return 0;
    uint32_t value = lead & (0x7fU >> size);
    for (size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return 0;
        value = value << 6 | (byte(i) & 0x3fU);
    }
    constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
    return value >= kSmallest[size] && value <= 0x10ffff && !is_surrogate ? size : 0;
}

} // namespace

std::string valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        const size_t size = character_size(text);
        valid += size > 0 ? text.substr(0, size) : std::string_view("\xef\xbf\xbd");
        text.remove_prefix(size > 0 ? size : 1);
    }
    return valid;
}

} // namespace qc
