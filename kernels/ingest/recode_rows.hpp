// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows of samples that stand for something else, on the CPU: vectorised, to the bit what recoding.hpp says.
#pragma once

#include <cstdint>

#include "ingest/recoding.hpp"

namespace qc {

/// One row of a target plane. @param rows of the source's planes, or of sums of them; those of other planes than the
/// recoding reads may be null
void recode_row(const Recoding& recoding, int plane, const int32_t* const* rows, int width, uint8_t* target);
void recode_row(const Recoding& recoding, int plane, const int32_t* const* rows, int width, uint16_t* target);

/// Weighted sums of three rows.
void shrink_rows(const int32_t* const* rows, const int32_t* weight, int width, int32_t* sums);
/// Weighted sums of neighbours. @param row readable from sample -1 to factor * width + 1
void shrink_row(const int32_t* row, const ShrinkAxis& across, int width, int32_t* sums);

/// Weighted sums of four rows.
void grow_rows(const int32_t* const* rows, const int32_t* weight, int width, int32_t* sums);
/// Of a row that has as many samples as luma, or half as many: sums for every luma sample. @param row readable three
/// samples beyond both of its ends
void grow_row(const int32_t* row, const GrowAxis& across, int width, int32_t* sums);

} // namespace qc
