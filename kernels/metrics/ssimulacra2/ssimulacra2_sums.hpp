// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of the fields' terms over a block of threads.
#pragma once

#include "device/block_sum.hpp"
#include "metrics/ssimulacra2/ssimulacra2_weights.hpp"

namespace qc::ssimulacra2 {

/// Sums of the fields' terms by warp.
template <typename Real, int kThreads>
struct PartialSums {
    static constexpr int kWarps = kThreads / device::kWarpSize;
    Real warp[kTerms][kWarps];

    /// Of the whole block: warps one after the other.
    QC_HD Real total(int term) const {
        Real sum = 0;
        QC_UNROLL for (int w = 0; w < kWarps; ++w) sum += warp[term][w];
        return sum;
    }
};

/// In a fixed order: lanes by a tree, then warps. Complete after a barrier.
template <class Block, typename Real>
QC_HD const auto& add_warps(Block& block, const Real (&sum)[kTerms]) {
    auto& partial = device::shared<PartialSums<Real, Block::kThreads>>(block);
    QC_UNROLL for (int t = 0; t < kTerms; ++t) {
        const Real value = device::warp_tree_sum(block, sum[t]);
        if (block.lane() == 0) partial.warp[t][block.warp()] = value;
    }
    block.sync();
    return partial;
}

} // namespace qc::ssimulacra2
