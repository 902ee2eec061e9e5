// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 with weights on the GPU: the weights of all levels, then sums of fields whose places count by them.
// Kernels of their own, so that those without weights need not know of them: a block blurs and scores a tile of a plane
// at once, and all fields of it, whichever count.
//
// As in the kernel without weights, the tile's centre samples are subtracted first, and what lies outside the picture
// is minus these, or nothing where blurs are divided by the kernel's mass inside.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "metrics/ssimulacra2/ssimulacra2_field_phases.hpp"
#include "metrics/ssimulacra2/ssimulacra2_level_weights.hpp"
#include "metrics/ssimulacra2/ssimulacra2_sums.hpp"

namespace qc::ssimulacra2 {
// ---- weights --------------------------------------------------------------------------------------------------------

/// Those of level 0 are the pair's bytes.
struct WeightPlanes {
    uint32_t* weights;           ///< of the first pair
    uint64_t pair;               ///< from pair to pair
    uint32_t offset[kMaxLevels]; ///< rows without gaps
};

struct WeightArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    WeightPlanes planes;
    PlaneLayout layout;
};

constexpr int kWeightTile = 32;              ///< samples of level 0 a side: one place of the last level
constexpr int kHalvedTile = kWeightTile / 2; ///< places of level 1
static_assert(kWeightTile >> (kMaxLevels - 1) == 1);

/// Places of a level, in turn of the one before.
struct WeightTiles {
    uint32_t at[2][kHalvedTile * kHalvedTile];
};

/// Sum over the 2 x 2 places under a place, of which the picture's last ones repeat. @param weight_at (x, y)
template <class WeightAt>
QC_HD uint32_t halved_weight(int x, int y, int width, int height, const WeightAt& weight_at) {
    const int right = 2 * x + 1 < width ? 2 * x + 1 : 2 * x, below = 2 * y + 1 < height ? 2 * y + 1 : 2 * y;
    return weight_at(2 * x, 2 * y) + weight_at(right, 2 * y) + weight_at(2 * x, below) + weight_at(right, below);
}

/// grid: (tiles across, tiles down, pairs)
struct MakeWeights : device::KernelOf<WeightArguments, kHalvedTile * kHalvedTile> {
    template <class Block>
    QC_HD static void run(Block& block, const WeightArguments& arguments) {
        auto& tiles = device::shared<WeightTiles>(block);
        const PlaneLayout& layout = arguments.layout;
        const DevicePair& pair = arguments.pairs[block.z()];
        const WeightReader sample_weights(pair.weights);
        uint32_t* const weights = arguments.planes.weights + static_cast<uint64_t>(block.z()) * arguments.planes.pair;
        uint32_t sum[kMaxLevels] = {};
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            const int x = block.x() * kWeightTile + block.thread() % kHalvedTile * 2 + i % 2;
            const int y = block.y() * kWeightTile + block.thread() / kHalvedTile * 2 + i / 2;
            if (x < layout.width[0] && y < layout.height[0]) sum[0] += sample_weights.at(x, y);
        }
        QC_UNROLL for (int level = 1; level < kMaxLevels; ++level) {
            const int side = kWeightTile >> level, width = level < layout.levels ? layout.width[level] : 0;
            const int across = block.thread() % side, down = block.thread() / side;
            const int x = block.x() * side + across, y = block.y() * side + down;
            if (down < side && x < width && y < layout.height[level]) {
                const uint32_t* const before = tiles.at[level % 2];
                sum[level] = halved_weight(x, y, layout.width[level - 1], layout.height[level - 1], [&](int u, int v) {
                    if (level == 1) return sample_weights.at(u, v);
                    return before[(v - 2 * block.y() * side) * 2 * side + (u - 2 * block.x() * side)];
                });
                weights[arguments.planes.offset[level] + static_cast<uint32_t>(y * width + x)] = sum[level];
                tiles.at[1 - level % 2][down * side + across] = sum[level];
            }
            block.sync();
        }
        device::add_block_sums(block, sum,
                               arguments.accumulators + static_cast<size_t>(pair.output) * kWeightedWords +
                                   kFirstSumOfWeights);
    }
};

// ---- fields ---------------------------------------------------------------------------------------------------------

constexpr int kWeightedTile = 32; ///< places of a block a side
constexpr int kWeightedWarps = 8, kRowsOfWarp = kWeightedTile / kWeightedWarps;

