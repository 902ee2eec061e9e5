// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shape of the ANSNR kernel: numbers only.
#pragma once

namespace qc::float_ansnr::tuning {

/// A thread filters a column of four samples this many rows down; four rows more are read.
constexpr int kRowsPerThread = 8;
/// Warps side by side, and one above the other. Together kWarpsDown * kRowsPerThread rows have two running sums each:
/// one lane of one warp for each sum.
constexpr int kWarpsAcross = 2;
constexpr int kWarpsDown = 2;
constexpr int kBlocksPerMultiprocessor = 5;

} // namespace qc::float_ansnr::tuning
