// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the structural similarity kernels: numbers to sweep, nothing that changes a result.
#pragma once

namespace qc::structural {

struct Tuning {
    int run;        ///< results that a thread computes in a row; its sums stay in registers
    int batches;    ///< of kBatchRows rows, that a block goes through at most
    int min_blocks; ///< per multiprocessor: bounds the registers of a thread
};

/// A run of 16 keeps 16 sums of 64 bits and widens 7.9 products a result (11 without sharing, 6 at best).
constexpr Tuning kTuning{.run = 16, .batches = 9, .min_blocks = 5};

} // namespace qc::structural
