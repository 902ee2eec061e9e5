// SPDX-License-Identifier: BSD-2-Clause-Patent
// The map: c-values of all scales, as counting left them, become one value for each sample of the picture.
#pragma once

#include "contract/map.hpp"
#include "device/kernel_list.hpp"
#include "metrics/cambi/cambi_count_phases.hpp"

namespace qc::cambi {
/// Arguments of the kernel that draws.
struct DrawTask {
    Pyramid pyramid;
    const uint16_t* drawn; ///< see CountTask
    const DevicePair* pairs;
    DeviceMap map;
    MapShape shape;
    int width, height; ///< of the analysis
    int halving;       ///< 1: scale 0 is half of it
    int is_blank;      ///< bool: nothing was counted
    float weight[kScales];
    // Of the tiles of a scale: 2^31 by the width, rounded up, and the power of two that the height is.
    uint32_t tile_reciprocal[kScales];
    int32_t tile_row_shift[kScales];

    /// Of a column or row of a scale; columns have 16 bits, so that the quotient is right.
    QC_HD int tile_column(int s, int column) const {
        return static_cast<int>(static_cast<uint64_t>(static_cast<uint32_t>(column)) * tile_reciprocal[s] >> 31);
    }
    QC_HD int tile_row(int s, int row) const { return row >> tile_row_shift[s]; }
    QC_HD int column(int x) const { return analysed_sample(x, shape.width, width, halving); }
    QC_HD int row(int y) const { return analysed_sample(y, shape.height, height, halving); }
    /// Whether samples of the picture are those of scale 0.
    QC_HD bool is_one_for_one() const { return shape.width == width && shape.height == height && halving == 0; }
};

/// Whether a sample of a scale lies in a tile with masked-in samples: counting has left a value there.
QC_HD bool is_counted(const DrawTask& task, int picture, int s, int column, int row) {
    const int tile = task.tile_row(s, row) * task.pyramid.scale[s].tiles_across + task.tile_column(s, column);
    return task.pyramid.tiles(picture, s)[tile] != 0;
}

QC_HD float drawn_value(const DrawTask& task, int picture, int x, int y) {
    const int column = task.column(x), row = task.row(y);
    float sum = 0.0f;
    QC_UNROLL for (int s = 0; s < kScales; ++s) {
        if (!is_counted(task, picture, s, column >> s, row >> s)) continue;
        const size_t at = static_cast<size_t>(row >> s) * static_cast<size_t>(task.pyramid.scale[s].pitch) +
                          static_cast<size_t>(column >> s);
        const float c = from_short(task.drawn[task.pyramid.offset(picture, s) + at]);
        sum = sum + task.weight[s] * c;
    }
    return sum;
}

/// A thread draws eight columns of two rows, which share the c-values of all scales but the first.
constexpr int kDrawColumns = MapPlane::kRun;

/// The c-values of scale s that lie over eight columns of the picture, two to a word; one for one.
template <int s>
struct ValueRun {
    static constexpr int kCount = s < 3 ? kDrawColumns >> s : 1;
    static_assert(kUsefulColumns % kDrawColumns == 0, "all lie in one tile");
    uint32_t word[(kCount + 1) / 2] = {};

