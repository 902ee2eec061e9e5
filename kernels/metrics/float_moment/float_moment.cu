// SPDX-License-Identifier: BSD-2-Clause-Patent
// Moments on the GPU: one pass over both pictures. Block (x, y, z) covers one tile of pair z of the batch.
#include "device/block_sum.cuh"
#include "metrics/float_moment/float_moment_tile.hpp"

namespace qc::float_moment {
namespace {

constexpr int kThreads = kTuning.warps * kLanes;
constexpr int kWords = 4;

template <typename T, typename Sum>
__device__ __forceinline__ void sum_tile(const DevicePair* pairs, uint64_t* accumulators, int width, int height) {
    const DevicePair& pair = pairs[blockIdx.z];
    const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
    const Position first = thread_position(kColumns<T>, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y),
                                           static_cast<int>(threadIdx.x));
    const Sums<Sum> a = sum_thread<T, Sum>(reference, width, height, first);
    const Sums<Sum> b = sum_thread<T, Sum>(distorted, width, height, first);
    const Sum sums[kWords] = {a.first, b.first, a.second, b.second};
    add_block_sums<kTuning.warps>(sums, accumulators + static_cast<size_t>(pair.output) * kWords);
}

} // namespace
} // namespace qc::float_moment

using namespace qc::float_moment;

extern "C" __global__ void __launch_bounds__(kThreads)
    float_moment_u8(const qc::DevicePair* pairs, uint64_t* accumulators, int width, int height) {
    sum_tile<uint8_t, uint32_t>(pairs, accumulators, width, height);
}

/// Up to 12 bits.
extern "C" __global__ void __launch_bounds__(kThreads)
    float_moment_u16(const qc::DevicePair* pairs, uint64_t* accumulators, int width, int height) {
    sum_tile<uint16_t, uint32_t>(pairs, accumulators, width, height);
}

/// 16 bits.
extern "C" __global__ void __launch_bounds__(kThreads)
    float_moment_u16_full(const qc::DevicePair* pairs, uint64_t* accumulators, int width, int height) {
    sum_tile<uint16_t, uint64_t>(pairs, accumulators, width, height);
}
