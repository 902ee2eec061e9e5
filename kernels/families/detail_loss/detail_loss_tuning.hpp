// SPDX-License-Identifier: BSD-2-Clause-Patent
// Tiles of both ADM metrics: numbers only.
//
// Measured on an H200 with a throw-away prototype of the integer metric: 16 warps of one row each at 64 registers beat
// 8 warps of two rows.
#pragma once

namespace qc::detail_loss::tuning {

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

} // namespace qc::detail_loss::tuning
