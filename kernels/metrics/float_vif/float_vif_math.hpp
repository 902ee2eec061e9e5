// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic of floating-point VIF, shared by both backends (Sheikh and Bovik, "Image information and visual quality",
// IEEE TIP 2006; the multi-scale pixel-domain variant, with the constants and the order of operations of
// libvmaf 3.2.0).
//
// Locally the distorted picture is modelled as  dist = g * ref + v,  and both are seen through noise of variance
// sigma_n^2. Samples are on the scale of 8 bits, less 128: the variances are differences of larger numbers, and the
// offset keeps those small.
#pragma once

#include <cstdint>
#include <cstring>

#include "contract/types.hpp"
#include "device/unroll.hpp"

namespace qc::float_vif {

constexpr int kScales = 4;
constexpr int kMaxRadius = 32; ///< of the widest window: 17 taps times 360/97

/// Sums of one scale.
enum AccumulatorWord { kNumerator, kDenominator, kWordsPerScale };
constexpr int kAccumulatorWords = kScales * kWordsPerScale;

/// A symmetric window; weights by the distance from its centre.
struct FilterWindow {
    int radius = 0;
    float weight[kMaxRadius + 1] = {};

    QC_HD float tap(int k) const { return weight[k < radius ? radius - k : k - radius]; }
};

/// A sample on the scale of 8 bits, less 128. `scale` is 1 / 2^(depth - 8); both steps are exact.
QC_HD float normalised(unsigned sample, float scale) {
    return static_cast<float>(sample) * scale - 128.0f;
}

/// What the observer's noise comes to.
struct NoiseModel {
    double variance = 2.0;   ///< sigma_n^2
    float flat_scale = 0.0f; ///< numerator of a flat pixel: 1 - sigma_2^2 * flat_scale
    float gain_limit = 100.0f;
};

/// Local means, mean squares and mean product at one pixel.
struct Moments {
    float mean_1, mean_2, square_1, square_2, product_12;
};

/// What a pixel adds to a scale's numerator and denominator.
struct Information {
    float numerator, denominator;
};

/// log2 of a positive number by a polynomial in its mantissa. Infinity gives 128, as its bits say.
QC_HD float log2_by_polynomial(float x) {
    uint32_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    if (x != x) bits = 0x7fc00000; // 0 / 0 has other bits on a GPU
    const int exponent = static_cast<int>(bits >> 23) - 127;
    bits = (bits & 0x007fffff) | 0x3f800000;
    float mantissa = 0.0f;
    memcpy(&mantissa, &bits, sizeof mantissa);
    const float t = mantissa - 1.0f;
    float value = -0.012671635276421f;
    value = value * t + 0.064841182402670f;
    value = value * t - 0.157048836463065f;
    value = value * t + 0.257167726303123f;
    value = value * t - 0.353800560300520f;
    value = value * t + 0.480131410397451f;
    value = value * t - 0.721314327952201f;
    value = value * t + 1.442694803896991f;
    value = value * t;
    return static_cast<float>(exponent) + value;
}

/// 1 + ratio in double precision, then its logarithm.
QC_HD float log2_of_one_plus(double ratio) {
    return log2_by_polynomial(static_cast<float>(1.0 + ratio));
}

QC_HD Information information(const Moments& m, const NoiseModel& noise) {
    constexpr float kSmallest = 1e-10f;
    float sigma_1_sq = m.square_1 - m.mean_1 * m.mean_1;
    float sigma_2_sq = m.square_2 - m.mean_2 * m.mean_2;
    const float sigma_12 = m.product_12 - m.mean_1 * m.mean_2;
    sigma_1_sq = sigma_1_sq > 0.0f ? sigma_1_sq : 0.0f;
    sigma_2_sq = sigma_2_sq > 0.0f ? sigma_2_sq : 0.0f;
    // Below the noise: one bit, less for what the distorted picture has added.
    if (static_cast<double>(sigma_1_sq) < noise.variance) return {1.0f - sigma_2_sq * noise.flat_scale, 1.0f};

    float gain = sigma_12 / (sigma_1_sq + kSmallest);
    float sigma_v_sq = sigma_2_sq - gain * sigma_12;
    if (sigma_1_sq < kSmallest) {
        gain = 0.0f;
        sigma_v_sq = sigma_2_sq;
        sigma_1_sq = 0.0f;
    }
    if (sigma_2_sq < kSmallest) {
        gain = 0.0f;
        sigma_v_sq = 0.0f;
    }
    if (gain < 0.0f) {
        sigma_v_sq = sigma_2_sq;
        gain = 0.0f;
    }
    sigma_v_sq = sigma_v_sq > kSmallest ? sigma_v_sq : kSmallest;
    gain = gain < noise.gain_limit ? gain : noise.gain_limit;

    const float signal = gain * gain * sigma_1_sq;
    Information result;
    result.denominator = log2_of_one_plus(static_cast<double>(sigma_1_sq) / noise.variance);
    result.numerator =
        sigma_12 < 0.0f
            ? 0.0f
            : log2_of_one_plus(static_cast<double>(signal) / (static_cast<double>(sigma_v_sq) + noise.variance));
    return result;
}

} // namespace qc::float_vif
