// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of motion and motion_v2: one pass over the current and an earlier reference picture.
//
// A warp covers 128 columns, four per lane, and some rows. Row by row, each lane filters its columns vertically, takes
// the two columns next to its own from its neighbours, and filters horizontally. The first and the last lane only serve
// as neighbours, so the columns of two tiles overlap by eight.
#pragma once

#include "device/block.hpp"
#include "device/block_sum.hpp"
#include "device/borders.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "device/weights.hpp"
#include "families/motion/motion_math.hpp"
#include "families/motion/motion_tuning.hpp"

namespace qc::motion {
constexpr int kColumnsPerLane = 4;
constexpr int kLanes = 32;
constexpr int kTileWidth = kColumnsPerLane * (kLanes - 2);
constexpr int kRowsPerWarp = kTuning.rows_per_warp;
constexpr int kTileHeight = kTuning.warps * kRowsPerWarp;
constexpr int kSourceRows = kRowsPerWarp + 2 * kReach; ///< that a warp reads
static_assert(kRowsPerWarp * kColumnsPerLane < 65536 / kFullWeight,
              "a lane adds values of up to 65535, as often as weights say, in 32 bits");

struct SumArguments {
    const DeviceReference* references;
    uint64_t* accumulators; ///< one word a reference, or kWeightedWords
    int width, height, depth;
    int lag; ///< frames between the two pictures: 1 or 2
};

/// Row or column of the picture that stands at i.
QC_HD int mirrored_inside(int i, int n) {
    return nearest_inside(mirror_without_edges(i, n), n);
}

/// First column of a lane; negative, or beyond the picture, at the edges. A multiple of kColumnsPerLane.
QC_HD int lane_column(int tile_x, int lane) {
    return tile_x * kTileWidth + (lane - 1) * kColumnsPerLane;
}

QC_HD int warp_row(int tile_y, int warp) {
    return tile_y * kTileHeight + warp * kRowsPerWarp;
}

/// Whether a lane writes anything: not the two that serve as neighbours only.
QC_HD bool lane_counts(int lane) {
    return lane > 0 && lane < kLanes - 1;
}

/// One value for each column of a lane.
struct LaneRow {
    int32_t at[kColumnsPerLane];
};

// ---- where the differences come from --------------------------------------------------------------------------------

/// Whether WideSource can serve all lanes of a tile: loads of four samples are aligned, and no lane straddles the right
/// edge of the picture.
template <typename T>
QC_HD bool tile_is_wide(const DevicePlane& previous, const DevicePlane& current, int width, int tile_x) {
    constexpr unsigned kLoadBytes = kColumnsPerLane * sizeof(T);
    const bool whole_lanes = width % kColumnsPerLane == 0 || lane_column(tile_x, kLanes - 1) + kColumnsPerLane <= width;
    return whole_lanes && previous.step == 1 && current.step == 1 && rows_aligned(previous, kLoadBytes) &&
           rows_aligned(current, kLoadBytes);
}

/// Fetches all rows of a lane at once, four samples per load. Lanes outside the picture get columns of its edge, which
/// are not used: Neighbours mirrors.
template <typename T>
class WideSource {
public:
    static constexpr int kUnroll = kSourceRows; // its arrays must stay in registers

    QC_HD WideSource(const DevicePlane& previous, const DevicePlane& current, const SumArguments& task, int column,
                     int row)
        : previous_shift_(previous.shift), current_shift_(current.shift) {
        const int last = task.width - kColumnsPerLane;
        const int inside = column < 0 ? 0 : column > last ? last : column;
        const int first_row = row - kReach;
        if (first_row >= 0 && first_row + kSourceRows <= task.height) {
            const unsigned char* before = row_bytes(previous, first_row) + inside * sizeof(T);
            const unsigned char* after = row_bytes(current, first_row) + inside * sizeof(T);
            QC_UNROLL
            for (int i = 0; i < kSourceRows; ++i) {
                previous_[i] = load_words<kLoadBytes>(before);
                current_[i] = load_words<kLoadBytes>(after);
                before += previous.pitch_bytes;
                after += current.pitch_bytes;
            }
        } else {
            QC_UNROLL
            for (int i = 0; i < kSourceRows; ++i) {
                const int y = mirrored_inside(first_row + i, task.height);
                previous_[i] = load_words<kLoadBytes>(row_bytes(previous, y) + inside * sizeof(T));
                current_[i] = load_words<kLoadBytes>(row_bytes(current, y) + inside * sizeof(T));
            }
        }
    }

    /// Differences of source row i: the lane's first row is row kReach.
    QC_HD LaneRow difference(int i) const {
        LaneRow result;
        QC_UNROLL
        for (int k = 0; k < kColumnsPerLane; ++k) {
            result.at[k] = sample(previous_[i], k, previous_shift_) - sample(current_[i], k, current_shift_);
        }
        return result;
    }

private:
    static constexpr int kLoadBytes = kColumnsPerLane * sizeof(T);

