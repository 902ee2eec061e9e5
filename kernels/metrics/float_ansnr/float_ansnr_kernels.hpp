// SPDX-License-Identifier: BSD-2-Clause-Patent
// ANSNR on the GPU: one kernel filters and sums along the rows, one adds up the rows. A block of the first walks along
// a band of rows from left to right, tile by tile, in two phases with barriers between them:
//
//   1  every thread filters a few columns of both pictures, and leaves the terms of both sums in shared memory
//   2  one lane for each sum adds its row's terms in order
#pragma once

#include "device/bits.hpp"
#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/ordered_sum.hpp"
#include "device/plane_reader.hpp"
#include "device/term_weights.hpp"
#include "metrics/float_ansnr/float_ansnr_math.hpp"
#include "metrics/float_ansnr/float_ansnr_tuning.hpp"

namespace qc::float_ansnr {
using device::kWarpSize;

constexpr int kColumns = 4; ///< of a thread: one word of bytes, two of 16-bit samples
constexpr int kWarpColumns = kWarpSize * kColumns;
constexpr int kTileColumns = tuning::kWarpsAcross * kWarpColumns;
constexpr int kTileRows = tuning::kWarpsDown * tuning::kRowsPerThread;
constexpr int kWarps = tuning::kWarpsAcross * tuning::kWarpsDown;
constexpr int kSums = 2;                                         ///< signal, noise
constexpr int kSumOfWeights = kSums, kWeightedWords = kSums + 1; ///< with weights their weights as well
constexpr int kChains = kSums * kTileRows;
static_assert(kChains <= kWarpSize);

/// Terms of a tile. Column c of 128 lies at c % 4 * 32 + c / 4, so that lanes, of four columns each, write side by
/// side; the odd pitch keeps the rows, which one warp adds up, in different banks.
struct SharedTile {
    float term[kChains][kTileColumns + 1];
};

QC_HD int place_of_column(int column) {
    const int within = column % kWarpColumns;
    return column - within + within % kColumns * kWarpSize + within / kColumns;
}

struct Task {
    CentredLuma luma;
    int width = 0, height = 0;
};

/// Samples x - 2 to x + 5 of a row.
constexpr int kSpan = kColumns + 2 * kRadius;

/// Reads a picture's rows for the thread whose first column is x. The words that hold the samples are read as they are
/// where they lie inside the row.
template <typename T>
class SpanReader {
public:
    QC_HD SpanReader(const DevicePlane& plane, const Task& task, int x)
        : plane_(plane), task_(task), x_(x),
          wide_(x >= kColumns && x + 2 * kColumns <= task.width && plane.step == 1 && rows_aligned(plane, kLoadBytes)) {
    }

    QC_HD void read(int y, float (&span)[kSpan]) const {
        const int row = mirror_with_last_edge_inside(y, task_.height);
        if (wide_) {
            const unsigned char* at = row_bytes(plane_, row) + static_cast<size_t>(x_ - kColumns) * sizeof(T);
            Words<kLoadBytes> words[3];
            QC_UNROLL
            for (int i = 0; i < 3; ++i) words[i] = load_words<kLoadBytes>(at + i * kLoadBytes);
            QC_UNROLL
            for (int i = 0; i < kSpan; ++i) {
                const int k = i + kColumns - kRadius; // of the twelve samples read
                span[i] = task_.luma(sample_of(words[k / kColumns], k % kColumns));
            }
        } else {
            QC_UNROLL
            for (int i = 0; i < kSpan; ++i) {
                span[i] = task_.luma(
                    read_sample<T>(plane_, mirror_with_last_edge_inside(x_ - kRadius + i, task_.width), row));
            }
        }
    }

private:
    static constexpr int kLoadBytes = kColumns * static_cast<int>(sizeof(T));

    QC_HD uint32_t sample_of(const Words<kLoadBytes>& words, int k) const {
        if constexpr (sizeof(T) == 1)
            return words.word[0] >> (8 * k) & 0xffu;
        else
            return (words.word[k / 2] >> (16 * (k % 2)) & 0xffffu) >> plane_.shift;
    }

