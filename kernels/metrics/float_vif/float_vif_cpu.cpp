// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point VIF on the CPU: the readable reference. Row by row; what vectorises runs across the columns of a row,
// where the order of operations of a pixel is not touched.
#include <algorithm>
#include <utility>
#include <vector>

#include "contract/helpers.hpp"
#include "device/centred_rows.hpp"
#include "device/cpu_clones.hpp"
#include "device/image.hpp"
#include "device/ordered_rows.hpp"
#include "device/row_sums.hpp"
#include "device/row_vector.hpp"
#include "device/unroll.hpp"
#include "metrics/float_vif/float_vif.hpp"

namespace qc::float_vif {
namespace {

using device::CentredRows;
using Picture = device::Image<float>;
using Source = device::CentredSource;

Picture picture_of(PlanSize size) {
    return {size.width, size.height};
}

// ---- scale 0 --------------------------------------------------------------------------------------------------------

Picture centred_picture(const Source& source) {
    Picture picture(source.width(), source.height());
    for (int y = 0; y < picture.height; ++y) source.read(y, picture.row(y));
    return picture;
}

template <Resize kMethod>
Picture resized_picture(const Plan& plan, const Picture& source) {
    Picture picture = picture_of(plan.scaled[0]);
    const auto at = [&](int x, int y) { return source.row(y)[x]; };
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x)
            picture.row(y)[x] = resized<kMethod>(at, plan.columns[x], plan.rows[y], source.width, source.height);
    return picture;
}

/// Precondition: there is resizing.
Picture scale_0_picture(const Plan& plan, const Source& source) {
    Picture picture = centred_picture(source);
    switch (plan.resize) {
    case Resize::kNearest:
        return resized_picture<Resize::kNearest>(plan, picture);
    case Resize::kBilinear:
        return resized_picture<Resize::kBilinear>(plan, picture);
    case Resize::kBicubic:
        return resized_picture<Resize::kBicubic>(plan, picture);
    case Resize::kLanczos4:
        return resized_picture<Resize::kLanczos4>(plan, picture);
    case Resize::kNone:
        break;
    }
    return picture;
}

// ---- filters --------------------------------------------------------------------------------------------------------

/// What a window is run over: rows[k] with weight[k], in the order of k.
struct WindowRows {
    const float* rows[2 * kMaxRadius + 1];
    float weight[2 * kMaxRadius + 1];
    int count;
};

/// Sums stay in registers from the first tap to the last.
template <typename Cpu>
QC_INLINE_HELPER void filter_values_on(const WindowRows& in, int width, float* __restrict out) {
    using Vector = device::RowVector<float, Cpu>;
    constexpr int kVectors = 4, kColumns = Vector::kLanes;
    int x = 0;
    for (; x + kVectors * kColumns <= width; x += kVectors * kColumns) {
        typename Vector::Type sums[kVectors] = {};
        for (int k = 0; k < in.count; ++k) {
            QC_UNROLL for (int i = 0; i < kVectors; ++i) {
                typename Vector::Type values;
                Vector::load(in.rows[k] + x + i * kColumns, &values);
                sums[i] = sums[i] + in.weight[k] * values;
            }
        }
        QC_UNROLL for (int i = 0; i < kVectors; ++i) Vector::store(sums[i], out + x + i * kColumns);
    }
    for (; x < width; ++x) {
        float sum = 0.0f;
        for (int k = 0; k < in.count; ++k) sum = sum + in.weight[k] * in.rows[k][x];
        out[x] = sum;
    }
}
QC_CPU_VERSIONS(filter_values, (const WindowRows& in, int width, float* out), (in, width, out))

/// A row with room for the window on both sides.
class PaddedRow {
public:
    explicit PaddedRow(int width) : width_(width), values_(static_cast<size_t>(width) + 2 * kMaxRadius) {}

    float* data() { return values_.data() + kMaxRadius; }

    /// Filters the row horizontally.
    void filter(const FilterWindow& window, float* out) {
        float* const row = data();
        for (int i = 1; i <= window.radius; ++i) {
            row[-i] = row[i];
            row[width_ - 1 + i] = row[width_ - 1 - i];
        }
        WindowRows in = window_rows(window);
        for (int k = 0; k < in.count; ++k) in.rows[k] = row - window.radius + k;
        filter_values(in, width_, out);
    }

