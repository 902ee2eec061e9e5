// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer SSIM of samples of 8 bits. A warp goes down a strip of 128 columns, four a lane, whose first and last lane
// only serve as neighbours. Of each row that comes in:
//
//     samples    a and b go down the columns, two sums of 16 bits to a word; what is complete goes along the row
//     products   ab and (a - b)^2, of 16 bits, go along the row, then down the columns in 32 bits
//
// A column's sums in progress, eight for as many results, stay in registers. All sums are exact, whatever the order.
#pragma once

#include <cmath>

#include "device/block.hpp"
#include "device/bytes.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "metrics/ssim/ssim_math.hpp"
#include "metrics/ssim/ssim_tuning.hpp"

namespace qc::ssim {
constexpr int kLaneColumns = 4;
constexpr int kStripColumns = (device::kWarpSize - 2) * kLaneColumns; ///< of results
constexpr int kUnderWay = kTaps - 1; ///< results that a row's samples count for, beside the one that they complete

// ---- samples --------------------------------------------------------------------------------------------------------

/// A lane's four samples of a row, as the bytes of a word: 0 outside the picture.
class LaneReader {
public:
    QC_HD LaneReader(const DevicePlane& plane, int column, int width, int height)
        : plane_(plane), column_(column), width_(width), height_(height),
          is_outside_(column + kLaneColumns <= 0 || column >= width),
          is_wide_(column >= 0 && column + kLaneColumns <= width && plane.step == 1 &&
                   rows_aligned(plane, kLaneColumns)) {}

    QC_HD uint32_t read(int y) const {
        if (y < 0 || y >= height_ || is_outside_) return 0;
        if (is_wide_) return load_words<kLaneColumns>(row_bytes(plane_, y) + column_).word[0];
        uint32_t samples = 0;
        for (int i = 0; i < kLaneColumns; ++i) {
            const int x = column_ + i;
            if (x >= 0 && x < width_) samples |= read_sample<uint8_t>(plane_, x, y) << (8 * i);
        }
        return samples;
    }

private:
    const DevicePlane plane_;
    int column_, width_, height_;
    bool is_outside_, is_wide_;
};

/// Numbers of 16 bits of a lane's columns, two to a word, the left one below.
struct LanePairs {
    uint32_t word[kLaneColumns / 2];
};

QC_HD uint32_t pair_of(uint32_t left, uint32_t right) {
    return right << 16 | left;
}

QC_HD LanePairs pairs_of_bytes(uint32_t bytes) {
    return {{device::select_bytes(bytes, 0, 0x4140u), device::select_bytes(bytes, 0, 0x4342u)}};
}

/// ab and (a - b)^2.
struct LaneProducts {
    LanePairs product, square;
};

QC_HD LaneProducts products_of(uint32_t a, uint32_t b) {
    uint32_t product[kLaneColumns], square[kLaneColumns];
    QC_UNROLL for (int i = 0; i < kLaneColumns; ++i) {
        const uint32_t sample_a = a >> (8 * i) & 0xffu, sample_b = b >> (8 * i) & 0xffu;
        const uint32_t difference = sample_a - sample_b; // a square is the same modulo 2^32
        product[i] = sample_a * sample_b;
        square[i] = difference * difference;
    }
    return {{{pair_of(product[0], product[1]), pair_of(product[2], product[3])}},
            {{pair_of(square[0], square[1]), pair_of(square[2], square[3])}}};
}

// ---- sums -----------------------------------------------------------------------------------------------------------

struct LaneSums {
    uint32_t of[kLaneColumns];
};

/// The taps as bytes, for pairs that begin with the window's first sample, and for those that begin one before it.
constexpr uint32_t tap_bytes(int first) {
    uint32_t bytes = 0;
    for (int i = 0; i < 4; ++i) {
        const int k = first + i;
        if (k >= 0 && k < kTaps) bytes |= tap(k) << (8 * i);
    }
    return bytes;
}

/// The window's sum of five pairs.
/// @tparam kBefore samples that they begin before the window: 0 or 1
template <int kBefore>
QC_HD uint32_t sum_of_pairs(const uint32_t* pairs) {
    constexpr uint32_t kFirst = tap_bytes(-kBefore), kSecond = tap_bytes(4 - kBefore), kThird = tap_bytes(8 - kBefore);
    uint32_t sum = device::add_two_products<false>(pairs[0], kFirst, 0u);
    sum = device::add_two_products<true>(pairs[1], kFirst, sum);
    sum = device::add_two_products<false>(pairs[2], kSecond, sum);
    sum = device::add_two_products<true>(pairs[3], kSecond, sum);
    return device::add_two_products<false>(pairs[4], kThird, sum);
}

/// Along the row. All lanes have to come here.
template <class Block>
QC_HD LaneSums sum_along_row(Block& block, const LanePairs& own) {
    const uint32_t pairs[] = {
        block.shuffle_up(own.word[0], 1),   block.shuffle_up(own.word[1], 1),  own.word[0], own.word[1],
        block.shuffle_down(own.word[0], 1), block.shuffle_down(own.word[1], 1)};
    return {{sum_of_pairs<0>(pairs), sum_of_pairs<1>(pairs), sum_of_pairs<0>(pairs + 1), sum_of_pairs<1>(pairs + 1)}};
}

/// Sums down a column, of results that are under way. A word may hold two numbers whose sums fit 16 bits.
class ColumnSum {
public:
    /// Takes the next row's number.
    /// @return the sum that it completes, if as many rows as the window has came before
    QC_HD uint32_t add(uint32_t number) {
        const uint32_t complete = sum_[0] + tap(kTaps - 1) * number;
        QC_UNROLL for (int i = 0; i < kUnderWay; ++i) {
            sum_[i] = (i + 1 < kUnderWay ? sum_[i + 1] : 0) + tap(kUnderWay - 1 - i) * number;
        }
        return complete;
    }

private:
    uint32_t sum_[kUnderWay] = {}; ///< sum_[i]: complete with the (i + 1)th row from now on
};

QC_HD LanePairs add_pairs(ColumnSum (&columns)[kLaneColumns / 2], const LanePairs& row) {
    LanePairs complete;
    QC_UNROLL for (int i = 0; i < kLaneColumns / 2; ++i) complete.word[i] = columns[i].add(row.word[i]);
    return complete;
}

QC_HD LaneSums add_sums(ColumnSum (&columns)[kLaneColumns], const LaneSums& row) {
    LaneSums complete;
    QC_UNROLL for (int i = 0; i < kLaneColumns; ++i) complete.of[i] = columns[i].add(row.of[i]);
    return complete;
}

// ---- indices --------------------------------------------------------------------------------------------------------

static_assert((uint64_t{255} << kWeightBits / 2) <= UINT16_MAX, "sums of samples down a column fit half a word");
static_assert((uint64_t{255 * 255} << kWeightBits) <= UINT32_MAX, "sums of products fit a word");

/// Sums under the window at one position.
struct ByteSums {
    uint32_t a, b, product, square_of_difference;
};

/// A number as a double, in fewer instructions than a conversion takes.
QC_HD double exact_double(uint32_t number) {
    return structural::double_of(0x43300000u, number) - 0x1p52;
}

/// A window's weight, and what weighted_index() adds to numerator and denominator.
struct Window {
    double weight, c1, c2;

