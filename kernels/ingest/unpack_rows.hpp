// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples of a row, wherever they lie in it, side by side: what the kernel does (ingest_kernels.hpp), on the CPU.
#pragma once

#include "ingest/sample_source.hpp"

namespace qc {

/// @param row where the first sample lies; @param shift_left of the samples, for the target's depth
void unpack_row(const uint8_t* row, const SampleSource& samples, int shift_left, int width, uint8_t* target);
void unpack_row(const uint8_t* row, const SampleSource& samples, int shift_left, int width, uint16_t* target);

} // namespace qc
