// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the float_motion kernels: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::float_motion {

struct Tuning {
    int threads;       ///< per block, a multiple of 32: one column each in the vertical pass
    int width, height; ///< of a tile; a thread filters all of the height
    int blocks_per_multiprocessor;
};

/// 248 columns and the filter's reach fill the block's threads. Taller tiles read less twice.
constexpr Tuning kTuning{.threads = 256, .width = 248, .height = 16, .blocks_per_multiprocessor = 3};

constexpr int kHalfBlock = 128; ///< threads

} // namespace qc::float_motion
