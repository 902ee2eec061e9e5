// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the kernels that sum squared errors (PSNR).
#pragma once

namespace qc::sse {

struct Tuning {
    int warps;           ///< per block, one above the other
    int rows_per_thread; ///< loads in flight per thread and picture
    int weighted_rows_per_thread;
};

constexpr Tuning kTuning{.warps = 8, .rows_per_thread = 4, .weighted_rows_per_thread = 8};

} // namespace qc::sse
