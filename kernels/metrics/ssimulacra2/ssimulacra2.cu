// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the GPU: entry points, barriers and the order of sums. What a thread does is in
// ssimulacra2_pyramid_phases.hpp and ssimulacra2_map_phases.hpp.
#include "device/block_sum.cuh"
#include "metrics/ssimulacra2/ssimulacra2_map_phases.hpp"
#include "metrics/ssimulacra2/ssimulacra2_pyramid_phases.hpp"

namespace qc::ssimulacra2 {
namespace {

// ---- pyramid --------------------------------------------------------------------------------------------------------

template <typename T, Chroma kChroma, bool kGeneral>
__device__ __forceinline__ void make_pyramid(const PyramidArguments& arguments) {
    __shared__ PyramidShared<kChroma> shared;
    const auto thread = static_cast<int>(threadIdx.x);
    const auto tile_x = static_cast<int>(blockIdx.x), tile_y = static_cast<int>(blockIdx.y);
    const PictureTask task = picture_task(arguments, static_cast<int>(blockIdx.z));
    if (task.input == 0 && repeats_reference(arguments.pairs, task.pair)) return;
    const DevicePair& pair = arguments.pairs[task.pair];
    const DevicePicture& picture = task.input == 0 ? pair.reference : pair.distorted;
    const PlaneLayout& layout = arguments.layout;
    float* const planes = arguments.planes + picture_index(task.pair, task.input) * layout.picture;

    if constexpr (ChromaTile<kChroma>::kShared) {
        load_chroma<T, kChroma, kGeneral>(shared, thread, arguments, picture, tile_x, tile_y);
        __syncwarp();
        interpolate_across<kChroma>(shared, thread, arguments.conversion.across);
        __syncthreads();
    }
    block_phase<T, kChroma, kGeneral>(shared, thread, arguments, picture, planes, tile_x, tile_y);
    if (layout.levels <= 2) return;
    __syncthreads();
    if (thread >= kWarpLanes) return;
#pragma unroll
    for (int level = 2; level < kMaxLevels; ++level) {
        if (level >= layout.levels) return;
        level_phase<kGeneral>(level, shared, thread, layout, planes, tile_x, tile_y);
        __syncwarp();
    }
}

// ---- maps -----------------------------------------------------------------------------------------------------------

/// The block's sums in a fixed order: lanes by a tree, then warps one after the other.
__device__ __forceinline__ void store_sums(const float (&sum)[kTerms], float* target) {
    constexpr int kWarps = kStripThreads / kWarpSize;
    __shared__ float partial[kTerms][kWarps];
    const unsigned warp = threadIdx.x / kWarpSize;
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
        float value = sum[t];
#pragma unroll
        for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
            value += __shfl_xor_sync(kWholeWarp, value, distance);
        if (threadIdx.x % kWarpSize == 0) partial[t][warp] = value;
    }
    __syncthreads();
    if (threadIdx.x < kTerms) {
        float value = 0.0f;
#pragma unroll
        for (int w = 0; w < kWarps; ++w) value += partial[threadIdx.x][w];
        target[threadIdx.x] = value;
    }
}

template <class Work>
__device__ __forceinline__ void score_strip(const MapArguments& arguments, const Strip& strip, const PlaneView& a,
                                            const PlaneView& d, float* stages, float* target) {
    const auto thread = static_cast<int>(threadIdx.x);
    StripThread<Work> state(strip, a, d, thread);
    state.load(arguments);
#pragma unroll 1
    for (int group = 0; group < Work::kWarmUpGroups; ++group) {
        state.warm_up(arguments);
        state.load(arguments);
    }
#pragma unroll 1
    for (int row = 0, stage = 0; row < strip.rows; row += kGroupRows, stage ^= kStageFloats) {
        state.filter_column(arguments, stages + stage, thread);
        if (row + kGroupRows < strip.rows) state.load(arguments);
        __syncthreads();
        state.score_row(arguments, strip, stages + stage);
    }
    store_sums(state.sum, target);
}

/// Strips of the last pair come first: its planes may still be in the L2 cache.
template <int kRadius>
__device__ __forceinline__ void score_maps(const MapArguments& arguments) {
    __shared__ __align__(16) float stages[kStages * kStageFloats];
    const auto pair = static_cast<int>(gridDim.z - 1 - blockIdx.z);
    const Strip strip = arguments.strips[blockIdx.x];
    const int owner = reference_owner(arguments.pairs, pair);
    const PlaneView a(arguments, strip, picture_index(owner, 0), kStripColumns<kRadius>);
    const PlaneView d(arguments, strip, picture_index(pair, 1), kStripColumns<kRadius>);
    float* const target = arguments.sums + (static_cast<size_t>(pair) * arguments.strip_count + blockIdx.x) * kTerms;
    if constexpr (kRadius > 4) {
        score_strip<Work<kRadius, true, true, true>>(arguments, strip, a, d, stages, target);
    } else {
        switch (strip.variant) {
        case kStructureOnly:
            score_strip<Work<kRadius, true, false, false>>(arguments, strip, a, d, stages, target);
            break;
        case kStructureArtifact:
            score_strip<Work<kRadius, true, true, false>>(arguments, strip, a, d, stages, target);
            break;
        case kStructureDetail:
            score_strip<Work<kRadius, true, false, true>>(arguments, strip, a, d, stages, target);
            break;
        case kArtifactOnly:
            score_strip<Work<kRadius, false, true, false>>(arguments, strip, a, d, stages, target);
            break;
        default:
            score_strip<Work<kRadius, true, true, true>>(arguments, strip, a, d, stages, target);
            break;
        }
    }
}

// ---- sums of strips -------------------------------------------------------------------------------------------------

__device__ __forceinline__ void finish_sums(const FinishArguments& arguments) {
    constexpr int kWarps = tuning::kFinishThreads / kWarpSize;
    __shared__ double partial[kTerms][kWarps];
    const auto plane = static_cast<int>(blockIdx.x), pair = static_cast<int>(blockIdx.z);
    double sum[kTerms] = {};
    add_strips(arguments, plane, pair, static_cast<int>(threadIdx.x), sum);
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
#pragma unroll
        for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
            sum[t] += __shfl_xor_sync(kWholeWarp, sum[t], distance);
        if (threadIdx.x % kWarpSize == 0) partial[t][threadIdx.x / kWarpSize] = sum[t];
    }
    __syncthreads();
    const unsigned term = threadIdx.x;
    if (term >= kTerms || (arguments.needed[plane] >> term & 1u) == 0) return;
    double total = 0.0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) total += partial[term][w];
    arguments
        .accumulators[static_cast<size_t>(arguments.pairs[pair].output) * kAccumulatorWords + plane * kTerms + term] =
        static_cast<uint64_t>(__double_as_longlong(total));
}

} // namespace
} // namespace qc::ssimulacra2

