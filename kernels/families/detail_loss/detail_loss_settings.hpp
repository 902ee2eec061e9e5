// SPDX-License-Identifier: BSD-2-Clause-Patent
// What both ADM metrics let a user set, in the metrics' own terms, and the contrast sensitivity that they have in
// common. Host only, once per instance.
#pragma once

#include "families/detail_loss/contrast_sensitivity.hpp"

namespace qc::detail_loss {

/// What the contrast sensitivity depends on.
struct Viewing {
    int mode = 0;                             ///< the metric's CsfMode
    double distance = 3.0;                    ///< in picture heights
    int height = 1080;                        ///< of the reference display, in lines
    double scale = 1.0, diagonal_scale = 1.0; ///< Barten's only
};

/// Values of the options that both metrics have.
struct Settings {
    Viewing viewing;
    double detail_weight = 0.5; ///< adm_dlm_weight
    double gain_limit = 100.0;
    double noise_weight = 0.03125;
    double minimum = 0.0;
    bool skip_level0 = false;
};

inline CsfFactors watson_factors(const Viewing& viewing, int level) {
    const float resolution = pixels_per_degree(viewing.distance, viewing.height);
    return {watson_factor(resolution, level, false), watson_factor(resolution, level, true)};
}

inline CsfFactors barten_factors(const Viewing& viewing, int level) {
    const double sensitivity = barten_sensitivity(pixels_per_degree(viewing.distance, viewing.height), level);
    return {static_cast<float>(sensitivity * viewing.scale), static_cast<float>(sensitivity * viewing.diagonal_scale)};
}

} // namespace qc::detail_loss
