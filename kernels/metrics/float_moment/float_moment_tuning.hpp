// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the moment kernel.
#pragma once

namespace qc::float_moment {

struct Tuning {
    int warps;                     ///< per block, one above the other
    int rows_per_thread;           ///< loads in flight per thread and picture
    int blocks_per_multiprocessor; ///< at least
};

constexpr Tuning kTuning{.warps = 8, .rows_per_thread = 4, .blocks_per_multiprocessor = 6};

} // namespace qc::float_moment
