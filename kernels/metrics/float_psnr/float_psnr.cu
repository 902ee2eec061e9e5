// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_psnr on the GPU, where nothing else sums luma's squared errors. Block (x, z) covers tile x of pair z.
#include "device/block_sum.cuh"
#include "families/sse/sse_tile.hpp"

namespace qc::float_psnr {
namespace {

using namespace sse;

constexpr int kThreads = kTuning.warps * kLanes;

template <typename T, typename Sum, Square kSquare>
__device__ __forceinline__ void sum_tile(const DevicePair* pairs, uint64_t* accumulators, const SseTask& task) {
    const DevicePair& pair = pairs[blockIdx.z];
    const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
    const Position first =
        thread_position(task.luma, kLumaColumns<T>, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
    const Sum sum[1] = {sum_luma<T, Sum, kSquare>(reference, distorted, task.luma, first)};
    add_block_sums<kTuning.warps>(sum, accumulators + pair.output);
}

} // namespace
} // namespace qc::float_psnr

using namespace qc::float_psnr;

extern "C" __global__ void __launch_bounds__(kThreads)
    float_psnr_u8(const qc::DevicePair* pairs, uint64_t* accumulators, SseTask task) {
    sum_tile<uint8_t, uint32_t, Square::kExact>(pairs, accumulators, task);
}

/// Up to 12 bits.
extern "C" __global__ void __launch_bounds__(kThreads)
    float_psnr_u16(const qc::DevicePair* pairs, uint64_t* accumulators, SseTask task) {
    sum_tile<uint16_t, uint32_t, Square::kExact>(pairs, accumulators, task);
}

/// 16 bits.
extern "C" __global__ void __launch_bounds__(kThreads)
    float_psnr_u16_rounded(const qc::DevicePair* pairs, uint64_t* accumulators, SseTask task) {
    sum_tile<uint16_t, uint64_t, Square::kRounded>(pairs, accumulators, task);
}