    QC_HD static int32_t sample(const Words<kLoadBytes>& words, int k, int shift) {
        constexpr int kBits = 8 * sizeof(T);
        constexpr int kPerWord = 32 / kBits;
        return static_cast<int32_t>(static_cast<T>(words.word[k / kPerWord] >> (k % kPerWord * kBits))) >> shift;
    }

    Words<kLoadBytes> previous_[kSourceRows], current_[kSourceRows];
    int previous_shift_, current_shift_;
};

/// Reads sample by sample, whatever the layout.
template <typename T>
class SampleSource {
public:
    static constexpr int kUnroll = 1;

    QC_HD SampleSource(const DevicePlane& previous, const DevicePlane& current, const SumArguments& task, int column,
                       int row)
        : previous_(previous), current_(current), width_(task.width), height_(task.height), column_(column),
          first_row_(row - kReach) {}

    QC_HD LaneRow difference(int i) const {
        const int y = mirrored_inside(first_row_ + i, height_);
        LaneRow result;
        QC_UNROLL
        for (int k = 0; k < kColumnsPerLane; ++k) {
            const int x = mirrored_inside(column_ + k, width_);
            result.at[k] = static_cast<int32_t>(read_sample<T>(previous_, x, y)) -
                           static_cast<int32_t>(read_sample<T>(current_, x, y));
        }
        return result;
    }

private:
    const DevicePlane &previous_, &current_;
    int width_, height_, column_, first_row_;
};

// ---- vertical filter ------------------------------------------------------------------------------------------------

/// The rows that the vertical filter sees at a time. kFullRange: samples of 16 bits, whose filter needs the wide sum.
template <bool kFullRange>
class ColumnFilter {
public:
    QC_HD explicit ColumnFilter(int depth) : depth_(depth) {}

    QC_HD void push(const LaneRow& difference) {
        QC_UNROLL
        for (int i = 0; i < 2 * kReach; ++i) rows_[i] = rows_[i + 1];
        rows_[2 * kReach] = difference;
    }

    QC_HD LaneRow filtered() const {
        LaneRow result;
        QC_UNROLL
        for (int k = 0; k < kColumnsPerLane; ++k) {
            const int32_t outer = rows_[0].at[k] + rows_[4].at[k];
            const int32_t inner = rows_[1].at[k] + rows_[3].at[k];
            const int32_t centre = rows_[2].at[k];
            result.at[k] =
                kFullRange ? low_pass(outer, inner, centre) : low_pass_to_16_bits(outer, inner, centre, depth_);
        }
        return result;
    }

private:
    LaneRow rows_[2 * kReach + 1] = {};
    int depth_;
};

// ---- what counts ----------------------------------------------------------------------------------------------------

/// Every sample counts once.
struct CountAll {
    static constexpr int kWords = 1;

    QC_HD explicit CountAll(const DevicePlane& /*weights*/) {}
    QC_HD void add(uint32_t magnitude, int /*x*/, int /*y*/, uint32_t (&sums)[kWords]) const {
        sums[kSad] += magnitude;
    }
};

/// A sample counts by its weight.
class CountByWeights {
public:
    static constexpr int kWords = kWeightedWords;

