// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of row_sums.hpp. A metric's .cu file instantiates them under names of its own with QC_ROW_SUM_KERNELS.
#pragma once

#include "device/row_sums.hpp"

namespace qc {

__device__ __forceinline__ void sum_rows(const RowSumTask& task) {
    const int row = static_cast<int>(blockIdx.x) * kRowSumBlock + static_cast<int>(threadIdx.x);
    if (row < task.rows) task.sums[row] = sum_row(task.terms + static_cast<size_t>(row) * task.pitch, task.width);
}

/// Evaluation means DevicePair or DeviceReference.
template <typename Evaluation>
__device__ __forceinline__ void sum_columns(const Evaluation* evaluations, uint64_t* accumulators,
                                            const ColumnSumTask& task) {
    __shared__ float chunk[kColumnSumChunk];
    const int kind = static_cast<int>(blockIdx.x) / task.planes, plane = static_cast<int>(blockIdx.x) % task.planes;
    const int height = task.height[kind];
    const float* const sums = task.sums[kind] + (static_cast<size_t>(blockIdx.y) * task.planes + plane) * height;
    float total = 0.0f;
    for (int first = 0; first < height; first += kColumnSumChunk) {
        const int count = min(height - first, kColumnSumChunk);
        for (int i = static_cast<int>(threadIdx.x); i < count; i += kColumnSumBlock) chunk[i] = sums[first + i];
        __syncthreads();
        if (threadIdx.x == 0) {
#pragma unroll 16
            for (int i = 0; i < count; ++i) total = total + chunk[i];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const size_t output = static_cast<size_t>(evaluations[blockIdx.y].output) * task.words;
        accumulators[output + task.word[kind] + plane] = accumulator_of(total);
    }
}

} // namespace qc

#define QC_ROW_SUM_KERNELS(prefix, Evaluation)                                                                         \
    extern "C" __global__ void __launch_bounds__(qc::kRowSumBlock)                                                     \
        prefix##_sum_rows(const __grid_constant__ qc::RowSumTask task) {                                               \
        qc::sum_rows(task);                                                                                            \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(qc::kColumnSumBlock) prefix##_sum_columns(                            \
        const Evaluation* evaluations, uint64_t* accumulators, const __grid_constant__ qc::ColumnSumTask task) {       \
        qc::sum_columns(evaluations, accumulators, task);                                                              \
    }
