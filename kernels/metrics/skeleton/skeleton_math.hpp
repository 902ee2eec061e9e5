// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic that both backends share. Compiles without CUDA: no CUDA header, no allocation. Small functions from
// values to values; each names its equation and its range.
#pragma once

#include "contract/types.hpp"

namespace qc::skeleton {

/// Accumulators of a pair of pictures, 64-bit words.
constexpr int kWords = 1;

/// |a - b| of two samples; at most 65535.
QC_HD uint32_t absolute_difference(uint32_t a, uint32_t b) {
    return a > b ? a - b : b - a;
}

} // namespace qc::skeleton
