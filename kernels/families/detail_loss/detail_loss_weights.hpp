// SPDX-License-Identifier: BSD-2-Clause-Patent
// Weights of the coefficients of both ADM metrics, made of those of samples, for both backends. A coefficient of level
// 0 counts by the sum of the four samples that it lies among, one of a deeper level by the sum of four weights of the
// level above: so by the mean under its 2^(level + 1) samples square. Beyond the last column and row they are repeated,
// as the wavelet does it.
#pragma once

#include <array>
#include <cstdint>

#include "contract/types.hpp"
#include "device/image.hpp"
#include "device/weights.hpp"
#include "families/detail_loss/detail_loss_level.hpp"

namespace qc::detail_loss {

using Weight = uint16_t; ///< at most full_weight(kLevels - 1)

/// Of a coefficient that counts whole.
QC_HD constexpr uint32_t full_weight(int level) {
    return uint32_t{kFullWeight} << (2 * (level + 1));
}
static_assert(full_weight(kLevels - 1) <= UINT16_MAX);

/// The weight of coefficient (x, y), from those of what its level is made of. @param at weight of a place in there
template <class At>
QC_HD uint32_t weight_over(const At& at, int x, int y, int in_width, int in_height) {
    const int left = 2 * x, right = left + 1 < in_width ? left + 1 : left;
    const int top = 2 * y, bottom = top + 1 < in_height ? top + 1 : top;
    return at(left, top) + at(right, top) + at(left, bottom) + at(right, bottom);
}

/// On the host: the weights of all levels.
using BandWeights = std::array<device::Image<Weight>, kLevels>;

/// Plans are the metrics' own; they have LevelPlan level[kLevels].
template <typename Plan>
BandWeights weigh_bands(const HostPlane& sample_weights, const Plan& plan) {
    BandWeights weights;
    const WeightReader samples(sample_weights);
    for (int i = 0; i < kLevels; i++) {
        const auto& level = plan.level[i];
        device::Image<Weight>& band = weights[static_cast<size_t>(i)];
        band = {level.width, level.height};
        const auto weigh = [&](const auto& at) {
            for (int y = 0; y < level.height; y++)
                for (int x = 0; x < level.width; x++)
                    band.at(x, y) = static_cast<Weight>(weight_over(at, x, y, level.in_width, level.in_height));
        };
        if (i == 0)
            weigh([&](int x, int y) { return samples.at(x, y); });
        else
            weigh([&](int x, int y) { return uint32_t{weights[static_cast<size_t>(i) - 1].at(x, y)}; });
    }
    return weights;
}

/// Of the scored coefficients of each level. @param words kWeightedWords
template <typename Plan>
void sum_weights(const BandWeights& weights, const Plan& plan, uint64_t* words) {
    for (int i = 0; i < kLevels; i++) {
        const auto& level = plan.level[i];
        uint64_t sum = 0;
        for (int y = level.top; y < level.bottom; y++)
            for (int x = level.left; x < level.right; x++) sum += weights[static_cast<size_t>(i)].at(x, y);
        words[kSumsOfWeights + i] = sum;
    }
}

} // namespace qc::detail_loss