struct WeightedArguments {
    const DevicePair* pairs;
    const float* planes;
    WeightPlanes weights;
    PlaneLayout layout;
    float* sums;   ///< kTerms of each tile of each pair
    int32_t tiles; ///< of a pair
    int32_t renormalise;
    float tap[kMaxRadius + 1];
    int32_t first_tile[kPlanes + 1]; ///< of plane level * kChannels + channel
};

/// Shared memory of a block, the same quantities as in the strips' kernel.
template <int kRadius>
struct alignas(16) WeightedTile {
    static constexpr int kSide = kWeightedTile + 2 * kRadius;
    float sample[2][kSide][kSide];             ///< of both pictures, less their offsets
    float along[kBlurs][kSide][kWeightedTile]; ///< blurred along rows
};

/// Where a block works.
struct TilePlace {
    int level, channel;
    int x, y;

    QC_HD TilePlace(const WeightedArguments& arguments, int tile) : level(0), channel(0), x(0), y(0) {
        int plane = 0;
        while (tile >= arguments.first_tile[plane + 1]) ++plane;
        level = plane / kChannels;
        channel = plane % kChannels;
        const int across = (arguments.layout.width[level] + kWeightedTile - 1) / kWeightedTile;
        const int own = tile - arguments.first_tile[plane];
        x = own % across * kWeightedTile;
        y = own / across * kWeightedTile;
    }
};

/// A picture's plane, and what is subtracted from it: its value in the middle of the tile.
struct WeightedView {
    const float* plane;
    float offset;

    QC_HD WeightedView(const WeightedArguments& arguments, const TilePlace& place, uint64_t picture)
        : plane(arguments.planes + picture * arguments.layout.picture + arguments.layout.offset[place.level] +
                place.channel * kPanelColumns),
          offset(0.0f) {
        const int width = arguments.layout.width[place.level], height = arguments.layout.height[place.level];
        const int x = place.x + kWeightedTile / 2, y = place.y + kWeightedTile / 2;
        offset = load_plane(plane + sample_index(x < width ? x : width - 1, y < height ? y : height - 1, height));
    }
};

template <int kRadius>
QC_HD void load_tile(WeightedTile<kRadius>& tile, const WeightedArguments& arguments, const TilePlace& place,
                     const WeightedView (&view)[2], int thread) {
    constexpr int kSide = WeightedTile<kRadius>::kSide;
    const int width = arguments.layout.width[place.level], height = arguments.layout.height[place.level];
    for (int i = thread; i < kSide * kSide; i += kWeightedWarps * device::kWarpSize) {
        const int x = place.x - kRadius + i % kSide, y = place.y - kRadius + i / kSide;
        const bool inside = x >= 0 && x < width && y >= 0 && y < height;
        QC_UNROLL for (int p = 0; p < 2; ++p) {
            const float outside = arguments.renormalise ? view[p].offset : 0.0f;
            const float value = inside ? load_plane(view[p].plane + sample_index(x, y, height)) : outside;
            tile.sample[p][i / kSide][i % kSide] = value - view[p].offset;
        }
    }
}

/// Four neighbouring columns of a row at a time.
template <int kRadius>
QC_HD void blur_tile_along(WeightedTile<kRadius>& tile, const WeightedArguments& arguments, int thread) {
    constexpr int kSide = WeightedTile<kRadius>::kSide, kGroups = kWeightedTile / 4;
    for (int i = thread; i < kSide * kGroups; i += kWeightedWarps * device::kWarpSize) {
        const int row = i / kGroups, x = i % kGroups * 4;
        Float4 sum[kBlurs] = {};
        QC_UNROLL for (int k = 0; k < 4 + 2 * kRadius; ++k) {
            const float a = tile.sample[0][row][x + k], d = tile.sample[1][row][x + k], difference = a - d;
            const float quantity[kBlurs] = {a, d, difference * difference, fmaf(a, a, d * d)};
            QC_UNROLL for (int p = 0; p < 4; ++p) {
                const int distance = k - kRadius - p;
                if (distance < -kRadius || distance > kRadius) continue;
                const float tap = arguments.tap[distance < 0 ? -distance : distance];
                QC_UNROLL for (int q = 0; q < kBlurs; ++q) sum[q].value[p] = fmaf(tap, quantity[q], sum[q].value[p]);
            }
        }
        QC_UNROLL for (int q = 0; q < kBlurs; ++q) store_plane4(&tile.along[q][row][x], sum[q]);
    }
}

