// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of Butteraugli's kernels. What a batch's size decides changes no bit: the order of all sums is that of
// the geometry.
#pragma once

namespace qc::butteraugli::tuning {

// Response: a block makes 244 columns of so many rows, even, of both pictures.
constexpr int kResponseRows = 90;
constexpr int kResponseMinBlocks = 3;

// Blurs: a warp makes 32 columns of a strip, 16 rows at a time. Few pairs take shorter strips, for more blocks.
constexpr int kStripRows = 272, kStripRowsOfFew = 144; ///< at most; multiples of 16
constexpr int kFewPairs = 4;                           ///< of a launch, at most
constexpr int kBlurMinBlocks = 3;

// Differences: a block makes 64x32 places, a thread 4x2 of them.
constexpr int kDifferenceMinBlocks = 2;

// Lines: a block makes 64x32 places, a thread four in each of so many rows.
constexpr int kLinesPlaceRows = 4;
constexpr int kLinesMinBlocks = 3;

// Map: a block makes 128x32 places.
constexpr int kMapMinBlocks = 4;

// Parts of a batch side by side: the last blocks of one's kernel leave room that another's fill.
constexpr int kParts = 2;

// Sums: one block per pair.
constexpr int kFinishThreads = 128;

} // namespace qc::butteraugli::tuning
