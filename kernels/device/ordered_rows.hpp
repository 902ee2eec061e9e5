// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-precision sums along rows on the CPU, in the order of their terms, where that is part of a metric's
// definition. Each addition waits for the one before it in its row, so rows are added side by side.
#pragma once

#include "device/cpu_clones.hpp"
#include "device/unroll.hpp"

namespace qc::device {

/// sums[i] = ((0 + terms[i][0]) + terms[i][1]) + ...
template <int kRows>
QC_INLINE_HELPER void sum_rows_in_order(const float* const* terms, int width, float* sums) {
    const float* rows[kRows];
    float running[kRows] = {};
    for (int i = 0; i < kRows; ++i) rows[i] = terms[i];
    for (int x = 0; x < width; ++x) {
        QC_UNROLL for (int i = 0; i < kRows; ++i) running[i] = running[i] + rows[i][x];
    }
    for (int i = 0; i < kRows; ++i) sums[i] = running[i];
}

} // namespace qc::device
