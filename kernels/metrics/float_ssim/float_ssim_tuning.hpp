// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the decimation: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::float_ssim {

struct Tuning {
    int threads_x, threads_y; ///< of a block, one warp wide; a thread makes one sample of both pictures
};

constexpr Tuning kTuning{.threads_x = 32, .threads_y = 8};

} // namespace qc::float_ssim
