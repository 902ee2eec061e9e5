// SPDX-License-Identifier: BSD-2-Clause-Patent
// Everything about an instance of floating-point ADM that its geometry and options fix: sizes, scored regions and
// factors of each level. Built once on the host; both backends and the final scores read it.
#pragma once

#include <cmath>
#include <cstdint>

#include "contract/types.hpp"
#include "device/float_luma.hpp"
#include "families/detail_loss/detail_loss_settings.hpp"
#include "metrics/float_adm/float_adm_math.hpp"

namespace qc::float_adm {

/// Smallest picture: below, a level would be narrower than its filter.
constexpr int kMinimumSize = 17;

enum CsfMode { kCsfWatson = 0, kCsfBarten = 1, kCsfNative = 2 };

/// Values of the options, in the metric's own terms.
struct Settings : detail_loss::Settings {
    double straight_override[kLevels] = {-1, -1, -1, -1}; ///< unless negative, instead of the computed factor
    double diagonal_override[kLevels] = {-1, -1, -1, -1};
    double power = 3.0; ///< adm_p_norm
    bool masking = true;
    bool harmonic_mean = false;
    int impairment_without = -1; ///< level left out of aim
};

/// One level, as host and device see it.
struct LevelPlan {
    int32_t in_width = 0, in_height = 0;              ///< of the picture or the a band above
    int32_t width = 0, height = 0;                    ///< of the bands
    int32_t left = 0, top = 0, right = 0, bottom = 0; ///< scored region, half open; empty if the level is skipped
    float factor[kBands] = {};                        ///< contrast sensitivity
};

/// What all levels share.
struct Rules {
    CentredLuma luma;
    Gain gain;
    float power = 3.0f;
    bool masking = true; ///< false: the threshold is 0
};

struct Plan {
    LevelPlan level[kLevels];
    Rules rules;
    bool cube = true;         ///< the power is 3
    bool has_weights = false; ///< coefficients count by weights
};

/// The contrast sensitivity that the authors of the detail loss measure chose. `frequency` in cycles per degree.
inline float native_factor(float frequency) {
    const double f = frequency;
    return static_cast<float>((0.31 + 0.69 * f) * std::exp(-0.29 * f));
}

inline CsfFactors csf_factors(const detail_loss::Viewing& viewing, int level) {
    switch (viewing.mode) {
    case kCsfBarten:
        return detail_loss::barten_factors(viewing, level);
    case kCsfNative: {
        const float resolution = pixels_per_degree(viewing.distance, viewing.height);
        const auto frequency = static_cast<float>(static_cast<double>(resolution) / std::pow(2.0, level + 1));
        return {native_factor(frequency), native_factor(static_cast<float>(static_cast<double>(frequency) / 0.7))};
    }
    default:
        return detail_loss::watson_factors(viewing, level);
    }
}

inline void set_factors(const Settings& settings, int index, LevelPlan& level) {
    CsfFactors factors = csf_factors(settings.viewing, index);
    const double straight = settings.straight_override[index], diagonal = settings.diagonal_override[index];
    if (straight >= 0) factors.straight = static_cast<float>(straight);
    if (diagonal >= 0) factors.diagonal = static_cast<float>(diagonal);
    level.factor[kBandH] = level.factor[kBandV] = factors.straight;
    level.factor[kBandD] = factors.diagonal;
}

inline Gain make_gain(double limit) {
    const auto single = static_cast<float>(limit);
    return {limit, single, static_cast<double>(single) == limit};
}

/// Precondition: the picture is at least kMinimumSize in both directions.
inline Plan make_plan(const FrameGeometry& geometry, const Settings& settings) {
    Plan plan;
    plan.rules = {CentredLuma(geometry.depth), make_gain(settings.gain_limit), static_cast<float>(settings.power),
                  settings.masking};
    plan.cube = plan.rules.power == 3.0f;
    plan.has_weights = geometry.has_weights;
    set_all_sizes(geometry.width, geometry.height, plan);
    for (int i = 0; i < kLevels; i++) {
        LevelPlan& level = plan.level[i];
        set_factors(settings, i, level);
        if (i == 0 && settings.skip_level0) skip(level);
    }
    return plan;
}

} // namespace qc::float_adm
