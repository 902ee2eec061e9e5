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
#include "device/bits.hpp"
#include "device/unroll.hpp"

namespace qc::float_vif {

constexpr int kScales = 4;
constexpr int kMaxRadius = 32; ///< of the widest window: 17 taps times 360/97

/// Sums of one scale.
enum AccumulatorWord { kNumerator, kDenominator, kWordsPerScale };
constexpr int kAccumulatorWords = kScales * kWordsPerScale;
constexpr int kWeightedAccumulatorWords = kAccumulatorWords + kScales; ///< the sums of weights follow

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

/// A selection that no compiler makes a branch of: those keep loops from being vectorised.
QC_HD uint32_t choose(bool condition, uint32_t if_true, uint32_t if_false) {
    const uint32_t mask = 0u - static_cast<uint32_t>(condition);
    return (if_true & mask) | (if_false & ~mask);
}
QC_HD float choose(bool condition, float if_true, float if_false) {
    return device::float_of(choose(condition, device::bits_of(if_true), device::bits_of(if_false)));
}

/// log2 of a positive number by a polynomial in its mantissa. Infinity gives 128, as its bits say.
QC_HD float log2_by_polynomial(float x) {
    uint32_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    bits = choose(x != x, 0x7fc00000, bits); // 0 / 0 has other bits on a GPU
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

/// The same without branches, for loops that are vectorised.
QC_HD Information information_unbranched(const Moments& m, const NoiseModel& noise) {
    constexpr float kSmallest = 1e-10f;
    const float difference_1 = m.square_1 - m.mean_1 * m.mean_1, difference_2 = m.square_2 - m.mean_2 * m.mean_2;
    const float sigma_12 = m.product_12 - m.mean_1 * m.mean_2;
    const float sigma_1_sq = choose(difference_1 > 0.0f, difference_1, 0.0f);
    const float sigma_2_sq = choose(difference_2 > 0.0f, difference_2, 0.0f);
    const float measured_gain = sigma_12 / (sigma_1_sq + kSmallest);
    const float unexplained = sigma_2_sq - measured_gain * sigma_12;
    const bool has_reference = sigma_1_sq >= kSmallest, has_distorted = sigma_2_sq >= kSmallest;
    const bool is_opposed = measured_gain < 0.0f;

    const float source = choose(has_reference, sigma_1_sq, 0.0f);
    const float gain = choose(has_reference & has_distorted & !is_opposed, measured_gain, 0.0f);
    const float of_reference = choose(is_opposed | !has_reference, sigma_2_sq, unexplained);
    const float sigma_v_sq = choose(has_distorted & (of_reference > kSmallest), of_reference, kSmallest);
    const float limited = choose(gain < noise.gain_limit, gain, noise.gain_limit);
    const float signal = limited * limited * source;

    const float flat = 1.0f - sigma_2_sq * noise.flat_scale;
    const float denominator = log2_of_one_plus(static_cast<double>(source) / noise.variance);
    const float kept =
        log2_of_one_plus(static_cast<double>(signal) / (static_cast<double>(sigma_v_sq) + noise.variance));
    const float numerator = choose(sigma_12 < 0.0f, 0.0f, kept);
    const bool is_flat = static_cast<double>(sigma_1_sq) < noise.variance;
    return {choose(is_flat, flat, numerator), choose(is_flat, 1.0f, denominator)};
}

} // namespace qc::float_vif
