// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the XPSNR kernels. One thread block works on one block of the picture.
#pragma once

namespace qc::xpsnr {

struct Tuning {
    int warps;           ///< per thread block
    int rows_per_thread; ///< of luma, four samples wide; even
    /// What the registers of the kernels for 8 bits are limited for, 0: no limit. [margin - 1][order in time - 1]
    int blocks_per_multiprocessor[2][2];
};

/// 1080p: blocks of 64x64, in strips of 4x8, are one strip for each of 128 threads.
constexpr Tuning kTuning{.warps = 4, .rows_per_thread = 8, .blocks_per_multiprocessor = {{8, 8}, {5, 4}}};

} // namespace qc::xpsnr
