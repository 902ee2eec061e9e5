// SPDX-License-Identifier: BSD-2-Clause-Patent
// Weighted squared errors of a block, for both backends.
#pragma once

#include "device/weights.hpp"
#include "metrics/xpsnr/xpsnr_plan.hpp"

namespace qc::xpsnr {

/// What samples of a plane weigh: the sum over the luma samples that each lies among, 1, 2 or 4, of which stored chroma
/// may ask beyond the picture's edge for the last ones again.
class PlaneWeights {
public:
    QC_HD PlaneWeights(const BlockPlan& plan, int plane)
        : halved_x_(plan.width[plane] < plan.width[0]), halved_y_(plan.height[plane] < plan.height[0]),
          last_x_(plan.width[0] - 1), last_y_(plan.height[0] - 1) {}

    QC_HD uint32_t at(const WeightReader& sample_weights, int x, int y) const {
        const int left = halved_x_ ? 2 * x : x, top = halved_y_ ? 2 * y : y;
        const int right = left < last_x_ ? left + 1 : last_x_, below = top < last_y_ ? top + 1 : last_y_;
        uint32_t weight = sample_weights.at(left, top);
        if (halved_x_) weight += sample_weights.at(right, top);
        if (!halved_y_) return weight;
        weight += sample_weights.at(left, below);
        return halved_x_ ? weight + sample_weights.at(right, below) : weight;
    }

private:
    bool halved_x_, halved_y_;
    int last_x_, last_y_; ///< of luma
};

/// Sums over samples of a block's plane. Errors of 32 bits by 255 fit 63 bits in blocks of up to 2900 samples a side.
struct WeightedSums {
    uint64_t squared_error, weights;

    QC_HD void add(uint32_t reference, uint32_t distorted, uint32_t weight) {
        const uint32_t difference = reference < distorted ? distorted - reference : reference - distorted;
        squared_error += uint64_t{difference * difference} * weight;
        weights += weight;
    }
};

} // namespace qc::xpsnr
