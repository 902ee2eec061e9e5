// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a picture looks like from afar: sums of luma over the blocks of a coarse grid. Filled by the metric `signature`,
// read by the engine's watch of the contents.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc {

constexpr int kSignatureColumns = 8, kSignatureRows = 8;
constexpr int kSignatureBlocks = kSignatureColumns * kSignatureRows;
/// Of a pair: sums of the reference, row by row, then of the distorted picture.
constexpr int kSignatureWords = 2 * kSignatureBlocks;

/// Where the blocks of a picture lie, and which of its rows they look at: not all, for that costs and tells no more.
struct SignatureGrid {
    int width, height; ///< of luma, at least one sample for each block

    QC_HD int left(int column) const { return static_cast<int>(int64_t{width} * column / kSignatureColumns); }
    QC_HD int top(int row) const { return static_cast<int>(int64_t{height} * row / kSignatureRows); }
    /// From one row that is looked at to the next, counted from a block's top.
    QC_HD int row_step() const { return height < 128 ? 1 : height / 128; }
    /// Samples of a block that are looked at.
    QC_HD int64_t samples(int column, int row) const {
        const int rows = (top(row + 1) - top(row) + row_step() - 1) / row_step();
        return int64_t{left(column + 1) - left(column)} * rows;
    }
};

} // namespace qc
