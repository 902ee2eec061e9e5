// SPDX-License-Identifier: BSD-2-Clause-Patent
// The low pass of motion for instruction sets that multiply 16-bit words in pairs.
#pragma once

#include <cstdint>

#include "device/word_lanes.hpp"
#include "families/motion/motion_math.hpp"

namespace qc::motion {

/// A row that was filtered vertically: values of 17 bits as 256 * high + low, low without a sign. Mirrored at both
/// ends.
struct FilteredWords {
    int16_t *high, *low;

    int32_t at(int x) const { return high[x] * 256 + low[x]; }
};

/// What one instruction set does with samples of less than 16 bits. Rows are at least `narrowest` wide.
struct LanePasses {
    int narrowest;
    void (*subtract_u8)(const uint8_t* previous, const uint8_t* current, int width, int16_t* difference);
    void (*subtract_u16)(const uint16_t* previous, const uint16_t* current, int width, int16_t* difference);
    /// Five rows of differences.
    void (*filter)(const int16_t* const* rows, int width, int depth, const FilteredWords& out);
    /// Absolute values of the second pass, added up for the first columns. @return how many they are
    int (*sum)(const FilteredWords& row, int width, uint64_t* total);
};

/// @return null if the instruction set has none
const LanePasses* lane_passes(device::WordLanes lanes);

} // namespace qc::motion
