// SPDX-License-Identifier: BSD-2-Clause-Patent
// Contrast sensitivity of wavelet bands, per level and orientation, in single precision. Host only, once per instance.
// Widths matter: what is written as double is double, and one rounding to float follows.
//
// Watson, Yang, Solomon, Villasenor, "Visibility of Wavelet Quantization Noise", IEEE Trans. Image Processing 6(8),
// 1997; Barten's function with the constants of HDR-VDP-2 (Mantiuk, Kim, Rempel, Heidrich, 2011). Constants are
// libvmaf's.
#pragma once

#include <cmath>
#include <numbers>

namespace qc {

/// Factors of one level: h and v bands share one, the diagonal has its own.
struct CsfFactors {
    float straight = 0.0f, diagonal = 0.0f;
};

/// Pixels per degree of visual angle, seen from `distance` picture heights.
inline float pixels_per_degree(double distance, int height) {
    return static_cast<float>(distance * height * std::numbers::pi / 180);
}

inline float watson_factor(float resolution, int level, bool diagonal) {
    constexpr float kAmplitude[2][4] = {{0.67234f, 0.41317f, 0.22727f, 0.11792f},
                                        {0.72709f, 0.49428f, 0.28688f, 0.15214f}};
    constexpr float kA = 0.495f, kK = 0.466f, kF0 = 0.401f;
    const float orientation = diagonal ? 0.534f : 1.0f;
    const double ratio = std::pow(2.0, level + 1) * static_cast<double>(kF0) * static_cast<double>(orientation) /
                         static_cast<double>(resolution);
    const float logarithm = static_cast<float>(std::log10(ratio));
    const float exponent = kK * logarithm * logarithm;
    const float threshold =
        static_cast<float>(2.0 * static_cast<double>(kA) * std::pow(10.0, static_cast<double>(exponent)) /
                           static_cast<double>(kAmplitude[diagonal ? 1 : 0][level]));
    return 1.0f / threshold;
}

/// Barten's sensitivity at 100 cd/m^2 before the user's scale.
inline float barten_sensitivity(float resolution, int level) {
    constexpr float kAt20[4] = {0.334278f, 3.79542f, 1.07327f, 6.4635f};
    constexpr float kAt150[4] = {0.394533f, 2.7755f, 1.16577f, 7.45665f};
    constexpr float kMtfWeight[4] = {0.424838596301290f, 0.572435103936480f, 0.000167576239164937f,
                                     0.00255872352306433f};
    constexpr float kMtfDecay[4] = {0.028f, 0.37f, 37.0f, 360.0f};

    const float frequency = static_cast<float>(static_cast<double>(resolution) / std::pow(2.0, level + 1));
    // Interpolate the parameters in log luminance.
    const float log_20 = static_cast<float>(std::log10(20.0));
    const float log_150 = static_cast<float>(std::log10(150.0));
    const float log_100 = static_cast<float>(std::log10(100.0));
    float p[4];
    for (int i = 0; i < 4; i++) p[i] = kAt20[i] + ((kAt150[i] - kAt20[i]) / (log_150 - log_20)) * (log_100 - log_20);

    const float scaled = p[0] * frequency;
    const float a = static_cast<float>(1 + std::pow(static_cast<double>(scaled), static_cast<double>(p[1])));
    const double cycles = static_cast<double>(frequency / 7.0f);
    const float b = static_cast<float>(1 / std::pow(1 - std::exp(-std::pow(cycles, 2.0)), static_cast<double>(p[2])));
    const float product = a * b;
    const float neural = static_cast<float>(static_cast<double>(p[3]) / std::sqrt(static_cast<double>(product)));

    float mtf = 0.0f;
    for (int i = 0; i < 4; i++) {
        const float exponent = -kMtfDecay[i] * frequency;
        mtf = static_cast<float>(static_cast<double>(mtf) +
                                 static_cast<double>(kMtfWeight[i]) * std::exp(static_cast<double>(exponent)));
    }
    const double saturation = std::pow(static_cast<double>(4.0627f / 100.0f), static_cast<double>(1.6596f));
    const float rod =
        static_cast<float>(static_cast<double>(30.162f) * std::pow(saturation + 1, static_cast<double>(-0.2712f)));
    return neural * mtf * rod;
}

} // namespace qc
