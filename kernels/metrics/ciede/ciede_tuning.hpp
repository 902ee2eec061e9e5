// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the CIEDE2000 kernels.
#pragma once

namespace qc::ciede {

struct Tuning {
    int warps;                     ///< per block, one above the other
    int blocks_per_multiprocessor; ///< what the registers are limited for
    int total_threads;             ///< of the block that adds up a picture's partial sums
};

constexpr Tuning kTuning{.warps = 4, .blocks_per_multiprocessor = 8, .total_threads = 256};

} // namespace qc::ciede
