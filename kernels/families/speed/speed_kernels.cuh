// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of both SpEED metrics; each .cu file makes its entry points of them. What a thread does is in
// speed_phases.hpp.
#pragma once

#include "families/speed/speed_phases.hpp"

namespace qc::speed {

/// One warp.
struct WarpTeam {
    int lane;

    template <class F>
    __device__ __forceinline__ void each(int count, const F& f) const {
        for (int i = lane; i < count; i += 32) f(i);
        __syncwarp();
    }
    template <class F>
    __device__ __forceinline__ void once(const F& f) const {
        if (lane == 0) f();
        __syncwarp();
    }
};

/// All warps of a block but the first, with a barrier of their own.
struct OtherWarpsTeam {
    static constexpr int kThreads = kTuning.analyse_threads - 32;
    int thread;

    template <class F>
    __device__ __forceinline__ void each(int count, const F& f) const {
        for (int i = thread; i < count; i += kThreads) f(i);
        wait();
    }
    template <class F>
    __device__ __forceinline__ void once(const F& f) const {
        if (thread == 0) f();
        wait();
    }
    __device__ __forceinline__ static void wait() { asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory"); }
};

template <int kThreads>
struct BlockTeam {
    template <class F>
    __device__ __forceinline__ void each(int count, const F& f) const {
        for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) f(i);
        __syncthreads();
    }
    template <class F>
    __device__ __forceinline__ void once(const F& f) const {
        if (threadIdx.x == 0) f();
        __syncthreads();
    }
    /// The two must not share memory that one of them writes.
    template <class F, class G>
    __device__ __forceinline__ void both(const F& first_warp, const G& other_warps) const {
        const int thread = static_cast<int>(threadIdx.x);
        if (thread < 32)
            first_warp(WarpTeam{thread});
        else
            other_warps(OtherWarpsTeam{thread - 32});
        __syncthreads();
    }
};

/// grid: (groups of grid columns, grid rows x images, pairs)
template <Resize kMethod, class Source>
__device__ __forceinline__ void decimate(const Task& task) {
    __shared__ float sums[kTuning.decimate_threads];
    const auto pair = static_cast<int>(blockIdx.z), block_x = static_cast<int>(blockIdx.x);
    const auto thread = static_cast<int>(threadIdx.x);
    const int image = static_cast<int>(blockIdx.y) / task.grid_height;
    const int grid_y = static_cast<int>(blockIdx.y) % task.grid_height;
    if (!Source::exists(task, pair)) return;
    const Source source(task, pair, image);
    smooth_column<kMethod>(task, source, block_x, grid_y, thread, sums);
    __syncthreads();
    smooth_row(task, grid_of(task, pair, image), block_x, grid_y, thread, sums);
}

/// grid: (images, 1, pairs)
template <class Source>
__device__ __forceinline__ void analyse(const Task& task) {
    __shared__ AnalysisMemory memory;
    const auto pair = static_cast<int>(blockIdx.z);
    if (!Source::exists(task, pair)) return;
    analyse_image(task, pair, static_cast<int>(blockIdx.x), BlockTeam<kTuning.analyse_threads>{}, memory);
}

/// grid: (scores, 1, pairs). Pairs with nothing to score leave their words zero.
template <class Source>
__device__ __forceinline__ void compare(const Task& task) {
    const auto pair = static_cast<int>(blockIdx.z);
    if (!Source::exists(task, pair)) return;
    uint64_t* const words =
        task.accumulators + static_cast<size_t>(task.pairs[pair].output) * (kWordsPerPlane * task.images / 2);
    compare_images(task, pair, static_cast<int>(blockIdx.x), BlockTeam<kTuning.compare_threads>{}, words);
}

} // namespace qc::speed

#define QC_SPEED_DECIMATE(Source, type, suffix, Method, name)                                                          \
    extern "C" __global__ void __launch_bounds__(qc::speed::kTuning.decimate_threads)                                  \
        speed_decimate_##suffix##_##name(const __grid_constant__ qc::speed::Task task) {                               \
        qc::speed::decimate<qc::Resize::Method, qc::speed::Source<type>>(task);                                        \
    }

#define QC_SPEED_DECIMATE_ALL(Source, type, suffix)                                                                    \
    QC_SPEED_DECIMATE(Source, type, suffix, kNone, plain)                                                              \
    QC_SPEED_DECIMATE(Source, type, suffix, kNearest, nearest)                                                         \
    QC_SPEED_DECIMATE(Source, type, suffix, kBilinear, bilinear)                                                       \
    QC_SPEED_DECIMATE(Source, type, suffix, kBicubic, bicubic)                                                         \
    QC_SPEED_DECIMATE(Source, type, suffix, kLanczos4, lanczos4)

/// All entry points of a metric.
#define QC_SPEED_KERNELS(Source)                                                                                       \
    QC_SPEED_DECIMATE_ALL(Source, uint8_t, u8)                                                                         \
    QC_SPEED_DECIMATE_ALL(Source, uint16_t, u16)                                                                       \
    extern "C" __global__ void __launch_bounds__(qc::speed::kTuning.analyse_threads)                                   \
        speed_analyse(const __grid_constant__ qc::speed::Task task) {                                                  \
        qc::speed::analyse<qc::speed::Source<uint8_t>>(task);                                                          \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(qc::speed::kTuning.compare_threads)                                   \
        speed_compare(const __grid_constant__ qc::speed::Task task) {                                                  \
        qc::speed::compare<qc::speed::Source<uint8_t>>(task);                                                          \
    }
