// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the SpEED kernels: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::speed {

struct Tuning {
    int decimate_threads;   ///< a thread smooths one column of one sample of the grid
    int band_pass_threads;  ///< one block per plane; 25 of them sum up the means
    int covariance_threads; ///< 75 are at work
    int analyse_threads;    ///< two blocks per plane: of that which finds eigenvalues one warp is at work
    int compare_threads;    ///< a thread estimates the entropy of a block
};

constexpr Tuning kTuning{.decimate_threads = 128,
                         .band_pass_threads = 512,
                         .covariance_threads = 96,
                         .analyse_threads = 128,
                         .compare_threads = 256};
static_assert(kTuning.analyse_threads % 32 == 0 && kTuning.analyse_threads >= 64);

} // namespace qc::speed
