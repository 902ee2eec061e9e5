// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-precision sums in the order of their terms, for metrics whose definition includes the rounding of a running
// sum.
#pragma once

#include "device/block.hpp"

namespace qc::device {

/// A warp adds terms[0], terms[stride], ... one after another. All lanes get the sum, which is +0 for no terms. Lanes
/// fetch, and hand each other, what comes next while the sum runs. Precondition: no term is -0.
template <class Block>
QC_HD float ordered_sum(Block& block, const float* terms, int count, int stride) {
    const int lane = block.lane();
    const auto fetch = [&](int index) {
        return index < count ? terms[static_cast<size_t>(index) * stride]
                             : 0.0f; // zeros behind the last change nothing
    };
    float sum = 0.0f, next = fetch(lane);
    for (int base = 0; base < count; base += kWarpSize) {
        const float own = next;
        next = fetch(base + kWarpSize + lane);
        QC_UNROLL for (int i = 0; i < kWarpSize; ++i) sum = sum + block.shuffle_from(own, i);
    }
    return sum;
}

} // namespace qc::device
