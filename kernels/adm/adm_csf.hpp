// SPDX-License-Identifier: BSD-2-Clause-Patent
// Contrast sensitivity factors of integer ADM, per level and orientation, in single precision. Host only, once per
// instance. Widths matter: what is written as double is double, and one rounding to float follows.
//
// Watson, Yang, Solomon, Villasenor, "Visibility of Wavelet Quantization Noise", IEEE Trans. Image Processing 6(8),
// 1997; Barten's function with the constants of HDR-VDP-2 (Mantiuk, Kim, Rempel, Heidrich, 2011); and fixed tables that
// blend the two. Constants are libvmaf's.
#pragma once

#include <cmath>
#include <numbers>

namespace qc::adm {

enum CsfMode { kCsfWatson = 0, kCsfBarten = 1, kCsfBlend = 2, kCsfBlendMae = 3 };

/// What the contrast sensitivity depends on.
struct Viewing {
    int mode = kCsfWatson;
    double distance = 3.0;                    ///< in picture heights
    int height = 1080;                        ///< of the reference display, in lines
    double scale = 1.0, diagonal_scale = 1.0; ///< kCsfBarten only
};

/// Factors of one level: h and v bands share one, the diagonal has its own.
struct CsfFactors {
    float straight = 0.0f, diagonal = 0.0f;
};

/// Pixels per degree of visual angle.
inline float pixels_per_degree(const Viewing& viewing) {
    return static_cast<float>(viewing.distance * viewing.height * std::numbers::pi / 180);
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

/// Blended tables, selected by exact display height and distance.
struct BlendTable {
    int height;
    double distance;
    float straight[2][4], diagonal[2][4]; ///< [mode - kCsfBlend][level]
};

inline constexpr BlendTable kBlendTables[] = {
    {1080,
     3.0,
     {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.011249f, 0.022606f, 0.035930f, 0.045673f}},
     {{0.004302f, 0.011778f, 0.023918f, 0.035901f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
    {2160,
     1.5,
     {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.011249f, 0.022606f, 0.035930f, 0.045673f}},
     {{0.004302f, 0.011778f, 0.023918f, 0.035901f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
    {1080,
     5.0,
     {{0.004212f, 0.014809f, 0.029642f, 0.047464f}, {0.004052f, 0.013939f, 0.026298f, 0.038833f}},
     {{0.000984f, 0.005852f, 0.0146f, 0.027574f}, {0.000927f, 0.005544f, 0.013415f, 0.024515f}}},
    {2160,
     3.0,
     {{0.00226f, 0.01183f, 0.025026f, 0.04295f}, {0.002166f, 0.011249f, 0.022606f, 0.035930f}},
     {{0.000479f, 0.004302f, 0.011778f, 0.023918f}, {0.000447f, 0.004097f, 0.010921f, 0.021430f}}},
    {2160,
     5.0,
     {{0.000092f, 0.004212f, 0.014809f, 0.029642f}, {0.000077f, 0.004052f, 0.013939f, 0.026298f}},
     {{0.000050f, 0.000984f, 0.005852f, 0.0146f}, {0.000045f, 0.000927f, 0.005544f, 0.013415f}}},
    {720,
     5.0,
     {{0.010144f, 0.022561f, 0.040309f, 0.05672f}, {0.009689f, 0.020577f, 0.034162f, 0.044523f}},
     {{0.003463f, 0.010282f, 0.021839f, 0.034641f}, {0.003302f, 0.009579f, 0.019661f, 0.030318f}}},
};

/// The table for a display, or null if there is none.
inline const BlendTable* find_blend_table(const Viewing& viewing) {
    for (const BlendTable& table : kBlendTables) {
        if (table.height == viewing.height && table.distance == viewing.distance) return &table;
    }
    return nullptr;
}

/// Precondition: modes kCsfBlend and kCsfBlendMae have a table for this display.
inline CsfFactors csf_factors(const Viewing& viewing, int level) {
    switch (viewing.mode) {
    case kCsfBarten: {
        const double sensitivity = barten_sensitivity(pixels_per_degree(viewing), level);
        return {static_cast<float>(sensitivity * viewing.scale),
                static_cast<float>(sensitivity * viewing.diagonal_scale)};
    }
    case kCsfBlend:
    case kCsfBlendMae: {
        const BlendTable* table = find_blend_table(viewing);
        const int row = viewing.mode - kCsfBlend;
        return {table->straight[row][level], table->diagonal[row][level]};
    }
    default: {
        const float resolution = pixels_per_degree(viewing);
        return {watson_factor(resolution, level, false), watson_factor(resolution, level, true)};
    }
    }
}

} // namespace qc::adm
