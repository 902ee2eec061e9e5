// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM on CUDA: one kernel per wavelet level, and one that rounds complete rows and adds them up. What a block
// does is in adm_tile.hpp. gridDim.z counts the pairs of a batch.
#include "contract/device.hpp"
#include "metrics/adm/adm_tile.hpp"

namespace qc::adm {
namespace {

// ---- device functions -----------------------------------------------------------------------------------------------

/// Sums kCount values over a warp, halving the number of values each lane carries. Lane l ends up with the sum of
/// value l / (32 / kCount) in values[0].
template <int kCount, int kOffset>
__device__ __forceinline__ void sum_over_warp(uint64_t* values, int lane) {
    if constexpr (kCount > 1) {
        const bool upper = (lane & kOffset) != 0;
#pragma unroll
        for (int i = 0; i < kCount / 2; i++) {
            const uint64_t sent = upper ? values[i] : values[i + kCount / 2];
            const uint64_t kept = upper ? values[i + kCount / 2] : values[i];
            values[i] = kept + __shfl_xor_sync(0xffffffffu, sent, kOffset);
        }
        sum_over_warp<kCount / 2, kOffset / 2>(values, lane);
    } else if constexpr (kOffset > 0) {
        values[0] += __shfl_xor_sync(0xffffffffu, values[0], kOffset);
        sum_over_warp<1, kOffset / 2>(values, lane);
    }
}

/// Adds a warp's share of a row to the row sums in memory; other blocks hold other parts of the row.
template <int kSums>
__device__ __forceinline__ void add_row(const uint64_t (&sums)[kSums], uint64_t* row, int lane) {
    constexpr int kPadded = kSums <= 8 ? 8 : 16;
    uint64_t values[kPadded];
#pragma unroll
    for (int i = 0; i < kPadded; i++) values[i] = i < kSums ? sums[i] : 0;
    sum_over_warp<kPadded, 16>(values, lane);
    constexpr int kLanesPerValue = 32 / kPadded;
    const int word = lane / kLanesPerValue;
    if (lane % kLanesPerValue == 0 && word < kSums) {
        atomicAdd(reinterpret_cast<unsigned long long*>(row + word), static_cast<unsigned long long>(values[0]));
    }
}

/// Walks along a strip of tiles.
template <int kLevel, bool kAim, typename T>
__device__ __forceinline__ void run_strip(const LevelLaunch& launch, const Source<T>& reference,
                                          const Source<T>& distorted, LowBand<kLevel>* reference_low,
                                          LowBand<kLevel>* distorted_low, uint64_t* rows) {
    __shared__ SharedTile<kLevel, kAim> shared;
    const TileGrid& grid = launch.grid;
    const int thread = static_cast<int>(threadIdx.x);
    const int tile_y = grid.origin_y + static_cast<int>(blockIdx.y) * tuning::kUsefulRows;
    const int first = static_cast<int>(blockIdx.x) * grid.strip;
    const int end = min(first + grid.strip, grid.columns);
    ThreadTile<kAim> state;
#pragma unroll
    for (uint64_t& sum : state.sum) sum = 0;
    bool any = false;
#pragma unroll 1
    for (int tile = first; tile < end; tile++) {
        const int tile_x = grid.origin_x + tile * tuning::kUsefulColumns;
        if (has_details(launch.plan, tile_x, tile_y)) {
            any = true;
            filter_columns<kLevel, true>(launch, reference, distorted, tile_x, tile_y, thread, shared);
            __syncthreads();
            filter_rows<kLevel, true>(launch, tile_x, tile_y, thread, shared, reference_low, distorted_low, state);
            __syncthreads();
            sum_energies<kLevel>(launch, tile_x, tile_y, thread, shared, state);
        } else if constexpr (kLevel < kLevels - 1) {
            filter_columns<kLevel, false>(launch, reference, distorted, tile_x, tile_y, thread, shared);
            __syncthreads();
            filter_rows<kLevel, false>(launch, tile_x, tile_y, thread, shared, reference_low, distorted_low, state);
            __syncthreads();
        }
    }
    const TileRow here(tile_y, thread);
    if (!any || !here.useful || !launch.plan.scores_row(here.y)) return;
    const size_t row = static_cast<size_t>(blockIdx.z) * launch.rows + (launch.first_row + here.y);
    add_row(state.sum, rows + row * kWordsPerLevel, thread % 32);
}

/// The luma of a picture, read in place.
template <typename T>
__device__ __forceinline__ Source<T> luma(const DevicePicture& picture) {
    const DevicePlane& plane = picture.plane[0];
    Source<T> source;
    source.data = static_cast<const T*>(plane.data);
    source.pitch = static_cast<ptrdiff_t>(plane.pitch_bytes / sizeof(T));
    source.shift = plane.shift;
    const size_t both = reinterpret_cast<size_t>(plane.data) | plane.pitch_bytes;
    source.wide = both % (kColumnsPerItem<T> * sizeof(T)) == 0;
    return source;
}

template <bool kAim, typename T>
__device__ __forceinline__ void run_level0(const DevicePair* pairs, const LevelLaunch& launch, int16_t* low,
                                           uint64_t* rows) {
    const DevicePair& pair = pairs[blockIdx.z];
    const size_t plane = static_cast<size_t>(launch.out_pitch) * launch.plan.height;
    int16_t* reference_low = low + 2 * blockIdx.z * plane;
    // Each thread keeps the one picture that it filters.
    const int picture = picture_of_thread<T>(static_cast<int>(threadIdx.x));
    const Source<T> own = luma<T>(picture == 0 ? pair.reference : pair.distorted);
    run_strip<0, kAim>(launch, own, own, reference_low, reference_low + plane, rows);
}

template <int kLevel, bool kAim, typename T>
__device__ __forceinline__ void run_deep(const T* in, const LevelLaunch& launch, int32_t* low, uint64_t* rows) {
    const size_t in_plane = static_cast<size_t>(launch.in_pitch) * launch.plan.in_height;
    Source<T> reference;
    reference.data = in + 2 * blockIdx.z * in_plane;
    reference.pitch = launch.in_pitch;
    Source<T> distorted = reference;
    distorted.data += in_plane;
    const size_t plane = static_cast<size_t>(launch.out_pitch) * launch.plan.height;
    int32_t* reference_low = low + 2 * blockIdx.z * plane;
    run_strip<kLevel, kAim>(launch, reference, distorted, reference_low, reference_low + plane, rows);
}

} // namespace
} // namespace qc::adm

