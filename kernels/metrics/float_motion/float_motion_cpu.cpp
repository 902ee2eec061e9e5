// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point motion on the CPU: the readable reference.
#include <algorithm>
#include <cstring>

#include "device/cpu_clones.hpp"
#include "device/image.hpp"
#include "device/row_loops.hpp"
#include "device/row_store.hpp"
#include "device/row_sums.hpp"
#include "device/row_turn.hpp"
#include "metrics/float_motion/float_motion.hpp"

namespace qc::float_motion {
namespace {

using Picture = device::Image<float>;
using Rows = device::RowStore<float>;
static_assert(Rows::kMargin >= kReach);

QC_CPU_CLONES void normalise_row(const uint8_t* samples, float scale, int width, float* __restrict out) {
    for (int x = 0; x < width; ++x) out[x] = normalised(samples[x], scale);
}
QC_CPU_CLONES void normalise_row(const uint16_t* samples, float scale, int width, float* __restrict out) {
    for (int x = 0; x < width; ++x) out[x] = normalised(samples[x], scale);
}

/// The last rows of a plane, normalised: row y in place y % kTaps.
template <typename T>
class NormalisedRows {
public:
    NormalisedRows(const Plane<const T>& plane, const PlanePlan& plan, float scale)
        : plane_(plane), plan_(plan), scale_(scale) {
        rows_.open(1, plan.width, kTaps);
    }

    /// Row y, and those above it, are there; so are kTaps - 1 of them.
    void reach(int y) {
        for (; next_ <= y && next_ < plan_.height; ++next_)
            normalise_row(plane_.row(next_), scale_, plan_.width, rows_.row(0, next_));
    }
    const float* row(int y) { return rows_.row(0, y); }

private:
    const Plane<const T> plane_;
    const PlanePlan& plan_;
    const float scale_;
    int next_ = 0;
    Rows rows_;
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
        : plan_(plan), taps_(options.taps), source_(plane.as<T>(), plan, options.sample_scale) {
        filtered_.open(1, plan.width, 1);
    }

    void next(float* out) {
        float* const filtered = filtered_.row(0, 0);
        source_.reach(y_ + kReach);
        const float* rows[kTaps];
        for (int tap = 0; tap < kTaps; ++tap) rows[tap] = source_.row(mirrored_inside(y_ - kReach + tap, plan_.height));
        blur_columns(rows, taps_, plan_.width, filtered);
        for (int i = 1; i <= kReach; ++i) {
            filtered[-i] = filtered[mirrored_inside(-i, plan_.width)];
            filtered[plan_.width - 1 + i] = filtered[mirrored_inside(plan_.width - 1 + i, plan_.width)];
        }
        blur_row(filtered - kReach, taps_, plan_.width, out);
        ++y_;
    }

private:
    const PlanePlan& plan_;
    const BlurTaps taps_;
    NormalisedRows<T> source_;
    Rows filtered_;
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
constexpr int kRows = device::kTurned;

/// Columns begin to width - 1 of a row. @param shares null: each place counts whole
void add_row(const float* a, const float* b, const float* shares, int begin, int width, float* sum) {
    for (int x = begin; x < width; ++x) {
        const float term = absolute_difference(a[x], b[x]);
        *sum = *sum + (shares != nullptr ? term * shares[x] : term);
    }
}

/// As many columns of kRows rows as blocks have. @return how many they are
template <bool kWeighted>
QC_INLINE_HELPER int add_blocks(const float* const* a, const float* const* b, const float* const* shares, int width,
                                float* sums) {
    using Row = device::TurnedRow;
    Row sum{};
    int x = 0;
    for (; x + kRows <= width; x += kRows) {
        Row block[kRows];
        QC_UNROLL for (int row = 0; row < kRows; ++row) {
            Row of_a, of_b, share;
            device::load(a[row] + x, &of_a);
            device::load(b[row] + x, &of_b);
            const Row difference = of_a - of_b;
            block[row] = difference < 0.0f ? -difference : difference;
            if (!kWeighted) continue;
            device::load(shares[row] + x, &share);
            block[row] = block[row] * share;
        }
        device::turn(block);
        QC_UNROLL for (int column = 0; column < kRows; ++column) sum = sum + block[column];
    }
    std::memcpy(sums, &sum, sizeof sum);
    return x;
}
QC_CPU_CLONES int add_plain_blocks(const float* const* a, const float* const* b, int width, float* sums) {
    return add_blocks<false>(a, b, nullptr, width, sums);
}
QC_CPU_CLONES int add_shared_blocks(const float* const* a, const float* const* b, const float* const* shares, int width,
                                    float* sums) {
    return add_blocks<true>(a, b, shares, width, sums);
}

/// The sums of up to kRows rows, from row y of the pictures and row share_y of the shares on, one after the other.
/// @param shares of the whole plane; without weights it has none
void sum_rows(const Picture& a, const Picture& b, int y, int rows, const Picture& shares, int share_y, float* sum) {
    const bool has_weights = !shares.samples.empty();
    const float *rows_a[kRows], *rows_b[kRows], *rows_of_shares[kRows];
    for (int i = 0; i < rows; ++i) {
        rows_a[i] = a.row(y + i);
        rows_b[i] = b.row(y + i);
        rows_of_shares[i] = has_weights ? shares.row(share_y + i) : nullptr;
    }
    float sums[kRows] = {};
    int done = 0;
    if (rows == kRows)
        done = has_weights ? add_shared_blocks(rows_a, rows_b, rows_of_shares, a.width, sums)
                           : add_plain_blocks(rows_a, rows_b, a.width, sums);
    for (int i = 0; i < rows; ++i) {
        add_row(rows_a[i], rows_b[i], rows_of_shares[i], done, a.width, sums + i);
        *sum = *sum + sums[i];
    }
}

/// Along each row, then the rows: the order is part of the definition.
float sum_of_absolute_differences(const Picture& a, const Picture& b, const Picture& shares) {
    float sum = 0.0f;
    for (int y = 0; y < a.height; y += kRows) sum_rows(a, b, y, std::min(kRows, a.height - y), shares, y, &sum);
    return sum;
}

/// The shares of a plane's places, whose weights are added up in *sum; none without weights.
Picture shares_of(const Plan& plan, const HostPlane& sample_weights, const device::WeightFootprint& footprint,
                  int width, int height, uint64_t* sum) {
    if (!plan.has_weights) return {};
    Picture shares(width, height);
    for (int y = 0; y < height; ++y) *sum += footprint.share_row(sample_weights, y, width, shares.row(y));
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
        const Picture shares[kWordsPerPlane] = {shares_of(plan, reference.weights, plane.footprint[kFullSize],
                                                          plane.width, plane.height, &weights[kFullSize]),
                                                shares_of(plan, reference.weights, plane.footprint[kHalfSize],
                                                          plane.half_width, plane.half_height, &weights[kHalfSize])};
        if (plan.has_weights) std::copy(std::begin(weights), std::end(weights), words + kAccumulatorWords);
        if (earlier.data == nullptr) continue;
        if (sample == SampleType::kU8)
            score_plane<uint8_t>(plan, plane, earlier, later, shares, words);
        else
            score_plane<uint16_t>(plan, plane, earlier, later, shares, words);
    }
}

} // namespace qc::float_motion
