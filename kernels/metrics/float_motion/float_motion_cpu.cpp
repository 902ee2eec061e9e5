// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point motion on the CPU: the readable reference.
#include <algorithm>
#include <vector>

#include "device/cpu_clones.hpp"
#include "device/image.hpp"
#include "device/row_sums.hpp"
#include "metrics/float_motion/float_motion.hpp"

namespace qc::float_motion {
namespace {

using Picture = device::Image<float>;

/// The last rows of a plane, normalised: row y in place y % kTaps.
template <typename T>
class NormalisedRows {
public:
    NormalisedRows(const Plane<const T>& plane, const PlanePlan& plan, float scale)
        : plane_(plane), plan_(plan), scale_(scale), rows_(plan.width, kTaps) {}

    /// Row y, and those above it, are there; so are kTaps - 1 of them.
    void reach(int y) {
        for (; next_ <= y && next_ < plan_.height; ++next_) {
            const T* const samples = plane_.row(next_);
            float* const out = rows_.row(next_ % kTaps);
            for (int x = 0; x < plan_.width; ++x) out[x] = normalised(samples[x], scale_);
        }
    }
    const float* row(int y) const { return rows_.row(y % kTaps); }

private:
    const Plane<const T> plane_;
    const PlanePlan& plan_;
    const float scale_;
    int next_ = 0;
    Picture rows_;
};

QC_CPU_CLONES void blur_columns(const float* const rows[kTaps], const BlurTaps& taps, int width,
                                float* __restrict out) {
    const float *first = rows[0], *second = rows[1], *middle = rows[2], *fourth = rows[3], *last = rows[4];
    for (int x = 0; x < width; ++x) out[x] = blurred(first[x], second[x], middle[x], fourth[x], last[x], taps);
}

/// `extended` starts kReach samples left of the row.
QC_CPU_CLONES void blur_row(const float* __restrict extended, const BlurTaps& taps, int width, float* __restrict out) {
    for (int x = 0; x < width; ++x)
        out[x] = blurred(extended[x], extended[x + 1], extended[x + 2], extended[x + 3], extended[x + 4], taps);
}

/// Blurred rows of a plane, from the first to the last.
template <typename T>
class BlurredRows {
public:
    BlurredRows(const HostPlane& plane, const PlanePlan& plan, const Plan& options)
        : plan_(plan), taps_(options.taps), source_(plane.as<T>(), plan, options.sample_scale),
          extended_(static_cast<size_t>(plan.width) + 2 * kReach) {}

