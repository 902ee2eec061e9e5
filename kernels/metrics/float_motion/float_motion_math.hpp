// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic of floating-point motion, shared by both backends. Samples are on the scale of 8 bits, less 128; the blur
// is five symmetric taps, vertically and then horizontally, added in ascending order.
#pragma once

#include "contract/types.hpp"
#include "device/borders.hpp"

namespace qc::float_motion {

constexpr int kReach = 2; ///< samples the filter needs on either side
constexpr int kTaps = 2 * kReach + 1;
constexpr int kMaxPlanes = 3;

/// Accumulators of a plane: full size, and half size with motion_add_scale1.
enum AccumulatorWord { kFullSize, kHalfSize, kWordsPerPlane };
constexpr int kAccumulatorWords = kMaxPlanes * kWordsPerPlane;
/// With weights: behind them the sum of weights of each of them.
constexpr int kWeightedAccumulatorWords = 2 * kAccumulatorWords;

/// Taps by distance from the centre. Shorter filters have taps of zero, which add exactly nothing.
struct BlurTaps {
    float centre, inner, outer;
};
constexpr BlurTaps kFiveTaps{0.402619947f, 0.244201342f, 0.054488685f};
constexpr BlurTaps kThreeTaps{0.667243004f, 0.166378498f, 0.0f};
constexpr BlurTaps kNoBlur{1.0f, 0.0f, 0.0f};

/// A sample on the scale of 8 bits, less 128. `scale` is 1 / 2^(depth - 8); both steps are exact.
QC_HD float normalised(unsigned sample, float scale) {
    return static_cast<float>(sample) * scale - 128.0f;
}

/// Five neighbouring samples.
QC_HD float blurred(float first, float second, float middle, float fourth, float last, const BlurTaps& taps) {
    float sum = 0.0f + taps.outer * first;
    sum = sum + taps.inner * second;
    sum = sum + taps.centre * middle;
    sum = sum + taps.inner * fourth;
    return sum + taps.outer * last;
}

QC_HD float absolute_difference(float a, float b) {
    const float difference = a - b;
    return difference < 0.0f ? -difference : difference;
}

/// Row or column of a plane that stands at i.
QC_HD int mirrored_inside(int i, int n) {
    return nearest_inside(mirror_without_edges(i, n), n);
}

} // namespace qc::float_motion
