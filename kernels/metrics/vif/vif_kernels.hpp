// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of integer VIF: what a block does, phase by phase, and the list of kernels at the end.
//
// One kernel per scale computes the statistics of a tile and its part of the next scale's pictures:
//
//     vertical phase    one column and several rows a thread: the rows are read once from global memory and stay in
//                       registers; five filtered words a pixel go to shared memory
//     horizontal phase  four columns a thread, from 128-bit reads of shared memory; then the statistic of each pixel
//
// The pictures of scales 1 to 3 lie in scratch memory with both pictures' samples in one word (reference in the lower
// half): one read serves both.
#pragma once

#include <type_traits>

#include "contract/types.hpp"
#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/unroll.hpp"
#include "metrics/vif/vif_math.hpp"
#include "metrics/vif/vif_tuning.hpp"

namespace qc::vif {

/// The argument of all VIF kernels. blockIdx.z is the pair.
struct ScaleArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;             ///< kAccumulatorWords per row
    const uint32_t* input;              ///< packed pictures of this scale, or null for scale 0
    uint32_t* output;                   ///< packed pictures of the next scale, or null for scale 3
    uint64_t input_plane, output_plane; ///< words from pair to pair
    int input_pitch, output_pitch;      ///< words from row to row; even
    int width, height;                  ///< of this scale
    int depth;                          ///< of the samples of scale 0
    double gain_limit;
    const void* logarithms; ///< by kLogSource: the table (uint16_t) or the thresholds (uint32_t)
};

using device::round_up;

// ---- reading pictures -----------------------------------------------------------------------------------------------

/// Reflection that also stays inside for positions whose result nobody uses (tiles that reach beyond the picture).
QC_HD int reflect_inside(int i, int n) {
    i = reflect(i, n);
    i = i < 0 ? 0 : i;
    return i < n ? i : n - 1;
}

/// A value in global memory that no kernel writes while this one runs.
template <typename T>
QC_HD T read_global(const T* from) {
#if defined(__CUDA_ARCH__)
    return __ldg(from);
#else
    return *from;
#endif
}

/// Two samples in one word.
QC_HD uint32_t pack(uint32_t reference, uint32_t distorted) {
    return reference | distorted << 16;
}

/// Luma of the two pictures of a pair, read in place whatever their pitch, alignment and container.
template <typename Sample>
struct PictureSource {
    static constexpr bool kByteSamples = sizeof(Sample) == 1;
    const Sample *reference, *distorted;
    int reference_pitch, distorted_pitch; ///< samples
    int reference_shift, distorted_shift;
    int width, height;

    QC_HD PictureSource(const ScaleArguments& arguments, int pair) : width(arguments.width), height(arguments.height) {
        const DevicePlane& r = arguments.pairs[pair].reference.plane[0];
        const DevicePlane& d = arguments.pairs[pair].distorted.plane[0];
        reference = static_cast<const Sample*>(r.data);
        distorted = static_cast<const Sample*>(d.data);
        reference_pitch = static_cast<int>(r.pitch_bytes / sizeof(Sample));
        distorted_pitch = static_cast<int>(d.pitch_bytes / sizeof(Sample));
        reference_shift = r.shift;
        distorted_shift = d.shift;
    }

    /// Calls use(row, packed samples) for rows y .. y + kRows - 1 of column x.
    template <int kRows, typename Use>
    QC_HD void read_column(int x, int y, const Use& use) const {
        if (y >= 0 && y + kRows <= height) {
            const Sample* r = reference + static_cast<ptrdiff_t>(y) * reference_pitch + x;
            const Sample* d = distorted + static_cast<ptrdiff_t>(y) * distorted_pitch + x;
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                use(row, packed(r, d));
                r += reference_pitch;
                d += distorted_pitch;
            }
        } else {
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                const auto source_y = static_cast<ptrdiff_t>(reflect_inside(y + row, height));
                use(row,
                    packed(reference + source_y * reference_pitch + x, distorted + source_y * distorted_pitch + x));
            }
        }
    }

