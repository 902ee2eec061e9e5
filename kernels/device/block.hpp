// SPDX-License-Identifier: BSD-2-Clause-Patent
// The threads of one block, as a kernel sees them. What a block does, barriers, exchanges between lanes and loops over
// tiles included, is one template over its Block: a .cu file instantiates it with CudaBlock, the tests with
// EmulatedBlock (tests/device/emulated_block.hpp), whose threads are fibers on the host. README.md in this folder tells
// how a kernel is written.
//
// Blocks are one-dimensional. A Block has
//
//     kThreads                                     threads of the block, known at compile time; a multiple of 32
//     thread()  lane()  warp()                     index in the block; index in its warp; index of its warp
//     x()  y()  z()  grid_x()  grid_y()  grid_z()  index of the block, size of the grid
//     sync()                                       barrier of the whole block
//     sync_warp()                                  barrier of a warp; like all that follow, for whole warps only
//     shuffle_up(value, n)  shuffle_down(value, n) value of the lane n below / above; the own one at the warp's end
//     shuffle_xor(value, mask)  shuffle_from(value, lane)
//                                                  values of 4 or 8 bytes: integers, float, double
//     warp_sum(value)                              sum over the warp, for all lanes: uint32_t or uint64_t -> uint64_t
//     warp_or(uint32_t)                            bits of all lanes
//     ballot(bool)                                 bit i: lane i said yes
//     atomic_add(uint32_t* or uint64_t*, value)    in global or shared memory; returns what was there
//     shared<T, Tag = void>()                      T& in shared memory, without an initial value: ONE object per T and
//                                                  Tag in a kernel, whoever asks for it. Two objects of one type, or
//                                                  one in a helper that others call too, take a tag of their own. T has
//                                                  no constructor and states its alignment (alignas) where wide
//                                                  accesses need more than the members'
//     dynamic_shared<T>()                          T*: the launch's dynamic shared memory, aligned to 16 bytes
//
// and, for work told in phases instead of threads (a kernel that needs nothing else may say kCollective):
//
//     each(count, f)                               f(i) for all i < count, spread over the threads; then a barrier
//     once(f)                                      f() by one thread; then a barrier
//     both(f, g)                                   f(team) by the first warp while all others do g(team); then a
//                                                  barrier. A team has each() and once(), and the first warp's
//                                                  vote(count, f): bit i: f(i) said yes, for up to 32 of them. The two
//                                                  must not share memory that one of them writes
//
// A thread that has returned counts as arrived at every barrier; at a warp's exchanges all its lanes must be there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contract/types.hpp"
#include "device/unroll.hpp"

/// A function of kernels that is not to be inlined.
#if defined(__CUDACC__)
#define QC_HD_NOINLINE __host__ __device__ __noinline__
#else
#define QC_HD_NOINLINE __attribute__((noinline))
#endif

namespace qc::device {

constexpr int kWarpSize = 32;

/// block.shared<T, Tag>() where the type of the block depends on a template's parameter.
template <class T, class Tag = void, class Block>
QC_HD T& shared(Block& block) {
    return block.template shared<T, Tag>();
}

template <class T, class Block>
QC_HD T* dynamic_shared(Block& block) {
    return block.template dynamic_shared<T>();
}

#if defined(__CUDACC__)

#define QC_DEVICE __device__ __forceinline__

/// One warp of a block that works apart.
struct CudaWarpTeam {
    int lane;

    template <class F>
    QC_DEVICE void each(int count, const F& f) const {
        for (int i = lane; i < count; i += kWarpSize) f(i);
        __syncwarp();
    }
    template <class F>
    QC_DEVICE void once(const F& f) const {
        if (lane == 0) f();
        __syncwarp();
    }
    template <class F>
    QC_DEVICE uint32_t vote(int count, const F& f) const {
        const bool yes = lane < count && f(lane);
        __syncwarp(); // a vote alone makes nobody see what others have written
        return __ballot_sync(0xffffffffu, yes);
    }
};

/// All warps of a block but the first, with a barrier of their own.
template <int kThreads>
struct CudaOtherWarpsTeam {
    int thread;

    template <class F>
    QC_DEVICE void each(int count, const F& f) const {
        for (int i = thread; i < count; i += kThreads) f(i);
        wait();
    }
    template <class F>
    QC_DEVICE void once(const F& f) const {
        if (thread == 0) f();
        wait();
    }
    QC_DEVICE static void wait() { asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory"); }
};

/// The block that this thread of the device belongs to.
template <int kThreads_>
class CudaBlock {
public:
    static constexpr int kThreads = kThreads_;
    static_assert(kThreads % kWarpSize == 0);

