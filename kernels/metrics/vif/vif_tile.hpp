// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block of integer VIF's kernels does, phase by phase.
//
// One kernel per scale computes the statistics of a tile and its part of the next scale's pictures:
//
//     vertical phase    one column and several rows a thread: the rows are read once from global memory and stay in
//                       registers; five filtered words a pixel go to shared memory
//     horizontal phase  four columns a thread, from 128-bit reads of shared memory; then the statistic of each pixel
#pragma once

#include <type_traits>

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/weights.hpp"
#include "metrics/vif/vif_columns.hpp"
#include "metrics/vif/vif_tuning.hpp"

namespace qc::vif {
using device::round_up;

// ---- a tile ---------------------------------------------------------------------------------------------------------

/// Everything about a kernel that is known at compile time. `Source` reads its pictures, `Column` keeps them.
template <int kScale_, typename Source_, template <int> class Column_, TileShape kShape, bool kStatistics_ = true>
struct TilePlan {
    using Source = Source_;
    static constexpr int kScale = kScale_;
    static constexpr TileShape kTile = kShape;
    static constexpr bool kStatistics = kStatistics_;
    static constexpr bool kDecimates = kScale + 1 < kScales;
    static constexpr int kNextScale = kDecimates ? kScale + 1 : kScale;
    static constexpr int kThreads = kShape.threads, kMinBlocks = kShape.min_blocks;
    static constexpr int kWidth = kShape.width, kHeight = kShape.height, kRowsPerThread = kShape.rows_per_thread;

    /// Margin of the filters that this kernel applies.
    static constexpr int kMargin = kStatistics ? kRadius<kScale> : kRadius<kNextScale>;
    static constexpr int kDecimationOffset = kMargin - kRadius<kNextScale>; ///< of its window in the margin
    static constexpr int kColumns = round_up(kWidth + 2 * kMargin, 4);
    static constexpr int kWindowRows = kRowsPerThread + 2 * kMargin;
    using Column = Column_<kWindowRows>;

    // Shared memory, in words. The pitch is congruent to the width modulo the 32 banks: threads of a warp that span two
    // rows of the horizontal phase then read as if the rows were one.
    static constexpr int kPitch = kColumns + (kWidth - kColumns % 32 + 32 * 32) % 32;
    static constexpr int kPlane = kHeight * kPitch;
    static constexpr int kMeans = 0, kSquares1 = kPlane, kSquares2 = 2 * kPlane, kProducts = 3 * kPlane;
    static constexpr int kDecimation = kStatistics ? 4 * kPlane : 0;
    static constexpr int kLogarithms = kDecimation + (kDecimates ? kPlane / 2 : 0);
    static constexpr bool kSharedThresholds = kStatistics && kLogSource == LogSource::kThresholds;
    static constexpr int kSharedWords = kLogarithms + (kSharedThresholds ? round_up(kLogThresholds, 4) : 0);
    static constexpr unsigned kSharedBytes = kSharedWords * sizeof(uint32_t);

