// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/structural/structural_cpu.hpp"

#include <array>

#include "contract/helpers.hpp"
#include "device/cpu_clones.hpp"
#include "families/structural/structural_plan.hpp"

namespace qc::structural {
namespace {

/// Where the taps of a row of windows begin to read.
using Taps = std::array<const float*, kTaps>;

/// There are too many taps for the compiler to ask whether the results overlap them: they don't.
QC_CPU_CLONES void filter_row(const Taps& taps, int width, float* results) {
    const Taps from = taps;
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
        double sum = 0.0;
        QC_UNROLL for (int k = 0; k < kTaps; ++k) {
            const float product = from[k][x] * window_tap(k);
            sum += static_cast<double>(product);
        }
        results[x] = static_cast<float>(sum);
    }
}

QC_CPU_CLONES void multiply_row(const float* a, const float* b, int width, float* products) {
    for (int x = 0; x < width; ++x) products[x] = a[x] * b[x];
}

/// The window in x, then in y, where it lies within the image.
Image filtered(const Image& image) {
    Image along(image.width - kMargin, image.height), result(along.width, image.height - kMargin);
    Taps taps;
    for (int y = 0; y < along.height; ++y) {
        for (int k = 0; k < kTaps; ++k) taps[k] = image.row(y) + k;
        filter_row(taps, along.width, along.row(y));
    }
    for (int y = 0; y < result.height; ++y) {
        for (int k = 0; k < kTaps; ++k) taps[k] = along.row(y + k);
        filter_row(taps, result.width, result.row(y));
    }
    return result;
}

Image product(const Image& a, const Image& b) {
    Image result(a.width, a.height);
    for (int y = 0; y < a.height; ++y) multiply_row(a.row(y), b.row(y), a.width, result.row(y));
    return result;
}

Image moment(const Image& a, const Image& b, Quantity quantity) {
    switch (quantity) {
    case kA:
        return filtered(a);
    case kB:
        return filtered(b);
    case kSquareA:
        return filtered(product(a, a));
    case kSquareB:
        return filtered(product(b, b));
    default:
        return filtered(product(a, b));
    }
}

template <typename T>
void read_image(Plane<const T> plane, float scale, Image* image) {
    for (int y = 0; y < image->height; ++y) {
        for (int x = 0; x < image->width; ++x) image->row(y)[x] = static_cast<float>(plane.at(x, y)) * scale;
    }
}

} // namespace

Image image_of(const HostPlane& plane, const FrameGeometry& geometry) {
    Image image(plane.width, plane.height);
    const float scale = scale_of_depth(geometry.depth);
    if (geometry.sample == SampleType::kU8) {
        read_image(plane.as<uint8_t>(), scale, &image);
    } else {
        read_image(plane.as<uint16_t>(), scale, &image);
    }
    return image;
}

void add_similarity(const Image& a, const Image& b, bool with_luminance, const FixedPoint& fixed, Helpers* helpers,
                    uint64_t* sums, const Plane<float>& map, std::span<const uint32_t> weights) {
    Image moments[kQuantities];
    share_runs(helpers, kQuantities, 1, [&](int begin, int end) {
        for (int q = begin; q < end; ++q) moments[q] = moment(a, b, static_cast<Quantity>(q));
    });
    const int width = moments[0].width;
    for (int i = 0; i < static_cast<int>(moments[0].samples.size()); ++i) {
        Moments at;
        for (int q = 0; q < kQuantities; ++q) at.of[q] = moments[q].samples[static_cast<size_t>(i)];
        const uint32_t weight = weights.empty() ? 1 : weights[static_cast<size_t>(i)];
        const double similarity = add_terms(at, with_luminance, fixed, sums, weight);
        if (!weights.empty()) sums[kSumOfWeights] += weight;
        if (map.data != nullptr) map.at(i % width, i / width) = loss_of(similarity);
    }
}

} // namespace qc::structural
