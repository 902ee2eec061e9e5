// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI on the GPU: what the blocks of its kernels do. The phases of their threads are in cambi_image_phases.hpp and
// cambi_count_phases.hpp.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "metrics/cambi/cambi_count_phases.hpp"
#include "metrics/cambi/cambi_map_phases.hpp"
#include "metrics/cambi/cambi_strip_phases.hpp"

namespace qc::cambi {
// ---- picture to scale 0 ---------------------------------------------------------------------------------------------

template <bool kHalf, typename Source, class TenBits, class Block>
QC_HD void walk_image(Block& block, const ImageTask& task, const Source& source, const TenBits& ten_bits, int picture,
                      int tile_x, int tile_y) {
    using Lane = ImageLane<kHalf>;
    constexpr int kLoop = Lane::kStepsPerLoop;
    const int lane_index = block.lane();
    const int column = lane_column(tile_x, lane_index);
    const int first_row = tile_y * task.walk;
    const int rows = smaller(task.walk, task.height - first_row);
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
        const uint32_t right = block.shuffle_down(samples.low, 1);
        lane.start(samples, fetches_next ? next : right);
    }
    uint32_t groups = 0;
    for (int loop = 0; loop < Lane::steps(rows); loop += kLoop) {
        typename Source::Row loaded[kLoop];
        uint32_t next_sample[kLoop];
        QC_UNROLL
        for (int k = 0; k < kLoop; ++k) {
            const int row = Lane::row_in(first_row, loop + k) + ahead;
            loaded[k] = source.load(row);
            next_sample[k] = fetches_next ? source.load_next(row) : 0;
        }
        QC_UNROLL
        for (int k = 0; k < kLoop; ++k) {
            const int step = loop + k;
            Quad samples = ten_bits(source.unpack(loaded[k]));
            if (task.anti_dither) {
                const uint32_t right = block.shuffle_down(samples.low, 1);
                samples = lane.template mix<TenBits>(samples, fetches_next ? ten_bits.halves(next_sample[k]) : right);
            }
            const Quad previous{block.shuffle_up(samples.low, 1), block.shuffle_up(samples.high, 1)};
            const Quad next{block.shuffle_down(samples.low, 1), 0};
            const uint32_t columns = lane.take(k, Lane::row_in(first_row, step), samples, previous, next);
            if (kHalf && k % 2 == 0) continue;
            const uint32_t columns_left = block.shuffle_up(columns, 1), columns_right = block.shuffle_down(columns, 1);
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
    groups = block.warp_or(groups);
    const ScalePlane& scale = task.pyramid.scale[0];
    if (lane_index == 0) task.pyramid.tiles(picture, 0)[tile_y * scale.tiles_across + tile_x] = groups;
}

/// grid: (tiles across, groups of tiles down, pictures)
template <typename T, bool kHalf>
struct FilterImage : device::KernelOf<ImageTask, tuning::kImageWarps * kLanes, tuning::kImageBlocks> {
    template <class Block>
    QC_HD static void run(Block& block, const ImageTask& task) {
        const int picture = block.z(), tile_x = block.x();
        const int tile_y = block.y() * tuning::kImageWarps + block.warp();
        if (tile_y * task.walk >= task.height) return;
        const DevicePair& pair = task.pairs[picture];
        const DevicePlane plane = task.use_reference ? pair.reference.plane[0] : pair.distorted.plane[0];
        const TenBits<T> ten_bits(task, plane.shift);
        const int column = lane_column(tile_x, block.lane());
        if (tile_is_wide<T>(plane, task, tile_x)) {
            walk_image<kHalf>(block, task, WideSource<T>(plane, task, column), ten_bits, picture, tile_x, tile_y);
        } else {
            walk_image<kHalf>(block, task, SampleSource<T>(plane, task, column), ten_bits, picture, tile_x, tile_y);
        }
    }
};

// ---- scale to scale -------------------------------------------------------------------------------------------------

/// grid: (tiles across, groups of tiles down, pictures)
struct MakeScale : device::KernelOf<PyramidTask, tuning::kPyramidWarps * kLanes> {
    template <class Block>
    QC_HD static void run(Block& block, const PyramidTask& task) {
        constexpr int kLoop = PyramidLane::kStepsPerLoop;
        const ScalePlane& scale = task.pyramid.scale[task.scale];
        const int picture = block.z(), tile_x = block.x();
        const int tile_y = block.y() * tuning::kPyramidWarps + block.warp();
        const int first_row = tile_y * task.walk;
        if (first_row >= scale.height) return;
        const int rows = smaller(task.walk, scale.height - first_row);
        const int lane_index = block.lane();
        const int column = lane_column(tile_x, lane_index);
        PyramidLane lane(task, picture, column);
        uint32_t groups = 0;
        for (int loop = 0; loop < PyramidLane::steps(rows); loop += kLoop) {
            Quad loaded[kLoop];
            QC_UNROLL
            for (int k = 0; k < kLoop; ++k) loaded[k] = lane.load(PyramidLane::row_in(first_row, loop + k));
            QC_UNROLL
            for (int k = 0; k < kLoop; ++k) {
                const int step = loop + k;
                const Quad previous{0, block.shuffle_up(loaded[k].high, 1)},
                    next{block.shuffle_down(loaded[k].low, 1), 0};
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
        groups = block.warp_or(groups);
        if (lane_index == 0) task.pyramid.tiles(picture, task.scale)[tile_y * scale.tiles_across + tile_x] = groups;
    }
};

// ---- counting -------------------------------------------------------------------------------------------------------

/// What is done with the c-values of a thread.
struct Collected {
    uint64_t sum = 0;
    uint32_t active = 0;
};

QC_HD void keep_c_value(const CountTask& task, const Tile& tile, int x, int y, float c) {
    const ScalePlane& scale = task.pyramid.scale[tile.scale];
    if ((task.extras & kHeatMaps) != 0) {
        auto* map = reinterpret_cast<uint16_t*>(task.pair_words(tile.picture) + task.heat_map_word[tile.scale]);
        map[static_cast<size_t>(y) * static_cast<size_t>(scale.width) + static_cast<size_t>(x)] =
            heat(c, task.full_heat);
    }
    if ((task.extras & kDrawsMap) != 0) {
        const size_t at = static_cast<size_t>(y) * static_cast<size_t>(scale.pitch) + static_cast<size_t>(x);
        task.drawn[task.pyramid.offset(tile.picture, tile.scale) + at] = short_c_value(c);
    }
}

/// Sixteen bytes at an address that is a multiple of them.
struct alignas(16) NoValues {
    uint32_t word[4] = {};
};

/// Before the block's c-values are kept: most samples have none. In the last tile of a row also what lies between its
/// end and a multiple of eight, which the map reads along with it.
QC_HD void clear_drawn(const CountTask& task, const Tile& tile, int thread, int threads) {
    constexpr int kAtOnce = sizeof(NoValues) / sizeof(uint16_t);
    const ScalePlane& scale = task.pyramid.scale[tile.scale];
    const int width =
        (tile.right() < scale.width ? tile.right() : (scale.width + kAtOnce - 1) & ~(kAtOnce - 1)) - tile.x;
    const bool in_runs = (tile.x | width) % kAtOnce == 0;
    const int per_row = in_runs ? width / kAtOnce : width;
    const int across = smaller(per_row, threads), rows = threads / across;
    uint16_t* const plane = task.drawn + task.pyramid.offset(tile.picture, tile.scale) + tile.x;
    const int first = thread % across;
    if (thread / across >= rows) return;
    for (int y = tile.y + thread / across; y < tile.bottom(); y += rows) {
        uint16_t* const row = plane + static_cast<size_t>(y) * static_cast<size_t>(scale.pitch);
        if (in_runs)
            *reinterpret_cast<NoValues*>(row + first * kAtOnce) = NoValues{};
        else
            for (int x = first; x < width; x += across) row[x] = 0;
    }
}

template <class Block>
QC_HD void collect(Block& block, const CountTask& task, const Tile& tile, Selection* selection, int x, int y, float c,
                   Collected* collected) {
    if (task.purpose == Purpose::kSum) {
        collected->sum += to_fixed_point(c);
        ++collected->active;
        if (task.extras != 0) keep_c_value(task, tile, x, y, c);
        return;
    }
    const uint32_t key = key_of(c), high = key >> kLowBits;
    if (task.purpose == Purpose::kHighDigits) {
        block.atomic_add(&selection->high_count[high], 1u);
    } else if (high == selection->last_high) {
        block.atomic_add(&selection->low_count[key & (kLowBins - 1)], 1u);
    } else if (high > selection->last_high) {
        collected->sum += to_fixed_point(c);
        ++collected->active;
    }
}

/// Groups of values in the block's tile.
struct TileGroups {
    uint32_t groups;
};

/// Adds up what the threads of a block have collected. All of them come here, once.
template <class Block>
QC_HD void add_collected(Block& block, const CountTask& task, const Tile& tile, Selection* selection,
                         const Collected& collected) {
    if (task.purpose == Purpose::kHighDigits) return;
    const uint64_t values[2] = {collected.sum, collected.active};
    uint64_t* const sums = task.purpose == Purpose::kSum ? task.sums(tile.picture, tile.scale) : &selection->sum_above;
    device::add_block_sums(block, values, sums);
}

/// grid: (tiles of all scales, 1, pictures). Dynamic shared memory: Plan::shared_bytes().
template <class Plan>
struct CountTile : device::KernelOf<CountTask, Plan::kThreads, Plan::kBlocks> {
    template <class Block>
    QC_HD static void run(Block& block, const CountTask& task) {
        auto* const counts = device::dynamic_shared<uint32_t>(block);
        auto& shared_groups = device::shared<TileGroups>(block).groups;
        const int thread = block.thread();
        const Tile tile = find_tile(task, static_cast<unsigned>(block.x()), block.z());
        Selection* const selection = task.selection(tile.picture, tile.scale); // there unless the purpose is kSum
        if (task.purpose != Purpose::kSum && selection->needed == 0) return;

        if (thread < kLanes) {
            const uint32_t groups = block.warp_or(groups_in_tile(task, tile, thread, kLanes));
            if (thread == 0) shared_groups = groups;
        }
        block.sync();
        uint32_t groups = shared_groups;
        if ((task.extras & kDrawsMap) != 0 && task.purpose == Purpose::kSum && groups != 0)
            clear_drawn(task, tile, thread, Plan::kThreads);
        const auto place = Plan::find_place(task, tile, thread);
        Collected collected;
        Pass pass;
        while (next_pass(task, &groups, &pass)) {
            typename Plan::State state;
            Plan::clear(thread, counts, task.groups_per_pass);
            block.sync();
            Plan::warm_up(thread, counts, pass, tile, place, &state);
            for (int y = tile.y; y < tile.bottom(); ++y) {
                Plan::move(thread, counts, pass, &state);
                block.sync();
                if (y + 1 < tile.bottom()) Plan::fetch(thread, y + 1, tile, place, &state);
                Plan::score(thread, counts, task, pass, state, [&](int pixel, float c) {
                    collect(block, task, tile, selection, tile.x + Plan::kPixels * thread + pixel, y, c, &collected);
                });
                block.sync();
            }
        }

        add_collected(block, task, tile, selection, collected);
    }
};

/// The same by a warp alone. grid: (tiles of all scales, 1, pictures). Dynamic shared memory: Plan::shared_bytes().
template <class Plan>
struct CountStrip : device::KernelOf<CountTask, Plan::kThreads, Plan::kBlocks> {
    template <class Block>
    QC_HD static void run(Block& block, const CountTask& task) {
        auto* const counts = device::dynamic_shared<uint32_t>(block);
        auto& list = device::shared<WaitingPixels<Plan>>(block);
        const Tile tile = find_tile(task, static_cast<unsigned>(block.x()), block.z());
        Selection* const selection = task.selection(tile.picture, tile.scale); // there unless the purpose is kSum
        if (task.purpose != Purpose::kSum && selection->needed == 0) return;

        StripLane<Plan> lane(task, tile, block.lane());
        uint32_t groups = block.warp_or(groups_in_tile(task, tile, block.lane(), kLanes));
        if ((task.extras & kDrawsMap) != 0 && task.purpose == Purpose::kSum && groups != 0)
            clear_drawn(task, tile, block.lane(), kLanes); // where writers saw something, the map reads
        if (passes_of(task, groups) > 1) groups &= block.warp_or(lane.groups()); // theirs are larger tiles
        Collected collected;
        Pass pass;
        while (next_pass(task, &groups, &pass)) {
            const CountedValues<Plan::kNd> values(pass);
            const auto first = static_cast<uint32_t>(larger(pass.first, task.first));
            const auto count = static_cast<uint32_t>(smaller(pass.first + pass.count - 1, task.last) + 1) - first;
            lane.clear(counts, task.groups_per_pass);
            block.sync_warp();
            lane.warm_up(counts, values);
            for (int y = tile.y; y < tile.bottom(); ++y) {
                lane.move(counts, values);
                const int listed = list_pixels<Plan>(block, lane, first, count, &list);
                block.sync_warp();
                if (y + 1 < tile.bottom()) lane.fetch(y + 1);
                score_list<Plan>(block.lane(), counts, task, pass, list, listed, [&](int x, float c) {
                    collect(block, task, tile, selection, tile.x + x, y, c, &collected);
                });
                block.sync_warp();
            }
        }
        add_collected(block, task, tile, selection, collected);
    }
};

// ---- selection: grid (scales, pictures) -----------------------------------------------------------------------------

/// Whether there are more c-values than are pooled; if so, clears the counts.
struct SelectBegin : device::KernelOf<SelectTask, tuning::kSelectThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const SelectTask& task) {
        const int scale = block.x(), picture = block.y();
        Selection* const selection = task.count.selection(picture, scale);
        const bool needed = selection_needed(task, picture, scale);
        if (needed) clear_selection(selection, block.thread(), kThreads);
        if (block.thread() == 0) selection->needed = needed;
    }
};

/// Items in each thread's share of the bins.
struct ChunkSums {
    uint64_t sum[tuning::kSelectThreads];
};

/// kHigh: finds the upper bits of the last c-value that is pooled. Otherwise finds the lower bits, and replaces the sum
/// of all by the sum of the largest.
template <bool kHigh>
struct Select : device::KernelOf<SelectTask, tuning::kSelectThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const SelectTask& task) {
        auto& chunks = device::shared<ChunkSums>(block).sum;
        const int scale = block.x(), picture = block.y(), thread = block.thread();
        Selection* const selection = task.count.selection(picture, scale);
        if (selection->needed == 0) return;
        chunks[thread] = kHigh ? sum_chunk<kHighBins>(selection->high_count, thread)
                               : sum_chunk<kLowBins>(selection->low_count, thread);
        block.sync();
        if (thread != 0) return;
        if constexpr (kHigh)
            choose_high(task, scale, chunks, selection);
        else
            choose_low(task, picture, scale, chunks, selection);
    }
};

