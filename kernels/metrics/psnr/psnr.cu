// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR on the GPU: one pass over both pictures, as fast as memory delivers them. Block (x, z) covers tile x of pair z
// of the batch.
#include "device/block_sum.cuh"
#include "families/sse/sse_tile.hpp"

namespace qc::psnr {
namespace {

using namespace sse;

template <typename T, typename Sum>
__device__ __forceinline__ void sum_tile(const DevicePair* pairs, uint64_t* accumulators, const SseTask& task) {
    const DevicePair& pair = pairs[blockIdx.z];
    uint64_t* const target = accumulators + static_cast<size_t>(pair.output) * task.words;
    const int tile = static_cast<int>(blockIdx.x);
    const int thread = static_cast<int>(threadIdx.x);
    // Copies of the descriptions: they stay in registers.
    if (tile < task.luma.tiles) {
        const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
        const Position first = thread_position(task.luma, kLumaColumns<T>, tile, thread);
        const Sum sum[1] = {sum_luma<T, Sum>(reference, distorted, task.luma, first)};
        add_block_sums<kTuning.warps>(sum, target);
    } else {
        const DevicePicture reference = pair.reference, distorted = pair.distorted;
        const Position first = thread_position(task.chroma, kChromaColumns<T>, tile - task.luma.tiles, thread);
        const auto chroma = sum_chroma<T, Sum>(reference, distorted, task.chroma, first);
        const Sum sums[2] = {chroma.cb, chroma.cr};
        add_block_sums<kTuning.warps>(sums, target + 1);
    }
}

} // namespace
} // namespace qc::psnr

constexpr int kThreads = qc::sse::kTuning.warps * qc::sse::kLanes;

extern "C" __global__ void __launch_bounds__(kThreads)
    psnr_sse_u8(const qc::DevicePair* pairs, uint64_t* accumulators, qc::sse::SseTask task) {
    qc::psnr::sum_tile<uint8_t, uint32_t>(pairs, accumulators, task);
}

/// Up to 12 bits.
extern "C" __global__ void __launch_bounds__(kThreads)
    psnr_sse_u16(const qc::DevicePair* pairs, uint64_t* accumulators, qc::sse::SseTask task) {
    qc::psnr::sum_tile<uint16_t, uint32_t>(pairs, accumulators, task);
}

/// 16 bits.
extern "C" __global__ void __launch_bounds__(kThreads)
    psnr_sse_u16_full(const qc::DevicePair* pairs, uint64_t* accumulators, qc::sse::SseTask task) {
    qc::psnr::sum_tile<uint16_t, uint64_t>(pairs, accumulators, task);
}
