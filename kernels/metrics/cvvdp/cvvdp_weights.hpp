// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the places of each level count, 1 whole: the user's weights are halved as the levels' sizes are, the last row
// and column of odd ones counting twice.
#pragma once

#include "device/block.hpp"
#include "device/kernel_list.hpp"
#include "device/weights.hpp"
#include "metrics/cvvdp/cvvdp_map_phases.hpp"

namespace qc::cvvdp {
/// With weights, the sum of the weights goes with those of the channels.
constexpr int kWeightedSums = kDeviceChannels + 1;

/// Mean of the places that lie under one of the next level. @param weight_at (x, y)
template <typename Real, class WeightAt>
QC_HD Real halved_weight(int x, int y, int width, int height, const WeightAt& weight_at) {
    const int right = smaller_of(2 * x + 1, width - 1), below = smaller_of(2 * y + 1, height - 1);
    return static_cast<Real>(0.25) *
           (weight_at(2 * x, 2 * y) + weight_at(right, 2 * y) + weight_at(2 * x, below) + weight_at(right, below));
}

struct WeightArguments {
    const DevicePair* pairs;
    const Group* group;
    float* weights; ///< [member]: a plane as DeviceLevels says
    DeviceLevels levels;
    int32_t level;
};

/// A level's, of the one before. grid: (columns, rows, members)
struct MakeWeights : device::KernelOf<WeightArguments, tuning::kMapThreads> {
    /// Of the member's pair, which is in the batch.
    QC_HD static DevicePlane weights_of(const Arguments& a, int member) {
        const DevicePair* pair = a.pairs;
        while (pair->output != a.group->row[member]) ++pair;
        return pair->weights;
    }

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        const int x = block.x() * kThreads + block.thread(), y = block.y(), member = block.z(), level = a.level;
        if (!is_active(*a.group, member) || x >= a.levels.width[level]) return;
        float* const own = a.weights + map_offset(a.levels, member, level);
        float weight = 0.0f;
        if (level == 0) {
            const WeightReader sample_weights(weights_of(a, member));
            weight = static_cast<float>(sample_weights.at(x, y)) / static_cast<float>(kFullWeight);
        } else {
            const float* const finer = a.weights + map_offset(a.levels, member, level - 1);
            weight =
                halved_weight<float>(x, y, a.levels.width[level - 1], a.levels.height[level - 1], [&](int u, int v) {
                    return finer[static_cast<size_t>(v) * a.levels.pitch[level - 1] + u];
                });
        }
        own[static_cast<size_t>(y) * a.levels.pitch[level] + x] = weight;
    }
};

} // namespace qc::cvvdp
