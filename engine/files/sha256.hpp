// SPDX-License-Identifier: BSD-2-Clause-Patent
// SHA-256 (FIPS 180-4): tells one model, or one log, from every other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace qc {

class Sha256 {
public:
    void add(std::string_view bytes);
    /// 64 digits of all that was added; nothing may be added then.
    std::string finish();

private:
    void take_block();

    std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<uint8_t, 64> block_{};
    size_t filled_ = 0;
    uint64_t bytes_ = 0;
};

std::string sha256_of(std::string_view bytes);

} // namespace qc
