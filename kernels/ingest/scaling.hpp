// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scaling of planes: weights of the kernels, and the arithmetic of single samples, which both backends share.
//
// A plane is scaled along its rows first, then down its columns, in integers:
//
//     middle = round(sum of weight * sample over a row >> row_shift)
//     target = clamp(round(sum of weight * middle over a column >> column_shift))
//
// Weights are whole numbers over 2^14 that add up to it exactly, so flat areas keep their sample. Middles have 14 bits
// (those of 16-bit pictures 16), and the result is rounded once more, at the session's depth: with the weights at hand
// it is within half a sample and 0.85 of a middle's unit of what exact arithmetic gives.
//
// No sum leaves 32 bits: the weights' absolute values add up to at most kMostWeight, 1.7 * 2^14. So middles lie within
// -0.35..1.35 times the range of samples, and a column's sum of 16-bit pictures within (1.7^2 + 1) / 2 * 2^30 < 2^31.
#pragma once

#include "contract/types.hpp"

namespace qc {

constexpr int kWeightBits = 14;
constexpr int kWeightOne = 1 << kWeightBits;
constexpr int kMostWeight = kWeightOne * 17 / 10;

/// One axis of a plane that is scaled: target sample i is the sum over t of weight[i * taps + t] * source[first[i] +
/// t]. All of these lie in the source: what a kernel reads beyond a border is the weight of the outermost sample. first
/// never falls from one target sample to the next. On the host or on the device.
struct ScaleAxis {
    const int32_t* first;
    const int16_t* weight;
    int32_t taps;
};

/// From containers to samples of the session.
struct ScaleMath {
    int32_t container_shift;         ///< of a container to the right, for the sample; what is below is ignored
    int32_t largest;                 ///< sample of the source: what is above it counts as it
    int32_t row_shift, column_shift; ///< of the sums
    int32_t brightest;               ///< target sample

    bool operator==(const ScaleMath&) const = default;
    QC_HD int sample(unsigned container) const {
        const int raw = static_cast<int>(container >> container_shift);
        return raw < largest ? raw : largest;
    }
    QC_HD int middle(int sum) const { return (sum + (1 << (row_shift - 1))) >> row_shift; }
    QC_HD int target(int sum) const {
        const int rounded = (sum + (1 << (column_shift - 1))) >> column_shift;
        return rounded < 0 ? 0 : rounded > brightest ? brightest : rounded;
    }
};

/// Whether middles fit 16-bit words.
constexpr bool has_short_middles(int depth) {
    return depth <= 12;
}

/// @param depth, container_shift of the pictures' format; @param session_depth at least as much
constexpr ScaleMath scale_math(int depth, int container_shift, int session_depth) {
    const int middle_bits = has_short_middles(depth) ? 14 : 16;
    const int largest = (1 << depth) - 1;
    return {container_shift, largest, kWeightBits - (middle_bits - depth), kWeightBits + middle_bits - session_depth,
            largest << (session_depth - depth)};
}

/// From bytes to bytes.
inline constexpr ScaleMath kByteMath = scale_math(8, 0, 8);

} // namespace qc
