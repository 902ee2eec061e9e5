// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer SSIM on the GPU: entry points.
#include "device/block_sum.cuh"
#include "metrics/ssim/ssim_phases.hpp"

namespace qc::ssim {

/// grid: (tiles in x, tiles in y, pairs)
template <typename T, typename RowSum>
__device__ __forceinline__ void run_tile(const Task& task) {
    __shared__ TileMemory<RowSum> memory;
    const auto pair = static_cast<int>(blockIdx.z), thread = static_cast<int>(threadIdx.x);
    const int x = static_cast<int>(blockIdx.x) * kTileWidth, y = static_cast<int>(blockIdx.y) * kTileHeight;
    read_phase<T>(memory, task, pair, x, y, thread);
    __syncthreads();
    row_phase(memory, thread);
    __syncthreads();
    const uint64_t sums[] = {column_phase(memory, task, x, y, thread)};
    add_block_sums<kTuning.warps>(sums, task.accumulators + task.pairs[pair].output);
}

} // namespace qc::ssim

#define QC_SSIM_TILE(name, type, row_sum)                                                                              \
    extern "C" __global__ void __launch_bounds__(qc::ssim::kThreads)                                                   \
        name(const __grid_constant__ qc::ssim::Task task) {                                                            \
        qc::ssim::run_tile<type, row_sum>(task);                                                                       \
    }

QC_SSIM_TILE(ssim_u8, uint8_t, uint32_t)
QC_SSIM_TILE(ssim_u16, uint16_t, uint32_t)
QC_SSIM_TILE(ssim_u16_full, uint16_t, uint64_t)