    QC_HD explicit Window(uint32_t whole_weight) : weight(exact_double(whole_weight)) {
        constexpr double kPeak = 255;
        c1 = kPeak * kPeak * (0.01 * 0.01) * weight * weight;
        c2 = kPeak * kPeak * (0.03 * 0.03) * weight * weight;
    }
};

/// weighted_index() / 2^kWeightBits, with the same bits: all but c1, c2 and what they are added to are integers below
/// 2^53, so that it does not matter how they come about.
QC_HD double index_of(const ByteSums& sums, const Window& window) {
    const double a = exact_double(sums.a), b = exact_double(sums.b), product = exact_double(sums.product);
    const double squares = fma(2.0, product, exact_double(sums.square_of_difference)); // sums of a^2 and of b^2
    const double mean_ab = a * b, mean_squares = fma(b, b, a * a);
    const double covariance = fma(product, window.weight, -mean_ab);
    const double variances = fma(squares, window.weight, -mean_squares);
    const double numerator = window.weight * fma(2.0, mean_ab, window.c1) * fma(2.0, covariance, window.c2);
    return numerator / ((mean_squares + window.c1) * (variances + window.c2)) * (1.0 / (1 << kWeightBits));
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

/// A strip's part that a warp goes down.
struct StripTask {
    const DevicePair* pairs;
    uint64_t* accumulators; ///< one word a pair
    int width, height;
    int strips, rows, parts; ///< strips of a picture, rows of results of a part, parts of a picture
    structural::FixedPoint fixed;
};

/// Parts of about equal length, so many that batches of any size keep the GPU busy. Changes no sum.
inline void divide(StripTask* task, int count) {
    const auto blocks_of = [](int total, int per_block) { return (total + per_block - 1) / per_block; };
    task->strips = blocks_of(task->width, kStripColumns);
    const int wanted = blocks_of(tuning::kStripWarps, task->strips * count);
    const int fewest = blocks_of(task->height, tuning::kMostRows), most = blocks_of(task->height, tuning::kFewestRows);
    const int parts = wanted < fewest ? fewest : wanted > most ? most : wanted;
    task->rows = blocks_of(task->height, parts);
    task->parts = blocks_of(task->height, task->rows);
}

/// What a lane adds up. Its columns go side by side, without branches between them: each is a long chain.
class LaneIndices {
public:
    /// @param counts whether the lane does, and not as a neighbour only
    QC_HD LaneIndices(const StripTask& task, int strip, int column, bool counts) : task_(task) {
        const int inside = task.width - column, first = strip * kStripColumns;
        columns_ = !counts ? 0 : inside < kLaneColumns ? inside : kLaneColumns;
        is_inner_ = first >= kRadius && first + kStripColumns + kRadius <= task.width;
        QC_UNROLL for (int i = 0; i < kLaneColumns / 2; ++i) {
            weights_.word[i] = pair_of(weight_of_column(column + 2 * i), weight_of_column(column + 2 * i + 1));
        }
    }

    QC_HD void add(int y, const LaneSums& a, const LaneSums& b, const LaneSums& product, const LaneSums& square) {
        const auto sums_at = [&](int i) { return ByteSums{a.of[i], b.of[i], product.of[i], square.of[i]}; };
        if (is_inner_ && y >= kRadius && y + kRadius < task_.height) { // the whole strip is
            const Window window(1u << kWeightBits);
            add_indices([&](int i) { return index_of(sums_at(i), window); });
        } else {
            const uint32_t weight = weight_at(y, task_.height);
            add_indices([&](int i) {
                return index_of(sums_at(i), Window((weights_.word[i / 2] >> (16 * (i % 2)) & 0xffffu) * weight));
            });
        }
    }

    QC_HD uint64_t total() const { return total_; }

private:
    /// Beside the picture any that is not 0.
    QC_HD uint32_t weight_of_column(int x) const { return x >= 0 && x < task_.width ? weight_at(x, task_.width) : 1; }

    template <class IndexAt>
    QC_HD void add_indices(const IndexAt& index_at) {
        uint64_t terms[kLaneColumns];
        QC_UNROLL for (int i = 0; i < kLaneColumns; ++i) terms[i] = task_.fixed.from(index_at(i));
        QC_UNROLL for (int i = 0; i < kLaneColumns; ++i) total_ += i < columns_ ? terms[i] : 0;
    }

    const StripTask& task_;
    int columns_;
    bool is_inner_;
    LanePairs weights_;
    uint64_t total_ = 0;
};

/// @param part of the picture, from the top
template <class Block>
QC_HD uint64_t sum_part(Block& block, const StripTask& task, const DevicePair& pair, int strip, int part) {
    const int lane = block.lane(), column = strip * kStripColumns + (lane - 1) * kLaneColumns;
    const int first = part * task.rows, end = first + task.rows < task.height ? first + task.rows : task.height;
    const LaneReader reader_a(pair.reference.plane[0], column, task.width, task.height);
    const LaneReader reader_b(pair.distorted.plane[0], column, task.width, task.height);
    ColumnSum columns_a[kLaneColumns / 2], columns_b[kLaneColumns / 2];
    ColumnSum columns_product[kLaneColumns], columns_square[kLaneColumns];
    LaneIndices indices(task, strip, column, lane > 0 && lane < device::kWarpSize - 1);
    uint32_t next_a = reader_a.read(first - kRadius), next_b = reader_b.read(first - kRadius);
    QC_NO_UNROLL
    for (int y = first - 2 * kRadius; y < end; ++y) { // the row of results that row y + kRadius completes
        const uint32_t a = next_a, b = next_b;
        next_a = reader_a.read(y + kRadius + 1);
        next_b = reader_b.read(y + kRadius + 1);
        const LaneProducts products = products_of(a, b);
        const LaneSums product = add_sums(columns_product, sum_along_row(block, products.product));
        const LaneSums square = add_sums(columns_square, sum_along_row(block, products.square));
        const LanePairs pairs_a = add_pairs(columns_a, pairs_of_bytes(a));
        const LanePairs pairs_b = add_pairs(columns_b, pairs_of_bytes(b));
        if (y < first) continue;
        indices.add(y, sum_along_row(block, pairs_a), sum_along_row(block, pairs_b), product, square);
    }
    return indices.total();
}

/// grid: (warps of all parts, 1, pairs)
struct ScoreBytes : device::KernelOf<StripTask, tuning::kWarpsOfBytes * device::kWarpSize, tuning::kMinBlocksOfBytes> {
    static constexpr int kWarps = tuning::kWarpsOfBytes;

    static unsigned blocks(const StripTask& task) {
        return static_cast<unsigned>((task.strips * task.parts + kWarps - 1) / kWarps);
    }

    template <class Block>
    QC_HD static void run(Block& block, const StripTask& task) {
        const DevicePair& pair = task.pairs[block.z()];
        const int warp = block.x() * kWarps + block.warp();
        uint64_t sums[1] = {};
        if (warp < task.strips * task.parts) {
            sums[0] = sum_part(block, task, pair, warp % task.strips, warp / task.strips);
        }
        device::add_block_sums(block, sums, task.accumulators + pair.output);
    }
};

} // namespace qc::ssim
