// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filter passes of integer VIF over blocks of rows, for instruction sets that multiply 16-bit words in pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/word_lanes.hpp"
#include "metrics/vif/vif_math.hpp"

namespace qc::vif {

/// Local moments of one row, before and after the horizontal pass.
struct MomentRows {
    uint32_t *mean_1, *mean_2, *square_1, *square_2, *product_12;
};

/// Planes of what the vertical pass leaves: 16-bit words, less 32768. Of products the upper halves and the lower ones.
enum WordPlane {
    kMean1,
    kMean2,
    kSquare1,
    kSquare2 = kSquare1 + 2,
    kProduct12 = kSquare2 + 2,
    kWordPlanes = kProduct12 + 2
};

/// A few rows of them.
struct WordBlock {
    uint16_t* words; ///< sample 0 of row 0
    ptrdiff_t stride;

    uint16_t* row(int row, int plane) const { return words + (row * kWordPlanes + plane) * stride; }
};

constexpr int kMostBlockRows = 8;  ///< that a block has
constexpr int kMostLaneWords = 32; ///< that a vector holds

/// What one instruction set does for one scale.
template <typename Sample>
struct LanePasses {
    int rows;      ///< of a block
    int narrowest; ///< picture
    /// From the rows under the windows of a block, rows + 2 * radius of each picture.
    void (*vertical)(const Sample* const* reference, const Sample* const* distorted, int width, VerticalShifts shifts,
                     const WordBlock& out);
    /// Of one row of a block, whose ends were mirrored. Up to kMostLaneWords words behind its end are read, and so
    /// many of `out` written.
    void (*horizontal)(const WordBlock& words, int row, int width, const MomentRows& out);
    /// The same for the next scale, whose window begins at every second row and column; null where its weights don't
    /// fit. From 2 * rows - 1 + 2 * radius rows, and one more, to kMean1 and kMean2.
    void (*vertical_decimation)(const Sample* const* reference, const Sample* const* distorted, int width, int shift,
                                const WordBlock& out);
    void (*horizontal_decimation)(const uint16_t* words, int count, uint16_t* out);
};

/// What the pixels of a row add to the sums, before the logarithms are taken.
struct StatisticRows {
    uint32_t *signal_and_noise, *noise; ///< arguments of the numerator's logarithms
    uint32_t* denominator;              ///< argument of the denominator's
    uint32_t* flat_variance;            ///< of the pixels that are not active
};

/// Sums over one row or several.
struct Sums {
    int64_t numerator_log = 0, denominator_log = 0, flat_variance = 0, flat_count = 0;
};

/// Adds a row of up to 32768 pixels.
using AddRow = void (*)(const StatisticRows&, int width, int flat_count, const LogTable&, Sums*);

/// @return null if the instruction set has no faster one than a table
AddRow lane_add_row(device::WordLanes lanes);

/// Scales whose weights are signed words.
constexpr int kLaneScales = 3;

/// @return null if the instruction set has none
template <int kScale, typename Sample>
const LanePasses<Sample>* lane_passes(device::WordLanes lanes);

} // namespace qc::vif
