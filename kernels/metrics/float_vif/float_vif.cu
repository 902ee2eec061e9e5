// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point VIF on the GPU: entry points. What a thread does is in float_vif_phases.hpp.
#include "device/row_sums.cuh"
#include "metrics/float_vif/float_vif_phases.hpp"

namespace qc::float_vif {
namespace {

template <class Plan>
__device__ __forceinline__ void score_tile(const ScaleTask& task) {
    extern __shared__ __align__(16) float shared[];
    const int thread = static_cast<int>(threadIdx.x), pair = static_cast<int>(blockIdx.z);
    const TileOrigin origin{static_cast<int>(blockIdx.x) * Plan::kWidth, static_cast<int>(blockIdx.y) * Plan::kHeight};
    const typename Plan::Source source(task, pair);
    vertical_phase<Plan>(shared, thread, source, origin, task);
    __syncthreads();
    decimation_phase<Plan>(shared, thread, origin, task, pair);
    horizontal_phase<Plan>(shared, thread, origin, task, pair);
}

template <typename Source>
__device__ __forceinline__ void score_any_tile(const ScaleTask& task) {
    extern __shared__ __align__(16) float shared[];
    const int thread = static_cast<int>(threadIdx.x), pair = static_cast<int>(blockIdx.z);
    const TileOrigin origin{static_cast<int>(blockIdx.x) * AnyTile::kWidth,
                            static_cast<int>(blockIdx.y) * AnyTile::kHeight};
    const Source source(task, pair);
    any_vertical_phase(shared, thread, source, origin, task);
    __syncthreads();
    any_horizontal_phase(shared, thread, origin, task, pair);
}

template <typename Sample>
__device__ __forceinline__ void resize(const ResizeTask& task) {
    resize_sample<Sample>(task, static_cast<int>(blockIdx.z),
                          static_cast<int>(blockIdx.x) * kResizeBlock + static_cast<int>(threadIdx.x),
                          static_cast<int>(blockIdx.y));
}

} // namespace
} // namespace qc::float_vif

#define QC_FLOAT_VIF_SCALE(name, Plan)                                                                                 \
    extern "C" __global__ void __launch_bounds__(qc::float_vif::Plan::kThreads, qc::float_vif::Plan::kMinBlocks)       \
        name(const __grid_constant__ qc::float_vif::ScaleTask task) {                                                  \
        qc::float_vif::score_tile<qc::float_vif::Plan>(task);                                                          \
    }
#define QC_FLOAT_VIF_ANY(name, Source)                                                                                 \
    extern "C" __global__ void __launch_bounds__(qc::float_vif::AnyTile::kThreads)                                     \
        name(const __grid_constant__ qc::float_vif::ScaleTask task) {                                                  \
        qc::float_vif::score_any_tile<qc::float_vif::Source>(task);                                                    \
    }
#define QC_FLOAT_VIF_RESIZE(name, Sample)                                                                              \
    extern "C" __global__ void __launch_bounds__(qc::float_vif::kResizeBlock)                                          \
        name(const __grid_constant__ qc::float_vif::ResizeTask task) {                                                 \
        qc::float_vif::resize<Sample>(task);                                                                           \
    }

QC_FLOAT_VIF_SCALE(float_vif_scale0_u8, Scale0U8)
QC_FLOAT_VIF_SCALE(float_vif_scale0_u16, Scale0U16)
QC_FLOAT_VIF_SCALE(float_vif_scale1, Scale1)
QC_FLOAT_VIF_SCALE(float_vif_scale2, Scale2)
QC_FLOAT_VIF_SCALE(float_vif_scale3, Scale3)
QC_FLOAT_VIF_ANY(float_vif_any_u8, PictureSource<uint8_t>)
QC_FLOAT_VIF_ANY(float_vif_any_u16, PictureSource<uint16_t>)
QC_FLOAT_VIF_ANY(float_vif_any_scratch, ScratchSource)
QC_FLOAT_VIF_RESIZE(float_vif_resize_u8, uint8_t)
QC_FLOAT_VIF_RESIZE(float_vif_resize_u16, uint16_t)
QC_ROW_SUM_KERNELS(float_vif, qc::DevicePair)