    static_assert(kThreads % 32 == 0 && kWidth % 4 == 0 && kHeight % 2 == 0 && kPitch % 4 == 0);
    static_assert(kRowsPerThread % 2 == 0 && kHeight % kRowsPerThread == 0 && kLogarithms % 4 == 0);
};

using device::TileOrigin;

template <class Plan>
QC_HD TileOrigin tile_origin(int block_x, int block_y) {
    return {block_x * Plan::kWidth, block_y * Plan::kHeight};
}

// ---- phase 1: vertical pass -----------------------------------------------------------------------------------------

/// Brings the logarithm's thresholds to shared memory.
template <class Plan>
QC_HD void copy_thresholds(uint32_t* shared, int thread, const ScaleArguments& arguments) {
    if constexpr (Plan::kSharedThresholds) {
        const auto* from = static_cast<const uint32_t*>(arguments.logarithms);
        QC_UNROLL for (int first = 0; first < kLogThresholds;
                       first += Plan::kThreads) if (first + thread < kLogThresholds)
            shared[Plan::kLogarithms + first + thread] = read_global(from + first + thread);
    }
}

/// Filters one kind of product down the columns.
template <class Plan, Product kProduct>
QC_HD void filter_products(typename Plan::Column& column, int shift, uint32_t* out) {
    uint32_t products[Plan::kWindowRows];
    column.next_quantity();
    QC_UNROLL for (int row = 0; row < Plan::kWindowRows; ++row) products[row] = column.template product<kProduct>(row);
    QC_UNROLL for (int row = 0; row < Plan::kRowsPerThread; ++row) {
        const auto sample = [&](int k) { return products[row + k]; };
        if constexpr (Plan::Source::kByteSamples)
            out[row * Plan::kPitch] = window_sum<Plan::kScale>(sample);
        else
            out[row * Plan::kPitch] = round_shift(window_split_sum<Plan::kScale>(sample), shift);
    }
}

/// Filters the samples themselves, every kStep-th row, and packs both pictures' results.
template <class Plan, int kFilter, int kStep>
QC_HD void filter_samples(typename Plan::Column& column, int offset, int shift, uint32_t* out) {
    column.next_quantity();
    QC_UNROLL for (int row = 0; row < Plan::kRowsPerThread; row += kStep) {
        const SplitSum sums = column.template weighted_samples<kFilter>(offset + row);
        out[row / kStep * Plan::kPitch] = pack(round_shift(sums.low, shift), round_shift(sums.high, shift));
    }
}

template <class Plan>
QC_HD void vertical_phase(uint32_t* shared, int thread, const typename Plan::Source& source, TileOrigin origin,
                          VerticalShifts shifts) {
    constexpr int kItems = Plan::kColumns * (Plan::kHeight / Plan::kRowsPerThread);
    for (int item = thread; item < kItems; item += Plan::kThreads) {
        const int x = item % Plan::kColumns, y = item / Plan::kColumns * Plan::kRowsPerThread;
        typename Plan::Column column;
        column.load(source, reflect_inside(origin.x - Plan::kMargin + x, source.width), origin.y - Plan::kMargin + y);
        uint32_t* out = shared + y * Plan::kPitch + x;
        if constexpr (Plan::kStatistics) {
            filter_samples<Plan, Plan::kScale, 1>(column, 0, shifts.mean, out + Plan::kMeans);
            filter_products<Plan, Product::kSquare1>(column, shifts.product, out + Plan::kSquares1);
            filter_products<Plan, Product::kSquare2>(column, shifts.product, out + Plan::kSquares2);
            filter_products<Plan, Product::kProduct12>(column, shifts.product, out + Plan::kProducts);
        }
        if constexpr (Plan::kDecimates)
            filter_samples<Plan, Plan::kNextScale, 2>(column, Plan::kDecimationOffset, shifts.mean,
                                                      shared + Plan::kDecimation + y / 2 * Plan::kPitch + x);
    }
}

// ---- phase 2: horizontal pass, statistic, decimation ----------------------------------------------------------------

/// Columns that a thread handles together in the horizontal phase.
constexpr int kColumnsPerThread = 4;

/// Sums over the pixels of one thread. It sees few pixels, each adds at most 2^15 to a logarithm.
struct ThreadSums {
    uint32_t numerator_log = 0, denominator_log = 0, flat_count = 0;
    uint64_t flat_variance = 0;
};

/// The same with weights, where each pixel counts as often as its weight says.
struct WeightedSums {
    uint64_t numerator_log = 0, denominator_log = 0, flat_count = 0, flat_variance = 0;

