// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared errors with weights on the GPU: a thread goes down a column, sample by sample.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "families/sse/sse_tuning.hpp"
#include "families/sse/sse_weighted.hpp"

namespace qc::sse {
constexpr int kWeightedColumns = 32;
constexpr int kWeightedRows = kTuning.warps * kTuning.weighted_rows_per_thread;

struct WeightedArguments {
    const DevicePair* pairs;
    uint64_t* accumulators; ///< kWeightedWords of each plane
    WeightedPlane plane[3];
    int planes;
};

/// grid: (columns of blocks, rows of blocks times planes, pairs). Luma says how many blocks a plane has.
template <typename T, Square kSquare>
struct SumWeighted : device::KernelOf<WeightedArguments, kTuning.warps * kWeightedColumns> {
    template <class Block>
    QC_HD static void run(Block& block, const WeightedArguments& arguments) {
        const DevicePair& pair = arguments.pairs[block.z()];
        const int p = block.y() % arguments.planes;
        const WeightedPlane plane = arguments.plane[p];
        const DevicePlane reference = pair.reference.plane[p], distorted = pair.distorted.plane[p];
        const WeightReader weights(pair.weights);
        const int x = block.x() * kWeightedColumns + block.lane();
        const int top = block.y() / arguments.planes * kWeightedRows + block.warp();
        uint64_t words[kWeightedWords] = {};
        for (int y = top; x < plane.width && y < plane.height && y < top + kWeightedRows - block.warp();
             y += kTuning.warps)
            add_weighted(squared_error_as<kSquare>(read_sample<T>(reference, x, y), read_sample<T>(distorted, x, y)),
                         plane.weight(weights, x, y), words);
        uint64_t* const target =
            arguments.accumulators + static_cast<size_t>(pair.output) * arguments.planes * kWeightedWords;
        device::add_block_sums(block, words, target + p * kWeightedWords);
    }
};

// In the lists of the metrics that sum them: samples of a byte, of two.
#define QC_SSE_WEIGHTED_KERNELS(KERNEL)                                                                                \
    KERNEL(sse_weighted_u8, qc::sse::SumWeighted<uint8_t, qc::sse::Square::kExact>)                                    \
    KERNEL(sse_weighted_u16, qc::sse::SumWeighted<uint16_t, qc::sse::Square::kExact>)
QC_DECLARE_KERNELS(QC_SSE_WEIGHTED_KERNELS)

inline WeightedArguments weighted_arguments(const FrameGeometry& geometry, int planes) {
    WeightedArguments arguments{};
    arguments.planes = planes;
    for (int p = 0; p < planes; ++p) arguments.plane[p] = weighted_plane(geometry, p);
    return arguments;
}

} // namespace qc::sse
