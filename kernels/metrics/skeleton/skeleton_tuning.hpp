// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes: data, measured with quality_bench, recorded in docs/performance.md.
#pragma once

namespace qc::skeleton {

constexpr int kBlockThreads = 256;
constexpr int kRowsPerBlock = 8;

} // namespace qc::skeleton
