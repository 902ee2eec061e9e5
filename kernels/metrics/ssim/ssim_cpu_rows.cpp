// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer SSIM row by row, vectorised. Sums are whole numbers: of 8 bits they fit words of 32 bits, of more a double.
#include <algorithm>
#include <mutex>
#include <type_traits>
#include <vector>

#include "contract/helpers.hpp"
#include "device/cpu_clones.hpp"
#include "metrics/ssim/ssim.hpp"
#include "metrics/ssim/ssim_math.hpp"

namespace qc::ssim {
namespace {

/// Holds a window's sums, see add_samples(): 2^16 * 255^2 < 2^32, 2^16 * 65535^2 < 2^53.
template <typename T>
using SumOf = std::conditional_t<sizeof(T) == 1, uint32_t, double>;

/// A value of every quantity for each column.
template <typename Sum>
struct QuantityRow {
    Sum* of[kQuantities];
};

/// What is under the taps, from the first to the last; the window is symmetric.
template <typename Sum, class Read>
QC_INLINE_HELPER Sum under_window(const Read& read) {
    Sum sum = read(kRadius) * static_cast<Sum>(tap(kRadius));
    QC_UNROLL for (int k = 0; k < kRadius; ++k) sum += (read(k) + read(kTaps - 1 - k)) * static_cast<Sum>(tap(k));
    return sum;
}

/// Sums along a row. `values` is room for the samples' quantities, with kRadius zeros on both sides.
template <typename T>
QC_INLINE_HELPER void sum_along(const T* a, const T* b, int width, const QuantityRow<SumOf<T>>& values,
                                const QuantityRow<SumOf<T>>& sums) {
    using Sum = SumOf<T>;
    Sum *const at_a = values.of[kA], *const at_b = values.of[kB], *const square_a = values.of[kSquareA],
               *const product = values.of[kProduct], *const square_b = values.of[kSquareB];
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
        const Sum sample_a = a[x], sample_b = b[x];
        at_a[x] = sample_a;
        at_b[x] = sample_b;
        square_a[x] = sample_a * sample_a;
        product[x] = sample_a * sample_b;
        square_b[x] = sample_b * sample_b;
    }
    for (int q = 0; q < kQuantities; ++q) {
        const Sum* const from = values.of[q] - kRadius;
        Sum* const to = sums.of[q];
#pragma GCC ivdep
        for (int x = 0; x < width; ++x) to[x] = under_window<Sum>([&](int k) { return from[x + k]; });
    }
}

/// Weights of a row of windows.
struct WindowWeights {
    const uint32_t* across; ///< by column
    uint32_t down;
};

/// The terms of a row from the sums of the rows around it.
template <typename Sum>
QC_INLINE_HELPER uint64_t add_terms(const QuantityRow<Sum>* rows, int width, const WindowWeights& weights,
                                    uint32_t peak, const structural::FixedPoint& fixed_point) {
    const structural::FixedPoint fixed = fixed_point;
    const uint32_t *const across = weights.across, down = weights.down;
    QuantityRow<Sum> around[kTaps];
    std::copy_n(rows, kTaps, around);
    uint64_t total = 0;
    for (int x = 0; x < width; ++x) {
        Sum sums[kQuantities];
        QC_UNROLL for (int q = 0; q < kQuantities; ++q) sums[q] =
            under_window<Sum>([&](int k) { return around[k].of[q][x]; });
        total += fixed_term(weighted_index(sums, across[x] * down, peak), fixed);
    }
    return total;
}

QC_CPU_CLONES void sum_row(const uint8_t* a, const uint8_t* b, int width, const QuantityRow<uint32_t>& values,
                           const QuantityRow<uint32_t>& sums) {
    sum_along(a, b, width, values, sums);
}
QC_CPU_CLONES void sum_row(const uint16_t* a, const uint16_t* b, int width, const QuantityRow<double>& values,
                           const QuantityRow<double>& sums) {
    sum_along(a, b, width, values, sums);
}
QC_CPU_CLONES uint64_t terms_of_row(const QuantityRow<uint32_t>* rows, int width, const WindowWeights& weights,
                                    uint32_t peak, const structural::FixedPoint& fixed) {
    return add_terms(rows, width, weights, peak, fixed);
}
QC_CPU_CLONES uint64_t terms_of_row(const QuantityRow<double>* rows, int width, const WindowWeights& weights,
                                    uint32_t peak, const structural::FixedPoint& fixed) {
    return add_terms(rows, width, weights, peak, fixed);
}

/// Rows of all quantities.
template <typename Sum>
class RowBuffers {
public:
    /// @param rows of zeros, with kRadius more on both sides
    RowBuffers(int rows, int width)
        : pitch_(static_cast<size_t>(width) + 2 * kRadius), sums_(static_cast<size_t>(rows) * kQuantities * pitch_) {}

