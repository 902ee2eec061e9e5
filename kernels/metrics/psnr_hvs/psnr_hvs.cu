// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR-HVS on the GPU, in four steps: the terms of all blocks, the binade that the running sum will have reached before
// each group of blocks, the groups' maps for that binade, and a walk over the groups. psnr_hvs_sum.hpp explains the
// maps; a wrong guess of a binade costs time, never exactness.
#include "device/block_sum.cuh"
#include "metrics/psnr_hvs/psnr_hvs_tile.hpp"

namespace qc::psnr_hvs {
namespace {

constexpr int kThreads = kTuning.warps * kLanes;

__constant__ PlaneTables device_tables[kPlanes] = {make_tables(0), make_tables(1), make_tables(2)};

__device__ __forceinline__ int lane_index() {
    return static_cast<int>(threadIdx.x) % kLanes;
}

__device__ __forceinline__ float warp_float_sum(float value) {
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    }
    return value;
}

/// The group this warp works on, or -1.
__device__ __forceinline__ int group_of_warp(const Task& task) {
    const int group = static_cast<int>(blockIdx.x) * kTuning.warps + static_cast<int>(threadIdx.x) / kLanes;
    return group < task.groups ? group : -1;
}

/// Maps of all lanes up to and including the own one.
__device__ __forceinline__ SumMap prefix_maps(SumMap map, int lane) {
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        SumMap before;
        before.increment[0] = __shfl_up_sync(kWholeWarp, map.increment[0], distance);
        before.increment[1] = __shfl_up_sync(kWholeWarp, map.increment[1], distance);
        if (lane >= distance) map = compose(before, map);
    }
    return map;
}

/// Applies the maps of the lanes from `first` on, up to the first that does not hold. @return that lane, or kLanes
__device__ __forceinline__ int apply_while_valid(SumMap map, uint32_t binade, int first, int lane, float& sum) {
    if (lane < first) {
        map = identity_map();
        binade = binade_of(sum);
    }
    // A map for another binade must not be composed into those of later lanes; the ballot below stops before it.
    const SumMap prefix = prefix_maps(map, lane);
    const bool holds = lane < first || map_holds(sum, prefix, binade);
    const unsigned failed = __ballot_sync(kWholeWarp, !holds);
    const int stop = failed == 0 ? kLanes : __ffs(static_cast<int>(failed)) - 1;
    if (stop > first) {
        const float after = apply(sum, prefix);
        sum = __shfl_sync(kWholeWarp, after, stop - 1);
    }
    return stop;
}

/// Adds a group whose map does not hold: block by block, for the binade that the sum is really in.
__device__ __noinline__ float add_group(float sum, const float* group_terms, int lane) {
    int next = 0;
    while (next < kLanes) {
        const uint32_t binade = binade_of(sum);
        const SumMap map = block_map(group_terms + lane, binade);
        next = apply_while_valid(map, binade, next, lane, sum);
        if (next < kLanes) sum = add_block(sum, group_terms + next);
        ++next;
    }
    return sum;
}

template <typename T>
__device__ __forceinline__ void score_group(const DevicePair* pairs, const Task& task, const Scratch& scratch) {
    const int group = group_of_warp(task);
    if (group < 0) return;
    const int p = plane_of_group(task, group);
    const int lane = lane_index();
    const DevicePair& pair = pairs[blockIdx.z];
    const DevicePlane reference = pair.reference.plane[p], distorted = pair.distorted.plane[p];
    const size_t slot = static_cast<size_t>(blockIdx.z) * task.groups + group;
    const int block = (group - task.plane[p].first_group) * kLanes + lane;
    const float sum = score_block<T>(reference, distorted, task.plane[p], block, device_tables[p],
                                     scratch.terms + slot * kTermsPerGroup + lane);
    const float group_sum = warp_float_sum(sum);
    if (lane == 0) scratch.group_sums[slot] = group_sum;
}

} // namespace
} // namespace qc::psnr_hvs