    QC_HD void add(const ThreadSums& pixel, uint64_t weight) {
        numerator_log += weight * pixel.numerator_log;
        denominator_log += weight * pixel.denominator_log;
        flat_count += weight * pixel.flat_count;
        flat_variance += weight * pixel.flat_variance;
    }
};

/// kCount words (a multiple of 4) from a 16-byte aligned place.
template <int kCount>
QC_HD void read_row(const uint32_t* from, uint32_t (&words)[kCount]) {
#if defined(__CUDA_ARCH__)
    QC_UNROLL for (int i = 0; i < kCount; i += 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(from + i);
        words[i] = four.x;
        words[i + 1] = four.y;
        words[i + 2] = four.z;
        words[i + 3] = four.w;
    }
#else
    for (int i = 0; i < kCount; ++i) words[i] = from[i];
#endif
}

/// Four words to a 16-byte aligned place.
QC_HD void write_four(uint32_t* to, const uint32_t (&words)[4]) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
#else
    for (int i = 0; i < 4; ++i) to[i] = words[i];
#endif
}

/// Filters four pixels' worth of a plane in shared memory.
template <int kScale>
QC_HD void filter_row(const uint32_t* from, SplitSum (&sums)[kColumnsPerThread]) {
    uint32_t words[round_up(kColumnsPerThread + 2 * kRadius<kScale>, 4)];
    read_row(from, words);
    QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) sums[i] =
        window_split_sum<kScale>([&](int k) { return words[i + k]; });
}

/// What a kernel does beside summing.
enum class Extra {
    kNone,
    kMap,     ///< draws the map of its scale
    kWeights, ///< counts pixels by weights, and draws the map of its scale where that is wanted
};

template <Extra kExtra>
using SumsOf = std::conditional_t<kExtra == Extra::kWeights, WeightedSums, ThreadSums>;

/// What the reference's variance alone adds.
template <typename Logarithm>
QC_HD void add_reference_pixel(int32_t variance, const Logarithm& logarithm, ThreadSums& sums) {
    if (variance < kNoiseVariance)
        sums.flat_count += 1;
    else
        sums.denominator_log += logarithm(static_cast<uint32_t>(kNoiseVariance + variance)) - kLogOfNoiseVariance;
}

/// All else. Equation by equation: vif_math.hpp.
template <typename Logarithm>
QC_HD void add_distorted_pixel(const Covariance& c, double gain_limit, const Logarithm& logarithm, ThreadSums& sums) {
    if (c.sigma_1_sq < kNoiseVariance) {
        sums.flat_variance += static_cast<uint32_t>(c.sigma_2_sq);
        return;
    }
    if (c.sigma_12 <= 0 || c.sigma_2_sq <= 0) return;
    const LogArguments arguments = log_arguments(c, gain_limit);
    const int numerator_log = logarithm(arguments.signal_and_noise) - logarithm(arguments.noise); // >= 0: L is monotone
    sums.numerator_log += static_cast<uint32_t>(numerator_log);
}

template <typename Logarithm>
QC_HD void add_pixel(const WindowMoments& moments, double gain_limit, const Logarithm& logarithm, ThreadSums& sums) {
    const Covariance c = covariance(moments);
    add_reference_pixel(c.sigma_1_sq, logarithm, sums);
    add_distorted_pixel(c, gain_limit, logarithm, sums);
}

template <typename Logarithm>
QC_HD ThreadSums sums_of_pixel(const WindowMoments& moments, double gain_limit, const Logarithm& logarithm) {
    ThreadSums sums;
    add_pixel(moments, gain_limit, logarithm, sums);
    return sums;
}

/// What the map shows of a pixel.
QC_HD float loss_of_pixel(const ThreadSums& sums) {
    if (sums.flat_count != 0) return lost_flat_bits(static_cast<uint32_t>(sums.flat_variance));
    return lost_bits(static_cast<int>(sums.denominator_log), static_cast<int>(sums.numerator_log));
}

