// SPDX-License-Identifier: BSD-2-Clause-Patent
// Weighted squared errors of a block under a mask, for both backends.
#pragma once

#include "device/mask.hpp"
#include "metrics/xpsnr/xpsnr_plan.hpp"

namespace qc::xpsnr {

/// Sum over the luma samples that a sample of a plane lies among: 1, 2 or 4, of which stored chroma may ask beyond the
/// picture's edge for the last ones again.
QC_HD uint32_t weight_of(const MaskReader& mask, const BlockPlan& plan, int plane, int x, int y) {
    const int across = plan.width[plane] < plan.width[0] ? 2 : 1, down = plan.height[plane] < plan.height[0] ? 2 : 1;
    uint32_t weight = 0;
    for (int j = down * y; j < down * y + down; ++j)
        for (int i = across * x; i < across * x + across; ++i)
            weight += mask.at(nearest_inside(i, plan.width[0]), nearest_inside(j, plan.height[0]));
    return weight;
}

/// Sums over samples of a block's plane. Errors of 32 bits by 255 fit 63 bits in blocks of up to 2900 samples a side.
struct MaskedSums {
    uint64_t squared_error, weights;

    QC_HD void add(uint32_t reference, uint32_t distorted, uint32_t weight) {
        const uint32_t difference = reference < distorted ? distorted - reference : reference - distorted;
        squared_error += uint64_t{difference * difference} * weight;
        weights += weight;
    }
};

} // namespace qc::xpsnr