using namespace qc::psnr_hvs;

extern "C" __global__ void __launch_bounds__(kThreads, kTuning.blocks_per_multiprocessor)
    psnr_hvs_terms_u8(const qc::DevicePair* pairs, Task task, Scratch scratch) {
    score_group<uint8_t>(pairs, task, scratch);
}

extern "C" __global__ void __launch_bounds__(kThreads, kTuning.blocks_per_multiprocessor)
    psnr_hvs_terms_u16(const qc::DevicePair* pairs, Task task, Scratch scratch) {
    score_group<uint16_t>(pairs, task, scratch);
}

/// One warp per plane and pair: where the running sum will be before each group, roughly.
extern "C" __global__ void __launch_bounds__(kLanes) psnr_hvs_guess(Task task, Scratch scratch) {
    const PlaneTask plane = task.plane[blockIdx.x];
    const size_t first = static_cast<size_t>(blockIdx.z) * task.groups + plane.first_group;
    const int lane = lane_index();
    float before = 0.0f; // all groups of earlier rounds
    for (int base = 0; base < plane.groups; base += kLanes) {
        const int group = base + lane;
        const float own = group < plane.groups ? scratch.group_sums[first + group] : 0.0f;
        float prefix = own;
#pragma unroll
        for (int distance = 1; distance < kLanes; distance *= 2) {
            const float left = __shfl_up_sync(qc::kWholeWarp, prefix, distance);
            if (lane >= distance) prefix += left;
        }
        float exclusive = __shfl_up_sync(qc::kWholeWarp, prefix, 1);
        if (lane == 0) exclusive = 0.0f;
        if (group < plane.groups) scratch.binades[first + group] = binade_of(before + exclusive);
        before += __shfl_sync(qc::kWholeWarp, prefix, kLanes - 1);
    }
}

/// One warp per group: its map for the expected binade.
extern "C" __global__ void __launch_bounds__(kThreads) psnr_hvs_maps(Task task, Scratch scratch) {
    const int group = group_of_warp(task);
    if (group < 0) return;
    const int lane = lane_index();
    const size_t slot = static_cast<size_t>(blockIdx.z) * task.groups + group;
    const float* const terms = scratch.terms + slot * kTermsPerGroup;
    const SumMap map = prefix_maps(block_map(terms + lane, scratch.binades[slot]), lane);
    if (lane == kLanes - 1) scratch.maps[slot] = map;
}

/// One warp per plane and pair: the running sum.
extern "C" __global__ void __launch_bounds__(kLanes)
    psnr_hvs_walk(const qc::DevicePair* pairs, uint64_t* accumulators, Task task, Scratch scratch) {
    const PlaneTask plane = task.plane[blockIdx.x];
    const size_t first = static_cast<size_t>(blockIdx.z) * task.groups + plane.first_group;
    const int lane = lane_index();
    float sum = 0.0f; // the same in all lanes
    for (int base = 0; base < plane.groups; base += kLanes) {
        const bool present = base + lane < plane.groups;
        const SumMap map = present ? scratch.maps[first + base + lane] : identity_map();
        const uint32_t guessed = present ? scratch.binades[first + base + lane] : 0;
        int next = 0;
        while (next < kLanes && base + next < plane.groups) {
            // Groups beyond the last one add nothing, whatever the binade.
            const uint32_t binade = present ? guessed : binade_of(sum);
            next = apply_while_valid(map, binade, next, lane, sum);
            if (next < kLanes && base + next < plane.groups) {
                sum = add_group(sum, scratch.terms + (first + base + next) * kTermsPerGroup, lane);
            }
            ++next;
        }
    }
    if (lane == 0) {
        const double total = sum;
        accumulators[static_cast<size_t>(pairs[blockIdx.z].output) * kPlanes + blockIdx.x] =
            static_cast<uint64_t>(__double_as_longlong(total));
    }
}
