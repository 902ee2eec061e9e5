// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel that weighs the coefficients of all levels by a pair's weights, once, for the kernels of the levels, and
// adds up the weights of those that are scored.
#pragma once

#include "contract/kernel.hpp"
#include "device/block.hpp"
#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "families/detail_loss/detail_loss_weights.hpp"

namespace qc::detail_loss {
/// Where the weights of a level lie: one plane for each pair.
struct WeightPlace {
    Weight* data = nullptr; ///< of the first pair
    int32_t pitch = 0;      ///< elements
    uint32_t plane = 0;     ///< elements of a pair's plane

    QC_HD Weight* of_pair(int pair) const { return data + static_cast<size_t>(pair) * plane; }
};

struct WeightArguments {
    const DevicePair* pairs;
    uint64_t* accumulators; ///< kWeightedWords of a pair
    struct Level {
        int32_t in_width, in_height, width, height;
        int32_t left, top, right, bottom; ///< scored region
        WeightPlace place;
    } level[kLevels];
};

constexpr int kWeightTile = 64; ///< samples, both ways: whole coefficients of every level
constexpr int kWeightThreads = 256;
static_assert(kWeightTile % (2 << (kLevels - 1)) == 0);

/// Of a tile's coefficients; a level's side is half of that of the level above.
struct WeightTile {
    Weight level[kLevels][kWeightTile / 2][kWeightTile / 2];
};

/// grid: (tiles across, tiles down, pairs)
struct WeighBands : device::KernelOf<WeightArguments, kWeightThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const WeightArguments& arguments) {
        auto& tile = device::shared<WeightTile>(block);
        const DevicePair& pair = arguments.pairs[block.z()];
        const WeightReader weights(pair.weights);
        uint32_t sums[kLevels] = {};
        for (int i = 0; i < kLevels; i++) {
            const WeightArguments::Level& level = arguments.level[i];
            const int side = kWeightTile / 2 >> i;
            const int left = block.x() * side, top = block.y() * side; // of the tile in the band
            Weight* const out = level.place.of_pair(block.z());
            for (int item = block.thread(); item < side * side; item += kThreads) {
                const int column = item % side, row = item / side, x = left + column, y = top + row;
                if (x >= level.width || y >= level.height) continue;
                const auto above = [&](int in_x, int in_y) {
                    return uint32_t{tile.level[i - 1][in_y - 2 * top][in_x - 2 * left]};
                };
                const auto sample = [&](int in_x, int in_y) { return weights.at(in_x, in_y); };
                const uint32_t weight = i == 0 ? weight_over(sample, x, y, level.in_width, level.in_height)
                                               : weight_over(above, x, y, level.in_width, level.in_height);
                if (scores_row(level, y) && scores_column(level, x)) sums[i] += weight;
                tile.level[i][row][column] = static_cast<Weight>(weight);
                out[static_cast<size_t>(y) * level.place.pitch + x] = static_cast<Weight>(weight);
            }
            block.sync();
        }
        device::add_block_sums(
            block, sums, arguments.accumulators + static_cast<size_t>(pair.output) * kWeightedWords + kSumsOfWeights);
    }
};

/// What a level's kernel reads of a row.
QC_HD uint32_t weight_at(const WeightPlace& place, int pair, int x, int y) {
    return place.of_pair(pair)[static_cast<size_t>(y) * place.pitch + x];
}

} // namespace qc::detail_loss
