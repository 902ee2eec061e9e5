// SPDX-License-Identifier: BSD-2-Clause-Patent
// The window kernel; each .cu file makes its entry points of it. What a thread does is in structural_phases.hpp.
#pragma once

#include "device/block_sum.cuh"
#include "families/structural/structural_phases.hpp"

namespace qc::structural {

/// grid: (blocks of all levels, 1, pairs)
template <typename T>
__device__ __forceinline__ void run_window(const Task& task) {
    __shared__ WindowMemory memory;
    const auto pair = static_cast<int>(blockIdx.z), thread = static_cast<int>(threadIdx.x);
    const Segment segment = segment_of(task, static_cast<int>(blockIdx.x));
    const bool has_negatives = task.window[segment.level].has_negatives;
    uint64_t sums[kSumWords] = {};
    for (int batch = 0; has_batch(segment, batch); ++batch) {
        if (batch > 0) keep_phase(memory, thread);
        read_phase<T>(memory, task, pair, segment, batch, thread);
        __syncthreads();
        // Between the two phases a quantity stays with its warp.
        if (has_negatives) {
            row_phase<true>(memory, thread);
            __syncwarp();
            column_phase<true>(memory, thread);
        } else {
            row_phase<false>(memory, thread);
            __syncwarp();
            column_phase<false>(memory, thread);
        }
        __syncthreads();
        terms_phase(memory, task, segment, batch, thread, sums);
        __syncthreads();
    }
    uint64_t* const words =
        task.accumulators +
        (static_cast<size_t>(task.pairs[pair].output) * task.levels + static_cast<size_t>(segment.level)) * kSumWords;
    add_block_sums<kWarps>(sums, words);
}

} // namespace qc::structural

#define QC_STRUCTURAL_WINDOW(type, suffix)                                                                             \
    extern "C" __global__ void __launch_bounds__(qc::structural::kThreads, qc::structural::kTuning.min_blocks)         \
        structural_window_##suffix(const __grid_constant__ qc::structural::Task task) {                                \
        qc::structural::run_window<type>(task);                                                                        \
    }
