// SPDX-License-Identifier: BSD-2-Clause-Patent
// The wavelet levels of both ADM metrics: their bands, what is summed of each, their sizes and scored regions. Host and
// device know the constants, the host alone computes sizes.
#pragma once

namespace qc::detail_loss {

constexpr int kLevels = 4;
constexpr int kBands = 3; ///< h, v, d
enum Band { kBandH = 0, kBandV = 1, kBandD = 2 };

/// Order of a level's accumulators; each has kBands words, h, v, d.
enum Measure { kDetail = 0, kReference = 1, kImpairment = 2 };
constexpr int kMeasures = 3;
constexpr int kWordsPerLevel = kMeasures * kBands;
constexpr int kWords = kLevels * kWordsPerLevel;

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

/// Nothing of the level is scored.
template <typename LevelPlan>
void skip(LevelPlan& level) {
    level.left = level.top = level.right = level.bottom = 0;
}

} // namespace qc::detail_loss