    /// Weights alone.
    static WindowRows window_rows(const FilterWindow& window) {
        WindowRows in;
        in.count = 2 * window.radius + 1;
        for (int k = 0; k < in.count; ++k) in.weight[k] = window.tap(k);
        return in;
    }

private:
    int width_;
    std::vector<float> values_;
};

QC_CPU_CLONES void multiply_row(const float* a, const float* b, int width, float* __restrict out) {
    for (int x = 0; x < width; ++x) out[x] = a[x] * b[x];
}

/// Rows of the products of two pictures; those under a window stay.
class ProductRows {
public:
    ProductRows(CentredRows& a, CentredRows& b, int held)
        : a_(a), b_(b), held_(static_cast<size_t>(held), -1), rows_(a.width(), held) {}

    int width() const { return a_.width(); }
    int height() const { return a_.height(); }
    const float* row(int y) {
        const int place = y % rows_.height;
        if (int& there = held_[static_cast<size_t>(place)]; there != y) {
            multiply_row(a_.row(y), b_.row(y), rows_.width, rows_.row(place));
            there = y;
        }
        return rows_.row(place);
    }

private:
    CentredRows &a_, &b_;
    std::vector<int> held_; ///< which row is in each place of rows_
    Picture rows_;
};

/// Row y of a picture filtered in both directions.
template <class Rows>
void filter_row(Rows& source, const FilterWindow& window, int y, PaddedRow* work, float* out) {
    WindowRows in = PaddedRow::window_rows(window);
    for (int k = 0; k < in.count; ++k)
        in.rows[k] = source.row(mirror_without_edges(y - window.radius + k, source.height()));
    filter_values(in, source.width(), work->data());
    work->filter(window, out);
}

/// The picture at the next scale: filtered with that scale's window, every second row and column, odd ends dropped.
Picture decimated(const Source& source, const FilterWindow& window, Helpers* helpers) {
    constexpr int kSharedRows = 8;
    const int width = source.width();
    Picture next(width / 2, source.height() / 2);
    share_runs(helpers, next.height, kSharedRows, [&](int begin, int end) {
        CentredRows rows(source, 2 * window.radius + 1);
        PaddedRow work(width);
        std::vector<float> filtered(static_cast<size_t>(width));
        for (int y = begin; y < end; ++y) {
            filter_row(rows, window, 2 * y, &work, filtered.data());
            for (int x = 0; x < next.width; ++x) next.row(y)[x] = filtered[2 * static_cast<size_t>(x)];
        }
    });
    return next;
}

// ---- statistic ------------------------------------------------------------------------------------------------------

/// What the filters leave of one row.
struct MomentRows {
    explicit MomentRows(int width)
        : mean_1(static_cast<size_t>(width)), mean_2(mean_1), square_1(mean_1), square_2(mean_1), product_12(mean_1) {}

    std::vector<float> mean_1, mean_2, square_1, square_2, product_12;
};

/// information() of a row. Computes all that any pixel may need and selects, so that it is vectorised.
QC_CPU_CLONES void information_row(const MomentRows& moments, int width, const NoiseModel& model, float* numerators,
                                   float* denominators) {
    const NoiseModel noise = model; // lets the compiler know that writing results does not change it
    const float *mean_1 = moments.mean_1.data(), *mean_2 = moments.mean_2.data();
    const float *square_1 = moments.square_1.data(), *square_2 = moments.square_2.data();
    const float* product_12 = moments.product_12.data();
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
        const Information added =
            information_unbranched({mean_1[x], mean_2[x], square_1[x], square_2[x], product_12[x]}, noise);
        numerators[x] = added.numerator;
        denominators[x] = added.denominator;
    }
}

/// What rows add up to.
struct RowSum {
    Information information{0.0f, 0.0f};
    uint64_t weights = 0; ///< with weights
};

/// What a scale's pixels count by; data null: each counts whole.
struct ScaleWeights {
    HostPlane plane{};
    device::WeightFootprint footprint{};
};

