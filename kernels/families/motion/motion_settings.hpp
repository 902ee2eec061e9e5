// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options that motion, motion_v2 and float_motion have in common, and what they come to.
#pragma once

#include <algorithm>

#include "contract/options.hpp"

namespace qc::motion {

inline constexpr OptionSpec kBlendFactorOption{"motion_blend_factor",
                                               "mbf",
                                               OptionType::kDouble,
                                               1.0,
                                               0.0,
                                               1.0,
                                               "motion3: share of the excess over motion_blend_offset that counts"};
inline constexpr OptionSpec kBlendOffsetOption{"motion_blend_offset",
                                               "mbo",
                                               OptionType::kDouble,
                                               40.0,
                                               0.0,
                                               1000.0,
                                               "motion3: score from which motion_blend_factor applies"};
inline constexpr OptionSpec kForceZeroOption{"motion_force_zero", "force_0", OptionType::kBool, 0, 0, 1,
                                             "make every score 0"};
inline constexpr OptionSpec kFpsWeightOption{
    "motion_fps_weight", "mfw", OptionType::kDouble, 1.0, 0.0, 5.0, "factor of every score, to adjust for frame rate"};
inline constexpr OptionSpec kMaxValueOption{
    "motion_max_val", "mmxv", OptionType::kDouble, 10000.0, 0.0, 10000.0, "upper limit of every score"};

/// Where they stand in each of the three lists, counted from motion_blend_factor. One is the metric's own.
enum SharedOption : size_t { kBlendFactor, kBlendOffset, kOwnOption, kForceZero, kFpsWeight, kMaxValue, kAfterShared };

/// How a score is weighted, limited and blended.
class Weighting {
public:
    /// @param first index of motion_blend_factor
    Weighting(const OptionValues& options, size_t first)
        : blend_factor_(options.number(first + kBlendFactor)), blend_offset_(options.number(first + kBlendOffset)),
          fps_weight_(options.number(first + kFpsWeight)), max_value_(options.number(first + kMaxValue)) {}

    double weighted(double score) const { return score * fps_weight_; }
    double limited(double score) const { return std::min(weighted(score), max_value_); }
    /// Above an offset, only a part of a weighted score counts. The order of the operations is part of the definition.
    double blended(double weighted_score) const {
        const double below = std::min(blend_offset_, weighted_score);
        return std::min(weighted_score * blend_factor_ + (1 - blend_factor_) * below, max_value_);
    }

private:
    double blend_factor_, blend_offset_, fps_weight_, max_value_;
};

// ---- motion and motion_v2 -------------------------------------------------------------------------------------------

inline constexpr OptionSpec kMovingAverageOption{
    "motion_moving_average", "mma", OptionType::kBool, 0, 0, 1, "motion3: average with the frame before"};

constexpr size_t kFiveFrameWindow = kOwnOption, kMovingAverage = kAfterShared;

struct Settings {
    /// @param first index of motion_blend_factor
    Settings(const OptionValues& options, size_t first)
        : lag(options.flag(first + kFiveFrameWindow) ? 2 : 1), force_zero(options.flag(first + kForceZero)),
          moving_average(options.flag(first + kMovingAverage)), weighting(options, first) {}

    int lag; ///< frames between the two pictures that are compared: 1 or 2
    bool force_zero, moving_average;
    Weighting weighting;
};

} // namespace qc::motion
