// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block of the GPU does. Templates over the block, so that the tests run the same code, barriers included, on
// the host. device/block.hpp lists what a block can do, device/README.md tells how a kernel is written.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "metrics/skeleton/skeleton_math.hpp"
#include "metrics/skeleton/skeleton_tuning.hpp"

namespace qc::skeleton {
/// The one parameter of a kernel, passed by value.
struct BandArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    int width, height; ///< of luma
};

/// Adds a band's differences to its pair's word. grid: (1, bands of rows_per_block rows, pairs)
template <typename Sample>
struct SumBand : device::KernelOf<BandArguments, kTuning.threads> {
    template <class Block>
    QC_HD static void run(Block& block, const BandArguments& arguments) {
        const DevicePair& pair = arguments.pairs[block.z()];
        const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
        const int first = block.y() * kTuning.rows_per_block, below = first + kTuning.rows_per_block;
        const int last = below < arguments.height ? below : arguments.height;
        uint64_t sum[kWords] = {};
        for (int y = first; y < last; ++y)
            for (int x = block.thread(); x < arguments.width; x += Block::kThreads)
                sum[0] +=
                    absolute_difference(read_sample<Sample>(reference, x, y), read_sample<Sample>(distorted, x, y));
        // Integer sums may be atomic; sums of floating-point numbers need a fixed order (device/ordered_sum.hpp).
        device::add_block_sums(block, sum, arguments.accumulators + static_cast<size_t>(pair.output) * kWords);
    }
};

// The list: .cu makes the kernels of it, .cpp finds them by kernels::NAME, the emulation test runs them.
#define QC_SKELETON_KERNELS(KERNEL)                                                                                    \
    KERNEL(skeleton_u8, SumBand<uint8_t>)                                                                              \
    KERNEL(skeleton_u16, SumBand<uint16_t>)
QC_DECLARE_KERNELS(QC_SKELETON_KERNELS)

} // namespace qc::skeleton