/// What has been found at a place, and how much it counts.
QC_HD void add_weighted_fields(const float (&field)[kFields], float weight, float (&sum)[kTerms]) {
    QC_UNROLL for (int m = 0; m < kFields; ++m) {
        const float square = field[m] * field[m];
        sum[term_index(kFirst, m)] = fmaf(weight, field[m], sum[term_index(kFirst, m)]);
        sum[term_index(kFourth, m)] = fmaf(weight * square, square, sum[term_index(kFourth, m)]);
    }
}

/// A thread's rows of its column.
template <int kRadius>
QC_HD void score_tile(const WeightedTile<kRadius>& tile, const WeightedArguments& arguments, const TilePlace& place,
                      const WeightedView (&view)[2], const DevicePlane& sample_weights, const uint32_t* weights,
                      int warp, int lane, float (&sum)[kTerms]) {
    const int width = arguments.layout.width[place.level], height = arguments.layout.height[place.level];
    const int x = place.x + lane, first = warp * kRowsOfWarp;
    float blurred[kBlurs][kRowsOfWarp] = {};
    QC_UNROLL for (int q = 0; q < kBlurs; ++q) {
        QC_UNROLL for (int k = 0; k < kRowsOfWarp + 2 * kRadius; ++k) {
            const float value = tile.along[q][first + k][lane];
            QC_UNROLL for (int r = 0; r < kRowsOfWarp; ++r) {
                const int distance = k - kRadius - r;
                if (distance < -kRadius || distance > kRadius) continue;
                blurred[q][r] = fmaf(arguments.tap[distance < 0 ? -distance : distance], value, blurred[q][r]);
            }
        }
    }
    const auto mass = [&](int position, int size) {
        float inside = 0.0f;
        for (int k = -kRadius; k <= kRadius; ++k)
            if (position + k >= 0 && position + k < size) inside += arguments.tap[k < 0 ? -k : k];
        return inside;
    };
    QC_UNROLL for (int r = 0; r < kRowsOfWarp; ++r) {
        const int y = place.y + first + r;
        if (x >= width || y >= height) continue;
        const float scale = arguments.renormalise ? 1.0f / (mass(x, width) * mass(y, height)) : 1.0f;
        const float mean_a = scale * blurred[0][r], mean_d = scale * blurred[1][r], shifted = mean_a - mean_d;
        const float difference_variance = fmaf(-shifted, shifted, scale * blurred[2][r]);
        const float variances = fmaf(-mean_a, mean_a, fmaf(-mean_d, mean_d, scale * blurred[3][r]));
        const float edge_a = fabsf(tile.sample[0][first + r + kRadius][lane + kRadius] - mean_a);
        const float edge_d = fabsf(tile.sample[1][first + r + kRadius][lane + kRadius] - mean_d);
        const float change = edge_change(edge_a, edge_d);
        const float field[kFields] = {
            structural_error(shifted + (view[0].offset - view[1].offset), difference_variance, variances),
            positive_part(change), positive_part(-change)};
        const uint32_t weight = place.level == 0 ? WeightReader(sample_weights).at(x, y) : weights[y * width + x];
        add_weighted_fields(field, static_cast<float>(weight), sum);
    }
}

/// grid: (tiles of all planes, 1, pairs)
template <int kRadius>
struct ScoreWeightedFields : device::KernelOf<WeightedArguments, kWeightedWarps * device::kWarpSize> {
    template <class Block>
    QC_HD static void run(Block& block, const WeightedArguments& arguments) {
        auto& tile = device::shared<WeightedTile<kRadius>>(block);
        const TilePlace place(arguments, block.x());
        const int pair = block.z(), thread = block.thread();
        const WeightedView view[2] = {{arguments, place, picture_index(reference_owner(arguments.pairs, pair), 0)},
                                      {arguments, place, picture_index(pair, 1)}};
        load_tile(tile, arguments, place, view, thread);
        block.sync();
        blur_tile_along(tile, arguments, thread);
        block.sync();
        float sum[kTerms] = {};
        const uint32_t* const weights = arguments.weights.weights +
                                        static_cast<uint64_t>(pair) * arguments.weights.pair +
                                        arguments.weights.offset[place.level];
        score_tile(tile, arguments, place, view, arguments.pairs[pair].weights, weights, block.warp(), block.lane(),
                   sum);
        const auto& sums = add_warps(block, sum);
        if (thread < kTerms)
            arguments.sums[(static_cast<size_t>(pair) * arguments.tiles + block.x()) * kTerms + thread] =
                sums.total(thread);
    }
};

} // namespace qc::ssimulacra2
