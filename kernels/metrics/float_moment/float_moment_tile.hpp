// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the threads of the moment kernel do. Compiles on the host, where a test runs it. A lane takes 16 bytes per row.
#pragma once

#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "metrics/float_moment/float_moment_math.hpp"
#include "metrics/float_moment/float_moment_tuning.hpp"

namespace qc::float_moment {

constexpr int kLanes = 32;
constexpr int kRows = kTuning.rows_per_thread;
constexpr int kTileHeight = kTuning.warps * kRows;
constexpr int kLoadBytes = 16;

template <typename T>
constexpr int kColumns = kLoadBytes / static_cast<int>(sizeof(T));

// With 32-bit sums (up to 12 bits per sample), what a thread adds up must fit.
static_assert(kRows * kColumns<uint16_t> * uint64_t{4095 * 4095} < uint64_t{1} << 32);

/// First sample of a thread in tile (tile_x, tile_y). Its further rows follow at distances of kTuning.warps.
struct Position {
    int x, y;
};

QC_HD Position thread_position(int columns, int tile_x, int tile_y, int thread) {
    return {(tile_x * kLanes + thread % kLanes) * columns, tile_y * kTileHeight + thread / kLanes};
}

/// A thread's sums of one picture.
template <typename T, typename Sum>
QC_HD Sums<Sum> sum_thread(const DevicePlane& plane, int width, int height, Position first) {
    constexpr bool kFullRange = sizeof(Sum) == 8;
    Sums<Sum> sums;
    if (first.x + kColumns<T> <= width && plane.step == 1 && rows_aligned(plane, kLoadBytes)) {
        Words<kLoadBytes> words[kRows] = {}; // rows below the picture add zeros
        QC_UNROLL
        for (int i = 0; i < kRows; ++i) {
            const int y = first.y + i * kTuning.warps;
            if (y < height) words[i] = load_words<kLoadBytes>(row_bytes(plane, y) + first.x * sizeof(T));
        }
        QC_UNROLL
        for (int i = 0; i < kRows; ++i) {
            QC_UNROLL
            for (int k = 0; k < kLoadBytes / 4; ++k) {
                const uint32_t word = words[i].word[k];
                if constexpr (sizeof(T) == 1) {
                    sums.add_u8x4(word);
                } else {
                    sums.template add<kFullRange>((word & 0xffffu) >> plane.shift);
                    sums.template add<kFullRange>(word >> 16 >> plane.shift);
                }
            }
        }
        return sums;
    }
    const int end = first.x + kColumns<T> < width ? first.x + kColumns<T> : width;
    for (int i = 0; i < kRows; ++i) {
        const int y = first.y + i * kTuning.warps;
        if (y >= height) break;
        for (int x = first.x; x < end; ++x) sums.template add<kFullRange>(read_sample<T>(plane, x, y));
    }
    return sums;
}

} // namespace qc::float_moment