/// @param map values by pixel, of kernels that draw
/// @param weight_of gives the weight of a pixel that counts by weights
template <class Plan, Extra kExtra, typename Logarithm, class WeightOf>
QC_HD void statistic_phase(const uint32_t* shared, int thread, TileOrigin origin, int width, int height,
                           double gain_limit, const Logarithm& logarithm, const MapPlane& map,
                           const WeightOf& weight_of, SumsOf<kExtra>& sums) {
    constexpr int kItemsPerRow = Plan::kWidth / kColumnsPerThread;
    for (int item = thread; item < kItemsPerRow * Plan::kHeight; item += Plan::kThreads) {
        const int y = item / kItemsPerRow, x = (item - y * kItemsPerRow) * kColumnsPerThread;
        const uint32_t* from = shared + y * Plan::kPitch + x;
        SplitSum means[kColumnsPerThread], squares_1[kColumnsPerThread], squares_2[kColumnsPerThread],
            products[kColumnsPerThread];
        filter_row<Plan::kScale>(from + Plan::kMeans, means);
        filter_row<Plan::kScale>(from + Plan::kSquares1, squares_1);
        filter_row<Plan::kScale>(from + Plan::kSquares2, squares_2);
        filter_row<Plan::kScale>(from + Plan::kProducts, products);
        if (origin.y + y >= height) continue;
        QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) {
            if (origin.x + x + i >= width) continue;
            const WindowMoments moments{means[i].low, means[i].high, round_shift(squares_1[i], 16),
                                        round_shift(squares_2[i], 16), round_shift(products[i], 16)};
            const int u = origin.x + x + i, v = origin.y + y;
            if constexpr (kExtra != Extra::kWeights) add_pixel(moments, gain_limit, logarithm, sums);
            if constexpr (kExtra == Extra::kMap) {
                if (map.data != nullptr) map.put(u, v, loss_of_pixel(sums_of_pixel(moments, gain_limit, logarithm)));
            }
            if constexpr (kExtra == Extra::kWeights) {
                const ThreadSums pixel = sums_of_pixel(moments, gain_limit, logarithm);
                sums.add(pixel, weight_of(u, v));
                if (map.data != nullptr) map.put(u, v, loss_of_pixel(pixel));
            }
        }
    }
}

/// Two pixels of the next scale a thread.
template <class Plan>
QC_HD void decimation_phase(const uint32_t* shared, int thread, TileOrigin origin, int width, int height,
                            uint32_t* output, int output_pitch) {
    constexpr int kItemsPerRow = Plan::kWidth / 4;
    constexpr int kFirst = Plan::kDecimationOffset / 4 * 4; // aligned start of the words that are read
    constexpr int kOffset = Plan::kDecimationOffset - kFirst;
    constexpr int kWords = round_up(kOffset + 2 + 2 * kRadius<Plan::kNextScale> + 1, 4);
    static_assert(Plan::kWidth - 4 + kFirst + kWords <= Plan::kColumns);
    for (int item = thread; item < kItemsPerRow * (Plan::kHeight / 2); item += Plan::kThreads) {
        const int row = item / kItemsPerRow, column = (item - row * kItemsPerRow) * 4;
        uint32_t words[kWords], decimated[2];
        read_row(shared + Plan::kDecimation + row * Plan::kPitch + column + kFirst, words);
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const SplitSum sums = window_split_sum<Plan::kNextScale>([&](int k) { return words[kOffset + 2 * i + k]; });
            decimated[i] = pack(round_shift(sums.low, 16), round_shift(sums.high, 16));
        }
        const int x = (origin.x + column) / 2, y = origin.y / 2 + row;
        if (y >= height / 2) continue;
        uint32_t* to = output + static_cast<ptrdiff_t>(y) * output_pitch + x;
#if defined(__CUDA_ARCH__)
        if (x + 1 < width / 2) {
            *reinterpret_cast<uint2*>(to) = make_uint2(decimated[0], decimated[1]);
            continue;
        }
#endif
        if (x < width / 2) to[0] = decimated[0];
        if (x + 1 < width / 2) to[1] = decimated[1];
    }
}