    QuantityRow<Sum> row(int i) {
        QuantityRow<Sum> row;
        for (int q = 0; q < kQuantities; ++q)
            row.of[q] = sums_.data() + static_cast<size_t>(i * kQuantities + q) * pitch_ + kRadius;
        return row;
    }

private:
    size_t pitch_;
    std::vector<Sum> sums_;
};

/// Rows begin to end - 1.
template <typename T>
uint64_t sum_rows(Plane<const T> a, Plane<const T> b, int begin, int end, uint32_t peak,
                  const structural::FixedPoint& fixed) {
    using Sum = SumOf<T>;
    const int width = a.width, height = a.height;
    RowBuffers<Sum> sums(kTaps, width), single(2, width); // row y is number y % kTaps
    const QuantityRow<Sum> values = single.row(0), nothing = single.row(1);
    std::vector<uint32_t> across(static_cast<size_t>(width));
    for (int x = 0; x < width; ++x) across[static_cast<size_t>(x)] = weight_at(x, width);
    const auto take_row = [&](int y) { sum_row(a.row(y), b.row(y), width, values, sums.row(y % kTaps)); };
    for (int y = std::max(begin - kRadius, 0); y < std::min(begin + kRadius, height); ++y) take_row(y);
    uint64_t total = 0;
    for (int y = begin; y < end; ++y) {
        if (y + kRadius < height) take_row(y + kRadius);
        QuantityRow<Sum> rows[kTaps];
        for (int k = 0; k < kTaps; ++k) {
            const int v = y + k - kRadius;
            rows[k] = v >= 0 && v < height ? sums.row(v % kTaps) : nothing;
        }
        total += terms_of_row(rows, width, {across.data(), weight_at(y, height)}, peak, fixed);
    }
    return total;
}

template <typename T>
uint64_t sum_picture(Plane<const T> a, Plane<const T> b, uint32_t peak, const structural::FixedPoint& fixed,
                     Helpers* helpers) {
    constexpr int kSharedRows = 16;
    uint64_t total = 0;
    std::mutex mutex;
    share_runs(helpers, a.height, kSharedRows, [&](int begin, int end) {
        const uint64_t sum = sum_rows(a, b, begin, end, peak, fixed);
        const std::lock_guard lock(mutex);
        total += sum;
    });
    return total;
}

} // namespace

void score_cpu_rows(const FrameGeometry& geometry, const structural::FixedPoint& fixed, const HostPair& pair,
                    std::span<uint64_t> accumulators) {
    const HostPlane &a = pair.reference.plane[0], &b = pair.distorted.plane[0];
    const uint32_t peak = (1u << geometry.depth) - 1;
    accumulators[0] = geometry.sample == SampleType::kU8
                          ? sum_picture(a.as<uint8_t>(), b.as<uint8_t>(), peak, fixed, pair.helpers)
                          : sum_picture(a.as<uint16_t>(), b.as<uint16_t>(), peak, fixed, pair.helpers);
}

} // namespace qc::ssim
