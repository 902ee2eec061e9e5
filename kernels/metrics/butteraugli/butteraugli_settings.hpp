// SPDX-License-Identifier: BSD-2-Clause-Patent
// From geometry, colour tags and options to a Plan.
#pragma once

#include <algorithm>
#include <cmath>

#include "families/linear_light/linear_settings.hpp"
#include "metrics/butteraugli/butteraugli_math.hpp"

namespace qc::butteraugli {

enum OptionIndex {
    kOptionTarget,
    kOptionAsymmetry,
    kOptionConstants,
    kOptionLight, ///< the first of kLightOptions
    kOptionSubscores = kOptionLight + kLightOptions
};

constexpr std::string_view kConstantsWords[] = {"libjxl07", "libjxl011"};
constexpr std::string_view kSubscoresWords[] = {"none", "norms"};

inline constexpr auto kOptions = with_light_options(
    {{"intensity_target", "it", OptionType::kDouble, 80.0, 1.0, 10000.0, "cd/m2 of white on the display"},
     {"hf_asymmetry", "asym", OptionType::kDouble, 0.8, 0.1, 10.0,
      "how much more added high frequencies count than lost ones; 1: alike"},
     word_option("constants", "con", kConstantsWords, "of this version of libjxl")},
    {word_option("subscores", "", kSubscoresWords, "also write the map's norms with the powers 2, 3, 6 and 12")});

/// Everything that options and tags decide.
struct Settings : LightSettings {
    double intensity_target = 80.0, asymmetry = 0.8;
    int constants = 0;
};

inline Status settle(const FrameGeometry& geometry, const OptionValues& options, Settings* settings) {
    settings->intensity_target = options.number(kOptionTarget);
    settings->asymmetry = options.number(kOptionAsymmetry);
    settings->constants = options.integer(kOptionConstants);
    settings->ref_white = settings->intensity_target; // so that PQ and HLG keep their absolute light
    return settle_light("butteraugli", geometry, options, kOptionLight, ChromaFilter::kCatmullRom, Gamut::kClip,
                        settings);
}

// ---- plan -----------------------------------------------------------------------------------------------------------

/// exp(-x) by arithmetic alone, which gives the same bits on every machine: the series of exp(-x / 16), to the 16th.
inline double decay(double x) {
    double sum = 0.0;
    for (int k = 16; k >= 1; --k) sum = (sum + 1.0) * (-x / 16.0) / k;
    double power = sum + 1.0;
    for (int squaring = 0; squaring < 4; ++squaring) power *= power;
    return power;
}

inline Gaussian<double> make_gaussian(GaussianIndex index) {
    Gaussian<double> blur{kRadius[index], {}};
    double sum = 0.0;
    for (int i = 0; i <= blur.radius; ++i) {
        blur.tap[i] = decay(0.5 * i * i / (kDeviation[index] * kDeviation[index]));
        sum += (i == 0 ? 1.0 : 2.0) * blur.tap[i];
    }
    for (double& tap : blur.tap) tap /= sum;
    return blur;
}

enum class AsymmetryShare { kNone, kRoot, kWhole };

/// Of a band: the weight of differences and of what was lost, before so much of the asymmetry.
struct LineSpec {
    double weight, norm;
    AsymmetryShare share;
    bool dense; ///< lines of all samples (type H) instead of every second (type L)
};
inline constexpr LineSpec kLineSpecs[kLineBands] = {
    {1.10039032555, 71.7800275169, AsymmetryShare::kWhole, true},
    {173.5, 5.0, AsymmetryShare::kWhole, true},
    {18.7237414387, 4498534.45232, AsymmetryShare::kRoot, false},
    {6923.99476109, 8051.15833247, AsymmetryShare::kRoot, false},
    {37.0819870399, 130262059.556, AsymmetryShare::kNone, false},
    {8246.75321353, 1009002.70582, AsymmetryShare::kNone, false},
};

inline LineWeights<double> make_lines(const LineSpec& spec, double asymmetry) {
    constexpr double kLength = 2 * 3.75 + 1;
    const double factor = (spec.dense ? 0.39905817637 : 0.611612573796) / kLength * spec.norm;
    const double share = spec.share == AsymmetryShare::kWhole  ? asymmetry
                         : spec.share == AsymmetryShare::kRoot ? std::sqrt(asymmetry)
                                                               : 1.0;
    return {factor * std::sqrt(0.5 * spec.weight * share), factor * std::sqrt(0.33 * spec.weight / share), spec.norm};
}

inline Plan make_plan(const FrameGeometry& geometry, const Settings& settings) {
    Plan plan{};
    plan.reference = make_conversion(geometry, settings, 0);
    plan.distorted = make_conversion(geometry, settings, 1);
    plan.intensity_target = settings.intensity_target;
    plan.asymmetry = settings.asymmetry;
    plan.constants = settings.constants == 0 ? kConstants07 : kConstants011;
    for (int band = 0; band < kLineBands; ++band) plan.lines[band] = make_lines(kLineSpecs[band], settings.asymmetry);
    for (int g = 0; g < kGaussians; ++g) plan.blur[g] = make_gaussian(static_cast<GaussianIndex>(g));
    plan.scale[0] = {geometry.width, geometry.height};
    plan.scale[1] = {(geometry.width + 1) / 2, (geometry.height + 1) / 2};
    plan.scales = std::min(plan.scale[1].width, plan.scale[1].height) >= kMinimumSize ? 2 : 1;
    return plan;
}

} // namespace qc::butteraugli