    void next(float* out) {
        float* const filtered = extended_.data() + kReach;
        source_.reach(y_ + kReach);
        const float* rows[kTaps];
        for (int tap = 0; tap < kTaps; ++tap) rows[tap] = source_.row(mirrored_inside(y_ - kReach + tap, plan_.height));
        blur_columns(rows, taps_, plan_.width, filtered);
        for (int i = 1; i <= kReach; ++i) {
            filtered[-i] = filtered[mirrored_inside(-i, plan_.width)];
            filtered[plan_.width - 1 + i] = filtered[mirrored_inside(plan_.width - 1 + i, plan_.width)];
        }
        blur_row(extended_.data(), taps_, plan_.width, out);
        ++y_;
    }

private:
    const PlanePlan& plan_;
    const BlurTaps taps_;
    NormalisedRows<T> source_;
    std::vector<float> extended_;
    int y_ = 0;
};

/// Of the half size: every sample is a mean of up to four.
Picture halved(const Picture& picture, const PlanePlan& plan) {
    Picture half(plan.half_width, plan.half_height);
    const auto at = [&](int x, int y) { return picture.row(y)[x]; };
    for (int y = 0; y < half.height; ++y)
        for (int x = 0; x < half.width; ++x)
            half.row(y)[x] =
                resized<Resize::kBilinear>(at, plan.columns[x], plan.rows[y], picture.width, picture.height);
    return half;
}

/// Rows at once: each has a sum of its own, whose additions wait for each other.
constexpr int kRows = 8;

/// @param shares of the places of row y and of those below it; null: each counts whole
template <int kCount, bool kMasked>
void add_rows(const Picture& a, const Picture& b, int y, const float* shares, float* sums) {
    const float *rows_a[kCount], *rows_b[kCount];
    for (int i = 0; i < kCount; ++i) {
        rows_a[i] = a.row(y + i);
        rows_b[i] = b.row(y + i);
    }
    for (int x = 0; x < a.width; ++x)
        for (int i = 0; i < kCount; ++i) {
            const float term = absolute_difference(rows_a[i][x], rows_b[i][x]);
            sums[i] = sums[i] + (kMasked ? term * shares[static_cast<ptrdiff_t>(i) * a.width + x] : term);
        }
}

/// The sums of so many rows from a and b on, one after the other.
template <bool kMasked>
void sum_rows(const Picture& a, const Picture& b, int y, int rows, const float* shares, float* sum) {
    float sums[kRows] = {};
    if (rows == kRows)
        add_rows<kRows, kMasked>(a, b, y, shares, sums);
    else
        for (int i = 0; i < rows; ++i)
            add_rows<1, kMasked>(a, b, y + i, shares + (kMasked ? static_cast<ptrdiff_t>(i) * a.width : 0), sums + i);
    for (int i = 0; i < rows; ++i) *sum = *sum + sums[i];
}

/// @param shares of the whole plane; without a mask it has none
void sum_rows(const Picture& a, const Picture& b, int y, int rows, const Picture& shares, int share_row, float* sum) {
    if (shares.samples.empty())
        sum_rows<false>(a, b, y, rows, nullptr, sum);
    else
        sum_rows<true>(a, b, y, rows, shares.row(share_row), sum);
}

/// Along each row, then the rows: the order is part of the definition.
float sum_of_absolute_differences(const Picture& a, const Picture& b, const Picture& shares) {
    float sum = 0.0f;
    for (int y = 0; y < a.height; y += kRows) sum_rows(a, b, y, std::min(kRows, a.height - y), shares, y, &sum);
    return sum;
}

/// The shares of a plane's places, whose weights are added up in *sum; none without a mask.
Picture shares_of(const Plan& plan, const HostPlane& mask, const device::MaskFootprint& footprint, int width,
                  int height, uint64_t* sum) {
    if (!plan.masked) return {};
    Picture shares(width, height);
    for (int y = 0; y < height; ++y) *sum += footprint.share_row(mask, y, width, shares.row(y));
    return shares;
}

/// Blurs and compares a few rows at a time; whole pictures are kept only where they are halved.
template <typename T>
void score_plane(const Plan& plan, const PlanePlan& plane, const HostPlane& earlier, const HostPlane& later,
                 const Picture (&shares)[kWordsPerPlane], uint64_t* words) {
    BlurredRows<T> earlier_rows(earlier, plane, plan), later_rows(later, plane, plan);
    const int kept = plan.has_half() ? plane.height : std::min(kRows, plane.height);
    Picture previous(plane.width, kept), current(plane.width, kept);
    float sum = 0.0f;
    for (int y = 0; y < plane.height; y += kRows) {
        const int rows = std::min(kRows, plane.height - y), first = plan.has_half() ? y : 0;
        for (int i = 0; i < rows; ++i) {
            earlier_rows.next(previous.row(first + i));
            later_rows.next(current.row(first + i));
        }
        sum_rows(previous, current, first, rows, shares[kFullSize], y, &sum);
    }
    words[kFullSize] = accumulator_of(sum);
    if (plan.has_half())
        words[kHalfSize] = accumulator_of(
            sum_of_absolute_differences(halved(previous, plane), halved(current, plane), shares[kHalfSize]));
}

} // namespace

void score_cpu(const Plan& plan, SampleType sample, const HostReference& reference, std::span<uint64_t> accumulators) {
    for (size_t p = 0; p < plan.planes.size(); ++p) {
        const HostPlane& earlier = p == 0 ? reference.history[0] : reference.chroma_history[0][p - 1];
        const HostPlane& later = reference.current.plane[p];
        const PlanePlan& plane = plan.planes[p];
        uint64_t* const words = accumulators.data() + p * kWordsPerPlane;
        uint64_t weights[kWordsPerPlane] = {};
        const Picture shares[kWordsPerPlane] = {
            shares_of(plan, reference.mask, plane.footprint[kFullSize], plane.width, plane.height, &weights[kFullSize]),
            shares_of(plan, reference.mask, plane.footprint[kHalfSize], plane.half_width, plane.half_height,
                      &weights[kHalfSize])};
        if (plan.masked) std::copy(std::begin(weights), std::end(weights), words + kAccumulatorWords);
        if (earlier.data == nullptr) continue;
        if (sample == SampleType::kU8)
            score_plane<uint8_t>(plan, plane, earlier, later, shares, words);
        else
            score_plane<uint16_t>(plan, plane, earlier, later, shares, words);
    }
}

} // namespace qc::float_motion
