// SPDX-License-Identifier: BSD-2-Clause-Patent
// Symmetric filters over rows on the CPU. tap[k] weighs the samples at distance k. To be called by functions that are
// compiled for several instruction sets.
#pragma once

#include "device/row_vector.hpp"
#include "device/unroll.hpp"

namespace qc::device {

/// Down columns, `count` rows: to[i] = scale[i] * the sum of taps over rows[i - kR .. i + kR]. A run of columns at a
/// time stays in the first cache for all of them.
template <int kR, typename Real>
QC_INLINE_HELPER void blur_columns(const Real* tap, const Real* const* rows, const Real* scale, int count, int width,
                                   Real* const* to) {
    using Vector = RowVector<Real>;
    constexpr int kNear = 512 / static_cast<int>(sizeof(Real)), kLanes = Vector::kLanes;
    for (int begin = 0; begin < width; begin += kNear) {
        const int end = begin + kNear < width ? begin + kNear : width;
        for (int row = 0; row < count; ++row) {
            const Real* const* const around = rows + row;
            Real* const target = to[row];
            int x = begin;
            for (; x + 2 * kLanes <= end; x += 2 * kLanes) {
                const Real* const here = around[0] + x;
                typename Vector::Type first = tap[0] * Vector::at(here), second = tap[0] * Vector::at(here + kLanes);
                QC_UNROLL for (int k = 1; k <= kR; ++k) {
                    const Real *const above = around[-k] + x, *const below = around[k] + x;
                    first += tap[k] * (Vector::at(above) + Vector::at(below));
                    second += tap[k] * (Vector::at(above + kLanes) + Vector::at(below + kLanes));
                }
                Vector::at(target + x) = scale[row] * first;
                Vector::at(target + x + kLanes) = scale[row] * second;
            }
            for (; x < end; ++x) {
                Real sum = tap[0] * around[0][x];
                for (int k = 1; k <= kR; ++k) sum += tap[k] * (around[-k][x] + around[k][x]);
                target[x] = scale[row] * sum;
            }
        }
    }
}

} // namespace qc::device
