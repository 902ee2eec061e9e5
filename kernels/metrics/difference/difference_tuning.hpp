// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes. Not measured: they follow from one value a thread.
#pragma once

namespace qc::difference {

struct Tuning {
    int rows; ///< of a block, a warp each
};

constexpr Tuning kTuning{.rows = 8};

} // namespace qc::difference
