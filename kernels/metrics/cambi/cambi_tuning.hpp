// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the CAMBI kernels: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::cambi::tuning {

// ---- picture to mode-filtered samples -------------------------------------------------------------------------------

constexpr int kImageWarps = 4;  ///< per block; each walks on its own
constexpr int kImageBlocks = 4; ///< per multiprocessor: bounds the registers of a thread
/// Rows a warp walks down, multiples of 8. It reads 8 more, so long walks do less twice; short ones give a small batch
/// enough warps.
constexpr int kLongWalk = 64, kShortWalk = 32;
constexpr int kLongWalkFrom = 4; ///< pictures in a batch

constexpr int kPyramidWarps = 4;
/// Rows a warp walks down at the scales after the first, and after the second, where few warps wait for their own
/// results.
constexpr int kPyramidWalk = 16, kDeepPyramidWalk = 8;

// ---- counting -------------------------------------------------------------------------------------------------------

/// Columns of counts in a block's shared memory, and threads. kCountColumns / kPixelsPerThread must be
/// 32 / kPixelsPerThread more than a multiple of 32: then neither moving nor reading the counts meets a bank conflict.
constexpr int kCountColumns = 288;
/// Neighbouring pixels that a thread scores together; 1, 2 or 4. Windows of neighbours are nearly the same.
constexpr int kPixelsPerThread = 2;
/// Blocks per multiprocessor with kGroupsPerPass[0]: bounds the registers of a thread.
constexpr int kCountBlocks = 3;
/// Values are counted in groups of 32, as many at a time as one of these says: the first that the device has the shared
/// memory for. Tiles with more values take several passes.
constexpr int kGroupsPerPass[] = {7, 4, 1};
/// Rows of a tile; the largest that still makes kTargetBlocks blocks.
constexpr int kTileRows[] = {128, 96, 64, 48, 32};
constexpr int kTargetBlocks = 132 * kCountBlocks * 3;

// In strips: a warp each.
constexpr int kStripWidth = 48;  ///< pixels of a row
constexpr int kStripBlocks = 15; ///< per multiprocessor: bounds the registers of a thread
constexpr int kStripTargetBlocks = 132 * kStripBlocks * 3;

// ---- selection of the largest c-values ------------------------------------------------------------------------------

constexpr int kSelectThreads = 512;

} // namespace qc::cambi::tuning
