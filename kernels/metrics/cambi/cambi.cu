// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI on the GPU: entry points, exchange between lanes, barriers, reductions. What a thread does is in
// cambi_image.hpp and cambi_count.hpp.
#include "device/block_sum.cuh"
#include "metrics/cambi/cambi_count.hpp"

namespace qc::cambi {
namespace {

__device__ __forceinline__ uint32_t from_left(uint32_t value) {
    return __shfl_up_sync(kWholeWarp, value, 1);
}
__device__ __forceinline__ uint32_t from_right(uint32_t value) {
    return __shfl_down_sync(kWholeWarp, value, 1);
}

__device__ __forceinline__ uint32_t warp_or(uint32_t value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(kWholeWarp, value);
#else
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
        value |= __shfl_xor_sync(kWholeWarp, value, distance);
    return value;
#endif
}

// ---- picture to scale 0 ---------------------------------------------------------------------------------------------

template <bool kHalf, typename Source>
__device__ __forceinline__ void walk_image(const ImageTask& task, const Source& source, const TenBits& ten_bits,
                                           int picture, int tile_x, int tile_y) {
    using Lane = ImageLane<kHalf>;
    constexpr int kLoop = Lane::kStepsPerLoop;
    const int lane_index = static_cast<int>(threadIdx.x) % kLanes;
    const int column = lane_column(tile_x, lane_index);
    const int first_row = tile_y * task.walk;
    const int rows = min(task.walk, task.height - first_row);
    const bool stores = lane_stores(task, lane_index, column);
    Lane lane(task, column);
    // With the anti-dither filter, the row below comes with every row, and the last lane fetches a fifth sample: what
    // depends on it reaches as far as the last useful lane.
    const int ahead = task.anti_dither ? 1 : 0;
    const bool fetches_next = task.anti_dither && lane_index == kLanes - 1;
    if (task.anti_dither) {
        const int row = Lane::row_in(first_row, 0);
        const Quad samples = ten_bits(source.unpack(source.load(row)));
        const uint32_t next = fetches_next ? ten_bits.halves(source.load_next(row)) : 0;
        const uint32_t right = from_right(samples.low);
        lane.start(samples, fetches_next ? next : right);
    }
    uint32_t groups = 0;
    for (int loop = 0; loop < Lane::steps(rows); loop += kLoop) {
        typename Source::Row loaded[kLoop];
        uint32_t next_sample[kLoop];
#pragma unroll
        for (int k = 0; k < kLoop; ++k) {
            const int row = Lane::row_in(first_row, loop + k) + ahead;
            loaded[k] = source.load(row);
            next_sample[k] = fetches_next ? source.load_next(row) : 0;
        }
#pragma unroll
        for (int k = 0; k < kLoop; ++k) {
            const int step = loop + k;
            Quad samples = ten_bits(source.unpack(loaded[k]));
            if (task.anti_dither) {
                const uint32_t right = from_right(samples.low);
                samples = lane.mix(samples, fetches_next ? ten_bits.halves(next_sample[k]) : right);
            }
            const Quad previous{from_left(samples.low), from_left(samples.high)};
            const Quad next{from_right(samples.low), 0};
            const uint32_t columns = lane.take(k, Lane::row_in(first_row, step), samples, previous, next);
            if (kHalf && k % 2 == 0) continue;
            const uint32_t columns_left = from_left(columns), columns_right = from_right(columns);
            const int row = Lane::row_out(first_row, step);
            if (step < Lane::kFirstOutput || row >= first_row + rows) continue;
            const Quad out = lane.finish(k, row, columns_left, columns_right);
            if (stores) {
                store_row<kHalf>(task, picture, column, row, out);
                groups |= groups_of_halves(out.low);
                if (!kHalf) groups |= groups_of_halves(out.high);
            }
        }
    }
    groups = warp_or(groups);
    const ScalePlane& scale = task.pyramid.scale[0];
    if (lane_index == 0) task.pyramid.tiles(picture, 0)[tile_y * scale.tiles_across + tile_x] = groups;
}

template <typename T, bool kHalf>
__device__ __forceinline__ void filter_image(const ImageTask& task) {
    const auto picture = static_cast<int>(blockIdx.z), tile_x = static_cast<int>(blockIdx.x);
    const int tile_y = static_cast<int>(blockIdx.y) * tuning::kImageWarps + static_cast<int>(threadIdx.x) / kLanes;
    if (tile_y * task.walk >= task.height) return;
    const DevicePair& pair = task.pairs[picture];
    const DevicePlane plane = task.use_reference ? pair.reference.plane[0] : pair.distorted.plane[0];
    const TenBits ten_bits(task.depth, plane.shift);
    const int column = lane_column(tile_x, static_cast<int>(threadIdx.x) % kLanes);
    if (tile_is_wide<T>(plane, task, tile_x)) {
        walk_image<kHalf>(task, WideSource<T>(plane, task, column), ten_bits, picture, tile_x, tile_y);
    } else {
        walk_image<kHalf>(task, SampleSource<T>(plane, task, column), ten_bits, picture, tile_x, tile_y);
    }
}

// ---- scale to scale -------------------------------------------------------------------------------------------------

__device__ __forceinline__ void make_scale(const PyramidTask& task) {
    constexpr int kLoop = PyramidLane::kStepsPerLoop;
    const ScalePlane& scale = task.pyramid.scale[task.scale];
    const auto picture = static_cast<int>(blockIdx.z), tile_x = static_cast<int>(blockIdx.x);
    const int tile_y = static_cast<int>(blockIdx.y) * tuning::kPyramidWarps + static_cast<int>(threadIdx.x) / kLanes;
    const int first_row = tile_y * task.walk;
    if (first_row >= scale.height) return;
    const int rows = min(task.walk, scale.height - first_row);
    const int lane_index = static_cast<int>(threadIdx.x) % kLanes;
    const int column = lane_column(tile_x, lane_index);
    PyramidLane lane(task, picture, column);
    uint32_t groups = 0;
    for (int loop = 0; loop < PyramidLane::steps(rows); loop += kLoop) {
        Quad loaded[kLoop];
#pragma unroll
        for (int k = 0; k < kLoop; ++k) loaded[k] = lane.load(PyramidLane::row_in(first_row, loop + k));
#pragma unroll
        for (int k = 0; k < kLoop; ++k) {
            const int step = loop + k;
            const Quad previous{0, from_left(loaded[k].high)}, next{from_right(loaded[k].low), 0};
            lane.take(k, loaded[k], previous, next);
            const int row = PyramidLane::row_out(first_row, step);
            if (step < PyramidLane::kFirstOutput || row >= first_row + rows) continue;
            const Quad out = lane.finish(k, row);
            if (lane_is_useful(lane_index) && column < scale.width) {
                store_row(task, picture, column, row, out);
                groups |= groups_of_halves(out.low) | groups_of_halves(out.high);
            }
        }
    }
    groups = warp_or(groups);
    if (lane_index == 0) task.pyramid.tiles(picture, task.scale)[tile_y * scale.tiles_across + tile_x] = groups;
}

// ---- counting -------------------------------------------------------------------------------------------------------

/// What is done with the c-values of a thread.
struct Collected {
    uint64_t sum = 0;
    uint32_t active = 0;
};

__device__ __forceinline__ void collect(const CountTask& task, const Tile& tile, Selection* selection, int x, int y,
                                        float c, Collected* collected) {
    if (task.purpose == Purpose::kSum) {
        collected->sum += to_fixed_point(c);
        ++collected->active;
        if (task.heat_maps != 0) {
            auto* map = reinterpret_cast<uint16_t*>(task.pair_words(tile.picture) + task.heat_map_word[tile.scale]);
            const auto width = static_cast<size_t>(task.pyramid.scale[tile.scale].width);
            map[static_cast<size_t>(y) * width + static_cast<size_t>(x)] = heat(c, task.full_heat);
        }
        return;
    }
    const uint32_t key = key_of(c), high = key >> kLowBits;
    if (task.purpose == Purpose::kHighDigits) {
        atomicAdd(&selection->high_count[high], 1u);
    } else if (high == selection->last_high) {
        atomicAdd(&selection->low_count[key & (kLowBins - 1)], 1u);
    } else if (high > selection->last_high) {
        collected->sum += to_fixed_point(c);
        ++collected->active;
    }
}

template <class Plan>
__device__ __forceinline__ void count_tile(const CountTask& task) {
    extern __shared__ __align__(16) uint32_t counts[];
    __shared__ uint32_t shared_groups;
    const auto thread = static_cast<int>(threadIdx.x);
    const Tile tile = find_tile(task, blockIdx.x, static_cast<int>(blockIdx.z));
    Selection* const selection = task.purpose == Purpose::kSum ? nullptr : task.selection(tile.picture, tile.scale);
    if (selection != nullptr && selection->needed == 0) return;

    if (thread < kWarpSize) {
        const uint32_t groups = warp_or(groups_in_tile(task, tile, thread, kWarpSize));
        if (thread == 0) shared_groups = groups;
    }
    __syncthreads();
    uint32_t groups = shared_groups;
    const auto place = Plan::find_place(task, tile, thread);
    Collected collected;
    Pass pass;
    while (next_pass(task, &groups, &pass)) {
        typename Plan::State state;
        Plan::clear(thread, counts, task.groups_per_pass);
        __syncthreads();
        Plan::warm_up(thread, counts, pass, tile, place, &state);
        for (int y = tile.y; y < tile.bottom(); ++y) {
            Plan::move(thread, counts, pass, &state);
            __syncthreads();
            if (y + 1 < tile.bottom()) Plan::fetch(thread, y + 1, tile, place, &state);
            Plan::score(thread, counts, task, pass, state, [&](int pixel, float c) {
                collect(task, tile, selection, tile.x + Plan::kPixels * thread + pixel, y, c, &collected);
            });
            __syncthreads();
        }
    }

    if (task.purpose == Purpose::kHighDigits) return;
    const uint64_t values[2] = {collected.sum, collected.active};
    uint64_t* const sums = task.purpose == Purpose::kSum ? task.sums(tile.picture, tile.scale) : &selection->sum_above;
    add_block_sums<Plan::kThreads / kWarpSize>(values, sums);
}

} // namespace
} // namespace qc::cambi

