// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes: data, measured with quality_bench and recorded in docs/design/performance.md.
#pragma once

namespace qc::skeleton {

struct Tuning {
    int threads;        ///< per block, a multiple of 32
    int rows_per_block; ///< height of a band
};

constexpr Tuning kTuning{.threads = 256, .rows_per_block = 8};

} // namespace qc::skeleton
