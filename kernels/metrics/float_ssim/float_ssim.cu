// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-scale structural similarity on the GPU: entry points.
#include "families/structural/structural_kernels.cuh"
#include "metrics/float_ssim/float_ssim_phases.hpp"

QC_STRUCTURAL_WINDOW(uint8_t, u8)
QC_STRUCTURAL_WINDOW(uint16_t, u16)

namespace qc::float_ssim {

/// grid: (blocks of columns, blocks of rows, pairs)
template <typename T>
__device__ __forceinline__ void run_decimation(const structural::Task& task, const DecimationTask& decimation) {
    decimate<T>(task, decimation, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
                static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y));
}

} // namespace qc::float_ssim

extern "C" __global__ void __launch_bounds__(qc::float_ssim::kTuning.threads_x* qc::float_ssim::kTuning.threads_y)
    float_ssim_decimate_u8(const __grid_constant__ qc::structural::Task task,
                           qc::float_ssim::DecimationTask decimation) {
    qc::float_ssim::run_decimation<uint8_t>(task, decimation);
}

extern "C" __global__ void __launch_bounds__(qc::float_ssim::kTuning.threads_x* qc::float_ssim::kTuning.threads_y)
    float_ssim_decimate_u16(const __grid_constant__ qc::structural::Task task,
                            qc::float_ssim::DecimationTask decimation) {
    qc::float_ssim::run_decimation<uint16_t>(task, decimation);
}