private:
    QC_HD uint32_t packed(const Sample* r, const Sample* d) const {
        const uint32_t reference_sample = read_global(r), distorted_sample = read_global(d);
        if constexpr (kByteSamples)
            return pack(reference_sample, distorted_sample);
        else
            return pack(reference_sample >> reference_shift, distorted_sample >> distorted_shift);
    }
};

/// The packed pictures of a deeper scale.
struct PackedSource {
    static constexpr bool kByteSamples = false;
    const uint32_t* samples;
    int pitch;
    int width, height;

    QC_HD PackedSource(const ScaleArguments& arguments, int pair)
        : samples(arguments.input + pair * arguments.input_plane), pitch(arguments.input_pitch), width(arguments.width),
          height(arguments.height) {}

    template <int kRows, typename Use>
    QC_HD void read_column(int x, int y, const Use& use) const {
        if (y >= 0 && y + kRows <= height) {
            const uint32_t* sample = samples + static_cast<ptrdiff_t>(y) * pitch + x;
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                use(row, read_global(sample));
                sample += pitch;
            }
        } else {
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                const auto source_y = static_cast<ptrdiff_t>(reflect_inside(y + row, height));
                use(row, read_global(samples + source_y * pitch + x));
            }
        }
    }
};

// ---- a column of samples in registers -------------------------------------------------------------------------------

enum class Product { kSquare1, kSquare2, kProduct12 };

/// Keeps the compiler from sharing what is computed from `word` before and after this point: unpacking a sample again
/// costs one instruction, keeping it unpacked a register.
QC_HD void forget_unpacked(uint32_t& word) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(word));
#else
    (void)word;
#endif
}

/// kRows rows of both pictures, one word a row.
template <int kRows>
class PairColumn {
public:
    template <typename Source>
    QC_HD void load(const Source& source, int x, int y) {
        source.template read_column<kRows>(x, y, [&](int row, uint32_t packed) { words_[row] = packed; });
    }

    QC_HD void next_quantity() { QC_UNROLL for (int row = 0; row < kRows; ++row) forget_unpacked(words_[row]); }

    /// Weighted sums of samples, the window starting at `first`: low is the reference's, high the distorted's.
    template <int kScale>
    QC_HD SplitSum weighted_samples(int first) const {
        return window_split_sum<kScale>([&](int k) { return words_[first + k]; });
    }

    template <Product kProduct>
    QC_HD uint32_t product(int row) const {
        const uint32_t a = words_[row] & 0xffff, b = words_[row] >> 16;
        if constexpr (kProduct == Product::kSquare1) return a * a;
        if constexpr (kProduct == Product::kSquare2) return b * b;
        return a * b;
    }

private:
    uint32_t words_[kRows];
};

/// accumulator + the dot product of two 16-bit weights with bytes 0 and 1 (kUpper: 2 and 3) of a word.
template <bool kUpper>
QC_HD uint32_t dot_2(uint32_t weights, uint32_t bytes, uint32_t accumulator) {
#if defined(__CUDA_ARCH__)
    return kUpper ? __dp2a_hi(weights, bytes, accumulator) : __dp2a_lo(weights, bytes, accumulator);
#else
    const uint32_t pair = kUpper ? bytes >> 16 : bytes;
    return accumulator + (weights & 0xffff) * (pair & 0xff) + (weights >> 16) * (pair >> 8 & 0xff);
#endif
}

/// The dot product of the bytes of two words.
QC_HD uint32_t dot_4(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
    return __dp4a(a, b, 0u);
#else
    uint32_t sum = 0;
    for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xff) * (b >> shift & 0xff);
    return sum;
#endif
}

/// Weights of samples k and k + 1, zero outside the window.
template <int kScale>
QC_HD constexpr uint32_t tap_pair(int k) {
    const uint32_t lower = k >= 0 && k <= 2 * kRadius<kScale> ? tap<kScale>(k) : 0;
    const uint32_t upper = k + 1 >= 0 && k + 1 <= 2 * kRadius<kScale> ? tap<kScale>(k + 1) : 0;
    return lower | upper << 16;
}

