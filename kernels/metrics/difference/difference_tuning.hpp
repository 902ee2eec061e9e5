// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes. Not measured: they follow from one value a thread.
#pragma once

namespace qc::difference {

struct Tuning {
    int threads; ///< per block, a multiple of 32: so many values of a row
};

constexpr Tuning kTuning{.threads = 256};

} // namespace qc::difference
