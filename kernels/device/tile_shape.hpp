// SPDX-License-Identifier: BSD-2-Clause-Patent
// How kernels that filter with windows cut a picture into tiles, one per thread block.
#pragma once

#include "contract/types.hpp"

namespace qc::device {

struct TileShape {
    int threads;         ///< per block, a multiple of 32
    int width, height;   ///< in pixels of the scale; multiples of 4 and of rows_per_thread
    int rows_per_thread; ///< in the vertical pass, even; the rows under all their windows stay in registers
    int min_blocks;      ///< per multiprocessor: bounds the registers of a thread
};

/// Top left pixel of a tile.
struct TileOrigin {
    int x, y;
};

QC_HD constexpr int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

} // namespace qc::device