// ---- kernels --------------------------------------------------------------------------------------------------------

#define QC_CAMBI_IMAGE_KERNEL(name, Sample, half)                                                                      \
    extern "C" __global__ void __launch_bounds__(qc::cambi::tuning::kImageWarps* qc::cambi::kLanes,                    \
                                                 qc::cambi::tuning::kImageBlocks)                                      \
        name(const __grid_constant__ qc::cambi::ImageTask task) {                                                      \
        qc::cambi::filter_image<Sample, half>(task);                                                                   \
    }

QC_CAMBI_IMAGE_KERNEL(cambi_image_u8, uint8_t, false)
QC_CAMBI_IMAGE_KERNEL(cambi_image_u16, uint16_t, false)
QC_CAMBI_IMAGE_KERNEL(cambi_half_image_u8, uint8_t, true)
QC_CAMBI_IMAGE_KERNEL(cambi_half_image_u16, uint16_t, true)

extern "C" __global__ void __launch_bounds__(qc::cambi::tuning::kPyramidWarps* qc::cambi::kLanes)
    cambi_scale(const __grid_constant__ qc::cambi::PyramidTask task) {
    qc::cambi::make_scale(task);
}

#define QC_CAMBI_COUNT_KERNEL(name, Plan)                                                                              \
    extern "C" __global__ void __launch_bounds__(qc::cambi::Plan::kThreads, qc::cambi::Plan::kBlocks)                  \
        name(const __grid_constant__ qc::cambi::CountTask task) {                                                      \
        qc::cambi::count_tile<qc::cambi::Plan>(task);                                                                  \
    }

