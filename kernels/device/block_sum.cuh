// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums over a thread block, in integers: the order does not matter, so the result has the same bits in every run.
#pragma once

#include <cstdint>

namespace qc {

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffffu;

__device__ __forceinline__ uint64_t warp_sum(uint64_t value) {
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    }
    return value;
}

__device__ __forceinline__ uint64_t warp_sum(uint32_t value) {
#if __CUDA_ARCH__ >= 800
    // The hardware adds 32-bit words: two halves of 16 bits leave room for 32 lanes.
    const uint64_t low = __reduce_add_sync(kWholeWarp, value & 0xffffu);
    const uint64_t high = __reduce_add_sync(kWholeWarp, value >> 16);
    return low + (high << 16);
#else
    return warp_sum(static_cast<uint64_t>(value));
#endif
}

/// Adds the block's sums of `value[i]` to target[i]. All threads of a one-dimensional block of kWarps whole warps must
/// come here, once per kernel.
template <int kWarps, int kCount, typename Sum>
__device__ __forceinline__ void add_block_sums(const Sum (&value)[kCount], uint64_t* target) {
    static_assert(kCount <= kWarpSize);
    __shared__ uint64_t partial[kCount][kWarps];
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        const uint64_t sum = warp_sum(value[i]);
        if (lane == 0) partial[i][warp] = sum;
    }
    __syncthreads();
    if (threadIdx.x < kCount) {
        uint64_t sum = 0;
#pragma unroll
        for (int w = 0; w < kWarps; ++w) sum += partial[threadIdx.x][w];
        if (sum != 0) atomicAdd(reinterpret_cast<unsigned long long*>(target) + threadIdx.x, sum);
    }
}

} // namespace qc
