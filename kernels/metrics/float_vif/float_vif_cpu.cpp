// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point VIF on the CPU: the readable reference. Row by row; what vectorises runs across the columns of a row,
// where the order of operations of a pixel is not touched.
#include <algorithm>
#include <vector>

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

/// sum += weight * a
QC_CPU_CLONES void add_weighted(const float* __restrict a, float weight, float* __restrict sum, int width) {
    for (int x = 0; x < width; ++x) sum[x] = sum[x] + weight * a[x];
}

/// sum += weight * (a * b)
QC_CPU_CLONES void add_weighted_product(const float* a, const float* b, float weight, float* __restrict sum,
                                        int width) {
    for (int x = 0; x < width; ++x) sum[x] = sum[x] + weight * (a[x] * b[x]);
}

/// A row with room for the window on both sides.
class PaddedRow {
public:
    explicit PaddedRow(int width) : width_(width), values_(static_cast<size_t>(width) + 2 * kMaxRadius) {}

    float* data() { return values_.data() + kMaxRadius; }
    void clear() { values_.assign(values_.size(), 0.0f); }

    /// Filters the row horizontally.
    void filter(const FilterWindow& window, float* out) {
        float* const row = data();
        for (int i = 1; i <= window.radius; ++i) {
            row[-i] = row[i];
            row[width_ - 1 + i] = row[width_ - 1 - i];
        }
        std::fill_n(out, width_, 0.0f);
        for (int k = 0; k <= 2 * window.radius; ++k) add_weighted(row - window.radius + k, window.tap(k), out, width_);
    }

private:
    int width_;
    std::vector<float> values_;
};

/// Row y of a picture filtered in both directions.
void filter_row(const Picture& picture, const FilterWindow& window, int y, PaddedRow* work, float* out) {
    work->clear();
    for (int k = 0; k <= 2 * window.radius; ++k)
        add_weighted(picture.row(mirror_without_edges(y - window.radius + k, picture.height)), window.tap(k),
                     work->data(), picture.width);
    work->filter(window, out);
}

/// Row y of the product of two pictures, filtered in both directions.
void filter_product_row(const Picture& a, const Picture& b, const FilterWindow& window, int y, PaddedRow* work,
                        float* out) {
    work->clear();
    for (int k = 0; k <= 2 * window.radius; ++k) {
        const int source_y = mirror_without_edges(y - window.radius + k, a.height);
        add_weighted_product(a.row(source_y), b.row(source_y), window.tap(k), work->data(), a.width);
    }
    work->filter(window, out);
}

/// The picture at the next scale: filtered with that scale's window, every second row and column, odd ends dropped.
Picture decimated(const Picture& picture, const FilterWindow& window) {
    Picture next(picture.width / 2, picture.height / 2);
    PaddedRow work(picture.width);
    std::vector<float> filtered(static_cast<size_t>(picture.width));
    for (int y = 0; y < next.height; ++y) {
        filter_row(picture, window, 2 * y, &work, filtered.data());
        for (int x = 0; x < next.width; ++x) next.row(y)[x] = filtered[2 * static_cast<size_t>(x)];
    }
    return next;
}

// ---- statistic ------------------------------------------------------------------------------------------------------

void score_scale(const Picture& reference, const Picture& distorted, const FilterWindow& window,
                 const NoiseModel& noise, uint64_t* accumulators) {
    const int width = reference.width;
    PaddedRow work(width);
    const std::vector<float> empty(static_cast<size_t>(width));
    std::vector<float> mean_1 = empty, mean_2 = empty, square_1 = empty, square_2 = empty, product_12 = empty;
    float numerator = 0.0f, denominator = 0.0f;
    for (int y = 0; y < reference.height; ++y) {
        filter_row(reference, window, y, &work, mean_1.data());
        filter_row(distorted, window, y, &work, mean_2.data());
        filter_product_row(reference, reference, window, y, &work, square_1.data());
        filter_product_row(distorted, distorted, window, y, &work, square_2.data());
        filter_product_row(reference, distorted, window, y, &work, product_12.data());
        float row_numerator = 0.0f, row_denominator = 0.0f;
        for (size_t x = 0; x < static_cast<size_t>(width); ++x) {
            const Information added =
                information({mean_1[x], mean_2[x], square_1[x], square_2[x], product_12[x]}, noise);
            row_numerator = row_numerator + added.numerator;
            row_denominator = row_denominator + added.denominator;
        }
        numerator = numerator + row_numerator;
        denominator = denominator + row_denominator;
    }
    accumulators[kNumerator] = accumulator_of(numerator);
    accumulators[kDenominator] = accumulator_of(denominator);
}

} // namespace

void score_cpu(const Plan& plan, const FrameGeometry& geometry, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    Picture reference = scale_0_picture(plan, geometry, pair.reference.plane[0]);
    Picture distorted = scale_0_picture(plan, geometry, pair.distorted.plane[0]);
    for (int s = 0; s < kScales; ++s) {
        if (s > 0) {
            reference = decimated(reference, plan.window[s]);
            distorted = decimated(distorted, plan.window[s]);
        }
        if (s == 0 && plan.skip_scale_0) continue;
        score_scale(reference, distorted, plan.window[s], plan.noise, accumulators.data() + s * kWordsPerScale);
    }
}

} // namespace qc::float_vif