// ---- kernels: with and without additive impairment
// -------------------------------------------------------------------

using namespace qc;
using namespace qc::adm;

#define QC_ADM_BOUNDS __launch_bounds__(tuning::kThreads, tuning::kBlocksPerMultiprocessor)

extern "C" {

__global__ void QC_ADM_BOUNDS adm_level0_u8(const DevicePair* pairs, const LevelLaunch launch, int16_t* low,
                                            uint64_t* rows) {
    run_level0<false, uint8_t>(pairs, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level0_u8_aim(const DevicePair* pairs, const LevelLaunch launch, int16_t* low,
                                                uint64_t* rows) {
    run_level0<true, uint8_t>(pairs, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level0_u16(const DevicePair* pairs, const LevelLaunch launch, int16_t* low,
                                             uint64_t* rows) {
    run_level0<false, uint16_t>(pairs, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level0_u16_aim(const DevicePair* pairs, const LevelLaunch launch, int16_t* low,
                                                 uint64_t* rows) {
    run_level0<true, uint16_t>(pairs, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level1(const int16_t* in, const LevelLaunch launch, int32_t* low, uint64_t* rows) {
    run_deep<1, false>(in, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level1_aim(const int16_t* in, const LevelLaunch launch, int32_t* low,
                                             uint64_t* rows) {
    run_deep<1, true>(in, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level2(const int32_t* in, const LevelLaunch launch, int32_t* low, uint64_t* rows) {
    run_deep<2, false>(in, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level2_aim(const int32_t* in, const LevelLaunch launch, int32_t* low,
                                             uint64_t* rows) {
    run_deep<2, true>(in, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level3(const int32_t* in, const LevelLaunch launch, int32_t* low, uint64_t* rows) {
    run_deep<3, false>(in, launch, low, rows);
}
__global__ void QC_ADM_BOUNDS adm_level3_aim(const int32_t* in, const LevelLaunch launch, int32_t* low,
                                             uint64_t* rows) {
    run_deep<3, true>(in, launch, low, rows);
}

/// blockIdx.x is the level; a warp rounds and adds up the rows of one accumulator word.
__global__ void __launch_bounds__(tuning::kFinishThreads)
    adm_finish(const DevicePair* pairs, const FinishLaunch launch, const uint64_t* rows, uint64_t* accumulators) {
    const int index = static_cast<int>(blockIdx.x), word = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const FinishLaunch::Level level = launch.level[index];
    const uint64_t* at =
        rows + (static_cast<size_t>(blockIdx.z) * launch.rows + level.first_row) * kWordsPerLevel + word;
    uint64_t sum = 0;
#pragma unroll 4
    for (int row = lane; row < level.rows; row += 32) {
        sum += round_row(level, word, at[static_cast<size_t>(row) * kWordsPerLevel]);
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane != 0) return;
    accumulators[static_cast<size_t>(pairs[blockIdx.z].output) * kWords + index * kWordsPerLevel + word] = sum;
}

} // extern "C"
