// SPDX-License-Identifier: BSD-2-Clause-Patent
// The wavelet levels of both ADM metrics: their bands, what is summed of each, their sizes and scored regions. Host and
// device know the constants, the host alone computes sizes.
#pragma once

#include "contract/types.hpp"

namespace qc::detail_loss {

constexpr int kLevels = 4;
constexpr int kBands = 3; ///< h, v, d
enum Band { kBandH = 0, kBandV = 1, kBandD = 2 };

/// Order of a level's accumulators; each has kBands words, h, v, d.
enum Measure { kDetail = 0, kReference = 1, kImpairment = 2 };
constexpr int kMeasures = 3;
constexpr int kWordsPerLevel = kMeasures * kBands;
constexpr int kWords = kLevels * kWordsPerLevel;

/// With weights the sums of the scored coefficients' weights follow, one of each level (detail_loss_weights.hpp).
constexpr int kSumsOfWeights = kWords;
constexpr int kWeightedWords = kWords + kLevels;
constexpr int words_of(bool has_weights) {
    return has_weights ? kWeightedWords : kWords;
}

/// Ten percent of each side are not scored.
inline int region_margin(int size) {
    return static_cast<int>(size * 0.1 - 0.5);
}

/// Sizes and scored region of the level that is computed from a picture or an a band of this size. (What else a level
/// has is the metric's own; its struct has no base, which would change how the kernels load it.)
template <typename LevelPlan>
void set_sizes(int in_width, int in_height, LevelPlan& level) {
    level.in_width = in_width;
    level.in_height = in_height;
    level.width = (in_width + 1) / 2;
    level.height = (in_height + 1) / 2;
    level.left = region_margin(level.width);
    level.top = region_margin(level.height);
    level.right = level.width - level.left;
    level.bottom = level.height - level.top;
}

/// Sizes of all levels of a plan, from a picture's.
template <typename Plan>
void set_all_sizes(int width, int height, Plan& plan) {
    for (int i = 0; i < kLevels; i++) {
        set_sizes(width, height, plan.level[i]);
        width = plan.level[i].width;
        height = plan.level[i].height;
    }
}

// What kernels ask of a level's region.
template <typename LevelPlan>
QC_HD bool is_scored(const LevelPlan& level) {
    return level.bottom > level.top;
}
template <typename LevelPlan>
QC_HD bool scores_row(const LevelPlan& level, int y) {
    return y >= level.top && y < level.bottom;
}
template <typename LevelPlan>
QC_HD bool scores_column(const LevelPlan& level, int x) {
    return x >= level.left && x < level.right;
}
/// The region and the neighbours that the masking window needs.
template <typename LevelPlan>
QC_HD bool masks_row(const LevelPlan& level, int y) {
    return is_scored(level) && y >= level.top - 1 && y <= level.bottom && y >= 0 && y < level.height;
}
template <typename LevelPlan>
QC_HD bool masks_column(const LevelPlan& level, int x) {
    return x >= level.left - 1 && x <= level.right && x >= 0 && x < level.width;
}

/// Nothing of the level is scored.
template <typename LevelPlan>
void skip(LevelPlan& level) {
    level.left = level.top = level.right = level.bottom = 0;
}

} // namespace qc::detail_loss
