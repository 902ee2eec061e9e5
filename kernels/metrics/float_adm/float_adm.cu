// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM on CUDA: one kernel per wavelet level, and one that adds up the rows. What a block does is in
// float_adm_tile.hpp. gridDim.z counts the pairs of a batch.
#include "contract/device.hpp"
#include "device/ordered_sum.cuh"
#include "metrics/float_adm/float_adm_tile.hpp"

namespace qc::float_adm {
namespace {

/// Hides from the compiler that a value is the same for all tiles of a row. What follows from it, such as addresses of
/// rows, is then computed for each tile anew instead of taking registers, which would spill, all the way.
__device__ __forceinline__ int computed_anew(int value) {
    asm volatile("" : "+r"(value));
    return value;
}

/// Walks along a row of tiles. `rows`: row sums of all pairs.
template <bool kCube, typename T>
__device__ __forceinline__ void run_strip(const LevelLaunch& launch, const Source<T>& source, float* reference_low,
                                          float* distorted_low, float* rows) {
    extern __shared__ __align__(16) unsigned char memory[];
    SharedTile& shared = *reinterpret_cast<SharedTile*>(memory);
    const TileGrid& grid = launch.grid;
    const int tile_y = grid.origin_y + static_cast<int>(blockIdx.x) * tuning::kUsefulRows;
    const RunningSum own = running_sum(launch.plan, tile_y, static_cast<int>(threadIdx.x));
    float sum = 0.0f;
#pragma unroll 1
    for (int tile = 0; tile < grid.columns; tile++) {
        const int thread = computed_anew(static_cast<int>(threadIdx.x));
        const int tile_x = grid.origin_x + tile * tuning::kUsefulColumns;
        if (has_details(launch.plan, tile_x, tile_y)) {
            ThreadTile state;
            filter_columns<true>(launch, source, tile_x, tile_y, thread, shared);
            __syncthreads();
            filter_rows<true, kCube>(launch, tile_x, tile_y, thread, shared, reference_low, distorted_low, state);
            __syncthreads();
            measure_energies<kCube>(launch, tile_x, tile_y, thread, shared, state);
            __syncthreads();
            if (own.used) sum = continue_sum(shared, own.chain, sum);
            __syncthreads();
        } else if (launch.writes_low != 0) {
            ThreadTile state;
            filter_columns<false>(launch, source, tile_x, tile_y, thread, shared);
            __syncthreads();
            filter_rows<false, kCube>(launch, tile_x, tile_y, thread, shared, reference_low, distorted_low, state);
            __syncthreads();
        }
    }
    if (!own.used) return;
    const size_t row = static_cast<size_t>(blockIdx.z) * launch.rows + (launch.first_row + own.y);
    rows[row * kWordsPerLevel + own.sum] = sum;
}

/// Level 0 reads the luma of pictures in place.
template <bool kCube, typename T>
__device__ __forceinline__ void run_level0(const DevicePair* pairs, const LevelLaunch& launch, float* low,
                                           float* rows) {
    const DevicePair& pair = pairs[blockIdx.z];
    const bool first = picture_of_thread(static_cast<int>(threadIdx.x)) == 0;
    const DevicePlane& plane = (first ? pair.reference : pair.distorted).plane[0];
    Source<T> source;
    source.data = static_cast<const T*>(plane.data);
    source.pitch = static_cast<ptrdiff_t>(plane.pitch_bytes / sizeof(T));
    source.shift = plane.shift;
    source.wide = rows_aligned(plane, kColumnsPerItem * sizeof(T));
    const size_t size = static_cast<size_t>(launch.out_pitch) * launch.plan.height;
    float* const reference_low = low + 2 * blockIdx.z * size;
    run_strip<kCube>(launch, source, reference_low, reference_low + size, rows);
}

/// Deeper levels read the a bands of the level above.
template <bool kCube>
__device__ __forceinline__ void run_deep(const float* in, const LevelLaunch& launch, float* low, float* rows) {
    const size_t in_size = static_cast<size_t>(launch.in_pitch) * launch.plan.in_height;
    Source<float> source;
    source.data = in + (2 * blockIdx.z + picture_of_thread(static_cast<int>(threadIdx.x))) * in_size;
    source.pitch = launch.in_pitch;
    const size_t size = static_cast<size_t>(launch.out_pitch) * launch.plan.height;
    float* const reference_low = low + 2 * blockIdx.z * size;
    run_strip<kCube>(launch, source, reference_low, reference_low + size, rows);
}

} // namespace
} // namespace qc::float_adm

using namespace qc;
using namespace qc::float_adm;

#define QC_FLOAT_ADM_BOUNDS __launch_bounds__(tuning::kThreads, tuning::kBlocksPerMultiprocessor)

/// Kernels of all levels, for the power 3 and for all powers.
#define QC_FLOAT_ADM_KERNELS(suffix, cube)                                                                             \
    extern "C" __global__ void QC_FLOAT_ADM_BOUNDS float_adm_level0_u8##suffix(                                        \
        const DevicePair* pairs, const LevelLaunch launch, float* low, float* rows) {                                  \
        run_level0<cube, uint8_t>(pairs, launch, low, rows);                                                           \
    }                                                                                                                  \
    extern "C" __global__ void QC_FLOAT_ADM_BOUNDS float_adm_level0_u16##suffix(                                       \
        const DevicePair* pairs, const LevelLaunch launch, float* low, float* rows) {                                  \
        run_level0<cube, uint16_t>(pairs, launch, low, rows);                                                          \
    }                                                                                                                  \
    extern "C" __global__ void QC_FLOAT_ADM_BOUNDS float_adm_deep##suffix(const float* in, const LevelLaunch launch,   \
                                                                          float* low, float* rows) {                   \
        run_deep<cube>(in, launch, low, rows);                                                                         \
    }

QC_FLOAT_ADM_KERNELS(, true)
QC_FLOAT_ADM_KERNELS(_power, false)

/// blockIdx.x is the level; a warp adds up the rows of one accumulator word.
extern "C" __global__ void __launch_bounds__(32 * kWordsPerLevel)
    float_adm_finish(const DevicePair* pairs, const FinishLaunch launch, const float* rows, uint64_t* accumulators) {
    const int index = static_cast<int>(blockIdx.x), word = static_cast<int>(threadIdx.x) / 32;
    const FinishLaunch::Level level = launch.level[index];
    const size_t first = static_cast<size_t>(blockIdx.z) * launch.rows + level.first_row;
    const float sum = ordered_sum(rows + first * kWordsPerLevel + word, level.rows, kWordsPerLevel);
    if (threadIdx.x % 32 != 0) return;
    accumulators[static_cast<size_t>(pairs[blockIdx.z].output) * kWords + index * kWordsPerLevel + word] =
        bits_of(static_cast<double>(sum));
}
