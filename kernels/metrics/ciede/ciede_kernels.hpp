// SPDX-License-Identifier: BSD-2-Clause-Patent
// CIEDE2000 on the GPU: a pass over both pictures that leaves a partial sum per tile, and one block per pair that adds
// them up. Bound by arithmetic.
//
// A thread takes four neighbouring pixels of two rows. Whatever the layout, their luma is held as 16-bit lanes, so that
// one piece of code computes all differences: some 650 instructions a pixel, beside which the few loads do not count.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/weights.hpp"
#include "metrics/ciede/ciede_device_math.hpp"
#include "metrics/ciede/ciede_tuning.hpp"

namespace qc::ciede {
constexpr int kLanes = 32;
constexpr int kColumns = 4, kRows = 2; ///< of a thread
constexpr int kTileWidth = kLanes * kColumns;
constexpr int kTileHeight = kTuning.warps * kRows;

/// Arguments of a launch that are the same for every pair.
struct Task {
    int width, height;
    int tiles_x, tiles;
    ChromaGrid grid;
    Coefficients coefficients;
};

inline Task make_task(const FrameGeometry& geometry) {
    const int tiles_x = (geometry.width + kTileWidth - 1) / kTileWidth;
    const int tiles_y = (geometry.height + kTileHeight - 1) / kTileHeight;
    return {geometry.width,
            geometry.height,
            tiles_x,
            tiles_x * tiles_y,
            make_chroma_grid(geometry),
            make_coefficients(geometry.depth)};
}

/// First pixel of a thread, at even coordinates: pixels that share their chroma have the same thread.
struct Position {
    int x, y;
};

QC_HD Position thread_position(const Task& task, int tile, int thread) {
    const int tile_x = tile % task.tiles_x, tile_y = tile / task.tiles_x;
    return {tile_x * kTileWidth + thread % kLanes * kColumns, tile_y * kTileHeight + thread / kLanes * kRows};
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

/// Luma of a thread's pixels: a word holds two of a column, the upper in the lower half.
struct Lumas {
    uint32_t column[kColumns];
};

template <typename T>
QC_HD Lumas load_lumas(const DevicePlane& plane, const Task& task, Position first) {
    const Four upper = load_four<T>(plane, task.width, first.x, first.y);
    const Four lower = load_four<T>(plane, task.width, first.x, first.y + 1 < task.height ? first.y + 1 : first.y);
    Lumas lumas;
    QC_UNROLL for (int i = 0; i < kColumns; ++i) {
        lumas.column[i] =
            static_cast<uint32_t>(upper >> (16 * i) & 0xffff) | static_cast<uint32_t>(lower >> (16 * i) & 0xffff) << 16;
    }
    return lumas;
}

struct Chroma {
    uint32_t u, v;
    bool operator==(const Chroma&) const = default;
};

template <typename T>
QC_HD Chroma load_chroma(const DevicePicture& picture, int x, int y) {
    const DevicePlane u = picture.plane[1], v = picture.plane[2];
    return {sample_of<T>(row_of(u, y), u, x), sample_of<T>(row_of(v, y), v, x)};
}

// ---- summing --------------------------------------------------------------------------------------------------------

/// A thread's sum, column after column. What depends on chroma alone is computed once for the pixels that share it.
/// @param weighted makes of a pixel's difference, and of its place, what is summed
template <typename T, typename Seeds, class Weighted>
QC_HD double sum_thread(const DevicePicture& reference, const DevicePicture& distorted, const Task& task,
                        const Tables& tables, Position first, const Weighted& weighted) {
    double sum = 0.0;
    if (first.x >= task.width || first.y >= task.height) return sum;
    Lumas lumas[2] = {load_lumas<T>(reference.plane[0], task, first), load_lumas<T>(distorted.plane[0], task, first)};
    const bool shared = task.grid.shift_x != 0 && task.grid.shift_y != 0;
    const int columns = smaller(kColumns, task.width - first.x), rows = smaller(kRows, task.height - first.y);
    ChromaTerms terms[2]{};
    bool same_chroma = false;
    QC_CIEDE_ROLLED
    for (int column = 0; column < columns; ++column) {
        QC_CIEDE_ROLLED
        for (int row = 0; row < rows; ++row) {
            if (!shared || (column % 2 == 0 && row == 0)) {
                const int x = task.grid.column(first.x + column), y = task.grid.row(first.y + row);
                const Chroma a = load_chroma<T>(reference, x, y), b = load_chroma<T>(distorted, x, y);
                same_chroma = a == b;
                terms[0] = chroma_terms(a.u, a.v, task.coefficients);
                terms[1] = chroma_terms(b.u, b.v, task.coefficients);
            }
            const uint32_t own[2] = {lumas[0].column[0] & 0xffff, lumas[1].column[0] & 0xffff};
            lumas[0].column[0] >>= 16;
            lumas[1].column[0] >>= 16;
            if (same_chroma && own[0] == own[1]) continue; // a difference of exactly 0
            Lab labs[2];
            labs_of<Seeds, 2>(own, terms, task.coefficients, tables.power, labs);
            const double difference = widened(difference_of<Seeds>(labs[0], labs[1], tables));
            sum += weighted(difference, first.x + column, first.y + row);
        }
        for (Lumas& picture : lumas) {
            QC_UNROLL for (int i = 0; i + 1 < kColumns; ++i) picture.column[i] = picture.column[i + 1];
        }
    }
    return sum;
}

/// Of a thread's pixels.
QC_HD uint64_t sum_weights(const WeightReader& weights, const Task& task, Position first) {
    uint64_t sum = 0;
    for (int y = first.y; y < first.y + kRows && y < task.height; ++y)
        for (int x = first.x; x < first.x + kColumns && x < task.width; ++x) sum += weights.at(x, y);
    return sum;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

/// Sum over the block, in an order that only its size decides; the result is thread 0's.
template <class Block>
QC_HD double block_sum(Block& block, double value) {
    constexpr int kWarps = Block::kThreads / kLanes;
    auto& partial = device::shared<double[kWarps]>(block);
    value = device::warp_tree_sum(block, value);
    if (block.lane() == 0) partial[block.warp()] = value;
    block.sync();
    double sum = 0.0;
    if (block.thread() == 0) {
        for (int i = 0; i < kWarps; ++i) sum += partial[i];
    }
    return sum;
}

/// By the whole block.
template <class Block>
QC_HD void copy_tables(Block& block, Tables* target, const Tables* source) {
    using Line = Words<16>;
    constexpr int kLines = sizeof(Tables) / sizeof(Line);
    static_assert(kLines * sizeof(Line) == sizeof(Tables));
    const auto* const from = reinterpret_cast<const Line*>(source);
    auto* const to = reinterpret_cast<Line*>(target);
    for (int i = block.thread(); i < kLines; i += Block::kThreads) to[i] = load_words<sizeof(Line)>(from + i);
    block.sync();
}

struct TileArguments {
    const DevicePair* pairs;
    uint64_t* accumulators; ///< kWeightedWords of a pair, where there are weights
    double* partial_sums;   ///< of the tiles, pair after pair
    const Tables* tables;
    Task task;
};

/// grid: (tiles, 1, pairs)
/// @tparam kWeighted whether a pixel counts by the pair's weights
template <typename T, typename Seeds, bool kWeighted = false>
struct SumTile : device::KernelOf<TileArguments, kTuning.warps * kLanes, kTuning.blocks_per_multiprocessor> {
    template <class Block>
    QC_HD static void run(Block& block, const TileArguments& arguments) {
        const Task& task = arguments.task;
        auto& tables = device::shared<Tables>(block);
        copy_tables(block, &tables, arguments.tables);
        const Position first = thread_position(task, block.x(), block.thread());
        const DevicePair& pair = arguments.pairs[block.z()];
        const auto sum_of = [&](const auto& weighted) {
            return sum_thread<T, Seeds>(pair.reference, pair.distorted, task, tables, first, weighted);
        };
        double own = 0.0;
        if constexpr (kWeighted) {
            const WeightReader weights(pair.weights);
            own = sum_of([&](double difference, int x, int y) { return weights.at(x, y) * difference; });
            const uint64_t sums[] = {sum_weights(weights, task, first)};
            device::add_block_sums(
                block, sums, arguments.accumulators + static_cast<size_t>(pair.output) * kWeightedWords + kWeights);
        } else {
            own = sum_of([](double difference, int, int) { return difference; });
        }
        const double sum = block_sum(block, own);
        if (block.thread() == 0) arguments.partial_sums[static_cast<size_t>(block.z()) * task.tiles + block.x()] = sum;
    }
};

struct TotalArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    const double* partial_sums;
    int tiles; ///< of a pair
    int words; ///< accumulators of a pair; the sum is the first
};

/// Adds up the tiles of a pair. grid: (1, 1, pairs)
struct SumTiles : device::KernelOf<TotalArguments, kTuning.total_threads> {
    template <class Block>
    QC_HD static void run(Block& block, const TotalArguments& arguments) {
        const int tiles = arguments.tiles;
        const double* const own = arguments.partial_sums + static_cast<size_t>(block.z()) * static_cast<size_t>(tiles);
        double sum = 0.0;
        for (int tile = block.thread(); tile < tiles; tile += kThreads) sum += own[tile];
        const double total = block_sum(block, sum);
        if (block.thread() == 0)
            arguments.accumulators[static_cast<size_t>(arguments.pairs[block.z()].output) * arguments.words] =
                bits_of(total);
    }
};

/// With other seeds in tests.
#define QC_CIEDE_KERNELS_OF(KERNEL, Seeds)                                                                             \
    KERNEL(ciede_tiles_u8, SumTile<uint8_t, Seeds>)                                                                    \
    KERNEL(ciede_tiles_u16, SumTile<uint16_t, Seeds>)                                                                  \
    KERNEL(ciede_tiles_weighted_u8, SumTile<uint8_t, Seeds, true>)                                                     \
    KERNEL(ciede_tiles_weighted_u16, SumTile<uint16_t, Seeds, true>)                                                   \
    KERNEL(ciede_total, SumTiles)
#define QC_CIEDE_KERNELS(KERNEL) QC_CIEDE_KERNELS_OF(KERNEL, FastSeeds)
QC_DECLARE_KERNELS(QC_CIEDE_KERNELS)

} // namespace qc::ciede