/// Sums of rows begin .. end - 1, each from the first to the last column; those of some rows are made side by side.
void sum_rows(const Source& reference_source, const Source& distorted_source, const FilterWindow& window,
              const NoiseModel& noise, const ScaleWeights& sample_weights, int begin, int end, RowSum* sums) {
    constexpr int kTogether = 4;
    const int taps = 2 * window.radius + 1;
    CentredRows reference(reference_source, taps), distorted(distorted_source, taps);
    ProductRows aa(reference, reference, taps), bb(distorted, distorted, taps), ab(reference, distorted, taps);
    const int width = reference.width();
    PaddedRow work(width);
    MomentRows moments(width);
    Picture terms(width, 2 * kTogether); // numerators and denominators in turn
    std::vector<float> shares(static_cast<size_t>(width));
    const float* rows_of_terms[2 * kTogether];
    for (int i = 0; i < 2 * kTogether; ++i) rows_of_terms[i] = terms.row(i);
    for (int first = begin; first < end; first += kTogether) {
        const int count = std::min(kTogether, end - first);
        for (int i = 0; i < count; ++i) {
            const int y = first + i;
            filter_row(reference, window, y, &work, moments.mean_1.data());
            filter_row(distorted, window, y, &work, moments.mean_2.data());
            filter_row(aa, window, y, &work, moments.square_1.data());
            filter_row(bb, window, y, &work, moments.square_2.data());
            filter_row(ab, window, y, &work, moments.product_12.data());
            information_row(moments, width, noise, terms.row(2 * i), terms.row(2 * i + 1));
            if (sample_weights.plane.data != nullptr)
                sums[y].weights = sample_weights.footprint.weigh_row(sample_weights.plane, y, width, shares.data(),
                                                                     terms.row(2 * i), terms.row(2 * i + 1));
        }
        float of_rows[2 * kTogether];
        device::sum_rows_in_order<2 * kTogether>(rows_of_terms, width, of_rows);
        for (int i = 0; i < count; ++i) sums[first + i].information = {of_rows[2 * i], of_rows[2 * i + 1]};
    }
}

/// Along the rows, which idle threads may take, then the rows.
RowSum score_scale(const Source& reference, const Source& distorted, const FilterWindow& window,
                   const NoiseModel& noise, const ScaleWeights& sample_weights, Helpers* helpers) {
    constexpr int kSharedRows = 8;
    std::vector<RowSum> rows(static_cast<size_t>(reference.height()));
    share_runs(helpers, reference.height(), kSharedRows, [&](int begin, int end) {
        sum_rows(reference, distorted, window, noise, sample_weights, begin, end, rows.data());
    });
    RowSum sum;
    for (const RowSum& row : rows) {
        sum.information = {sum.information.numerator + row.information.numerator,
                           sum.information.denominator + row.information.denominator};
        sum.weights += row.weights;
    }
    return sum;
}

} // namespace

void score_cpu(const Plan& plan, const FrameGeometry& geometry, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    Picture pictures[2]; // where scale 0 is resized, and from scale 1 on
    const CentredLuma luma(geometry.depth);
    Source reference(pair.reference.plane[0], geometry.sample, luma);
    Source distorted(pair.distorted.plane[0], geometry.sample, luma);
    const auto go_on_with = [&](Picture next_reference, Picture next_distorted) {
        pictures[0] = std::move(next_reference);
        pictures[1] = std::move(next_distorted);
        reference = Source(pictures[0]);
        distorted = Source(pictures[1]);
    };
    if (plan.resize != Resize::kNone) go_on_with(scale_0_picture(plan, reference), scale_0_picture(plan, distorted));
    for (int s = 0; s < kScales; ++s) {
        if (s > 0)
            go_on_with(decimated(reference, plan.window[s], pair.helpers),
                       decimated(distorted, plan.window[s], pair.helpers));
        if (s == 0 && plan.skip_scale_0) continue;
        const ScaleWeights sample_weights =
            plan.has_weights ? ScaleWeights{pair.weights, plan.footprint(s)} : ScaleWeights();
        const RowSum sum = score_scale(reference, distorted, plan.window[s], plan.noise, sample_weights, pair.helpers);
        accumulators[s * kWordsPerScale + kNumerator] = accumulator_of(sum.information.numerator);
        accumulators[s * kWordsPerScale + kDenominator] = accumulator_of(sum.information.denominator);
        if (plan.has_weights) accumulators[kAccumulatorWords + s] = sum.weights;
    }
}

} // namespace qc::float_vif