    const DevicePlane& plane_;
    const Task& task_;
    int x_;
    bool wide_;
};

/// What terms count by: each once.
struct CountAll {
    static constexpr bool kHasWeights = false;

    QC_HD CountAll(const DevicePlane& /*sample_weights*/, const Task& /*task*/) {}
    QC_HD float share(int /*x*/, int /*y*/) { return 1.0f; }
};

/// By the share of a term's sample. Adds up the weights that it is asked for.
struct CountByWeights {
    static constexpr bool kHasWeights = true;
    WeightReader sample_weights;
    device::WeightFootprint footprint;
    uint32_t sum_of_weights = 0;

    QC_HD CountByWeights(const DevicePlane& plane, const Task& task)
        : sample_weights(plane), footprint{1, 1, task.width, task.height} {}
    QC_HD float share(int x, int y) {
        if (x >= footprint.width || y >= footprint.height) return 0.0f;
        const uint32_t weight = sample_weights.at(x, y);
        sum_of_weights += weight;
        return footprint.share(weight);
    }
};

/// Phase 1, for one thread of the tile whose first column is tile_x, in the band whose first row is band_y.
template <typename T, class Count>
QC_HD void filter_tile(const DevicePlane& reference, const DevicePlane& distorted, const Task& task, int tile_x,
                       int band_y, int thread, SharedTile& shared, Count& count) {
    constexpr int kRows = tuning::kRowsPerThread;
    const int lane = thread % kWarpSize, warp = thread / kWarpSize;
    const int column = warp % tuning::kWarpsAcross * kWarpColumns;
    const int first_row = warp / tuning::kWarpsAcross * kRows;
    const int x = tile_x + column + lane * kColumns, y = band_y + first_row;
    if (x >= task.width || y >= task.height) return;
    const SpanReader<T> reference_rows(reference, task, x), distorted_rows(distorted, task, x);
    // Windows in progress, each summed from top to bottom as its rows come. Row y - 2 + i is the first one of window i,
    // whose middle is row y + i, and the last one of window i - 4.
    float distorted_sum[kWindow][kColumns], reference_sum[3][kColumns];
    QC_UNROLL
    for (int i = 0; i < kRows + 2 * kRadius; ++i) {
        float span[kSpan];
        distorted_rows.read(y - kRadius + i, span);
        QC_UNROLL
        for (int c = 0; c < kColumns; ++c) {
            const RowSums row = distorted_row(span + c);
            distorted_sum[i % kWindow][c] = row.outer;
            if (i >= 1) distorted_sum[(i - 1) % kWindow][c] += row.second;
            if (i >= 2) distorted_sum[(i - 2) % kWindow][c] += row.middle;
            if (i >= 3) distorted_sum[(i - 3) % kWindow][c] += row.second;
            if (i >= 4) distorted_sum[(i - 4) % kWindow][c] += row.outer;
        }
        // The reference's window i is the three rows y + i - 1 to y + i + 1: they come one step later than they could.
        if (i < 2) continue;
        reference_rows.read(y - kRadius + i - 1, span);
        QC_UNROLL
        for (int c = 0; c < kColumns; ++c) {
            const float row = reference_row(span + c);
            reference_sum[(i - 2) % 3][c] = row;
            if (i >= 3) reference_sum[(i - 3) % 3][c] += 2.0f * row;
            if (i >= 4) reference_sum[(i - 4) % 3][c] += row;
        }
        if (i < 4) continue;
        const int done = i - 4, chain = kSums * (first_row + done);
        QC_UNROLL
        for (int c = 0; c < kColumns; ++c) {
            const float smooth = reference_sum[done % 3][c];
            const int place = column + c * kWarpSize + lane;
            const float signal = signal_term(smooth), noise = noise_term(smooth, distorted_sum[done % kWindow][c]);
            if constexpr (Count::kHasWeights) {
                const float share = count.share(x + c, y + done);
                shared.term[chain][place] = signal * share;
                shared.term[chain + 1][place] = noise * share;
            } else {
                shared.term[chain][place] = signal;
                shared.term[chain + 1][place] = noise;
            }
        }
    }
}

/// Phase 2, for one chain: continues its row's running sum over the tile's columns.
QC_HD float add_tile(const SharedTile& shared, int chain, int columns, float sum) {
    const float* const terms = shared.term[chain];
    if (columns == kTileColumns) {
        for (int part = 0; part < kTileColumns; part += kWarpColumns) {
            QC_UNROLL_BY(8)
            for (int lane = 0; lane < kWarpSize; ++lane) {
                QC_UNROLL
                for (int c = 0; c < kColumns; ++c) sum = sum + terms[part + c * kWarpSize + lane];
            }
        }
        return sum;
    }
    for (int column = 0; column < columns; ++column) sum = sum + terms[place_of_column(column)];
    return sum;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

struct BandArguments {
    const DevicePair* pairs;
    float* rows; ///< sums of the rows: kSums of a row, row after row, pair after pair
    Task task;
    uint64_t* accumulators; ///< with weights: kWeightedWords of a pair
};

/// grid: (bands, 1, pairs)
template <typename T, class Count = CountAll>
struct SumBand : device::KernelOf<BandArguments, kWarps * kWarpSize, tuning::kBlocksPerMultiprocessor> {
    template <class Block>
    QC_HD static void run(Block& block, const BandArguments& arguments) {
        const Task task = arguments.task; // a copy: read in place, the compiler repeats products
        auto& tile = device::shared<SharedTile>(block);
        const DevicePair& pair = arguments.pairs[block.z()];
        const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
        const int band_y = block.x() * kTileRows, lane = block.lane();
        // Warps of a number share a scheduler: neighbouring blocks let different ones add.
        const bool adds = block.warp() == block.x() % kWarps && lane < kChains;
        float sum = 0.0f;
        Count count(pair.weights, task);
        QC_NO_UNROLL
        for (int tile_x = 0; tile_x < task.width; tile_x += kTileColumns) {
            filter_tile<T>(reference, distorted, task, tile_x, band_y, block.thread(), tile, count);
            block.sync();
            const int left = task.width - tile_x;
            if (adds) sum = add_tile(tile, lane, left < kTileColumns ? left : kTileColumns, sum);
            block.sync();
        }
        const int y = band_y + lane / kSums;
        if (adds && y < task.height)
            arguments.rows[(static_cast<size_t>(block.z()) * task.height + y) * kSums + lane % kSums] = sum;
        if constexpr (Count::kHasWeights) {
            const uint32_t weights[1] = {count.sum_of_weights};
            const size_t words = static_cast<size_t>(pair.output) * kWeightedWords;
            device::add_block_sums(block, weights, arguments.accumulators + words + kSumOfWeights);
        }
    }
};

struct TotalArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    const float* rows; ///< as BandArguments has them
    int height;
    int words; ///< of a pair: kSums, or kWeightedWords
};

/// Adds up a pair's rows, one warp for each sum. grid: (1, 1, pairs)
struct SumRows : device::KernelOf<TotalArguments, kSums * kWarpSize> {
    template <class Block>
    QC_HD static void run(Block& block, const TotalArguments& arguments) {
        const int word = block.warp(), height = arguments.height;
        const float* const rows = arguments.rows + static_cast<size_t>(block.z()) * height * kSums + word;
        const float sum = device::ordered_sum(block, rows, height, kSums);
        if (block.lane() != 0) return;
        const size_t output = static_cast<size_t>(arguments.pairs[block.z()].output) * arguments.words;
        arguments.accumulators[output + word] = device::bits_of(static_cast<double>(sum));
    }
};

#define QC_FLOAT_ANSNR_KERNELS(KERNEL)                                                                                 \
    KERNEL(float_ansnr_rows_u8, SumBand<uint8_t>)                                                                      \
    KERNEL(float_ansnr_rows_u16, SumBand<uint16_t>)                                                                    \
    KERNEL(float_ansnr_total, SumRows)                                                                                 \
    KERNEL(float_ansnr_rows_u8_weighted, SumBand<uint8_t, CountByWeights>)                                             \
    KERNEL(float_ansnr_rows_u16_weighted, SumBand<uint16_t, CountByWeights>)
QC_DECLARE_KERNELS(QC_FLOAT_ANSNR_KERNELS)

} // namespace qc::float_ansnr
