// SPDX-License-Identifier: BSD-2-Clause-Patent
// Moments on the GPU: one pass over both pictures. A lane takes 16 bytes per row.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "device/weights.hpp"
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

constexpr int kWords = 4; ///< sums of samples (reference, distorted), sums of squares (reference, distorted)

struct TileArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    int width, height;
};

/// Grid: (tiles across, tiles down, pairs). Sum: uint32_t up to 12 bits, uint64_t above.
template <typename T, typename Sum>
struct SumTile : device::KernelOf<TileArguments, kTuning.warps * kLanes, kTuning.blocks_per_multiprocessor> {
    template <class Block>
    QC_HD static void run(Block& block, const TileArguments& arguments) {
        const int width = arguments.width, height = arguments.height;
        const DevicePair& pair = arguments.pairs[block.z()];
        const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
        const Position first = thread_position(kColumns<T>, block.x(), block.y(), block.thread());
        const Sums<Sum> a = sum_thread<T, Sum>(reference, width, height, first);
        const Sums<Sum> b = sum_thread<T, Sum>(distorted, width, height, first);
        const Sum sums[kWords] = {a.first, b.first, a.second, b.second};
        device::add_block_sums(block, sums, arguments.accumulators + static_cast<size_t>(pair.output) * kWords);
    }
};

/// The same with weights, sample by sample: a lane goes down a column.
template <typename T, bool kFullRange>
struct SumWeightedTile : device::KernelOf<TileArguments, kTuning.warps * kLanes> {
    template <class Block>
    QC_HD static void run(Block& block, const TileArguments& arguments) {
        const DevicePair& pair = arguments.pairs[block.z()];
        const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
        const WeightReader weights(pair.weights);
        const int x = block.x() * kLanes + block.lane(), top = block.y() * kTileHeight + block.warp();
        uint64_t words[kWeightedWords] = {};
        for (int i = 0; i < kRows; ++i) {
            const int y = top + i * kTuning.warps;
            if (x < arguments.width && y < arguments.height)
                add_weighted<kFullRange>(read_sample<T>(reference, x, y), read_sample<T>(distorted, x, y),
                                         weights.at(x, y), words);
        }
        device::add_block_sums(block, words,
                               arguments.accumulators + static_cast<size_t>(pair.output) * kWeightedWords);
    }
};

// Samples of 8 bits, of up to 12, of 16.
#define QC_FLOAT_MOMENT_KERNELS(KERNEL)                                                                                \
    KERNEL(float_moment_u8, SumTile<uint8_t, uint32_t>)                                                                \
    KERNEL(float_moment_u16, SumTile<uint16_t, uint32_t>)                                                              \
    KERNEL(float_moment_u16_full, SumTile<uint16_t, uint64_t>)                                                         \
    KERNEL(float_moment_weighted_u8, SumWeightedTile<uint8_t, false>)                                                  \
    KERNEL(float_moment_weighted_u16, SumWeightedTile<uint16_t, false>)                                                \
    KERNEL(float_moment_weighted_u16_full, SumWeightedTile<uint16_t, true>)
QC_DECLARE_KERNELS(QC_FLOAT_MOMENT_KERNELS)

} // namespace qc::float_moment