using namespace qc::ssimulacra2;

#define QC_PYRAMID_KERNEL(name, type, chroma, general, min_blocks)                                                     \
    extern "C" __global__ void __launch_bounds__(kPyramidThreads, min_blocks)                                          \
        name(const __grid_constant__ PyramidArguments arguments) {                                                     \
        make_pyramid<type, chroma, general>(arguments);                                                                \
    }
#define QC_PYRAMID_KERNELS(suffix, general, min_blocks)                                                                \
    QC_PYRAMID_KERNEL(ssimulacra2_pyramid_u8_400##suffix, uint8_t, Chroma::kNone, general, min_blocks)                 \
    QC_PYRAMID_KERNEL(ssimulacra2_pyramid_u8_420##suffix, uint8_t, Chroma::kHalved, general, min_blocks)               \
    QC_PYRAMID_KERNEL(ssimulacra2_pyramid_u8_422##suffix, uint8_t, Chroma::kHalvedAcross, general, min_blocks)         \
    QC_PYRAMID_KERNEL(ssimulacra2_pyramid_u8_444##suffix, uint8_t, Chroma::kFull, general, min_blocks)                 \
    QC_PYRAMID_KERNEL(ssimulacra2_pyramid_u16_400##suffix, uint16_t, Chroma::kNone, general, min_blocks)               \
    QC_PYRAMID_KERNEL(ssimulacra2_pyramid_u16_420##suffix, uint16_t, Chroma::kHalved, general, min_blocks)             \
    QC_PYRAMID_KERNEL(ssimulacra2_pyramid_u16_422##suffix, uint16_t, Chroma::kHalvedAcross, general, min_blocks)       \
    QC_PYRAMID_KERNEL(ssimulacra2_pyramid_u16_444##suffix, uint16_t, Chroma::kFull, general, min_blocks)

QC_PYRAMID_KERNELS(, false, tuning::kPyramidMinBlocks)
QC_PYRAMID_KERNELS(_general, true, tuning::kPyramidGeneralMinBlocks)

extern "C" __global__ void __launch_bounds__(kStripThreads, tuning::kStripMinBlocks)
    ssimulacra2_maps(const __grid_constant__ MapArguments arguments) {
    score_maps<4>(arguments);
}

/// Blurs of radius 8 or with other borders, all maps.
extern "C" __global__ void __launch_bounds__(kStripThreads, tuning::kWideStripMinBlocks)
    ssimulacra2_maps_wide(const __grid_constant__ MapArguments arguments) {
    score_maps<8>(arguments);
}

extern "C" __global__ void __launch_bounds__(tuning::kFinishThreads)
    ssimulacra2_finish(const __grid_constant__ FinishArguments arguments) {
    finish_sums(arguments);
}