    QC_HD explicit CountByWeights(const DevicePlane& weights) : weights_(weights) {}
    QC_HD void add(uint32_t magnitude, int x, int y, uint32_t (&sums)[kWords]) const {
        const uint32_t weight = weights_.at(x, y);
        sums[kSad] += magnitude * weight;
        sums[kWeights] += weight;
    }

private:
    WeightReader weights_;
};

// ---- horizontal filter and sum --------------------------------------------------------------------------------------

/// Columns of the two neighbours that a lane's own filter windows reach.
struct Neighbours {
    int32_t left[kReach];  ///< the last two columns of the lane on the left
    int32_t right[kReach]; ///< the first two of the lane on the right
};

/// Adds what the lane's columns inside the picture have in row y. The vertical filter works column by column, so
/// mirroring may follow it: beyond the first and the last column of the picture stand a lane's own second and third.
template <class Count>
QC_HD void sum_row(const LaneRow& own, const Neighbours& near, int column, int y, int width, const Count& count,
                   uint32_t (&sums)[Count::kWords]) {
    const bool at_left = column == 0;
    const bool at_right = column + kColumnsPerLane == width;
    const int32_t window[kColumnsPerLane + 2 * kReach] = {at_left ? own.at[2] : near.left[0],
                                                          at_left ? own.at[1] : near.left[1],
                                                          own.at[0],
                                                          own.at[1],
                                                          own.at[2],
                                                          own.at[3],
                                                          at_right ? own.at[2] : near.right[0],
                                                          at_right ? own.at[1] : near.right[1]};
    QC_UNROLL
    for (int k = 0; k < kColumnsPerLane; ++k) {
        const int32_t value = low_pass(window[k] + window[k + 4], window[k + 1] + window[k + 3], window[k + 2]);
        const int32_t magnitude = value < 0 ? -value : value;
        if (column + k < width) count.add(static_cast<uint32_t>(magnitude), column + k, y, sums);
    }
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

template <class Block>
QC_HD Neighbours exchange(Block& block, const LaneRow& own) {
    Neighbours near;
    near.left[0] = block.shuffle_up(own.at[2], 1);
    near.left[1] = block.shuffle_up(own.at[3], 1);
    near.right[0] = block.shuffle_down(own.at[0], 1);
    near.right[1] = block.shuffle_down(own.at[1], 1);
    return near;
}

/// A lane's sums over the rows of its warp. `row` is the same for the whole warp.
template <bool kFullRange, class Block, typename Source, class Count>
QC_HD void sum_rows(Block& block, const Source& source, const SumArguments& task, int column, int row,
                    const Count& count, uint32_t (&sums)[Count::kWords]) {
    const bool counts = lane_counts(block.lane());
    ColumnFilter<kFullRange> filter(task.depth);
#if defined(__CUDACC__)
#pragma unroll Source::kUnroll
#endif
    for (int i = 0; i < kSourceRows; ++i) {
        filter.push(source.difference(i));
        const int output_row = i - 2 * kReach; // the row whose window is complete now
        if (output_row >= 0 && row + output_row < task.height) {
            const LaneRow own = filter.filtered();
            const Neighbours near = exchange(block, own);
            if (counts) sum_row(own, near, column, row + output_row, task.width, count, sums);
        }
    }
}

/// Where nothing moves: the weights alone.
template <class Count>
QC_HD void sum_still_rows(int lane, const SumArguments& task, int column, int row, const Count& count,
                          uint32_t (&sums)[Count::kWords]) {
    if (!lane_counts(lane)) return;
    for (int y = row; y < row + kRowsPerWarp && y < task.height; ++y)
        for (int x = column; x < column + kColumnsPerLane && x < task.width; ++x) count.add(0, x, y, sums);
}

/// grid: (tiles in x, tiles in y, references). References without an earlier picture have no motion.
/// @tparam kFullRange samples have 16 bits
/// @tparam Count what counts
template <typename T, bool kFullRange, class Count = CountAll>
struct SumTile : device::KernelOf<SumArguments, kTuning.warps * kLanes,
                                  Count::kWords == 1 ? kTuning.blocks_per_multiprocessor
                                                     : kTuning.weighted_blocks_per_multiprocessor> {
    template <class Block>
    QC_HD static void run(Block& block, const SumArguments& arguments) {
        const SumArguments task = arguments; // read once: shorter code than reading fields as they are needed
        const DeviceReference& reference = task.references[block.z()];
        const DevicePlane previous = reference.history[task.lag - 1];
        if (Count::kWords == 1 && previous.data == nullptr) return; // there are no weights either
        const DevicePlane current = reference.current.plane[0];

        const int column = lane_column(block.x(), block.lane()), row = warp_row(block.y(), block.warp());
        const Count count(reference.weights);
        uint32_t sums[Count::kWords] = {};
        if (previous.data == nullptr) {
            sum_still_rows(block.lane(), task, column, row, count, sums);
        } else if (row < task.height) { // the same for a whole warp
            if (tile_is_wide<T>(previous, current, task.width, block.x())) {
                const WideSource<T> source(previous, current, task, column, row);
                sum_rows<kFullRange>(block, source, task, column, row, count, sums);
            } else {
                const SampleSource<T> source(previous, current, task, column, row);
                sum_rows<kFullRange>(block, source, task, column, row, count, sums);
            }
        }
        device::add_block_sums(block, sums, task.accumulators + static_cast<size_t>(reference.output) * Count::kWords);
    }
};

/// Both metrics' programs have these and no others. Those without `full` are for less than 16 bits.
#define QC_MOTION_KERNELS(KERNEL)                                                                                      \
    KERNEL(motion_sad_u8, SumTile<uint8_t, false>)                                                                     \
    KERNEL(motion_sad_u16, SumTile<uint16_t, false>)                                                                   \
    KERNEL(motion_sad_u16_full, SumTile<uint16_t, true>)                                                               \
    KERNEL(motion_sad_weighted_u8, SumTile<uint8_t, false, CountByWeights>)                                            \
    KERNEL(motion_sad_weighted_u16, SumTile<uint16_t, false, CountByWeights>)                                          \
    KERNEL(motion_sad_weighted_u16_full, SumTile<uint16_t, true, CountByWeights>)
QC_DECLARE_KERNELS(QC_MOTION_KERNELS)

} // namespace qc::motion