    QC_DEVICE static int thread() { return static_cast<int>(threadIdx.x); }
    QC_DEVICE static int lane() { return static_cast<int>(threadIdx.x % kWarpSize); }
    QC_DEVICE static int warp() { return static_cast<int>(threadIdx.x / kWarpSize); }
    QC_DEVICE static int x() { return static_cast<int>(blockIdx.x); }
    QC_DEVICE static int y() { return static_cast<int>(blockIdx.y); }
    QC_DEVICE static int z() { return static_cast<int>(blockIdx.z); }
    QC_DEVICE static int grid_x() { return static_cast<int>(gridDim.x); }
    QC_DEVICE static int grid_y() { return static_cast<int>(gridDim.y); }
    QC_DEVICE static int grid_z() { return static_cast<int>(gridDim.z); }

    QC_DEVICE static void sync() { __syncthreads(); }
    QC_DEVICE static void sync_warp() { __syncwarp(); }

    template <typename T>
    QC_DEVICE static T shuffle_up(T value, int distance) {
        return __shfl_up_sync(kWholeWarp, value, static_cast<unsigned>(distance));
    }
    template <typename T>
    QC_DEVICE static T shuffle_down(T value, int distance) {
        return __shfl_down_sync(kWholeWarp, value, static_cast<unsigned>(distance));
    }
    template <typename T>
    QC_DEVICE static T shuffle_xor(T value, int mask) {
        return __shfl_xor_sync(kWholeWarp, value, mask);
    }
    template <typename T>
    QC_DEVICE static T shuffle_from(T value, int lane) {
        return __shfl_sync(kWholeWarp, value, lane);
    }

    QC_DEVICE static uint64_t warp_sum(uint64_t value) {
        QC_UNROLL for (int distance = kWarpSize / 2; distance > 0; distance /= 2) value += shuffle_xor(value, distance);
        return value;
    }
    QC_DEVICE static uint64_t warp_sum(uint32_t value) {
#if __CUDA_ARCH__ >= 800
        // The hardware adds 32-bit words: two halves of 16 bits leave room for 32 lanes.
        const uint64_t low = __reduce_add_sync(kWholeWarp, value & 0xffffu);
        const uint64_t high = __reduce_add_sync(kWholeWarp, value >> 16);
        return low + (high << 16);
#else
        return warp_sum(static_cast<uint64_t>(value));
#endif
    }
    QC_DEVICE static uint32_t warp_or(uint32_t value) {
#if __CUDA_ARCH__ >= 800
        return __reduce_or_sync(kWholeWarp, value);
#else
        for (int distance = kWarpSize / 2; distance > 0; distance /= 2) value |= shuffle_xor(value, distance);
        return value;
#endif
    }
    QC_DEVICE static uint32_t ballot(bool vote) {
        return __ballot_sync(kWholeWarp, vote);
    }

    QC_DEVICE static uint32_t atomic_add(uint32_t* target, uint32_t value) {
        return atomicAdd(target, value);
    }
    QC_DEVICE static uint64_t atomic_add(uint64_t* target, uint64_t value) {
        return atomicAdd(reinterpret_cast<unsigned long long*>(target), static_cast<unsigned long long>(value));
    }

    template <class T, class Tag = void>
    QC_DEVICE static T& shared() {
        __shared__ T object;
        return object;
    }
    template <class T>
    QC_DEVICE static T* dynamic_shared() {
        extern __shared__ __align__(16) unsigned char qc_dynamic_shared_memory[];
        return reinterpret_cast<T*>(qc_dynamic_shared_memory);
    }

    template <class F>
    QC_DEVICE static void each(int count, const F& f) {
        for (int i = thread(); i < count; i += kThreads) f(i);
        sync();
    }
    template <class F>
    QC_DEVICE static void once(const F& f) {
        if (thread() == 0) f();
        sync();
    }
    template <class F, class G>
    QC_DEVICE static void both(const F& first_warp, const G& other_warps) {
        if (thread() < kWarpSize)
            first_warp(CudaWarpTeam{thread()});
        else
            other_warps(CudaOtherWarpsTeam<kThreads - kWarpSize>{thread() - kWarpSize});
        sync();
    }

private:
    static constexpr unsigned kWholeWarp = 0xffffffffu;
};

#undef QC_DEVICE

#endif

} // namespace qc::device
