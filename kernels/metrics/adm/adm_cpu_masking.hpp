// SPDX-License-Identifier: BSD-2-Clause-Patent
// What ADM's fast CPU version does with the coefficients of a row once they are decoupled: weighing, masking, energies.
// Nearly all of it is products of 64 bits, which compilers vectorise badly: instruction sets have passes of their own.
#pragma once

#include <array>
#include <cstdint>

#include "device/word_lanes.hpp"
#include "metrics/adm/adm_math.hpp"
#include "metrics/adm/adm_plan.hpp"

namespace qc::adm {

/// Columns of a row that a step works on, half open.
struct Columns {
    int begin, end;
};

/// Behind a row's end, and before its beginning, so many elements may be read and written: whole vectors.
constexpr int kRowPad = 16;

/// A row of the restored or of the additive part of the three bands: coefficients, then their weighted magnitudes.
struct PartRow {
    std::array<int32_t*, kBands> band;
    int32_t* neighbour; ///< each place contributes this to its eight neighbours; null: this part masks nothing
    int32_t* centre;    ///< and this, beyond `neighbour`, to its own place
};

/// Three rows of what one part contributes to the thresholds of the other.
struct MaskerRows {
    const int32_t *above, *here, *below; ///< PartRow::neighbour
    const int32_t* centre;
};

struct MeasuringScratch {
    uint32_t* column; ///< from -1 on
    int32_t* threshold;
};

struct MaskingPasses {
    /// Makes weighted magnitudes of coefficients, and masker terms of those, which are sums over the bands.
    void (*weigh)(int level, const uint32_t* factor, const PartRow& row, Columns columns);
    /// Row sums of what exceeds the thresholds in each band.
    void (*measure)(int level, const Rounding* rounding, const std::array<int32_t*, kBands>& sizes,
                    const MaskerRows& masker, Columns columns, MeasuringScratch scratch, uint64_t* sums);
    /// Row sums of the reference's energy in each band.
    void (*measure_reference)(int level, Rounding rounding, const std::array<int32_t*, kBands>& coefficients,
                              Columns columns, uint64_t* sums);
};

/// As MaskingPasses::measure and measure_reference, of each coefficient as often as its weight says.
/// @param weights of the row's coefficients
void measure_weighted(int level, const Rounding* rounding, const std::array<int32_t*, kBands>& sizes,
                      const MaskerRows& masker, Columns columns, MeasuringScratch scratch, const uint16_t* weights,
                      WeightedSum* sums);
void measure_reference_weighted(int level, Rounding rounding, const std::array<int32_t*, kBands>& coefficients,
                                Columns columns, const uint16_t* weights, WeightedSum* sums);

/// The fastest that can do with the factors of this level.
const MaskingPasses& masking_passes(device::WordLanes lanes, int level, const uint32_t* factor);

} // namespace qc::adm
