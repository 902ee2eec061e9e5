// SPDX-License-Identifier: BSD-2-Clause-Patent
// ANSNR on the GPU: one kernel filters and sums along the rows, one adds up the rows. gridDim.z counts the pairs of a
// batch. What a block does is in float_ansnr_tile.hpp.
#include "device/ordered_sum.cuh"
#include "metrics/float_ansnr/float_ansnr_tile.hpp"

namespace qc::float_ansnr {
namespace {

template <typename T>
__device__ __forceinline__ void sum_band(const DevicePair* pairs, const Task& task, float* rows) {
    __shared__ SharedTile shared;
    const DevicePair& pair = pairs[blockIdx.z];
    const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % kLanes;
    const int band_y = static_cast<int>(blockIdx.x) * kTileRows;
    // Warps of a number share a scheduler: neighbouring blocks let different ones add.
    const bool adds = thread / kLanes == static_cast<int>(blockIdx.x) % kWarps && lane < kChains;
    float sum = 0.0f;
#pragma unroll 1
    for (int tile_x = 0; tile_x < task.width; tile_x += kTileColumns) {
        filter_tile<T>(reference, distorted, task, tile_x, band_y, thread, shared);
        __syncthreads();
        if (adds) sum = add_tile(shared, lane, min(kTileColumns, task.width - tile_x), sum);
        __syncthreads();
    }
    const int y = band_y + lane / kSums;
    if (!adds || y >= task.height) return;
    rows[(static_cast<size_t>(blockIdx.z) * task.height + y) * kSums + lane % kSums] = sum;
}

} // namespace
} // namespace qc::float_ansnr

using namespace qc::float_ansnr;

#define QC_ANSNR_BOUNDS __launch_bounds__(kThreads, tuning::kBlocksPerMultiprocessor)

extern "C" __global__ void QC_ANSNR_BOUNDS float_ansnr_u8(const qc::DevicePair* pairs, Task task, float* rows) {
    sum_band<uint8_t>(pairs, task, rows);
}

extern "C" __global__ void QC_ANSNR_BOUNDS float_ansnr_u16(const qc::DevicePair* pairs, Task task, float* rows) {
    sum_band<uint16_t>(pairs, task, rows);
}

/// One warp for each sum of a pair.
extern "C" __global__ void __launch_bounds__(kSums* kLanes)
    float_ansnr_finish(const qc::DevicePair* pairs, const float* rows, int height, uint64_t* accumulators) {
    const int word = static_cast<int>(threadIdx.x) / kLanes;
    const float sum = qc::ordered_sum(rows + static_cast<size_t>(blockIdx.z) * height * kSums + word, height, kSums);
    if (threadIdx.x % kLanes != 0) return;
    accumulators[static_cast<size_t>(pairs[blockIdx.z].output) * kSums + word] =
        static_cast<uint64_t>(__double_as_longlong(static_cast<double>(sum)));
}
