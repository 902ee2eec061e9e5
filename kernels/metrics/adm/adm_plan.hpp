// SPDX-License-Identifier: BSD-2-Clause-Patent
// Everything about an instance of ADM that its geometry and options fix: sizes, scored regions, fixed-point factors and
// shifts of each level. Built once on the host; both backends and the final scores read it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "contract/map.hpp"
#include "contract/types.hpp"
#include "metrics/adm/adm_csf.hpp"
#include "metrics/adm/adm_math.hpp"

namespace qc::adm {

/// Smallest picture: below, a level would be narrower than its filter.
constexpr int kMinimumSize = 33;

/// Values of the options, in the metric's own terms.
struct Settings : detail_loss::Settings {
    bool impairment = true; ///< compute AIM
};

/// One level, as host and device see it.
struct LevelPlan {
    int32_t in_width = 0, in_height = 0;              ///< of the picture or the a band above
    int32_t width = 0, height = 0;                    ///< of the bands
    int32_t left = 0, top = 0, right = 0, bottom = 0; ///< scored region, half open; empty if the level is skipped
    uint32_t factor[kBands] = {};                     ///< fixed-point CSF factors
    Rounding energy[kBands];                          ///< of each coefficient's energy
    Rounding reference_energy;                        ///< the same for the denominator
    int32_t row_shift = 0;                            ///< once per complete row of the numerators
    int32_t reference_row_shift = 0;                  ///< and of the denominator
};

struct Plan {
    LevelPlan level[kLevels];
    CsfFactors csf[kLevels];
    Gain gain;
    int depth = 8;
    bool impairment = true;
    bool skip_level0 = false;
    bool has_weights = false; ///< coefficients count by weights
};

/// The level that the map is of.
inline int map_level(const Plan& plan) {
    return plan.skip_level0 ? 1 : 0;
}

/// Coefficient i of a level lies between samples 2 i and 2 i + 1 of what it was made of.
inline MapShape map_shape(const Plan& plan) {
    const LevelPlan& level = plan.level[map_level(plan)];
    return {level.width, level.height, 0, 0, 2 << map_level(plan)};
}

/// Smallest n with 2^n >= value.
constexpr int ceil_log2(int value) {
    return std::bit_width(static_cast<unsigned>(value - 1));
}

inline Rounding make_rounding(int shift) {
    return {shift > 0 ? int64_t{1} << (shift - 1) : 0, shift};
}

inline Gain make_gain(double limit) {
    Gain gain;
    gain.limit = limit;
    const uint32_t whole = static_cast<uint32_t>(limit);
    gain.whole = static_cast<double>(whole) == limit ? whole : 0;
    gain.saturation = gain.whole == 0 ? 0 : ((1u << 31) + gain.whole - 1) / gain.whole;
    return gain;
}

/// Whether a level-0 factor is the constant that libvmaf hard-codes for 3 heights of 1080 lines. (The formula gives
/// slightly other integers.)
inline bool has_standard_viewing(const Viewing& viewing) {
    return viewing.mode == kCsfWatson && std::fabs(viewing.distance * viewing.height - 3.0 * 1080.0) < 1e-8;
}

/// Fixed-point factors. They wrap in csf mode 1, whose unscaled factors exceed the formats.
inline void set_factors(const Viewing& viewing, int level, CsfFactors csf, uint32_t* factor) {
    if (level > 0) {
        factor[kBandH] = factor[kBandV] =
            static_cast<uint32_t>(static_cast<int64_t>(static_cast<double>(csf.straight) * 4294967296.0));
        factor[kBandD] = static_cast<uint32_t>(static_cast<int64_t>(static_cast<double>(csf.diagonal) * 4294967296.0));
    } else if (has_standard_viewing(viewing)) {
        factor[kBandH] = factor[kBandV] = 36453;
        factor[kBandD] = 49417;
    } else {
        factor[kBandH] = factor[kBandV] =
            static_cast<uint16_t>(static_cast<int64_t>(static_cast<double>(csf.straight) * 2097152.0));
        factor[kBandD] = static_cast<uint16_t>(static_cast<int64_t>(static_cast<double>(csf.diagonal) * 8388608.0));
    }
}

inline void set_shifts(int index, LevelPlan& level) {
    const int rows = level.bottom - level.top, columns = level.right - level.left;
    level.row_shift = ceil_log2(level.height);
    const int width_bits = ceil_log2(level.width);
    if (index == 0) {
        level.energy[kBandH] = level.energy[kBandV] = make_rounding(width_bits - 4);
        level.energy[kBandD] = make_rounding(width_bits - 3);
        const int excess_bits = ceil_log2(rows * columns) - 20;
        level.reference_row_shift = excess_bits > 0 ? excess_bits : 0;
    } else {
        for (Rounding& rounding : level.energy) rounding = make_rounding(width_bits);
        level.reference_energy = make_rounding(ceil_log2(columns));
        level.reference_row_shift = ceil_log2(rows);
    }
}

/// Precondition: the picture is at least kMinimumSize in both directions.
inline Plan make_plan(const FrameGeometry& geometry, const Settings& settings) {
    Plan plan;
    plan.gain = make_gain(settings.gain_limit);
    plan.depth = geometry.depth;
    plan.impairment = settings.impairment;
    plan.skip_level0 = settings.skip_level0;
    plan.has_weights = geometry.has_weights;
    set_all_sizes(geometry.width, geometry.height, plan);
    for (int i = 0; i < kLevels; i++) {
        LevelPlan& level = plan.level[i];
        set_shifts(i, level);
        plan.csf[i] = csf_factors(settings.viewing, i);
        set_factors(settings.viewing, i, plan.csf[i], level.factor);
        if (i == 0 && settings.skip_level0) skip(level);
    }
    return plan;
}

} // namespace qc::adm
