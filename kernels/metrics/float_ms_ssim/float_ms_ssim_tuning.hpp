// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the low-pass filter: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::float_ms_ssim {

struct Tuning {
    int run;        ///< samples that a thread makes, one below the other; their sums stay in registers
    int warps;      ///< of a block
    int runs;       ///< that a thread makes one after another
    int min_blocks; ///< per multiprocessor: bounds the registers of a thread
};

/// A run of 8 widens 56 products a sample, one of 4 67 (81 without sharing, 45 at best).
constexpr Tuning kTuning{.run = 8, .warps = 4, .runs = 1, .min_blocks = 8};

} // namespace qc::float_ms_ssim
