// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared errors under a mask on the GPU: a thread goes down a column, sample by sample.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "families/sse/sse_masked.hpp"
#include "families/sse/sse_tuning.hpp"

namespace qc::sse {

constexpr int kMaskedColumns = 32;
constexpr int kMaskedRows = kTuning.warps * kTuning.masked_rows_per_thread;

struct MaskedArguments {
    const DevicePair* pairs;
    uint64_t* accumulators; ///< kMaskedWords of each plane
    MaskedPlane plane[3];
    int planes;
};

/// grid: (columns of blocks, rows of blocks times planes, pairs). Luma says how many blocks a plane has.
template <typename T, Square kSquare>
struct SumMasked {
    using Arguments = MaskedArguments;
    static constexpr int kThreads = kTuning.warps * kMaskedColumns;

    template <class Block>
    QC_HD static void run(Block& block, const MaskedArguments& arguments) {
        const DevicePair& pair = arguments.pairs[block.z()];
        const int p = block.y() % arguments.planes;
        const MaskedPlane plane = arguments.plane[p];
        const DevicePlane reference = pair.reference.plane[p], distorted = pair.distorted.plane[p];
        const MaskReader mask(pair.mask);
        const int x = block.x() * kMaskedColumns + block.lane();
        const int top = block.y() / arguments.planes * kMaskedRows + block.warp();
        uint64_t words[kMaskedWords] = {};
        for (int y = top; x < plane.width && y < plane.height && y < top + kMaskedRows - block.warp();
             y += kTuning.warps)
            add_weighted(squared_error_as<kSquare>(read_sample<T>(reference, x, y), read_sample<T>(distorted, x, y)),
                         plane.weight(mask, x, y), words);
        uint64_t* const target =
            arguments.accumulators + static_cast<size_t>(pair.output) * arguments.planes * kMaskedWords;
        device::add_block_sums(block, words, target + p * kMaskedWords);
    }
};

// In the lists of the metrics that sum them: samples of a byte, of two.
#define QC_SSE_MASKED_KERNELS(KERNEL)                                                                                  \
    KERNEL(sse_masked_u8, qc::sse::SumMasked<uint8_t, qc::sse::Square::kExact>)                                        \
    KERNEL(sse_masked_u16, qc::sse::SumMasked<uint16_t, qc::sse::Square::kExact>)
QC_DECLARE_KERNELS(QC_SSE_MASKED_KERNELS)

inline MaskedArguments masked_arguments(const FrameGeometry& geometry, int planes) {
    MaskedArguments arguments{};
    arguments.planes = planes;
    for (int p = 0; p < planes; ++p) arguments.plane[p] = masked_plane(geometry, p);
    return arguments;
}

} // namespace qc::sse
