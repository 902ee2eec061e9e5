// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic of XPSNR on single samples and cells.
#pragma once

#include "contract/types.hpp"

namespace qc::xpsnr {

QC_HD uint32_t magnitude(int32_t value) {
    return static_cast<uint32_t>(value < 0 ? -value : value);
}

/// Temporal difference of a sample, or of the sums of a cell: of first order below 32 frames a second, of second order
/// from there on. Samples before the first frame are 0.
template <bool kSecondOrder>
QC_HD int32_t temporal_difference(uint32_t current, uint32_t one_earlier, uint32_t two_earlier) {
    if constexpr (kSecondOrder) return static_cast<int32_t>(current - 2 * one_earlier + two_earlier);
    return static_cast<int32_t>(current - one_earlier);
}

/// Spatial high pass
///
///     -1 -2 -1         0 -1 -1 -1 -1  0
///     -2 12 -2        -1 -2 -3 -3 -2 -1
///     -1 -2 -1        -1 -3 12 12 -3 -1
///                     -1 -3 12 12 -3 -1
///                     -1 -2 -3 -3 -2 -1
///                      0 -1 -1 -1 -1  0
///
/// of a sample (left) or a cell (right), as 16 times the centre less a low pass. The low pass is a sum over rows:
/// `down` is what a row, or a pair of rows, gives to the sample or cell below it, `up` to the one above, and `own`,
/// with the centre taken off, to the one in it. The magnitude of the sum of the three is that of the high pass. At most
/// 24 (96) times the largest sample.
struct RowTerms {
    int32_t down, own, up;
};

/// One row: a sample and its neighbours.
QC_HD RowTerms sample_terms(int32_t left, int32_t centre, int32_t right) {
    const int32_t low_pass = left + 2 * centre + right;
    return {low_pass, 2 * low_pass - 16 * centre, low_pass};
}

/// Columns of one row of a cell, added up by their distance from it.
struct CellRow {
    int32_t centre, near, far;

    QC_HD int32_t outer() const { return centre + near; }               ///< 0 1 1 1 1 0
    QC_HD int32_t next() const { return 3 * centre + 2 * near + far; }  ///< 1 2 3 3 2 1
    QC_HD int32_t inner() const { return 4 * centre + 3 * near + far; } ///< 1 3 4 4 3 1
};

/// A pair of rows.
QC_HD RowTerms cell_terms(const CellRow& upper, const CellRow& lower) {
    return {upper.outer() + lower.next(), upper.inner() + lower.inner() - 16 * (upper.centre + lower.centre),
            upper.next() + lower.outer()};
}

} // namespace qc::xpsnr
