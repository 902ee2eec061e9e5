// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes. Not measured yet: they follow from the number of rows of a block that are looked at.
#pragma once

namespace qc::signature {

struct Tuning {
    int threads; ///< per block, a multiple of 32
};

constexpr Tuning kTuning{.threads = 128};

} // namespace qc::signature
