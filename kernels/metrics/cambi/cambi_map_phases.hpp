// SPDX-License-Identifier: BSD-2-Clause-Patent
// The map: c-values of all scales, as counting left them, become one value for each sample of the picture.
#pragma once

#include "contract/map.hpp"
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

/// Whether anything was counted in an area of the picture, inclusive; `lane` of a warp looks at its columns of tiles,
/// of which there are fewer than lanes.
QC_HD bool has_counted(const DrawTask& task, int picture, int left, int top, int right, int bottom, int lane) {
    uint32_t groups = 0;
    for (int s = 0; s < kScales; ++s) {
        const uint32_t* const tiles = task.pyramid.tiles(picture, s);
        const int column = task.tile_column(s, task.column(left) >> s) + lane;
        if (column > task.tile_column(s, task.column(right) >> s)) continue;
        const int last_row = task.tile_row(s, task.row(bottom) >> s);
        for (int row = task.tile_row(s, task.row(top) >> s); row <= last_row; ++row)
            groups |= tiles[row * task.pyramid.scale[s].tiles_across + column];
    }
    return groups != 0;
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
constexpr int kDrawColumns = 8;

/// What scale s adds to eight columns of a row of the picture, from x on, a multiple of eight; one for one.
template <int s>
QC_HD void read_scale(const DrawTask& task, int picture, int x, int y, float (&terms)[kDrawColumns]) {
    constexpr int kValues = s < 3 ? kDrawColumns >> s : 1;
    const ScalePlane& scale = task.pyramid.scale[s];
    const int column = x >> s, row = y >> s, last = smaller(column + kValues, scale.width) - 1;
    const bool first_counts = is_counted(task, picture, s, column, row);
    const bool last_counts = is_counted(task, picture, s, last, row);
    QC_UNROLL for (int k = 0; k < kDrawColumns; ++k) terms[k] = 0.0f;
    if (!first_counts && !last_counts) return;
    // The values may lie in two tiles, of which one was not counted.
    const int border = (task.tile_column(s, column) + 1) * scale.tile_width - column;
    const uint16_t* const from = task.drawn + task.pyramid.offset(picture, s) +
                                 static_cast<size_t>(row) * static_cast<size_t>(scale.pitch) +
                                 static_cast<size_t>(column);
    float value[kValues];
    QC_UNROLL for (int i = 0; i < kValues; ++i) {
        const bool counts = (i < border ? first_counts : last_counts) && column + i <= last;
        value[i] = counts ? task.weight[s] * from_short(from[i]) : 0.0f;
    }
    QC_UNROLL for (int k = 0; k < kDrawColumns; ++k) terms[k] = value[(k >> s) < kValues ? k >> s : 0];
}

template <int s>
QC_HD void add_scale(const DrawTask& task, int picture, int x, int y, float (&upper)[kDrawColumns],
                     float (&lower)[kDrawColumns]) {
    float terms[kDrawColumns];
    read_scale<s>(task, picture, x, y, terms);
    QC_UNROLL for (int k = 0; k < kDrawColumns; ++k) {
        upper[k] = upper[k] + terms[k];
        lower[k] = lower[k] + terms[k];
    }
}

/// In the order of the scales, as drawn_value() adds.
QC_HD void draw_run(const DrawTask& task, int picture, int x, int y, float (&upper)[kDrawColumns],
                    float (&lower)[kDrawColumns]) {
    static_assert(kScales == 5);
    read_scale<0>(task, picture, x, y, upper);
    read_scale<0>(task, picture, x, smaller(y + 1, task.shape.height - 1), lower);
    add_scale<1>(task, picture, x, y, upper, lower);
    add_scale<2>(task, picture, x, y, upper, lower);
    add_scale<3>(task, picture, x, y, upper, lower);
    add_scale<4>(task, picture, x, y, upper, lower);
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
struct DrawMap {
    using Arguments = DrawTask;
    static constexpr int kThreads = kMapTileRows / 2 * kLanes;
    static_assert(kDrawColumns * kLanes == kMapTileColumns);

    template <class Block>
    QC_HD static void run(Block& block, const DrawTask& task) {
        const int picture = block.z(), left = block.x() * kMapTileColumns, top = block.y() * kMapTileRows;
        const uint32_t output = task.pairs[picture].output;
        const Plane<float> values = task.map.of_output(output, task.shape);
        if (values.data == nullptr) return;
        const int right = smaller(left + kMapTileColumns, values.width) - 1;
        const int bottom = smaller(top + kMapTileRows, values.height) - 1;
        const int x = left + block.lane() * kDrawColumns, y = top + 2 * block.warp();
        float upper[kDrawColumns] = {}, lower[kDrawColumns] = {};
        const bool counted = task.is_blank == 0 && block.warp() == 0 &&
                             has_counted(task, picture, left, top, right, bottom, block.lane());
        bool is_blank = !any_of_block(block, counted);
        if (!is_blank) {
            if (x <= right && y <= bottom) draw(task, picture, x, y, upper, lower);
            is_blank = !any_of_block(block, has_any(upper) || has_any(lower));
        }
        if (task.map.blank != nullptr) {
            if (block.thread() == 0)
                *task.map.mark(output / task.map.renditions, task.shape, block.x(), block.y()) = is_blank ? 1 : 0;
            if (is_blank) return;
        }
        if (x > right || y > bottom) return;
        store_values(values.row(y) + x, upper);
        if (y < bottom) store_values(values.row(y + 1) + x, lower);
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
