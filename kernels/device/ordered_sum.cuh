// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-precision sums in the order of their terms, for metrics whose definition includes the rounding of a running
// sum.
#pragma once

#include "device/block_sum.cuh"

namespace qc {

/// A warp adds terms[0], terms[stride], ... one after another. All lanes get the sum, which is +0 for no terms. Lanes
/// fetch, and hand each other, what comes next while the sum runs. Precondition: no term is -0.
__device__ __forceinline__ float ordered_sum(const float* terms, int count, int stride) {
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const auto fetch = [&](int index) {
        return index < count ? terms[static_cast<size_t>(index) * stride]
                             : 0.0f; // zeros behind the last change nothing
    };
    float sum = 0.0f, next = fetch(lane);
    for (int base = 0; base < count; base += kWarpSize) {
        const float own = next;
        next = fetch(base + kWarpSize + lane);
#pragma unroll
        for (int i = 0; i < kWarpSize; ++i) sum = sum + __shfl_sync(kWholeWarp, own, i);
    }
    return sum;
}

} // namespace qc
