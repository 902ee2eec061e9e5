// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scaling on the CPU, row by row.
#pragma once

#include "ingest/scaling.hpp"

namespace qc {

/// Middles of one row. @param samples of the source's row; @param width of the target
void scale_across(const uint16_t* samples, const ScaleAxis& across, int width, const ScaleMath& math, int32_t* middles);

/// One row of target samples. @param rows `taps` rows of middles; @param weights one for each
/// @param sums room for a row; its content does not matter
void scale_down(const int32_t* const* rows, const int16_t* weights, int taps, int width, const ScaleMath& math,
                int32_t* sums, uint8_t* target);
void scale_down(const int32_t* const* rows, const int16_t* weights, int taps, int width, const ScaleMath& math,
                int32_t* sums, uint16_t* target);

} // namespace qc
