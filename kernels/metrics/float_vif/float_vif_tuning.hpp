// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the float_vif kernels: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::float_vif {

/// How a kernel cuts a picture into tiles, one per thread block.
struct TileShape {
    int threads;         ///< per block, a multiple of 32
    int width, height;   ///< in pixels of the scale; multiples of 4 and of rows_per_thread
    int rows_per_thread; ///< in the vertical pass, even; the rows under all their windows stay in registers
    int min_blocks;      ///< per multiprocessor: bounds the registers of a thread
};

// A tile's columns with the margins of the windows are best a multiple of the threads: 240 + 2 * 8 = 256. At scale 0 a
// thread holds 2 * 24 samples and eight sums.
constexpr TileShape kTileScale0 = {256, 240, 8, 8, 3};
constexpr TileShape kTileScale1 = {128, 120, 8, 8, 6};
constexpr TileShape kTileScale2 = {128, 124, 8, 8, 8};
constexpr TileShape kTileScale3 = {128, 124, 8, 8, 8};

/// Windows of any size: the vertical pass reads a row for each tap.
constexpr TileShape kTileAnyWindow = {128, 64, 8, 1, 4};

constexpr int kResizeBlock = 128; ///< threads

} // namespace qc::float_vif
