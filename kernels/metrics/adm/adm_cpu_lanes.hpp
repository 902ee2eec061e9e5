// SPDX-License-Identifier: BSD-2-Clause-Patent
// ADM's filters, for instruction sets that multiply 16-bit words in pairs.
#pragma once

#include <cstdint>

#include "device/word_lanes.hpp"
#include "metrics/adm/adm_math.hpp"

namespace qc::adm {

constexpr int kMostLaneWords = 32; ///< that a vector holds

/// What one instruction set does at level 0, with samples of less than 16 bits.
template <typename Sample>
struct LanePasses {
    int narrowest; ///< picture
    /// Vertical filter of four rows, both outputs.
    void (*vertical)(const Sample* const* rows, int width, int depth, int16_t* low, int16_t* high);
    /// Horizontal filter of a row, from sample -1 to 2 * count; both outputs. Up to kMostLaneWords samples more are
    /// read, and half as many outputs more written.
    void (*horizontal)(const int16_t* row, int count, int32_t* low, int32_t* high);
};

/// @return null if the instruction set has none
template <typename Sample>
const LanePasses<Sample>* lane_passes(device::WordLanes lanes);

/// A row of 32-bit values as 65536 * upper + lower, from -1 on.
struct WordRow {
    int16_t *upper, *lower;
};

/// What one instruction set does at the deep levels. Vectors may reach kMostLaneWords elements beyond the rows' ends.
struct DeepLanePasses {
    /// Vertical filter of four rows; the second output may be null.
    void (*vertical)(int level, const int32_t* const* rows, int width, const WordRow& low, const WordRow* high);
    /// Horizontal filter of a row, from element -1 to 2 * count; both outputs.
    void (*horizontal)(int level, const WordRow& row, int count, int32_t* low, int32_t* high);
};

/// @return null if the instruction set has none
const DeepLanePasses* deep_lane_passes(device::WordLanes lanes);

} // namespace qc::adm
