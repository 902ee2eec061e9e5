// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of Butteraugli's kernels. None depends on the batch: the order of all sums is that of the geometry.
#pragma once

namespace qc::butteraugli::tuning {

// Response: a block makes 244 columns of so many rows, even, of both pictures.
constexpr int kResponseRows = 90;
constexpr int kResponseMinBlocks = 3;

// Blurs: a thread filters one column downwards, 12 rows at a time; then 12 neighbours of a row.
constexpr int kLowestRows = 216, kMiddleRows = 216, kMaskRows = 120; ///< of a strip at most; multiples of 12
constexpr int kMaxRadiusAhead = 7; ///< up to which the next rows are fetched during the row phase: registers suffice
constexpr int kBlurMinBlocks = 2;

// Differences: a block makes 64x32 places, a thread 4x2 of them.
constexpr int kDifferenceMinBlocks = 2;

// Lines: a block makes 64x32 places, a thread four in each of so many rows.
constexpr int kLinesPlaceRows = 4;
constexpr int kLinesMinBlocks = 3;

// Map: a block makes 128x32 places.
constexpr int kMapMinBlocks = 4;

// Sums: one block per pair.
constexpr int kFinishThreads = 128;

} // namespace qc::butteraugli::tuning
