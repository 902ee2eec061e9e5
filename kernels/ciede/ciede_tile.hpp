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

/// First pixel of a thread. Its rows are neighbours: halved chroma is loaded once for two.
struct Position {
    int x, y;
};

QC_HD Position thread_position(const Task& task, int tile, int thread) {
    const int tile_x = tile % task.tiles_x, tile_y = tile / task.tiles_x;
    return {tile_x * kTileWidth + thread % kLanes * kColumns,
            tile_y * kTileHeight + thread / kLanes * kTuning.rows_per_thread};
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

QC_HD uint32_t first_of(Four four) {
    return static_cast<uint32_t>(four & 0xffff);
}

/// Brings the next sample to the front; all four are back after four times.
QC_HD Four rotate(Four four) {
    return four >> 16 | four << 48;
}

/// As row_bytes(), by one multiplication of 32 bits.
QC_HD const unsigned char* row_of(const DevicePlane& plane, int y) {
    return static_cast<const unsigned char*>(plane.data) +
           static_cast<uint64_t>(static_cast<uint32_t>(y)) * plane.pitch_bytes;
}

template <typename T>
QC_HD uint32_t sample_of(const unsigned char* row, const DevicePlane& plane, int x) {
    const auto* const samples = reinterpret_cast<const T*>(row);
    const uint32_t index = static_cast<uint32_t>(x) * plane.step;
#if defined(__CUDA_ARCH__)
    return static_cast<uint32_t>(__ldg(samples + index)) >> plane.shift;
#else
    return static_cast<uint32_t>(samples[index]) >> plane.shift;
#endif
}

/// Samples x to x + 3 of a row; the last of the row is repeated.
template <typename T>
QC_HD Four load_four(DevicePlane plane, int width, int x, int y) {
    constexpr int kBytes = kColumns * sizeof(T);
    const unsigned char* const row = row_of(plane, y);
    if (x + kColumns <= width && plane.step == 1 && rows_aligned(plane, kBytes)) {
        const auto words = load_words<kBytes>(row + static_cast<uint32_t>(x) * sizeof(T));
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
        four |= Four{sample_of<T>(row, plane, x + i < width ? x + i : width - 1)} << (16 * i);
    }
    return four;
}

/// The chroma of luma columns x to x + 3.
template <typename T>
QC_HD Four load_chroma(DevicePlane plane, const ChromaGrid& grid, int x, int y) {
    if (grid.shift_x == 0) return load_four<T>(plane, grid.width, x, y);
    const unsigned char* const row = row_of(plane, y);
    const uint32_t left = sample_of<T>(row, plane, grid.column(x));
    const uint32_t right = sample_of<T>(row, plane, grid.column(x + 2));
    return Four{right * 0x10001u} << 32 | left * 0x10001u;
}

/// Four neighbouring pixels.
struct Pixels {
    Four y = 0, u = 0, v = 0;

    QC_HD Sample first() const { return {first_of(y), first_of(u), first_of(v)}; }
    QC_HD void rotate_all() {
        y = rotate(y);
        u = rotate(u);
        v = rotate(v);
    }
};

// ---- summing --------------------------------------------------------------------------------------------------------

/// A thread's sum, pixel after pixel.
template <typename T, typename Seeds>
QC_HD double sum_thread(const DevicePicture& reference, const DevicePicture& distorted, const Task& task,
                        const Tables& tables, Position first) {
    double sum = 0.0;
    if (first.x >= task.width) return sum;
    const int columns = task.width - first.x;
    Pixels a, b;
    int chroma_y = -1;
    QC_CIEDE_ROLLED
    for (int i = 0; i < kTuning.rows_per_thread; ++i) {
        const int y = first.y + i;
        if (y >= task.height) break;
        a.y = load_four<T>(reference.plane[0], task.width, first.x, y);
        b.y = load_four<T>(distorted.plane[0], task.width, first.x, y);
        if (task.grid.row(y) != chroma_y) {
            chroma_y = task.grid.row(y);
            a.u = load_chroma<T>(reference.plane[1], task.grid, first.x, chroma_y);
            a.v = load_chroma<T>(reference.plane[2], task.grid, first.x, chroma_y);
            b.u = load_chroma<T>(distorted.plane[1], task.grid, first.x, chroma_y);
            b.v = load_chroma<T>(distorted.plane[2], task.grid, first.x, chroma_y);
        }
        QC_CIEDE_ROLLED
        for (int column = 0; column < kColumns; ++column) {
            const Sample sample_a = a.first(), sample_b = b.first();
            a.rotate_all();
            b.rotate_all();
            const bool same = sample_a.y == sample_b.y && sample_a.u == sample_b.u && sample_a.v == sample_b.v;
            if (same || column >= columns) continue;
            const Lab lab_a = lab_of<Seeds>(sample_a, task.matrix, tables.power);
            const Lab lab_b = lab_of<Seeds>(sample_b, task.matrix, tables.power);
            sum += difference_of<Seeds>(lab_a, lab_b, tables);
        }
    }
    return sum;
}

} // namespace qc::ciede