QC_CAMBI_COUNT_KERNEL(cambi_count_17, CountReach8)
QC_CAMBI_COUNT_KERNEL(cambi_count_33, CountReach16)
QC_CAMBI_COUNT_KERNEL(cambi_count_65, CountReach32)
QC_CAMBI_COUNT_KERNEL(cambi_count, CountAnyReach)
QC_CAMBI_COUNT_KERNEL(cambi_count_up_to_1, CountUpTo1)
QC_CAMBI_COUNT_KERNEL(cambi_count_up_to_2, CountUpTo2)
QC_CAMBI_COUNT_KERNEL(cambi_count_up_to_8, CountUpTo8)
QC_CAMBI_COUNT_KERNEL(cambi_count_up_to_16, CountUpTo16)
QC_CAMBI_COUNT_KERNEL(cambi_count_up_to_32, CountUpTo32)

// Selection: grid (scales, pictures).

/// Whether there are more c-values than are pooled; if so, clears the counts.
extern "C" __global__ void __launch_bounds__(qc::cambi::tuning::kSelectThreads)
    cambi_select_begin(const __grid_constant__ qc::cambi::SelectTask task) {
    const auto scale = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
    qc::cambi::Selection* const selection = task.count.selection(picture, scale);
    const bool needed = qc::cambi::selection_needed(task, picture, scale);
    if (needed) qc::cambi::clear_selection(selection, static_cast<int>(threadIdx.x), qc::cambi::tuning::kSelectThreads);
    if (threadIdx.x == 0) selection->needed = needed;
}

/// Finds the upper bits of the last c-value that is pooled.
extern "C" __global__ void __launch_bounds__(qc::cambi::tuning::kSelectThreads)
    cambi_select_high(const __grid_constant__ qc::cambi::SelectTask task) {
    __shared__ uint64_t chunks[qc::cambi::tuning::kSelectThreads];
    qc::cambi::Selection* const selection =
        task.count.selection(static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x));
    if (selection->needed == 0) return;
    chunks[threadIdx.x] =
        qc::cambi::sum_chunk<qc::cambi::kHighBins>(selection->high_count, static_cast<int>(threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) qc::cambi::choose_high(task, static_cast<int>(blockIdx.x), chunks, selection);
}

/// Finds the lower bits, and replaces the sum of all by the sum of the largest.
extern "C" __global__ void __launch_bounds__(qc::cambi::tuning::kSelectThreads)
    cambi_select_low(const __grid_constant__ qc::cambi::SelectTask task) {
    __shared__ uint64_t chunks[qc::cambi::tuning::kSelectThreads];
    const auto scale = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
    qc::cambi::Selection* const selection = task.count.selection(picture, scale);
    if (selection->needed == 0) return;
    chunks[threadIdx.x] =
        qc::cambi::sum_chunk<qc::cambi::kLowBins>(selection->low_count, static_cast<int>(threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) qc::cambi::choose_low(task, picture, scale, chunks, selection);
}
