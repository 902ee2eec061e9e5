// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block of the GPU does: it sums one block of the grid, of one picture.
#pragma once

#include "contract/signature.hpp"
#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "metrics/signature/signature_tuning.hpp"

namespace qc::signature {
struct BlockArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    SignatureGrid grid;
};

/// grid: (blocks of the signature, reference and distorted picture, pairs)
template <typename Sample>
struct SumBlock : device::KernelOf<BlockArguments, kTuning.threads> {
    template <class Block>
    QC_HD static void run(Block& block, const BlockArguments& arguments) {
        const DevicePair& pair = arguments.pairs[block.z()];
        const DevicePlane luma = block.y() == 0 ? pair.reference.plane[0] : pair.distorted.plane[0];
        const SignatureGrid& grid = arguments.grid;
        const int row = block.x() / kSignatureColumns, column = block.x() % kSignatureColumns;
        const int right = grid.left(column + 1), bottom = grid.top(row + 1), step = grid.row_step();
        uint64_t sum[1] = {};
        for (int y = grid.top(row) + block.warp() * step; y < bottom; y += Block::kThreads / device::kWarpSize * step)
            for (int x = grid.left(column) + block.lane(); x < right; x += device::kWarpSize)
                sum[0] += read_sample<Sample>(luma, x, y);
        uint64_t* const words = arguments.accumulators + static_cast<size_t>(pair.output) * kSignatureWords;
        device::add_block_sums(block, sum, words + block.y() * kSignatureBlocks + block.x());
    }
};

#define QC_SIGNATURE_KERNELS(KERNEL)                                                                                   \
    KERNEL(signature_u8, SumBlock<uint8_t>)                                                                            \
    KERNEL(signature_u16, SumBlock<uint16_t>)
QC_DECLARE_KERNELS(QC_SIGNATURE_KERNELS)

} // namespace qc::signature
