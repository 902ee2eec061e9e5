// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of motion and motion_v2: one pass over the current and an earlier reference picture. Block (x, y, z)
// covers one tile of reference z of the batch. Each of the two has them in its own program.
#pragma once

#include "device/block_sum.cuh"
#include "families/motion/motion_tile.hpp"

namespace qc::motion {
namespace {

__device__ __forceinline__ Neighbours exchange(const LaneRow& own) {
    Neighbours near;
    near.left[0] = __shfl_up_sync(kWholeWarp, own.at[2], 1);
    near.left[1] = __shfl_up_sync(kWholeWarp, own.at[3], 1);
    near.right[0] = __shfl_down_sync(kWholeWarp, own.at[0], 1);
    near.right[1] = __shfl_down_sync(kWholeWarp, own.at[1], 1);
    return near;
}

/// A lane's sum over the rows of its warp. `row` is the same for the whole warp.
template <bool kFullRange, typename Source>
__device__ __forceinline__ uint32_t sum_rows(const Source& source, const SadTask& task, int column, int row) {
    const bool counts = lane_counts(static_cast<int>(threadIdx.x) % kLanes);
    ColumnFilter<kFullRange> filter(task.depth);
    uint32_t sum = 0;
#pragma unroll Source::kUnroll
    for (int i = 0; i < kSourceRows; ++i) {
        filter.push(source.difference(i));
        const int output_row = i - 2 * kReach; // the row whose window is complete now
        if (output_row >= 0 && row + output_row < task.height) {
            const LaneRow own = filter.filtered();
            const Neighbours near = exchange(own);
            if (counts) sum += sum_row(own, near, column, task.width);
        }
    }
    return sum;
}

template <typename T, bool kFullRange>
__device__ __forceinline__ void sum_tile(const DeviceReference* references, uint64_t* accumulators,
                                         const SadTask& task) {
    const DeviceReference& reference = references[blockIdx.z];
    const DevicePlane previous = reference.history[task.lag - 1];
    if (previous.data == nullptr) return;
    const DevicePlane current = reference.current.plane[0];

    const int tile_x = static_cast<int>(blockIdx.x);
    const int column = lane_column(tile_x, static_cast<int>(threadIdx.x) % kLanes);
    const int row = warp_row(static_cast<int>(blockIdx.y), static_cast<int>(threadIdx.x) / kLanes);
    uint32_t sum[1] = {0};
    if (row < task.height) { // the same for a whole warp
        if (tile_is_wide<T>(previous, current, task, tile_x)) {
            const WideSource<T> source(previous, current, task, column, row);
            sum[0] = sum_rows<kFullRange>(source, task, column, row);
        } else {
            const SampleSource<T> source(previous, current, task, column, row);
            sum[0] = sum_rows<kFullRange>(source, task, column, row);
        }
    }
    add_block_sums<kTuning.warps>(sum, accumulators + reference.output);
}

} // namespace
} // namespace qc::motion

constexpr int kThreads = qc::motion::kTuning.warps * qc::motion::kLanes;

extern "C" __global__ void __launch_bounds__(kThreads, qc::motion::kTuning.blocks_per_multiprocessor)
    motion_sad_u8(const qc::DeviceReference* references, uint64_t* accumulators, qc::motion::SadTask task) {
    qc::motion::sum_tile<uint8_t, false>(references, accumulators, task);
}

/// 9 to 15 bits.
extern "C" __global__ void __launch_bounds__(kThreads, qc::motion::kTuning.blocks_per_multiprocessor)
    motion_sad_u16(const qc::DeviceReference* references, uint64_t* accumulators, qc::motion::SadTask task) {
    qc::motion::sum_tile<uint16_t, false>(references, accumulators, task);
}

/// 16 bits.
extern "C" __global__ void __launch_bounds__(kThreads, qc::motion::kTuning.blocks_per_multiprocessor)
    motion_sad_u16_full(const qc::DeviceReference* references, uint64_t* accumulators, qc::motion::SadTask task) {
    qc::motion::sum_tile<uint16_t, true>(references, accumulators, task);
}
