// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of integer ADM: numbers only.
//
// Measured on an H200 with a throw-away prototype of the same design: strips of several tiles pay off in batches of 16
// and cost time in batches of one.
#pragma once

#include "families/detail_loss/detail_loss_tuning.hpp"

namespace qc::adm::tuning {

using namespace detail_loss::tuning; // tiles

/// A block walks along a strip of tiles. Strips grow while the grid stays above kTargetBlocks (four rounds of two
/// blocks on 132 multiprocessors), up to kLongestStrip tiles.
constexpr int kTargetBlocks = 1056;
constexpr int kLongestStrip = 8;

/// The last kernel: one warp per accumulator word of a level.
constexpr int kFinishThreads = 288;

/// Sums with weights take twice the registers.
constexpr int kWeightedBlocksPerMultiprocessor = 1;

} // namespace qc::adm::tuning
