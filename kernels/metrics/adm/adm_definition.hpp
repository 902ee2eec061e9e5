// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM, coefficient by coefficient, as its definition reads: 64-bit arithmetic, the narrowings where libvmaf has
// them. The readable reference computes with these; adm_math.hpp has the same values from fewer and narrower operations
// and is tested against them. Host only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "families/detail_loss/detail_loss_level.hpp"

namespace qc::adm::definition {

using namespace detail_loss; // levels, bands

/// x / 2^shift, rounded half up.
template <typename Integer>
Integer rounded(Integer x, int shift) {
    return shift == 0 ? x : (x + (Integer{1} << (shift - 1))) >> shift;
}

/// What of the distorted coefficient t is the detail of the reference's coefficient o: o times their ratio, from 0 to 1
/// in Q15. `enhanced`: the orientation is the same, so that the detail may have been amplified, up to the gain limit.
/// Level 0 keeps 16 bits, the `deep` levels 32.
inline int64_t restored_part(int64_t o, int64_t t, bool enhanced, double gain_limit, bool deep) {
    int64_t ratio = 32768;
    if (o != 0) {
        int64_t m = o < 0 ? -o : o;
        int shift = 0;
        if (m >= 32768) {
            while (m >> shift >= 32768) shift++; // leaves 15 bits
            m = rounded(m, shift);
        }
        const int64_t reciprocal = (int64_t{1} << 30) / m;
        const int64_t product = reciprocal * t * (o < 0 ? -1 : 1);
        ratio = std::clamp<int64_t>((product + (int64_t{1} << (14 + shift))) >> (15 + shift), 0, 32768);
    }
    int64_t r = (ratio * o + 16384) >> 15;
    if (enhanced && ratio > 0) {
        if (o > 0) r = static_cast<int64_t>(std::min(static_cast<double>(r) * gain_limit, static_cast<double>(t)));
        if (o < 0) r = static_cast<int64_t>(std::max(static_cast<double>(r) * gain_limit, static_cast<double>(t)));
    }
    return deep ? static_cast<int32_t>(r) : static_cast<int16_t>(r);
}

/// What a masker coefficient adds to the threshold: at each of its eight neighbours, and at its own place.
struct Terms {
    int32_t neighbour, centre;
};

/// A thirtieth and a fifteenth of the weighted magnitude, in the formats of the level.
inline Terms masker_terms(uint32_t factor, int64_t x, int level, int band) {
    const int64_t product = static_cast<int64_t>(factor) * x;
    if (level == 0) {
        const int64_t c = static_cast<int16_t>(band == kBandD ? (product + 65535) >> 17 : (product + 16384) >> 15);
        const int64_t size = std::abs(c);
        return {static_cast<int16_t>((4369 * size + 2048) >> 12), static_cast<int16_t>((8738 * size + 2048) >> 12)};
    }
    const int64_t size = std::abs(int64_t{static_cast<int32_t>((product + (1 << 27)) >> 28)});
    return {static_cast<int32_t>((143165577 * size - (int64_t{1} << 31)) >> 32),
            static_cast<int32_t>((286331153 * size - (int64_t{1} << 31)) >> 32)};
}

/// The weighted magnitude of x.
inline uint32_t weighted_size(uint32_t factor, int64_t x, int level) {
    const int64_t product = static_cast<int64_t>(factor) * x;
    if (level == 0) return static_cast<uint32_t>(std::abs(product));
    return static_cast<uint32_t>(std::abs(int64_t{static_cast<int32_t>((product + (1 << 27)) >> 28)}));
}

/// What it exceeds the threshold by.
inline int32_t excess_of(uint32_t size, int32_t threshold, int level, int band) {
    const int shift = level > 0 ? 0 : band == kBandD ? 12 : 10;
    return std::max(static_cast<int32_t>(size - (static_cast<uint32_t>(threshold) << shift)), 0);
}

/// Cube of what the weighted magnitude of x exceeds the threshold by.
inline int64_t energy(uint32_t factor, int64_t x, int32_t threshold, int level, int band, int shift) {
    const int32_t excess = excess_of(weighted_size(factor, x, level), threshold, level, band);
    const int square_shift = level == 0 && band != kBandD ? 29 : 30;
    const int32_t square = static_cast<int32_t>(rounded(static_cast<int64_t>(excess) * excess, square_shift));
    return rounded(static_cast<int64_t>(square) * excess, shift);
}

} // namespace qc::adm::definition