/// kRows rows of 8-bit samples of both pictures, four rows of one picture in a word.
template <int kRows>
class ByteColumn {
public:
    template <typename Source>
    QC_HD void load(const Source& source, int x, int y) {
        source.template read_column<kRows>(x, y, [&](int row, uint32_t packed) {
            const uint32_t a = packed & 0xff, b = packed >> 16;
            const int shift = 8 * (row % 4);
            reference_[row / 4] = shift == 0 ? a : reference_[row / 4] | a << shift;
            distorted_[row / 4] = shift == 0 ? b : distorted_[row / 4] | b << shift;
        });
    }

    QC_HD void next_quantity() {
        QC_UNROLL for (int i = 0; i < kWords; ++i) {
            forget_unpacked(reference_[i]);
            forget_unpacked(distorted_[i]);
        }
    }

    template <int kScale>
    QC_HD SplitSum weighted_samples(int first) const {
        return {weighted<kScale>(distorted_, first), weighted<kScale>(reference_, first)};
    }

    template <Product kProduct>
    QC_HD uint32_t product(int row) const {
        const uint32_t mask = 0xffu << (8 * (row % 4));
        const uint32_t a = reference_[row / 4], b = distorted_[row / 4];
        if constexpr (kProduct == Product::kSquare1) return dot_4(a & mask, a);
        if constexpr (kProduct == Product::kSquare2) return dot_4(b & mask, b);
        return dot_4(a & mask, b);
    }

private:
    static constexpr int kWords = (kRows + 3) / 4;

    /// Two rows at a time, at even rows whatever `first` is: the weights move instead of the samples.
    template <int kScale>
    static QC_HD uint32_t weighted(const uint32_t (&words)[kWords], int first) {
        uint32_t sum = 0;
        QC_UNROLL for (int row = 0; row < kRows; row += 2) {
            const uint32_t weights = tap_pair<kScale>(row - first);
            if (weights == 0) continue;
            sum = row % 4 == 0 ? dot_2<false>(weights, words[row / 4], sum) : dot_2<true>(weights, words[row / 4], sum);
        }
        return sum;
    }

    uint32_t reference_[kWords], distorted_[kWords];
};

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

/// Filters four pixels' worth of a plane in shared memory.
template <int kScale>
QC_HD void filter_row(const uint32_t* from, SplitSum (&sums)[kColumnsPerThread]) {
    uint32_t words[round_up(kColumnsPerThread + 2 * kRadius<kScale>, 4)];
    read_row(from, words);
    QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) sums[i] =
        window_split_sum<kScale>([&](int k) { return words[i + k]; });
}

/// Equation by equation: vif_math.hpp.
template <typename Logarithm>
QC_HD void add_pixel(const WindowMoments& moments, double gain_limit, const Logarithm& logarithm, ThreadSums& sums) {
    const Covariance c = covariance(moments);
    if (c.sigma_1_sq < kNoiseVariance) {
        sums.flat_variance += static_cast<uint32_t>(c.sigma_2_sq);
        sums.flat_count += 1;
        return;
    }
    sums.denominator_log += logarithm(static_cast<uint32_t>(kNoiseVariance + c.sigma_1_sq)) - kLogOfNoiseVariance;
    if (c.sigma_12 <= 0 || c.sigma_2_sq <= 0) return;
    const LogArguments arguments = log_arguments(c, gain_limit);
    const int numerator_log = logarithm(arguments.signal_and_noise) - logarithm(arguments.noise); // >= 0: L is monotone
    sums.numerator_log += static_cast<uint32_t>(numerator_log);
}

