// SPDX-License-Identifier: BSD-2-Clause-Patent
// Symmetric filters over rows on the CPU. tap[k] weighs the samples at distance k. To be called by functions that are
// compiled for several instruction sets.
//
// Several vectors of sums are made at once, and what is read is added to all that it belongs to: so a sample is read
// once for many rows, or for two or three places of a row, and not once for each. Adding the samples at both sides of a
// place first would take as many operations, and all these reads.
#pragma once

#include <type_traits>
#include <utility>

#include "device/row_vector.hpp"
#include "device/unroll.hpp"

namespace qc::device {

/// `kCount` vectors of sums. Sum i lies kStep samples after sum i - 1; samples are those that come before and after.
/// @param at (position): the vector at this position from the first sum's on, -kR to (kCount - 1) * kStep + kR
/// @param store (i, sum)
template <typename Cpu, int kR, int kStep, int kCount, typename Real, typename At, typename Store>
QC_INLINE_HELPER void blur_vectors(const Real* tap, const At& at, const Store& store) {
    using Vector = RowVector<Real, Cpu>;
    typename Vector::Type sum[kCount], samples;
    QC_UNROLL_BY(128) for (int position = -kR; position <= (kCount - 1) * kStep + kR; ++position) {
        const int first = position <= kR ? 0 : (position - kR + kStep - 1) / kStep;
        const int last = (position + kR) / kStep < kCount ? (position + kR) / kStep : kCount - 1;
        if (first > last) continue;
        Vector::load(at(position), &samples);
        if (first < last) Vector::make(samples); // compilers else read it anew for each
        QC_UNROLL for (int i = first; i <= last; ++i) {
            const int distance = position - i * kStep;
            if (distance == -kR)
                sum[i] = tap[kR] * samples;
            else
                Vector::add_product(tap[distance < 0 ? -distance : distance], samples, &sum[i]);
            Vector::make(sum[i]);
        }
    }
    QC_UNROLL for (int i = 0; i < kCount; ++i) store(i, sum[i]);
}

/// Down columns, kCount rows.
template <typename Cpu, int kR, int kCount, typename Real>
QC_INLINE_HELPER void blur_some_columns(const Real* tap, const Real* const* rows, const Real* scale, int width,
                                        Real* const* to) {
    using Vector = RowVector<Real, Cpu>;
    for (int x = 0; x < width; x += Vector::kLanes)
        blur_vectors<Cpu, kR, 1, kCount>(
            tap, [=](int row) { return rows[row] + x; },
            [=](int i, const auto& sum) { Vector::store(scale[i] * sum, to[i] + x); });
}

/// Down columns, `count` rows: to[i] = scale[i] * the sum of taps over rows[i - kR .. i + kR]. Rows are read and
/// written up to the end of a vector.
template <typename Cpu, int kR, typename Real>
QC_INLINE_HELPER void blur_columns(const Real* tap, const Real* const* rows, const Real* scale, int count, int width,
                                   Real* const* to) {
    int i = 0;
    if constexpr (Cpu::kVectorBytes > 16) {
        for (; i + 8 <= count; i += 8) blur_some_columns<Cpu, kR, 8>(tap, rows + i, scale + i, width, to + i);
        for (; i + 4 <= count; i += 4) blur_some_columns<Cpu, kR, 4>(tap, rows + i, scale + i, width, to + i);
    }
    for (; i < count; ++i) blur_some_columns<Cpu, kR, 1>(tap, rows + i, scale + i, width, to + i);
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define QC_HAS_SHUFFLES 1
#endif
#endif

#if defined(QC_HAS_SHUFFLES)

/// Of two neighbouring vectors, what lies kShift samples after the first.
template <int kShift, typename Type, int... kLane>
QC_INLINE_HELPER void shift_into(const Type& first, const Type& second, std::integer_sequence<int, kLane...> /*lanes*/,
                                 Type* shifted) {
    *shifted = __builtin_shufflevector(first, second, (kLane + kShift)...);
}

/// What blur_along() does where a register is a cache line: most of what is read lies in two lines then, and takes
/// twice the time. So every other vector is made of its neighbours in registers. Rows begin with a line.
template <typename Cpu, int kR, typename Real, int... kIndex>
QC_INLINE_HELPER void blur_along_lines(const Real* tap, const Real* row, const Real* scale, int width,
                                       Real* __restrict to, std::integer_sequence<int, kIndex...> /*taps*/) {
    using Vector = RowVector<Real, Cpu>;
    using Type = typename Vector::Type;
    constexpr int kLanes = Vector::kLanes;
    constexpr std::make_integer_sequence<int, kLanes> kAllLanes{};
    Type before, here, after;
    Vector::load(row - kLanes, &before);
    Vector::load(row, &here);
    for (int x = 0; x < width; x += kLanes) {
        Type sum, samples;
        Vector::load(row + x + kLanes, &after);
        const auto add = [&]<int kPosition>(std::integral_constant<int, kPosition> /*position*/) {
            if constexpr (kPosition == 0)
                samples = here;
            else if constexpr (kPosition % 2 == 0)
                Vector::load(row + x + kPosition, &samples);
            else if constexpr (kPosition < 0)
                shift_into<kLanes + kPosition>(before, here, kAllLanes, &samples);
            else
                shift_into<kPosition>(here, after, kAllLanes, &samples);
            if constexpr (kPosition == -kR)
                sum = tap[kR] * samples;
            else
                Vector::add_product(tap[kPosition < 0 ? -kPosition : kPosition], samples, &sum);
        };
        (add(std::integral_constant<int, kIndex - kR>{}), ...);
        if (scale != nullptr) {
            Vector::load(scale + x, &samples);
            sum *= samples;
        }
        Vector::store(sum, to + x);
        before = here;
        here = after;
    }
}

#endif

/// Along a row with kR samples more on both sides. Up to a vector more is read there, and written after the row.
/// @param scale of each place; null: 1
template <typename Cpu, int kR, typename Real>
QC_INLINE_HELPER void blur_along(const Real* tap, const Real* row, const Real* scale, int width, Real* __restrict to) {
    using Vector = RowVector<Real, Cpu>;
    constexpr int kLanes = Vector::kLanes, kCount = Cpu::kVectorBytes > 16 ? 4 : 1;
#if defined(QC_HAS_SHUFFLES)
    if constexpr (Vector::kBytes == 64 && kR < kLanes)
        return blur_along_lines<Cpu, kR>(tap, row, scale, width, to, std::make_integer_sequence<int, 2 * kR + 1>{});
#endif
    int x = 0;
    const auto store = [&](int i, const auto& sum) {
        typename Vector::Type factors;
        if (scale == nullptr) return Vector::store(sum, to + x + i * kLanes);
        Vector::load(scale + x + i * kLanes, &factors);
        Vector::store(factors * sum, to + x + i * kLanes);
    };
    for (; x + kCount * kLanes <= width; x += kCount * kLanes)
        blur_vectors<Cpu, kR, kLanes, kCount>(
            tap, [=](int position) { return row + x + position; }, store);
    for (; x < width; x += kLanes)
        blur_vectors<Cpu, kR, kLanes, 1>(
            tap, [=](int position) { return row + x + position; }, store);
}

} // namespace qc::device
