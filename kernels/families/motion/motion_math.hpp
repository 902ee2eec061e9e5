// SPDX-License-Identifier: BSD-2-Clause-Patent
// The low pass of integer motion: five symmetric taps, vertically and then horizontally, each step rounded to an
// integer by floor(x + 1/2). The taps are libvmaf's (a Gaussian in units of 1/65536).
//
// "outer", "inner" and "centre" below are the samples by tap: outer = first + last, inner = second + fourth.
#pragma once

#include "contract/types.hpp"

namespace qc::motion {

/// Words with weights. Without one there is the first alone, of magnitudes that count once each. Magnitudes have 16
/// bits and weights 8, so that no sum of 2^30 samples reaches 2^54.
enum WeightedWord { kSad, kWeights, kWeightedWords };

constexpr int kReach = 2; ///< samples the filter needs on either side
constexpr int32_t kOuterTap = 3571, kInnerTap = 16004, kCentreTap = 26386;
static_assert(2 * kOuterTap + 2 * kInnerTap + kCentreTap == 65536);

/// Filters differences of samples of less than 16 bits and scales the result to 16 bits.
/// 32767 * 65536 plus the rounding still fits 32 bits.
QC_HD int32_t low_pass_to_16_bits(int32_t outer, int32_t inner, int32_t centre, int depth) {
    const int32_t sum = kOuterTap * outer + kInnerTap * inner + kCentreTap * centre;
    return (sum + (1 << (depth - 1))) >> depth;
}

/// Filters values of -65535..65535. The sum has 33 bits and a sign, so it is made of two: every tap is split into
/// 256 * high + low, and (256 * a + b) >> 16 equals (a + (b >> 8)) >> 8 where shifts are floors.
QC_HD int32_t low_pass(int32_t outer, int32_t inner, int32_t centre) {
    const int32_t high = (kOuterTap / 256) * outer + (kInnerTap / 256) * inner + (kCentreTap / 256) * centre;
    const int32_t low = (kOuterTap % 256) * outer + (kInnerTap % 256) * inner + (kCentreTap % 256) * centre;
    return (high + ((low + 32768) >> 8)) >> 8;
}

} // namespace qc::motion
