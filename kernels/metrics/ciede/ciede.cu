// SPDX-License-Identifier: BSD-2-Clause-Patent
// CIEDE2000 on the GPU: a pass over both pictures that leaves a partial sum per tile, and one block per pair that adds
// them up. Bound by arithmetic.
#include "metrics/ciede/ciede_tile.hpp"

namespace qc::ciede {
namespace {

constexpr int kThreads = kTuning.warps * kLanes;
constexpr unsigned kWholeWarp = 0xffffffffu;

/// Approximations of the special function unit. PTX documents: 2^-23 of the value for rcp, 2^-22.9 for rsqrt, 2^-22 for
/// ex2, 2^-22 of the larger of 1 and the value for lg2.
struct HardwareSeeds {
    static __device__ __forceinline__ float reciprocal(float x) {
        float result;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
    }
    static __device__ __forceinline__ float inverse_root(float x) {
        float result;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
    }
    static __device__ __forceinline__ float log2(float x) {
        float result;
        asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
    }
    static __device__ __forceinline__ float exp2(float x) {
        float result;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
    }
};

/// Sum over the block, in an order that only kBlockThreads decides; the result is thread 0's.
template <int kBlockThreads>
__device__ __forceinline__ double block_sum(double value) {
    __shared__ double partial[kBlockThreads / kLanes];
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    }
    const int thread = static_cast<int>(threadIdx.x);
    if (thread % kLanes == 0) partial[thread / kLanes] = value;
    __syncthreads();
    double sum = 0.0;
    if (thread == 0) {
        for (int i = 0; i < kBlockThreads / kLanes; ++i) sum += partial[i];
    }
    return sum;
}

/// By the whole block.
__device__ __forceinline__ void copy_tables(Tables* target, const Tables* source) {
    constexpr int kWords = sizeof(Tables) / sizeof(uint4);
    static_assert(kWords * sizeof(uint4) == sizeof(Tables));
    const auto* const from = reinterpret_cast<const uint4*>(source);
    auto* const to = reinterpret_cast<uint4*>(target);
    for (int i = static_cast<int>(threadIdx.x); i < kWords; i += kThreads) to[i] = __ldg(from + i);
    __syncthreads();
}

template <typename T>
__device__ __forceinline__ void sum_tile(const DevicePair* pairs, double* partial_sums, const Tables* tables,
                                         const Task& task) {
    __shared__ Tables shared;
    copy_tables(&shared, tables);
    const int tile = static_cast<int>(blockIdx.x);
    const Position first = thread_position(task, tile, static_cast<int>(threadIdx.x));
    const DevicePair& pair = pairs[blockIdx.z];
    const double sum =
        block_sum<kThreads>(sum_thread<T, HardwareSeeds>(pair.reference, pair.distorted, task, shared, first));
    if (threadIdx.x == 0) partial_sums[static_cast<size_t>(blockIdx.z) * task.tiles + tile] = sum;
}

} // namespace
} // namespace qc::ciede

using namespace qc::ciede;

extern "C" __global__ void __launch_bounds__(kThreads, kTuning.blocks_per_multiprocessor)
    ciede_tiles_u8(const qc::DevicePair* pairs, double* partial_sums, const Tables* tables, Task task) {
    sum_tile<uint8_t>(pairs, partial_sums, tables, task);
}

extern "C" __global__ void __launch_bounds__(kThreads, kTuning.blocks_per_multiprocessor)
    ciede_tiles_u16(const qc::DevicePair* pairs, double* partial_sums, const Tables* tables, Task task) {
    sum_tile<uint16_t>(pairs, partial_sums, tables, task);
}

/// One block per pair: the sum of its tiles.
extern "C" __global__ void __launch_bounds__(kTuning.total_threads)
    ciede_total(const qc::DevicePair* pairs, uint64_t* accumulators, const double* partial_sums, int tiles) {
    const double* const own = partial_sums + static_cast<size_t>(blockIdx.z) * tiles;
    double sum = 0.0;
    for (int tile = static_cast<int>(threadIdx.x); tile < tiles; tile += kTuning.total_threads) sum += own[tile];
    const double total = block_sum<kTuning.total_threads>(sum);
    if (threadIdx.x == 0) {
        accumulators[pairs[blockIdx.z].output] = static_cast<uint64_t>(__double_as_longlong(total));
    }
}
