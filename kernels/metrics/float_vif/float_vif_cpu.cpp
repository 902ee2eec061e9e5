// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point VIF on the CPU: the readable reference. Row by row; what vectorises runs across the columns of a row,
// where the order of operations of a pixel is not touched.
#include <cstring>
#include <vector>

#include "contract/helpers.hpp"
#include "device/cpu_clones.hpp"
#include "device/image.hpp"
#include "device/row_sums.hpp"
#include "metrics/float_vif/float_vif.hpp"

namespace qc::float_vif {
namespace {

using Picture = device::Image<float>;

Picture picture_of(PlanSize size) {
    return {size.width, size.height};
}

// ---- scale 0 --------------------------------------------------------------------------------------------------------

template <typename T>
Picture normalised_picture(const Plan& plan, const Plane<const T>& plane) {
    Picture picture = picture_of(plan.source);
    for (int y = 0; y < picture.height; ++y) {
        const T* const samples = plane.row(y);
        float* const out = picture.row(y);
        for (int x = 0; x < picture.width; ++x) out[x] = normalised(samples[x], plan.sample_scale);
    }
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

Picture scale_0_picture(const Plan& plan, const FrameGeometry& geometry, const HostPlane& plane) {
    Picture picture = geometry.sample == SampleType::kU8 ? normalised_picture(plan, plane.as<uint8_t>())
                                                         : normalised_picture(plan, plane.as<uint16_t>());
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

/// Sixteen neighbouring columns.
typedef float Columns __attribute__((vector_size(64)));
constexpr int kColumns = 16;

QC_INLINE_HELPER void load(const float* from, Columns* to) {
    std::memcpy(to, from, sizeof *to);
}

/// What a window is run over: rows[k], or rows[k] * others[k], with weight[k], in the order of k.
struct WindowRows {
    const float* rows[2 * kMaxRadius + 1];
    const float* others[2 * kMaxRadius + 1];
    float weight[2 * kMaxRadius + 1];
    int count;
};

/// Sums stay in registers from the first tap to the last.
template <bool kProducts>
QC_INLINE_HELPER void filter_columns(const WindowRows& in, int width, float* __restrict out) {
    constexpr int kVectors = 4;
    int x = 0;
    for (; x + kVectors * kColumns <= width; x += kVectors * kColumns) {
        Columns sums[kVectors] = {};
        for (int k = 0; k < in.count; ++k) {
            QC_UNROLL for (int i = 0; i < kVectors; ++i) {
                Columns values, others;
                load(in.rows[k] + x + i * kColumns, &values);
                if constexpr (kProducts) {
                    load(in.others[k] + x + i * kColumns, &others);
                    values = values * others;
                }
                sums[i] = sums[i] + in.weight[k] * values;
            }
        }
        std::memcpy(out + x, sums, sizeof sums);
    }
    for (; x < width; ++x) {
        float sum = 0.0f;
        for (int k = 0; k < in.count; ++k)
            sum = sum + in.weight[k] * (kProducts ? in.rows[k][x] * in.others[k][x] : in.rows[k][x]);
        out[x] = sum;
    }
}

QC_CPU_CLONES void filter_values(const WindowRows& in, int width, float* out) {
    filter_columns<false>(in, width, out);
}

QC_CPU_CLONES void filter_products(const WindowRows& in, int width, float* out) {
    filter_columns<true>(in, width, out);
}

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

/// Row y of a picture filtered in both directions.
void filter_row(const Picture& picture, const FilterWindow& window, int y, PaddedRow* work, float* out) {
    WindowRows in = PaddedRow::window_rows(window);
    for (int k = 0; k < in.count; ++k)
        in.rows[k] = picture.row(mirror_without_edges(y - window.radius + k, picture.height));
    filter_values(in, picture.width, work->data());
    work->filter(window, out);
}

/// Row y of the product of two pictures, filtered in both directions.
void filter_product_row(const Picture& a, const Picture& b, const FilterWindow& window, int y, PaddedRow* work,
                        float* out) {
    WindowRows in = PaddedRow::window_rows(window);
    for (int k = 0; k < in.count; ++k) {
        const int source_y = mirror_without_edges(y - window.radius + k, a.height);
        in.rows[k] = a.row(source_y);
        in.others[k] = b.row(source_y);
    }
    filter_products(in, a.width, work->data());
    work->filter(window, out);
}

/// The picture at the next scale: filtered with that scale's window, every second row and column, odd ends dropped.
Picture decimated(const Picture& picture, const FilterWindow& window, Helpers* helpers) {
    constexpr int kSharedRows = 8;
    Picture next(picture.width / 2, picture.height / 2);
    share_runs(helpers, next.height, kSharedRows, [&](int begin, int end) {
        PaddedRow work(picture.width);
        std::vector<float> filtered(static_cast<size_t>(picture.width));
        for (int y = begin; y < end; ++y) {
            filter_row(picture, window, 2 * y, &work, filtered.data());
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

/// The sum over a row, from the first to the last.
float sum_of(const std::vector<float>& terms) {
    float sum = 0.0f;
    for (const float term : terms) sum = sum + term;
    return sum;
}

/// Multiplies by the shares of row y. @return the sum of its weights
uint64_t weigh_row(const device::MaskFootprint& footprint, const HostPlane& mask, int y, std::vector<float>* shares,
                   std::vector<float>* numerators, std::vector<float>* denominators) {
    const size_t width = numerators->size();
    shares->resize(width);
    const uint64_t weights = footprint.share_row(mask, y, static_cast<int>(width), shares->data());
    for (size_t x = 0; x < width; ++x) {
        (*numerators)[x] = (*numerators)[x] * (*shares)[x];
        (*denominators)[x] = (*denominators)[x] * (*shares)[x];
    }
    return weights;
}

/// What rows add up to.
struct RowSum {
    Information information{0.0f, 0.0f};
    uint64_t weights = 0; ///< under a mask
};

/// What a scale's pixels count by; data null: each counts whole.
struct ScaleMask {
    HostPlane mask{};
    device::MaskFootprint footprint{};
};

/// Sums of rows begin .. end - 1.
void sum_rows(const Picture& reference, const Picture& distorted, const FilterWindow& window, const NoiseModel& noise,
              const ScaleMask& mask, int begin, int end, RowSum* sums) {
    const int width = reference.width;
    PaddedRow work(width);
    MomentRows moments(width);
    std::vector<float> numerators(static_cast<size_t>(width)), denominators(static_cast<size_t>(width)), shares;
    for (int y = begin; y < end; ++y) {
        filter_row(reference, window, y, &work, moments.mean_1.data());
        filter_row(distorted, window, y, &work, moments.mean_2.data());
        filter_product_row(reference, reference, window, y, &work, moments.square_1.data());
        filter_product_row(distorted, distorted, window, y, &work, moments.square_2.data());
        filter_product_row(reference, distorted, window, y, &work, moments.product_12.data());
        information_row(moments, width, noise, numerators.data(), denominators.data());
        if (mask.mask.data != nullptr)
            sums[y].weights = weigh_row(mask.footprint, mask.mask, y, &shares, &numerators, &denominators);
        sums[y].information = {sum_of(numerators), sum_of(denominators)};
    }
}

/// Along the rows, which idle threads may take, then the rows.
RowSum score_scale(const Picture& reference, const Picture& distorted, const FilterWindow& window,
                   const NoiseModel& noise, const ScaleMask& mask, Helpers* helpers) {
    constexpr int kSharedRows = 8;
    std::vector<RowSum> rows(static_cast<size_t>(reference.height));
    share_runs(helpers, reference.height, kSharedRows, [&](int begin, int end) {
        sum_rows(reference, distorted, window, noise, mask, begin, end, rows.data());
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
    Picture reference = scale_0_picture(plan, geometry, pair.reference.plane[0]);
    Picture distorted = scale_0_picture(plan, geometry, pair.distorted.plane[0]);
    for (int s = 0; s < kScales; ++s) {
        if (s > 0) {
            reference = decimated(reference, plan.window[s], pair.helpers);
            distorted = decimated(distorted, plan.window[s], pair.helpers);
        }
        if (s == 0 && plan.skip_scale_0) continue;
        const ScaleMask mask = plan.masked ? ScaleMask{pair.mask, plan.footprint(s)} : ScaleMask();
        const RowSum sum = score_scale(reference, distorted, plan.window[s], plan.noise, mask, pair.helpers);
        accumulators[s * kWordsPerScale + kNumerator] = accumulator_of(sum.information.numerator);
        accumulators[s * kWordsPerScale + kDenominator] = accumulator_of(sum.information.denominator);
        if (plan.masked) accumulators[kAccumulatorWords + s] = sum.weights;
    }
}

} // namespace qc::float_vif
