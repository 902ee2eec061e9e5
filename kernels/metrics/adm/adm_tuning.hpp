// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of integer ADM: numbers only.
//
// Measured on an H200 with a throw-away prototype of the same design: 16 warps of one row each at 64 registers beat 8
// warps of two rows; strips of several tiles pay off in batches of 16 and cost time in batches of one.
#pragma once

namespace qc::adm::tuning {

/// A block is a tile of kTileRows rows, one warp each; the outer two only feed the masking window.
constexpr int kTileRows = 16;
constexpr int kUsefulRows = kTileRows - 2;
/// A lane holds two columns. Of the 64, 60 are useful: 62 can be filtered from 128 aligned input columns, and two of
/// those only feed the window.
constexpr int kTileColumns = 64;
constexpr int kUsefulColumns = 60;
constexpr int kThreads = 32 * kTileRows;
/// Registers are limited so that this many blocks fit a multiprocessor.
constexpr int kBlocksPerMultiprocessor = 2;

/// A block walks along a strip of tiles. Strips grow while the grid stays above kTargetBlocks (four rounds of two
/// blocks on 132 multiprocessors), up to kLongestStrip tiles.
constexpr int kTargetBlocks = 1056;
constexpr int kLongestStrip = 8;

/// The last kernel: one warp per accumulator word of a level.
constexpr int kFinishThreads = 288;

} // namespace qc::adm::tuning
