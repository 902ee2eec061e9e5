// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the PSNR-HVS kernels.
#pragma once

namespace qc::psnr_hvs {

struct Tuning {
    int warps;                     ///< per thread block of the two wide kernels
    int blocks_per_multiprocessor; ///< of the transform, which keeps two blocks of coefficients in registers
};

constexpr Tuning kTuning{.warps = 4, .blocks_per_multiprocessor = 3};

} // namespace qc::psnr_hvs
