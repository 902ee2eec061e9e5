// SPDX-License-Identifier: BSD-2-Clause-Patent
// Symmetric filters over rows on the CPU. tap[k] weighs the samples at distance k. To be called by functions that are
// compiled for several instruction sets.
#pragma once

#include "device/row_vector.hpp"
#include "device/unroll.hpp"

namespace qc::device {

/// The same columns of two rows, added.
template <typename Vector, typename Real>
QC_INLINE_HELPER void add_pair(const Real* above, const Real* below, typename Vector::Type* sum) {
    typename Vector::Type first, second;
    Vector::load(above, &first);
    Vector::load(below, &second);
    *sum = first + second;
}

/// Four vectors of sums, side by side, for each addition waits for the one before.
/// @param at (k): the samples at distance k, from the first sum's on  @param store (i, vector): the sums from the i-th
/// on
template <typename Cpu, int kR, typename Real, typename At, typename Store>
QC_INLINE_HELPER void blur_four(const Real* tap, const At& at, const Store& store) {
    using Vector = RowVector<Real, Cpu>;
    constexpr int kLanes = Vector::kLanes;
    const Real* const here = at(0);
    typename Vector::Type a, b, c, d, pair;
    Vector::load(here, &a);
    Vector::load(here + kLanes, &b);
    Vector::load(here + 2 * kLanes, &c);
    Vector::load(here + 3 * kLanes, &d);
    a *= tap[0];
    b *= tap[0];
    c *= tap[0];
    d *= tap[0];
    QC_UNROLL for (int k = 1; k <= kR; ++k) {
        const Real *const above = at(-k), *const below = at(k);
        add_pair<Vector>(above, below, &pair);
        Vector::add_product(tap[k], pair, &a);
        Vector::make(a);
        add_pair<Vector>(above + kLanes, below + kLanes, &pair);
        Vector::add_product(tap[k], pair, &b);
        Vector::make(b);
        add_pair<Vector>(above + 2 * kLanes, below + 2 * kLanes, &pair);
        Vector::add_product(tap[k], pair, &c);
        Vector::make(c);
        add_pair<Vector>(above + 3 * kLanes, below + 3 * kLanes, &pair);
        Vector::add_product(tap[k], pair, &d);
        Vector::make(d);
    }
    store(0, a);
    store(kLanes, b);
    store(2 * kLanes, c);
    store(3 * kLanes, d);
}

template <typename Cpu, typename Real>
constexpr int kColumnsOfFour = 4 * RowVector<Real, Cpu>::kLanes;

/// Down columns, `count` rows: to[i] = scale[i] * the sum of taps over rows[i - kR .. i + kR]. A run of columns at a
/// time stays in the first cache for all of them.
template <typename Cpu, int kR, typename Real>
QC_INLINE_HELPER void blur_columns(const Real* tap, const Real* const* rows, const Real* scale, int count, int width,
                                   Real* const* to) {
    using Vector = RowVector<Real, Cpu>;
    constexpr int kStep = kColumnsOfFour<Cpu, Real>, kNear = 512 / static_cast<int>(sizeof(Real));
    for (int begin = 0; begin < width; begin += kNear) {
        const int end = begin + kNear < width ? begin + kNear : width;
        for (int row = 0; row < count; ++row) {
            const Real* const* const around = rows + row;
            const Real factor = scale[row];
            Real* const target = to[row];
            int x = begin;
            for (; x + kStep <= end; x += kStep)
                blur_four<Cpu, kR>(
                    tap, [=](int k) { return around[k] + x; },
                    [=](int i, const auto& sum) { Vector::store(factor * sum, target + x + i); });
            for (; x < end; ++x) {
                Real sum = tap[0] * around[0][x];
                for (int k = 1; k <= kR; ++k) sum = Cpu::fused(tap[k], around[-k][x] + around[k][x], sum);
                target[x] = factor * sum;
            }
        }
    }
}

/// Along a row with kR samples more on both sides. @param scale of each place; null: 1
template <typename Cpu, int kR, typename Real>
QC_INLINE_HELPER void blur_along(const Real* tap, const Real* row, const Real* scale, int width, Real* __restrict to) {
    using Vector = RowVector<Real, Cpu>;
    constexpr int kStep = kColumnsOfFour<Cpu, Real>;
    int x = 0;
    for (; x + kStep <= width; x += kStep)
        blur_four<Cpu, kR>(
            tap, [=](int k) { return row + x + k; },
            [=](int i, const auto& sum) {
                typename Vector::Type factors;
                if (scale == nullptr) return Vector::store(sum, to + x + i);
                Vector::load(scale + x + i, &factors);
                Vector::store(factors * sum, to + x + i);
            });
    for (; x < width; ++x) {
        Real sum = tap[0] * row[x];
        for (int k = 1; k <= kR; ++k) sum = Cpu::fused(tap[k], row[x - k] + row[x + k], sum);
        to[x] = scale == nullptr ? sum : scale[x] * sum;
    }
}

} // namespace qc::device
