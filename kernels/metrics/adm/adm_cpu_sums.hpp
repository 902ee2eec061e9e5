// SPDX-License-Identifier: BSD-2-Clause-Patent
// Row sums of integer ADM's energies on the CPU: of all coefficients alike, or of each as often as its weight says.
#pragma once

#include <cstdint>

#include "metrics/adm/adm_math.hpp"

namespace qc::adm {

/// Columns of a row that a step works on, half open.
struct Columns {
    int begin, end;
};

/// What of a row of one band exceeds the masking threshold.
struct MaskedEnergies {
    int level, band;
    uint32_t factor;
    Rounding rounding;
    const int32_t *measured, *threshold;
};

/// The reference's own energy of a row of one band.
struct ReferenceEnergies {
    int level;
    Rounding rounding;
    const int32_t* reference;
};

uint64_t sum_row(const MaskedEnergies& row, Columns columns);
uint64_t sum_row(const ReferenceEnergies& row, Columns columns);

/// @param weights of the row's coefficients
WeightedSum sum_row(const MaskedEnergies& row, Columns columns, const uint16_t* weights);
WeightedSum sum_row(const ReferenceEnergies& row, Columns columns, const uint16_t* weights);

} // namespace qc::adm