/// All of phase 2.
template <class Plan, Extra kExtra>
QC_HD SumsOf<kExtra> horizontal_phase(const uint32_t* shared, int thread, const ScaleArguments& arguments, int pair,
                                      TileOrigin origin) {
    SumsOf<kExtra> sums;
    const WeightReader weights(arguments.pairs[pair].weights);
    const MapShape shape = weight_shape(arguments.width, arguments.height, Plan::kScale);
    const auto weight_of = [&](int x, int y) {
        return weights.over(shape, x, y, arguments.width << Plan::kScale, arguments.height << Plan::kScale);
    };
    MapPlane map{};
    if constexpr (kExtra != Extra::kNone)
        map = arguments.map.of_output(arguments.pairs[pair].output, arguments.map_shape);
    if constexpr (Plan::kSharedThresholds) {
        const LogThresholds logarithm{shared + Plan::kLogarithms};
        statistic_phase<Plan, kExtra>(shared, thread, origin, arguments.width, arguments.height, arguments.gain_limit,
                                      logarithm, map, weight_of, sums);
    } else if constexpr (Plan::kStatistics) {
        statistic_phase<Plan, kExtra>(shared, thread, origin, arguments.width, arguments.height, arguments.gain_limit,
                                      LogTable{static_cast<const uint16_t*>(arguments.logarithms)}, map, weight_of,
                                      sums);
    }
    if constexpr (Plan::kDecimates)
        decimation_phase<Plan>(shared, thread, origin, arguments.width, arguments.height,
                               arguments.output + pair * arguments.output_plane, arguments.output_pitch);
    return sums;
}

// ---- the kernels ----------------------------------------------------------------------------------------------------

/// Adds a block's sums to the accumulators of a scale. Integers: the order of the blocks does not matter.
template <class Block, class Sums>
QC_HD void add_tile_sums(Block& block, const Sums& sums, uint64_t* accumulators) {
    constexpr int kWarps = Block::kThreads / device::kWarpSize;
    auto& partial = device::shared<uint64_t[kWordsPerScale][kWarps]>(block);
    const uint64_t numerator_log = block.warp_sum(sums.numerator_log);
    const uint64_t denominator_log = block.warp_sum(sums.denominator_log);
    const uint64_t flat_variance = block.warp_sum(sums.flat_variance), flat_count = block.warp_sum(sums.flat_count);
    if (block.lane() == 0) {
        partial[kNumeratorLog][block.warp()] = numerator_log;
        partial[kDenominatorLog][block.warp()] = denominator_log;
        partial[kFlatVariance][block.warp()] = flat_variance;
        partial[kFlatCount][block.warp()] = flat_count;
    }
    block.sync();
    if (block.thread() < kWordsPerScale) {
        uint64_t sum = 0;
        for (int warp = 0; warp < kWarps; ++warp) sum += partial[block.thread()][warp];
        block.atomic_add(accumulators + block.thread(), sum);
    }
}

/// grid: (tiles across, tiles down, pairs)
template <class Plan, Extra kExtra = Extra::kNone>
struct ScoreTile : device::KernelOf<ScaleArguments, Plan::kThreads, Plan::kMinBlocks> {
    static constexpr size_t kSharedBytes = Plan::kSharedBytes;

    template <class Block>
    QC_HD static void run(Block& block, const ScaleArguments& arguments) {
        auto* const shared = device::dynamic_shared<uint32_t>(block);
        const int thread = block.thread(), pair = block.z();
        const TileOrigin origin = tile_origin<Plan>(block.x(), block.y());
        const typename Plan::Source source(arguments, pair);

        copy_thresholds<Plan>(shared, thread, arguments);
        vertical_phase<Plan>(shared, thread, source, origin, vertical_shifts(Plan::kScale, arguments.depth));
        block.sync();
        const auto sums = horizontal_phase<Plan, kExtra>(shared, thread, arguments, pair, origin);
        if constexpr (Plan::kStatistics)
            add_tile_sums(block, sums,
                          arguments.accumulators + arguments.pairs[pair].output * uint64_t{kAccumulatorWords} +
                              Plan::kScale * kWordsPerScale);
    }
};

} // namespace qc::vif
