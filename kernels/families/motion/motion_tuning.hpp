// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the motion kernel.
#pragma once

namespace qc::motion {

struct Tuning {
    int warps;                     ///< per block, one above the other
    int rows_per_warp;             ///< a warp filters this many rows; it reads four more
    int blocks_per_multiprocessor; ///< registers are limited so that this many fit
    int weighted_blocks_per_multiprocessor;
};

/// More rows per warp read less twice, fewer give a single frame more warps to fill the GPU with. With three blocks
/// there are 80 registers per thread, and nothing spills; weights want some more.
constexpr Tuning kTuning{
    .warps = 8, .rows_per_warp = 12, .blocks_per_multiprocessor = 3, .weighted_blocks_per_multiprocessor = 2};

} // namespace qc::motion