// ---- list -----------------------------------------------------------------------------------------------------------

#define QC_CAMBI_KERNELS(KERNEL)                                                                                       \
    KERNEL(cambi_image_u8, FilterImage<uint8_t, false>)                                                                \
    KERNEL(cambi_image_u16, FilterImage<uint16_t, false>)                                                              \
    KERNEL(cambi_half_image_u8, FilterImage<uint8_t, true>)                                                            \
    KERNEL(cambi_half_image_u16, FilterImage<uint16_t, true>)                                                          \
    KERNEL(cambi_scale, MakeScale)                                                                                     \
    KERNEL(cambi_count_17, CountStrip<StripReach8>)                                                                    \
    KERNEL(cambi_count_33, CountStrip<StripReach16>)                                                                   \
    KERNEL(cambi_count_65, CountTile<CountReach32>)                                                                    \
    KERNEL(cambi_count, CountTile<CountAnyReach>)                                                                      \
    KERNEL(cambi_count_up_to_1, CountTile<CountUpTo1>)                                                                 \
    KERNEL(cambi_count_up_to_2, CountTile<CountUpTo2>)                                                                 \
    KERNEL(cambi_count_up_to_8, CountTile<CountUpTo8>)                                                                 \
    KERNEL(cambi_count_up_to_16, CountTile<CountUpTo16>)                                                               \
    KERNEL(cambi_count_up_to_32, CountTile<CountUpTo32>)                                                               \
    KERNEL(cambi_select_begin, SelectBegin)                                                                            \
    KERNEL(cambi_select_high, Select<true>)                                                                            \
    KERNEL(cambi_select_low, Select<false>)                                                                            \
    KERNEL(cambi_draw, DrawMap)
QC_DECLARE_KERNELS(QC_CAMBI_KERNELS)

} // namespace qc::cambi
