// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the threads of the CIEDE2000 kernel do. Compiles on the host, where a test runs it for all threads of all
// blocks.
//
// A thread takes four neighbouring pixels of some rows. Whatever the layout, they are held as 16-bit lanes, chroma
// repeated, so that one piece of code computes all differences: some 600 instructions a pixel, beside which the few
// loads do not count.
#pragma once

#include "ciede/ciede_device.hpp"
#include "ciede/ciede_tuning.hpp"
#include "common/plane_reader.hpp"

namespace qc::ciede {

constexpr int kLanes = 32;
constexpr int kColumns = 4; ///< of a thread
constexpr int kTileWidth = kLanes * kColumns;
constexpr int kTileHeight = kTuning.warps * kTuning.rows_per_thread;

/// Arguments of a launch that are the same for every pair.
struct Task {
    int width, height;
    int tiles_x, tiles;
    ChromaGrid grid;
    ChannelMatrix matrix;
};

inline Task make_task(const FrameGeometry& geometry) {
    const int tiles_x = (geometry.width + kTileWidth - 1) / kTileWidth;
    const int tiles_y = (geometry.height + kTileHeight - 1) / kTileHeight;
    return {geometry.width,
            geometry.height,
            tiles_x,
            tiles_x * tiles_y,
            make_chroma_grid(geometry),
            make_channel_matrix(geometry.depth)};
}

/// First pixel of a thread. Its further rows follow at distances of kTuning.warps.
struct Position {
    int x, y;
};

QC_HD Position thread_position(const Task& task, int tile, int thread) {
    const int tile_x = tile % task.tiles_x, tile_y = tile / task.tiles_x;
    return {tile_x * kTileWidth + thread % kLanes * kColumns, tile_y * kTileHeight + thread / kLanes};
}

// Keeps loops as they are: the code of one pixel alone fills much of the instruction cache.
#if defined(__CUDACC__)
#define QC_CIEDE_ROLLED _Pragma("unroll 1")
#else
#define QC_CIEDE_ROLLED
#endif

// ---- loading --------------------------------------------------------------------------------------------------------

/// Four samples, the first in the lowest 16 bits.
using Four = uint64_t;

/// Samples x to x + 3 of a row; the last of the row is repeated.
template <typename T>
QC_HD Four load_four(DevicePlane plane, int width, int x, int y) {
    constexpr int kBytes = kColumns * sizeof(T);
    if (x + kColumns <= width && plane.step == 1 && rows_aligned(plane, kBytes)) {
        const auto words = load_words<kBytes>(row_bytes(plane, y) + static_cast<size_t>(x) * sizeof(T));
        if constexpr (sizeof(T) == 1) {
            const uint32_t all = words.word[0];
            const uint32_t low = (all & 0xffu) | (all & 0xff00u) << 8;
            const uint32_t high = (all >> 16 & 0xffu) | (all >> 16 & 0xff00u) << 8;
            return Four{high} << 32 | low;
        } else {
            const uint32_t mask = (0xffffu >> plane.shift) * 0x10001u;
            return Four{words.word[1] >> plane.shift & mask} << 32 | (words.word[0] >> plane.shift & mask);
        }
    }
    Four four = 0;
    QC_CIEDE_ROLLED
    for (int i = 0; i < kColumns; ++i) {
        four |= Four{read_sample<T>(plane, x + i < width ? x + i : width - 1, y)} << (16 * i);
    }
    return four;
}

/// The chroma of luma columns x to x + 3.
template <typename T>
QC_HD Four load_chroma(DevicePlane plane, const ChromaGrid& grid, int x, int row) {
    if (grid.shift_x == 0) return load_four<T>(plane, grid.width, x, row);
    const uint32_t first = read_sample<T>(plane, grid.column(x), row);
    const uint32_t second = read_sample<T>(plane, grid.column(x + 2), row);
    return Four{second * 0x10001u} << 32 | first * 0x10001u;
}

/// Four neighbouring pixels.
struct Pixels {
    Four y, u, v;

    QC_HD Sample first() const {
        return {static_cast<uint32_t>(y & 0xffff), static_cast<uint32_t>(u & 0xffff),
                static_cast<uint32_t>(v & 0xffff)};
    }
    QC_HD void drop_first() {
        y >>= 16;
        u >>= 16;
        v >>= 16;
    }
};

template <typename T>
QC_HD Pixels load_pixels(const DevicePicture& picture, const Task& task, int x, int y) {
    const int row = task.grid.row(y);
    return {load_four<T>(picture.plane[0], task.width, x, y), load_chroma<T>(picture.plane[1], task.grid, x, row),
            load_chroma<T>(picture.plane[2], task.grid, x, row)};
}

// ---- summing --------------------------------------------------------------------------------------------------------

/// A thread's sum, pixel after pixel.
template <typename T, typename Seeds>
QC_HD double sum_thread(const DevicePicture& reference, const DevicePicture& distorted, const Task& task,
                        const Tables& tables, Position first) {
    double sum = 0.0;
    if (first.x >= task.width) return sum;
    const int columns = task.width - first.x < kColumns ? task.width - first.x : kColumns;
    QC_CIEDE_ROLLED
    for (int i = 0; i < kTuning.rows_per_thread; ++i) {
        const int y = first.y + i * kTuning.warps;
        if (y >= task.height) break;
        Pixels a = load_pixels<T>(reference, task, first.x, y), b = load_pixels<T>(distorted, task, first.x, y);
        QC_CIEDE_ROLLED
        for (int column = 0; column < columns; ++column) {
            const Sample sample_a = a.first(), sample_b = b.first();
            a.drop_first();
            b.drop_first();
            if (sample_a.y == sample_b.y && sample_a.u == sample_b.u && sample_a.v == sample_b.v) continue;
            const Lab lab_a = lab_of<Seeds>(sample_a, task.matrix, tables.power);
            const Lab lab_b = lab_of<Seeds>(sample_b, task.matrix, tables.power);
            sum += difference_of<Seeds>(lab_a, lab_b, tables);
        }
    }
    return sum;
}

} // namespace qc::ciede
