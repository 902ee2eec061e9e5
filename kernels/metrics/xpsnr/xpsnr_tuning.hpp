// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the XPSNR kernels. One thread block works on one block of the picture.
#pragma once

namespace qc::xpsnr {

struct Tuning {
    int warps;           ///< per thread block
    int rows_per_thread; ///< of luma, four samples wide; even
};

/// 1080p: blocks of 64x64, in strips of 4x8, are one strip for each of 128 threads.
constexpr Tuning kTuning{.warps = 4, .rows_per_thread = 8};

} // namespace qc::xpsnr
