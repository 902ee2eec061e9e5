// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of samples and of their squares. The samples stay integers: the 8-bit scale that libvmaf measures on is a power
// of two away.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc::float_moment {

/// The square as libvmaf has it, rounded to single precision. That matters above 12 bits only.
template <bool kFullRange>
QC_HD uint32_t rounded_square(uint32_t sample) {
    if constexpr (!kFullRange) return sample * sample;
    const float value = static_cast<float>(sample);
    return static_cast<uint32_t>(value * value); // at most 4294836224
}

template <typename Sum>
struct Sums {
    Sum first = 0, second = 0;

    template <bool kFullRange>
    QC_HD void add(uint32_t sample) {
        first += sample;
        second += rounded_square<kFullRange>(sample);
    }

    /// Four 8-bit samples.
    QC_HD void add_u8x4(uint32_t samples) {
#if defined(__CUDA_ARCH__)
        first = __dp4a(samples, 0x01010101u, static_cast<unsigned>(first));
        second = __dp4a(samples, samples, static_cast<unsigned>(second));
#else
        for (int shift = 0; shift < 32; shift += 8) add<false>(samples >> shift & 0xffu);
#endif
    }
};

// ---- with weights ---------------------------------------------------------------------------------------------------

/// Words with weights: sums of samples (reference, distorted), of the lower and of the upper 16 bits of their squares,
/// of the weights. With 2^30 samples none reaches 2^54.
enum WeightedWord { kLowSquares = 2, kHighSquares = 4, kSumOfWeights = 6, kWeightedWords };

/// Adds what a place has, as often as its weight says.
template <bool kFullRange>
QC_HD void add_weighted(uint32_t reference, uint32_t distorted, uint32_t weight, uint64_t* words) {
    const uint32_t samples[2] = {reference, distorted};
    for (int i = 0; i < 2; ++i) {
        const uint32_t square = rounded_square<kFullRange>(samples[i]);
        words[i] += samples[i] * weight;
        words[kLowSquares + i] += (square & 0xffffu) * weight;
        words[kHighSquares + i] += (square >> 16) * weight;
    }
    words[kSumOfWeights] += weight;
}

} // namespace qc::float_moment
