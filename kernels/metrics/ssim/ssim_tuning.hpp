// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the integer SSIM kernel: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::ssim {

struct Tuning {
    int tile_height; ///< rows of a block, whose width is a warp
    int warps;
};

constexpr Tuning kTuning{.tile_height = 16, .warps = 4};

} // namespace qc::ssim
