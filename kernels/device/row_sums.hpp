// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums whose order is part of a metric's definition: single-precision terms are added along each row of a plane, the
// sums of the rows downwards. Every addition waits for the one before, but rows don't wait for each other: a first
// kernel gives each row of all planes a thread, a second each plane. What a thread does is here, in row_sum_kernels.hpp
// the loops around it; the host uses the same functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contract/types.hpp"
#include "device/bits.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"

namespace qc {

/// Rows of terms start at multiples of this many floats.
constexpr int kTermPitch = 32;
constexpr int term_pitch(int width) {
    return (width + kTermPitch - 1) / kTermPitch * kTermPitch;
}

/// A launch of the first kernel: all rows of all planes, one after the other in memory.
struct RowSumTask {
    const float* terms;
    float* sums; ///< one per row
    int width, pitch;
    int rows;
};
constexpr int kRowSumBlock = 32; ///< threads

/// A launch of the second kernel: several kinds of planes, each of its own height. Block (x, y): plane x of evaluation
/// y, which is plane x % planes of kind x / planes.
struct ColumnSumTask {
    static constexpr int kMaxKinds = 6;
    const float* sums[kMaxKinds]; ///< of a kind: rows of the planes of evaluation 0, of evaluation 1, ...
    int height[kMaxKinds];
    int word[kMaxKinds]; ///< accumulator of the kind's first plane
    int planes;          ///< of each kind
    int words;           ///< accumulators of an evaluation
};
constexpr int kColumnSumBlock = 128; ///< threads; they fetch what one of them adds
constexpr int kColumnSumChunk = 1024;

/// Adds the terms of a row. The row starts at a multiple of 16 bytes; terms are fetched four at a time, a batch ahead
/// of the one that is being added.
QC_HD float sum_row(const float* row, int width) {
    constexpr int kVectors = 16, kBatch = 4 * kVectors;
    const auto fetch = [&](int x, Words<16>(&batch)[kVectors]) {
        QC_UNROLL
        for (int i = 0; i < kVectors; ++i) batch[i] = load_words<16>(row + x + 4 * i);
    };
    float sum = 0.0f;
    int x = 0;
    if (width >= kBatch) {
        Words<16> ahead[kVectors];
        fetch(0, ahead);
        for (; x + kBatch <= width; x += kBatch) {
            Words<16> batch[kVectors];
            QC_UNROLL
            for (int i = 0; i < kVectors; ++i) batch[i] = ahead[i];
            if (x + 2 * kBatch <= width) fetch(x + kBatch, ahead);
            QC_UNROLL
            for (int i = 0; i < kBatch; ++i) sum = sum + device::float_of(batch[i / 4].word[i % 4]);
        }
    }
    for (; x < width; ++x) sum = sum + row[x];
    return sum;
}

/// Hands out pieces of scratch memory, in floats, each at a multiple of kTermPitch.
struct TermScratch {
    size_t floats = 0; ///< handed out

    size_t take(size_t wanted) {
        const size_t offset = floats;
        floats += (wanted + kTermPitch - 1) / kTermPitch * kTermPitch;
        return offset;
    }
};

/// The bits of a sum as an accumulator keeps it: a double.
QC_HD uint64_t accumulator_of(float sum) {
    return device::bits_of(static_cast<double>(sum));
}

} // namespace qc
