// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the places of each level weigh: the user's weights are halved as the pictures are, whose last row and column
// of odd sizes count twice. Sums instead of means keep the weights whole.
#pragma once

#include <span>

#include "device/image.hpp"
#include "device/weights.hpp"
#include "metrics/ssimulacra2/ssimulacra2_math.hpp"

namespace qc::ssimulacra2 {

/// Accumulators with weights: the terms of a place count by its weight, and the sums of the levels' weights follow
/// them. A weight is at most 255 * 4^5, which a float holds exactly; a sum, of up to 2^30 samples' weights, stays below
/// 2^39.
constexpr int kFirstSumOfWeights = kAccumulatorWords, kWeightedWords = kFirstSumOfWeights + kMaxLevels;

/// The host's, of all levels of a plan.
class LevelWeights {
public:
    LevelWeights(const Plan& plan, const HostPlane& weights) : levels_(plan.levels) {
        level_[0] = device::Image<uint32_t>(plan.level[0].width, plan.level[0].height);
        const WeightReader reader(weights);
        for (int y = 0; y < level_[0].height; ++y)
            for (int x = 0; x < level_[0].width; ++x) level_[0].at(x, y) = reader.at(x, y);
        for (int level = 1; level < levels_; ++level) level_[level] = halved(level_[level - 1]);
    }

    const device::Image<uint32_t>& of(int level) const { return level_[level]; }

    /// To the words of a pair.
    void write_sums(std::span<uint64_t> accumulators) const {
        for (int level = 0; level < levels_; ++level)
            for (const uint32_t weight : level_[level].samples)
                accumulators[static_cast<size_t>(kFirstSumOfWeights + level)] += weight;
    }

private:
    static device::Image<uint32_t> halved(const device::Image<uint32_t>& from) {
        device::Image<uint32_t> half((from.width + 1) / 2, (from.height + 1) / 2);
        for (int y = 0; y < half.height; ++y) {
            const uint32_t* const upper = from.row(2 * y);
            const uint32_t* const lower = from.row(2 * y + 1 < from.height ? 2 * y + 1 : 2 * y);
            for (int x = 0; x < half.width; ++x) {
                const int left = 2 * x, right = left + 1 < from.width ? left + 1 : left;
                half.at(x, y) = upper[left] + upper[right] + lower[left] + lower[right];
            }
        }
        return half;
    }

    int levels_;
    device::Image<uint32_t> level_[kMaxLevels];
};

} // namespace qc::ssimulacra2
