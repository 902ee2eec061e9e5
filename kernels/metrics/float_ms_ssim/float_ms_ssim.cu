// SPDX-License-Identifier: BSD-2-Clause-Patent
// Multi-scale structural similarity on the GPU: entry points.
#include "families/structural/structural_kernels.cuh"
#include "metrics/float_ms_ssim/float_ms_ssim_phases.hpp"

QC_STRUCTURAL_WINDOW(uint8_t, u8)
QC_STRUCTURAL_WINDOW(uint16_t, u16)

namespace qc::float_ms_ssim {

/// Makes level `from` + 1. grid: (tiles in x, tiles in y, 2 * pairs): both pictures of a pair
/// @tparam kSigned whether the input may be negative: that of level 0 is not
template <typename T, bool kSigned>
__device__ __forceinline__ void run_low_pass(const structural::Task& task, int from) {
    __shared__ LowPassMemory memory;
    const auto pair = static_cast<int>(blockIdx.z / 2), picture = static_cast<int>(blockIdx.z % 2);
    const int x = static_cast<int>(blockIdx.x) * kTileWidth, y = static_cast<int>(blockIdx.y) * kTileHeight;
    const auto thread = static_cast<int>(threadIdx.x);
    read_phase<T>(memory, task, from, pair, picture, x, y, thread);
    __syncthreads();
    low_pass_phase<kSigned>(memory, task, from + 1, pair, picture, x, y, thread);
}

} // namespace qc::float_ms_ssim

#define QC_LOW_PASS(name, type, is_signed)                                                                             \
    extern "C" __global__ void __launch_bounds__(qc::float_ms_ssim::kLowPassThreads,                                   \
                                                 qc::float_ms_ssim::kTuning.min_blocks)                                \
        name(const __grid_constant__ qc::structural::Task task, int from) {                                            \
        qc::float_ms_ssim::run_low_pass<type, is_signed>(task, from);                                                  \
    }

QC_LOW_PASS(float_ms_ssim_low_pass_u8, uint8_t, false)
QC_LOW_PASS(float_ms_ssim_low_pass_u16, uint16_t, false)
QC_LOW_PASS(float_ms_ssim_low_pass, uint8_t, true)
