// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums along rows that have to be added up in their order: each addition waits for the one before, but rows do not wait
// for each other. So blocks of rows are turned, and a vector adds a sample of each row.
#pragma once

#include <cstring>

#include "device/cpu_clones.hpp"
#include "device/unroll.hpp"

namespace qc::device {

constexpr int kTurned = 8; ///< rows and columns of a block
typedef float TurnedRow __attribute__((vector_size(kTurned * sizeof(float))));

QC_INLINE_HELPER void load(const float* from, TurnedRow* to) {
    std::memcpy(to, from, sizeof *to);
}

/// Rows become columns. To be called by functions that are compiled for several instruction sets.
QC_INLINE_HELPER void turn(TurnedRow (&rows)[kTurned]) {
    TurnedRow pairs[kTurned]; // two rows in turn, their halves' first columns and their last ones
    QC_UNROLL for (int i = 0; i < kTurned / 2; ++i) {
        const TurnedRow &a = rows[2 * i], &b = rows[2 * i + 1];
        pairs[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
        pairs[2 * i + 1] = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    }
    TurnedRow fours[kTurned]; // of four rows: column c and column c + 4
    QC_UNROLL for (int half = 0; half < 2; ++half) {
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const TurnedRow &a = pairs[4 * half + i], &b = pairs[4 * half + i + 2];
            fours[4 * half + 2 * i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
            fours[4 * half + 2 * i + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    QC_UNROLL for (int c = 0; c < kTurned / 2; ++c) {
        rows[c] = __builtin_shufflevector(fours[c], fours[c + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        rows[c + 4] = __builtin_shufflevector(fours[c], fours[c + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

} // namespace qc::device