template <class Plan, typename Logarithm>
QC_HD void statistic_phase(const uint32_t* shared, int thread, TileOrigin origin, int width, int height,
                           double gain_limit, const Logarithm& logarithm, ThreadSums& sums) {
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
        QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) if (origin.x + x + i < width)
            add_pixel({means[i].low, means[i].high, round_shift(squares_1[i], 16), round_shift(squares_2[i], 16),
                       round_shift(products[i], 16)},
                      gain_limit, logarithm, sums);
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
template <class Plan>
QC_HD ThreadSums horizontal_phase(const uint32_t* shared, int thread, const ScaleArguments& arguments, int pair,
                                  TileOrigin origin) {
    ThreadSums sums;
    if constexpr (Plan::kSharedThresholds) {
        const LogThresholds logarithm{shared + Plan::kLogarithms};
        statistic_phase<Plan>(shared, thread, origin, arguments.width, arguments.height, arguments.gain_limit,
                              logarithm, sums);
    } else if constexpr (Plan::kStatistics) {
        statistic_phase<Plan>(shared, thread, origin, arguments.width, arguments.height, arguments.gain_limit,
                              LogTable{static_cast<const uint16_t*>(arguments.logarithms)}, sums);
    }
    if constexpr (Plan::kDecimates)
        decimation_phase<Plan>(shared, thread, origin, arguments.width, arguments.height,
                               arguments.output + pair * arguments.output_plane, arguments.output_pitch);
    return sums;
}

// ---- the kernels ----------------------------------------------------------------------------------------------------

/// Adds a block's sums to the accumulators of a scale. Integers: the order of the blocks does not matter.
template <class Block>
QC_HD void add_tile_sums(Block& block, const ThreadSums& sums, uint64_t* accumulators) {
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
template <class Plan>
struct ScoreTile {
    using Arguments = ScaleArguments;
    static constexpr int kThreads = Plan::kThreads, kMinBlocks = Plan::kMinBlocks;
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
        const ThreadSums sums = horizontal_phase<Plan>(shared, thread, arguments, pair, origin);
        if constexpr (Plan::kStatistics)
            add_tile_sums(block, sums,
                          arguments.accumulators + arguments.pairs[pair].output * uint64_t{kAccumulatorWords} +
                              Plan::kScale * kWordsPerScale);
    }
};

template <int kRows>
using Scale0U8Column =
    std::conditional_t<kByteWindow == ByteWindow::kDotProducts, ByteColumn<kRows>, PairColumn<kRows>>;

using Scale0U8 = TilePlan<0, PictureSource<uint8_t>, Scale0U8Column, kTileScale0U8>;
using Scale0U16 = TilePlan<0, PictureSource<uint16_t>, PairColumn, kTileScale0U16>;
using Scale1 = TilePlan<1, PackedSource, PairColumn, kTileScale1>;
using Scale2 = TilePlan<2, PackedSource, PairColumn, kTileScale2>;
using Scale3 = TilePlan<3, PackedSource, PairColumn, kTileScale3>;
/// Scale 0 without its statistics (vif_skip_scale0).
using Decimate0U8 = TilePlan<0, PictureSource<uint8_t>, Scale0U8Column, kTileDecimateOnly, false>;
using Decimate0U16 = TilePlan<0, PictureSource<uint16_t>, PairColumn, kTileDecimateOnly, false>;

#define QC_VIF_KERNELS(KERNEL)                                                                                         \
    KERNEL(vif_scale0_u8, ScoreTile<Scale0U8>)                                                                         \
    KERNEL(vif_scale0_u16, ScoreTile<Scale0U16>)                                                                       \
    KERNEL(vif_scale1, ScoreTile<Scale1>)                                                                              \
    KERNEL(vif_scale2, ScoreTile<Scale2>)                                                                              \
    KERNEL(vif_scale3, ScoreTile<Scale3>)                                                                              \
    KERNEL(vif_decimate0_u8, ScoreTile<Decimate0U8>)                                                                   \
    KERNEL(vif_decimate0_u16, ScoreTile<Decimate0U16>)
QC_DECLARE_KERNELS(QC_VIF_KERNELS)

} // namespace qc::vif