    /// @param x, y of the picture; x is a multiple of eight
    QC_HD void load(const DrawTask& task, int picture, int x, int y) {
        const uint16_t* const from = task.drawn + task.pyramid.offset(picture, s) +
                                     static_cast<size_t>(y >> s) * static_cast<size_t>(task.pyramid.scale[s].pitch) +
                                     static_cast<size_t>(x >> s);
        if constexpr (kCount == 1) {
            word[0] = *from;
        } else {
            const Words<2 * kCount> words = load_words<2 * kCount>(from);
            QC_UNROLL for (int i = 0; i < kCount / 2; ++i) word[i] = words.word[i];
        }
    }
    QC_HD float term(const DrawTask& task, int column) const {
        const int i = kCount == 1 ? 0 : column >> s;
        return task.weight[s] * from_short(static_cast<uint16_t>(word[i / 2] >> (16 * (i % 2))));
    }
};

/// In the order of the scales, as drawn_value() adds. Both rows, the first of which is even, lie in the same tiles.
QC_HD void draw_run(const DrawTask& task, int picture, int x, int y, float (&upper)[kDrawColumns],
                    float (&lower)[kDrawColumns]) {
    static_assert(kScales == 5);
    bool counts[kScales];
    QC_UNROLL for (int s = 0; s < kScales; ++s) counts[s] = is_counted(task, picture, s, x >> s, y >> s);
    ValueRun<0> above, below;
    ValueRun<1> second;
    ValueRun<2> third;
    ValueRun<3> fourth;
    ValueRun<4> fifth;
    if (counts[0]) {
        above.load(task, picture, x, y);
        below.load(task, picture, x, smaller(y + 1, task.shape.height - 1));
    }
    if (counts[1]) second.load(task, picture, x, y);
    if (counts[2]) third.load(task, picture, x, y);
    if (counts[3]) fourth.load(task, picture, x, y);
    if (counts[4]) fifth.load(task, picture, x, y);
    QC_UNROLL for (int k = 0; k < kDrawColumns; ++k) {
        upper[k] = above.term(task, k);
        lower[k] = below.term(task, k);
        const float terms[] = {second.term(task, k), third.term(task, k), fourth.term(task, k), fifth.term(task, k)};
        QC_UNROLL for (const float term : terms) {
            upper[k] = upper[k] + term;
            lower[k] = lower[k] + term;
        }
    }
}

QC_HD void draw_samples(const DrawTask& task, int picture, int x, int y, float (&values)[kDrawColumns]) {
    for (int k = 0; k < kDrawColumns; ++k)
        values[k] = x + k < task.shape.width ? drawn_value(task, picture, x + k, y) : 0.0f;
}

/// By the warps of a block: whether they have seen anything.
struct Seen {
    uint32_t warp[kMapTileRows / 2];
};

/// Whether any thread of the block has seen something. All threads come here.
template <class Block>
QC_HD bool any_of_block(Block& block, bool seen) {
    constexpr int kWarps = Block::kThreads / kLanes;
    auto& warps = device::shared<Seen>(block).warp;
    const uint32_t own = block.warp_or(seen ? 1u : 0u);
    if (block.lane() == 0) warps[block.warp()] = own;
    block.sync();
    uint32_t all = 0;
    QC_UNROLL for (int w = 0; w < kWarps; ++w) all |= warps[w];
    block.sync();
    return all != 0;
}

QC_HD bool has_any(const float (&values)[kDrawColumns]) {
    bool any = false;
    QC_UNROLL for (const float value : values) any = any || value != 0.0f;
    return any;
}

/// grid: (tiles across, tiles down, pictures), the map's tiles
struct DrawMap : device::KernelOf<DrawTask, kMapTileRows / 2 * kLanes> {
    static_assert(kDrawColumns * kLanes == kMapTileColumns);

    template <class Block>
    QC_HD static void run(Block& block, const DrawTask& task) {
        const int picture = block.z();
        const int x = block.x() * kMapTileColumns + block.lane() * kDrawColumns;
        const int y = block.y() * kMapTileRows + 2 * block.warp();
        const uint32_t output = task.pairs[picture].output;
        const MapPlane map = task.map.of_output(output, task.shape);
        if (map.data == nullptr) return;
        const bool is_inside = x < map.width && y < map.height;
        float upper[kDrawColumns] = {}, lower[kDrawColumns] = {};
        if (is_inside && task.is_blank == 0) draw(task, picture, x, y, upper, lower);
        if (task.map.blank != nullptr) {
            const bool is_blank = !any_of_block(block, has_any(upper) || has_any(lower));
            if (block.thread() == 0)
                *task.map.mark(output / task.map.renditions, task.shape, block.x(), block.y()) = is_blank ? 1 : 0;
            if (is_blank) return;
        }
        if (!is_inside) return;
        map.put_run(x, y, upper);
        if (y + 1 < map.height) map.put_run(x, y + 1, lower);
    }

private:
    /// The last row of an odd height draws its values twice; what lies beyond the picture stays 0.
    QC_HD static void draw(const DrawTask& task, int picture, int x, int y, float (&upper)[kDrawColumns],
                           float (&lower)[kDrawColumns]) {
        if (task.is_one_for_one()) return draw_run(task, picture, x, y, upper, lower);
        draw_samples(task, picture, x, y, upper);
        draw_samples(task, picture, x, smaller(y + 1, task.shape.height - 1), lower);
    }
};

} // namespace qc::cambi
