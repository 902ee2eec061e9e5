// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/structural/structural_cpu.hpp"

#include <array>
#include <mutex>
#include <vector>

#include "contract/helpers.hpp"
#include "device/cpu_clones.hpp"
#include "device/mask.hpp"
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

/// The window's results of two images, row after row. Keeps the last rows that the window was run along, so that all
/// fits the second cache.
class MomentRows {
public:
    /// @param first row of results
    MomentRows(const Image& a, const Image& b, int first)
        : a_(a), b_(b), next_(first), products_(static_cast<size_t>(a.width)) {
        for (int q = 0; q < kQuantities; ++q) {
            along_[q] = Image(a.width - kMargin, kTaps);
            results_[q].resize(static_cast<size_t>(a.width - kMargin));
        }
    }

    /// Row y, which follows the one before.
    void reach(int y) {
        for (; next_ <= y + kMargin; ++next_)
            for (int q = 0; q < kQuantities; ++q) filter_along(static_cast<Quantity>(q));
        for (int q = 0; q < kQuantities; ++q) {
            Taps taps;
            for (int k = 0; k < kTaps; ++k) taps[k] = along_[q].row((y + k) % kTaps);
            filter_row(taps, along_[q].width, results_[q].data());
        }
    }
    Moments at(int x) const {
        Moments moments;
        for (int q = 0; q < kQuantities; ++q) moments.of[q] = results_[q][static_cast<size_t>(x)];
        return moments;
    }

private:
    void filter_along(Quantity quantity) {
        const float* const row = row_of(quantity);
        Taps taps;
        for (int k = 0; k < kTaps; ++k) taps[k] = row + k;
        Image& along = along_[quantity];
        filter_row(taps, along.width, along.row(next_ % kTaps));
    }
    const float* row_of(Quantity quantity) {
        const float *const a = a_.row(next_), *const b = b_.row(next_);
        if (quantity == kA) return a;
        if (quantity == kB) return b;
        multiply_row(quantity == kSquareB ? b : a, quantity == kSquareA ? a : b, a_.width, products_.data());
        return products_.data();
    }

    const Image &a_, &b_;
    int next_; ///< row that is run along next
    std::vector<float> products_;
    Image along_[kQuantities]; ///< row y in place y % kTaps
    std::vector<float> results_[kQuantities];
};

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

std::vector<uint32_t> weights_under(const HostPlane& mask, const MapShape& positions, const FrameGeometry& geometry) {
    std::vector<uint32_t> weights;
    if (mask.data == nullptr) return weights;
    weights.reserve(static_cast<size_t>(positions.width) * static_cast<size_t>(positions.height));
    const MaskReader reader(mask);
    for (int y = 0; y < positions.height; ++y)
        for (int x = 0; x < positions.width; ++x)
            weights.push_back(reader.over(positions, x, y, geometry.width, geometry.height));
    return weights;
}

void add_similarity(const Image& a, const Image& b, bool with_luminance, const FixedPoint& fixed, Helpers* helpers,
                    uint64_t* sums, const Plane<float>& map, std::span<const uint32_t> weights) {
    constexpr int kSharedRows = 16;
    const int width = a.width - kMargin;
    const int words = weights.empty() ? kSumWords : kMaskedSumWords;
    std::mutex mutex;
    share_runs(helpers, a.height - kMargin, kSharedRows, [&](int begin, int end) {
        MomentRows moments(a, b, begin);
        uint64_t sums_of_run[kMaskedSumWords] = {};
        for (int y = begin; y < end; ++y) {
            moments.reach(y);
            for (int x = 0; x < width; ++x) {
                const uint32_t weight =
                    weights.empty() ? 1 : weights[static_cast<size_t>(y) * static_cast<size_t>(width) + x];
                const double similarity = add_terms(moments.at(x), with_luminance, fixed, sums_of_run, weight);
                if (!weights.empty()) sums_of_run[kSumOfWeights] += weight;
                if (map.data != nullptr) map.at(x, y) = loss_of(similarity);
            }
        }
        const std::lock_guard lock(mutex);
        for (int i = 0; i < words; ++i) sums[i] += sums_of_run[i];
    });
}

} // namespace qc::structural
