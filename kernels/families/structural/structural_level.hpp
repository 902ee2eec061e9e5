// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pictures that kernels work on, level by level: level 0 may be the video's luma itself, all others are planes of
// floats in scratch memory. Compiles for host and device.
#pragma once

#include "contract/map.hpp"
#include "contract/types.hpp"
#include "families/structural/structural_math.hpp"
#include "families/structural/structural_tuning.hpp"

namespace qc::structural {

constexpr int kLanes = 32;
constexpr int kTileColumns = kLanes; ///< results of a block in x
constexpr int kBatchRows = kLanes;   ///< rows that a block takes in at once

constexpr int kMaxLevels = 5;

/// One level of all pairs of a batch. Picture p (0: reference, 1: distorted) of pair z starts at samples + (2 z + p) *
/// plane.
struct Level {
    float* samples; ///< null: the level is the video's luma
    uint64_t plane; ///< floats from picture to picture
    int pitch;      ///< floats from row to row, a multiple of 4
    int width, height;
};

/// How the window goes over a level: a block takes a strip of kTileColumns results, and of that a segment.
struct WindowTask {
    int first_block; ///< among those of all levels
    int strips, segment_rows;
    bool with_luminance;
    bool has_negatives; ///< samples may be below zero
    FixedPoint fixed;
};

/// How the positions of the window lie over the picture: each shows the samples around that at the window's centre.
/// Sample i of a picture that was decimated by `step` lies around sample i * step.
/// @param step samples from position to position
QC_HD MapShape shape_of_positions(int step) {
    const int first = kMargin / 2 * step - step / 2;
    return {0, 0, first, first, step};
}

/// The argument of the window kernel. block.z() is the pair.
struct Task {
    const DevicePair* pairs;
    uint64_t* accumulators; ///< kSumWords for each level
    int levels;
    float sample_scale; ///< brings samples to the scale of 8 bits
    Level level[kMaxLevels];
    WindowTask window[kMaxLevels];
    DeviceMap map;                     ///< of level 0, where the kernel has maps
    MapShape map_shape;                ///< of its positions
    int picture_width, picture_height; ///< of the video, for weights
};

} // namespace qc::structural
