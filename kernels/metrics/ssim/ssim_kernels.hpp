// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of integer SSIM. For samples of 8 bits see ssim_bytes.hpp; of the others, and with weights, a block reads
// a tile, zero outside the picture, sums along rows, then down columns.
#pragma once

#include "device/block.hpp"
#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/weights.hpp"
#include "metrics/ssim/ssim_bytes.hpp"
#include "metrics/ssim/ssim_math.hpp"
#include "metrics/ssim/ssim_tuning.hpp"

namespace qc::ssim {
constexpr int kLanes = 32;
constexpr int kTileThreads = kTuning.warps * kLanes;
constexpr int kTileWidth = kLanes, kTileHeight = kTuning.tile_height;
constexpr int kReadWidth = kTileWidth + 2 * kRadius, kReadHeight = kTileHeight + 2 * kRadius;

/// The argument of the kernels.
struct Task {
    const DevicePair* pairs;
    uint64_t* accumulators; ///< one word a pair, with weights kWeightedWords
    int width, height;
    uint32_t peak;
    structural::FixedPoint fixed;
};

/// Shared memory of a block.
/// @tparam RowSum holds a sum along a row
template <typename RowSum>
struct TileMemory {
    uint16_t samples[2][kReadHeight * kReadWidth];
    RowSum row_sums[kQuantities][kReadHeight * kTileWidth];
};

/// The tile's first result is at (x, y).
template <typename T, typename RowSum>
QC_HD void read_phase(TileMemory<RowSum>& memory, const Task& task, int pair, int x, int y, int thread) {
    for (int i = thread; i < 2 * kReadHeight * kReadWidth; i += kTileThreads) {
        const int picture = i / (kReadHeight * kReadWidth), place = i % (kReadHeight * kReadWidth);
        const int u = x - kRadius + place % kReadWidth, v = y - kRadius + place / kReadWidth;
        const bool inside = u >= 0 && u < task.width && v >= 0 && v < task.height;
        const DevicePair& both = task.pairs[pair];
        const DevicePlane& plane = picture == 0 ? both.reference.plane[0] : both.distorted.plane[0];
        memory.samples[picture][place] = static_cast<uint16_t>(inside ? read_sample<T>(plane, u, v) : 0);
    }
}

template <typename RowSum>
QC_HD void row_phase(TileMemory<RowSum>& memory, int thread) {
    for (int i = thread; i < kReadHeight * kTileWidth; i += kTileThreads) {
        const int first = i / kTileWidth * kReadWidth + i % kTileWidth;
        RowSum sums[kQuantities] = {};
        QC_UNROLL for (int k = 0; k < kTaps; ++k) {
            add_samples<RowSum>(tap(k), memory.samples[0][first + k], memory.samples[1][first + k], sums);
        }
        QC_UNROLL for (int q = 0; q < kQuantities; ++q) memory.row_sums[q][i] = sums[q];
    }
}

/// Adds the thread's terms.
/// @param weights of the pair, where kWords is kWeightedWords
template <typename RowSum, int kWords>
QC_HD void column_phase(const TileMemory<RowSum>& memory, const Task& task, int x, int y, int thread,
                        const DevicePlane& weights, uint64_t (&total)[kWords]) {
    for (int i = thread; i < kTileHeight * kTileWidth; i += kTileThreads) {
        const int u = x + i % kTileWidth, v = y + i / kTileWidth;
        if (u >= task.width || v >= task.height) continue;
        uint64_t sums[kQuantities] = {};
        QC_UNROLL for (int q = 0; q < kQuantities; ++q) {
            QC_UNROLL for (int k = 0; k < kTaps; ++k) {
                sums[q] += static_cast<uint64_t>(tap(k)) * memory.row_sums[q][i + k * kTileWidth];
            }
        }
        const uint32_t weight = weight_at(u, task.width) * weight_at(v, task.height);
        const uint64_t term = fixed_term(weighted_index(sums, weight, task.peak), task.fixed);
        if constexpr (kWords == kWeightedWords) {
            const uint32_t share = WeightReader(weights).at(u, v);
            total[kIndices] += term * share;
            total[kWeights] += weight * share;
        } else {
            total[kIndices] += term;
        }
    }
}

/// grid: (tiles in x, tiles in y, pairs)
/// @tparam kWords accumulators of a pair: kWeightedWords where positions count by its weights
template <typename T, typename RowSum, int kWords = 1>
struct ScoreTile : device::KernelOf<Task, kTileThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const Task& task) {
        auto& memory = device::shared<TileMemory<RowSum>>(block);
        const int pair = block.z(), x = block.x() * kTileWidth, y = block.y() * kTileHeight;
        read_phase<T>(memory, task, pair, x, y, block.thread());
        block.sync();
        row_phase(memory, block.thread());
        block.sync();
        uint64_t sums[kWords] = {};
        column_phase(memory, task, x, y, block.thread(), task.pairs[pair].weights, sums);
        device::add_block_sums(block, sums, task.accumulators + task.pairs[pair].output * size_t{kWords});
    }
};

/// The last one of each kind is for more than 12 bits.
#define QC_SSIM_KERNELS(KERNEL)                                                                                        \
    KERNEL(ssim_u8, ScoreBytes)                                                                                        \
    KERNEL(ssim_u16, ScoreTile<uint16_t, uint32_t>)                                                                    \
    KERNEL(ssim_u16_full, ScoreTile<uint16_t, uint64_t>)                                                               \
    KERNEL(ssim_weighted_u8, ScoreTile<uint8_t, uint32_t, kWeightedWords>)                                             \
    KERNEL(ssim_weighted_u16, ScoreTile<uint16_t, uint32_t, kWeightedWords>)                                           \
    KERNEL(ssim_weighted_u16_full, ScoreTile<uint16_t, uint64_t, kWeightedWords>)
QC_DECLARE_KERNELS(QC_SSIM_KERNELS)

} // namespace qc::ssim
