// SPDX-License-Identifier: BSD-2-Clause-Patent
// The window kernel.
//
// A block takes a strip of 32 columns of results and goes down a segment of it, 32 rows at a time. Five warps, one for
// each quantity (a, b, a^2, b^2, ab):
//
//     read         samples of 32 rows of both pictures, as floats
//     along rows   lane: row. The window in x; results go below those of the last ten rows before
//     down         lane: column. The window in y; results replace what they were made of
//     terms        lane: column. Five results make a position's terms
//     keep         the last ten rows' results of the window in x move up
//
// One launch serves all levels. Memory per block and multiprocessor: 39 KB, five blocks.
#pragma once

#include "device/block.hpp"
#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/weights.hpp"
#include "families/structural/structural_source.hpp"

namespace qc::structural {
constexpr int kWindowWarps = kQuantities;
constexpr int kWindowThreads = kWindowWarps * kLanes;

constexpr int kReadColumns = (kTileColumns + kMargin + 3) / 4 * 4;
/// Odd pitches: lanes that work on neighbouring rows, and those on neighbouring columns, read different banks.
constexpr int kReadPitch = kReadColumns + 1, kFilteredPitch = kTileColumns + 1;
constexpr int kFilteredRows = kMargin + kBatchRows;

/// Shared memory of a block.
struct WindowMemory {
    float samples[2][kBatchRows * kReadPitch];
    float filtered[kQuantities][kFilteredRows * kFilteredPitch];
};

/// What a block works on.
struct Segment {
    int level;
    int x;                  ///< of its first column
    int first_row, end_row; ///< of results
};

QC_HD Segment segment_of(const Task& task, int block) {
    int level = 0;
    while (level + 1 < task.levels && block >= task.window[level + 1].first_block) ++level;
    const WindowTask& window = task.window[level];
    const int rank = block - window.first_block, rows = task.level[level].height - kMargin;
    Segment segment;
    segment.level = level;
    segment.x = rank % window.strips * kTileColumns;
    segment.first_row = rank / window.strips * window.segment_rows;
    const int end = segment.first_row + window.segment_rows;
    segment.end_row = end < rows ? end : rows;
    return segment;
}

/// First row of samples of a batch. Its first row of results is kMargin above: the first batch of a segment makes
/// kMargin rows of results that nobody uses.
QC_HD int first_sample_row(const Segment& segment, int batch) {
    return segment.first_row + batch * kBatchRows;
}

QC_HD bool has_batch(const Segment& segment, int batch) {
    return first_sample_row(segment, batch) - kMargin < segment.end_row;
}

template <typename T>
QC_HD void read_phase(WindowMemory& memory, const Task& task, int pair, const Segment& segment, int batch, int thread) {
    const int y = first_sample_row(segment, batch);
    for (int picture = 0; picture < 2; ++picture) {
        float* const samples = memory.samples[picture];
        const auto store = [&](int row, int column, float sample) { samples[row * kReadPitch + column] = sample; };
        const Level& level = task.level[segment.level];
        if (level.samples == nullptr) {
            read_tile<kBatchRows, kReadColumns, kWindowThreads>(LumaSource<T>(task, pair, picture), segment.x, y,
                                                                thread, store);
        } else {
            read_tile<kBatchRows, kReadColumns, kWindowThreads>(LevelSource(level, pair, picture), segment.x, y, thread,
                                                                store);
        }
    }
}

template <bool kSigned>
QC_HD void row_phase(WindowMemory& memory, int thread) {
    const int quantity = thread / kLanes, row = thread % kLanes;
    const bool is_product = quantity >= kSquareA;
    // First and second factor.
    const float* const from = memory.samples[quantity == kB || quantity == kSquareB ? 1 : 0] + row * kReadPitch;
    const float* const factor = memory.samples[quantity == kSquareA ? 0 : 1] + row * kReadPitch;
    float* const to = memory.filtered[quantity] + (kMargin + row) * kFilteredPitch;
    QC_NO_UNROLL for (int x = 0; x < kTileColumns; x += kTuning.run) {
        filter_run<kTuning.run, kSigned>([&](int i) { return is_product ? from[x + i] * factor[x + i] : from[x + i]; },
                                         [&](int i, float result) { to[x + i] = result; });
    }
}

template <bool kSigned>
QC_HD void column_phase(WindowMemory& memory, int thread) {
    const int quantity = thread / kLanes, column = thread % kLanes;
    float* const filtered = memory.filtered[quantity] + column;
    QC_NO_UNROLL for (int y = 0; y < kBatchRows; y += kTuning.run) {
        filter_run<kTuning.run, kSigned>([&](int i) { return filtered[(y + i) * kFilteredPitch]; },
                                         [&](int i, float result) { filtered[(y + i) * kFilteredPitch] = result; });
    }
}

/// What a kernel does beside summing the terms of all positions.
enum class Extra {
    kNone,
    kMap,     ///< puts them into a map, which has a value for each position of level 0
    kWeights, ///< lets them count by weights, and puts those of level 0 into a map where one is wanted
};

/// @param weights of the pair, with kWeights
/// @param sums of the thread: kSumWords, with kWeights kWeightedSumWords
template <Extra kExtra>
QC_HD void terms_phase(const WindowMemory& memory, const Task& task, const Segment& segment, int batch, int thread,
                       const MapPlane& map, const DevicePlane& weights, uint64_t* sums) {
    const int column = thread % kLanes;
    if (segment.x + column >= task.level[segment.level].width - kMargin) return;
    const WindowTask& window = task.window[segment.level];
    const int y = first_sample_row(segment, batch) - kMargin;
    QC_NO_UNROLL for (int row = thread / kLanes; row < kBatchRows; row += kWindowWarps) {
        if (y + row < segment.first_row || y + row >= segment.end_row) continue;
        Moments moments;
        QC_UNROLL for (int q = 0; q < kQuantities; ++q) {
            moments.of[q] = memory.filtered[q][row * kFilteredPitch + column];
        }
        uint32_t weight = 1;
        if constexpr (kExtra == Extra::kWeights) {
            weight = WeightReader(weights).over(shape_of_positions(task.map_shape.step << segment.level),
                                                segment.x + column, y + row, task.picture_width, task.picture_height);
            sums[kSumOfWeights] += weight;
        }
        const double similarity = add_terms(moments, window.with_luminance, window.fixed, sums, weight);
        if constexpr (kExtra != Extra::kNone) {
            if (map.data != nullptr) map.put(segment.x + column, y + row, loss_of(similarity));
        }
    }
}

QC_HD void keep_phase(WindowMemory& memory, int thread) {
    float* const filtered = memory.filtered[thread / kLanes] + thread % kLanes;
    QC_UNROLL for (int row = 0; row < kMargin; ++row) {
        filtered[row * kFilteredPitch] = filtered[(kBatchRows + row) * kFilteredPitch];
    }
}

/// Along rows and down. Between the two a quantity stays with its warp.
template <bool kSigned, class Block>
QC_HD void filter_batch(Block& block, WindowMemory& memory) {
    row_phase<kSigned>(memory, block.thread());
    block.sync_warp();
    column_phase<kSigned>(memory, block.thread());
}

/// grid: (blocks of all levels, 1, pairs)
/// @tparam T holds samples of the video
template <typename T, Extra kExtra = Extra::kNone>
struct SumWindows : device::KernelOf<Task, kWindowThreads, kTuning.min_blocks> {
    template <class Block>
    QC_HD static void run(Block& block, const Task& task) {
        auto& memory = device::shared<WindowMemory>(block);
        const int pair = block.z(), thread = block.thread();
        const Segment segment = segment_of(task, block.x());
        const bool has_negatives = task.window[segment.level].has_negatives;
        MapPlane map{};
        if constexpr (kExtra != Extra::kNone) map = task.map.of_output(task.pairs[pair].output, task.map_shape);
        constexpr int kWords = kExtra == Extra::kWeights ? kWeightedSumWords : kSumWords;
        uint64_t sums[kWords] = {};
        for (int batch = 0; has_batch(segment, batch); ++batch) {
            if (batch > 0) keep_phase(memory, thread);
            read_phase<T>(memory, task, pair, segment, batch, thread);
            block.sync();
            if (has_negatives)
                filter_batch<true>(block, memory);
            else
                filter_batch<false>(block, memory);
            block.sync();
            terms_phase<kExtra>(memory, task, segment, batch, thread, map, task.pairs[pair].weights, sums);
            block.sync();
        }
        const size_t row = static_cast<size_t>(task.pairs[pair].output) * task.levels;
        device::add_block_sums(block, sums, task.accumulators + (row + segment.level) * kWords);
    }
};

/// In the lists of both metrics.
#define QC_STRUCTURAL_KERNELS(KERNEL)                                                                                  \
    KERNEL(structural_window_u8, qc::structural::SumWindows<uint8_t>)                                                  \
    KERNEL(structural_window_u16, qc::structural::SumWindows<uint16_t>)                                                \
    KERNEL(structural_window_weighted_u8, qc::structural::SumWindows<uint8_t, qc::structural::Extra::kWeights>)        \
    KERNEL(structural_window_weighted_u16, qc::structural::SumWindows<uint16_t, qc::structural::Extra::kWeights>)
QC_DECLARE_KERNELS(QC_STRUCTURAL_KERNELS)

/// In the list of metrics that have a map.
#define QC_STRUCTURAL_MAP_KERNELS(KERNEL)                                                                              \
    KERNEL(structural_window_map_u8, qc::structural::SumWindows<uint8_t, qc::structural::Extra::kMap>)                 \
    KERNEL(structural_window_map_u16, qc::structural::SumWindows<uint16_t, qc::structural::Extra::kMap>)
QC_DECLARE_KERNELS(QC_STRUCTURAL_MAP_KERNELS)

} // namespace qc::structural
