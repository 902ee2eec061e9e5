// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the integer SSIM kernel: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::ssim {

struct Tuning {
    int tile_height; ///< rows of a block, whose width is a warp
    int warps;
};

constexpr Tuning kTuning{.tile_height = 16, .warps = 4};

namespace tuning {

// Samples of 8 bits: a warp goes down a part of a strip.
constexpr int kWarpsOfBytes = 4, kMinBlocksOfBytes = 3;
/// Warps that a batch is to have at least, as far as the rows of a part may be so few or so many. A part reads eight
/// rows more than it scores.
constexpr int kStripWarps = 1536, kFewestRows = 16, kMostRows = 180;

} // namespace tuning

} // namespace qc::ssim
