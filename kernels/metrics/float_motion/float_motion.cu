// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point motion on the GPU: entry points. What a thread does is in float_motion_tile.hpp.
#include "device/row_sums.cuh"
#include "metrics/float_motion/float_motion_tile.hpp"

namespace qc::float_motion {
namespace {

template <typename Sample>
__device__ __forceinline__ void difference_tile(const PlaneTask& task) {
    __shared__ __align__(16) float shared[kSharedFloats];
    const int thread = static_cast<int>(threadIdx.x), reference = static_cast<int>(blockIdx.z);
    const int x = static_cast<int>(blockIdx.x) * kTuning.width, y = static_cast<int>(blockIdx.y) * kTuning.height;
    vertical_phase<Sample>(shared, thread, x, y, task, task.references[reference]);
    __syncthreads();
    horizontal_phase(shared, thread, x, y, task, reference);
}

} // namespace
} // namespace qc::float_motion

using namespace qc::float_motion;

extern "C" __global__ void __launch_bounds__(kTuning.threads, kTuning.blocks_per_multiprocessor)
    float_motion_terms_u8(const __grid_constant__ PlaneTask task) {
    difference_tile<uint8_t>(task);
}

extern "C" __global__ void __launch_bounds__(kTuning.threads, kTuning.blocks_per_multiprocessor)
    float_motion_terms_u16(const __grid_constant__ PlaneTask task) {
    difference_tile<uint16_t>(task);
}

extern "C" __global__ void __launch_bounds__(kHalfBlock)
    float_motion_half_terms(const __grid_constant__ HalfTask task) {
    half_term(task, static_cast<int>(blockIdx.z),
              static_cast<int>(blockIdx.x) * kHalfBlock + static_cast<int>(threadIdx.x), static_cast<int>(blockIdx.y));
}

QC_ROW_SUM_KERNELS(float_motion, qc::DeviceReference)
