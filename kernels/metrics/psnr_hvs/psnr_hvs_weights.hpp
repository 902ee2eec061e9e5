// SPDX-License-Identifier: BSD-2-Clause-Patent
// What blocks count with weights, for both backends.
#pragma once

#include "families/sse/sse_weighted.hpp"
#include "metrics/psnr_hvs/psnr_hvs_math.hpp"

namespace qc::psnr_hvs {

/// Accumulators with weights: after the planes' running sums the planes' sums of their blocks' weights. A weight is at
/// most 64 * 4 * 255, and there are fewer than 2^28 blocks.
constexpr int kSumsOfWeights = kPlanes, kWeightedWords = 2 * kPlanes;

/// Of the block that begins at (x, y).
QC_HD uint32_t weight_of_block(const sse::WeightedPlane& plane, const WeightReader& weights, int x, int y) {
    uint32_t weight = 0;
    for (int row = 0; row < kBlockSide; ++row)
        for (int column = 0; column < kBlockSide; ++column) weight += plane.weight(weights, x + column, y + row);
    return weight;
}

/// How often a block's terms count, on average once: where all weigh the same, whatever it is, exactly once.
QC_HD float factor_of(uint32_t weight, uint64_t sum_of_weights, int blocks) {
    if (sum_of_weights == 0) return 0.0f;
    return static_cast<float>(static_cast<double>(weight) * blocks / static_cast<double>(sum_of_weights));
}

} // namespace qc::psnr_hvs
