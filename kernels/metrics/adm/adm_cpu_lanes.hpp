// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filters of ADM's level 0, for instruction sets that multiply 16-bit words in pairs.
#pragma once

#include <cstdint>

#include "device/word_lanes.hpp"
#include "metrics/adm/adm_math.hpp"

namespace qc::adm {

constexpr int kMostLaneWords = 32; ///< that a vector holds

/// What one instruction set does with samples of less than 16 bits.
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

} // namespace qc::adm
