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

template <int kCount>
void add_rows(const Picture& a, const Picture& b, int y, float* sums) {
    const float *rows_a[kCount], *rows_b[kCount];
    for (int i = 0; i < kCount; ++i) {
        rows_a[i] = a.row(y + i);
        rows_b[i] = b.row(y + i);
    }
    for (int x = 0; x < a.width; ++x)
        for (int i = 0; i < kCount; ++i) sums[i] = sums[i] + absolute_difference(rows_a[i][x], rows_b[i][x]);
}

/// The sums of so many rows from a and b on, one after the other.
void sum_rows(const Picture& a, const Picture& b, int y, int rows, float* sum) {
    float sums[kRows] = {};
    if (rows == kRows)
        add_rows<kRows>(a, b, y, sums);
    else
        for (int i = 0; i < rows; ++i) add_rows<1>(a, b, y + i, sums + i);
    for (int i = 0; i < rows; ++i) *sum = *sum + sums[i];
}

/// Along each row, then the rows: the order is part of the definition.
float sum_of_absolute_differences(const Picture& a, const Picture& b) {
    float sum = 0.0f;
    for (int y = 0; y < a.height; y += kRows) sum_rows(a, b, y, std::min(kRows, a.height - y), &sum);
    return sum;
}

/// Blurs and compares a few rows at a time; whole pictures are kept only where they are halved.
template <typename T>
void score_plane(const Plan& plan, const PlanePlan& plane, const HostPlane& earlier, const HostPlane& later,
                 uint64_t* words) {
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
        sum_rows(previous, current, first, rows, &sum);
    }
    words[kFullSize] = accumulator_of(sum);
    if (plan.has_half())
        words[kHalfSize] = accumulator_of(sum_of_absolute_differences(halved(previous, plane), halved(current, plane)));
}

} // namespace

void score_cpu(const Plan& plan, SampleType sample, const HostReference& reference, std::span<uint64_t> accumulators) {
    for (size_t p = 0; p < plan.planes.size(); ++p) {
        const HostPlane& earlier = p == 0 ? reference.history[0] : reference.chroma_history[0][p - 1];
        const HostPlane& later = reference.current.plane[p];
        uint64_t* const words = accumulators.data() + p * kWordsPerPlane;
        if (sample == SampleType::kU8)
            score_plane<uint8_t>(plan, plan.planes[p], earlier, later, words);
        else
            score_plane<uint16_t>(plan, plan.planes[p], earlier, later, words);
    }
}

} // namespace qc::float_motion
