// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of Butteraugli's kernels. None depends on the batch: the order of all sums is that of the geometry.
#pragma once

namespace qc::butteraugli::tuning {

// Response: a block makes 32x24 places of both pictures, a thread three of a column.
constexpr int kResponseMinBlocks = 4;

// Blurs: a thread filters one column downwards, 12 rows at a time; then 12 neighbours of a row.
constexpr int kBlurRows = 180; ///< of a strip at most; a multiple of 12
constexpr int kBlurMinBlocks = 2;

// Differences: a block makes 64x32 places, a thread 4x2 of them.
constexpr int kDifferenceMinBlocks = 2;

// Map: a block makes 128x32 places.
constexpr int kMapMinBlocks = 4;

// Sums: one block per pair.
constexpr int kFinishThreads = 128;

} // namespace qc::butteraugli::tuning
