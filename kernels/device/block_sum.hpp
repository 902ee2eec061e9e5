// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums over the threads of a block, in an order that only the code decides: the result has the same bits in every run.
#pragma once

#include "device/block.hpp"

namespace qc::device {

/// The type of add_block_sums' shared memory.
struct BlockSumTag;

/// Adds the block's sums of `value[i]` to target[i]. All threads must come here, once per kernel.
template <class Block, int kCount, typename Sum>
QC_HD void add_block_sums(Block& block, const Sum (&value)[kCount], uint64_t* target) {
    static_assert(kCount <= kWarpSize);
    constexpr int kWarps = Block::kThreads / kWarpSize;
    auto& partial = shared<uint64_t[kCount][kWarps], BlockSumTag>(block);
    QC_UNROLL for (int i = 0; i < kCount; ++i) {
        const uint64_t sum = block.warp_sum(value[i]);
        if (block.lane() == 0) partial[i][block.warp()] = sum;
    }
    block.sync();
    if (block.thread() < kCount) {
        uint64_t sum = 0;
        QC_UNROLL for (int w = 0; w < kWarps; ++w) sum += partial[block.thread()][w];
        if (sum != 0) block.atomic_add(target + block.thread(), sum);
    }
}

/// Sum over a warp by halving the distance between the lanes that are added; all lanes get it. Floating point: every
/// rounding belongs to the result.
template <class Block, typename Real>
QC_HD Real warp_tree_sum(Block& block, Real value) {
    QC_UNROLL for (int distance = kWarpSize / 2; distance > 0; distance /= 2) value +=
        block.shuffle_xor(value, distance);
    return value;
}

} // namespace qc::device
