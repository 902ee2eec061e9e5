// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the SpEED kernels: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::speed {

struct Tuning {
    int decimate_threads; ///< a thread smooths one column of one sample of the grid
    int analyse_threads;  ///< one block per plane: one warp finds eigenvalues while the others factorise
    int compare_threads;
};

constexpr Tuning kTuning{.decimate_threads = 128, .analyse_threads = 128, .compare_threads = 128};
static_assert(kTuning.analyse_threads % 32 == 0 && kTuning.analyse_threads >= 96);

} // namespace qc::speed
