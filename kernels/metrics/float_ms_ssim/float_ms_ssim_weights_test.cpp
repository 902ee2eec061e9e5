// SPDX-License-Identifier: BSD-2-Clause-Patent
// MS-SSIM with weights: against a plain computation, and the kernels against the CPU.
#include <algorithm>
#include <cmath>

#include "device/image.hpp"
#include "families/structural/structural_emulation.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_kernels.hpp"
#include "tests/support/weight_runner.hpp"

namespace qc::float_ms_ssim {
namespace {

using structural::Content;
using Plain = device::Image<double>;

int inside(int i, int size) {
    return std::clamp(i, 0, size - 1);
}

/// The next scale, with the published filter. Borders are mirrored, the last sample repeating.
Plain next_scale(const Plain& from) {
    const auto mirrored = [](int i, int size) { return i < 0 ? -i - 1 : i >= size ? 2 * size - i - 1 : i; };
    Plain to((from.width + 1) / 2, (from.height + 1) / 2);
    for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x)
            for (int v = -4; v <= 4; ++v)
                for (int u = -4; u <= 4; ++u)
                    to.at(x, y) += static_cast<double>(low_pass_tap(std::abs(u), std::abs(v))) *
                                   from.at(mirrored(2 * x + u, from.width), mirrored(2 * y + v, from.height));
    return to;
}

struct Means {
    double luminance = 0.0, contrast = 0.0, structure = 0.0, weights = 0.0;
};

/// Of all positions of the window, whose centre lies around sample `step` times its own number.
Means means_of(const Plain& a, const Plain& b, int step, const test::TestWeights& sample_weights, int width,
               int height) {
    constexpr double kC1 = 6.5025, kC2 = 58.5225;
    const auto weight_around = [&](int x, int y) {
        double weight = 0.0;
        for (int v = y * step - step / 2; v < y * step - step / 2 + step; ++v)
            for (int u = x * step - step / 2; u < x * step - step / 2 + step; ++u)
                weight += sample_weights.at(inside(u, width), inside(v, height));
        return weight;
    };
    Means means;
    for (int y = 5; y + 5 < a.height; ++y)
        for (int x = 5; x + 5 < a.width; ++x) {
            double mean_a = 0.0, mean_b = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
            for (int v = -5; v <= 5; ++v)
                for (int u = -5; u <= 5; ++u) {
                    const double tap = static_cast<double>(structural::window_tap(u + 5)) *
                                       static_cast<double>(structural::window_tap(v + 5));
                    const double p = a.at(x + u, y + v), q = b.at(x + u, y + v);
                    mean_a += tap * p;
                    mean_b += tap * q;
                    aa += tap * p * p;
                    bb += tap * q * q;
                    ab += tap * p * q;
                }
            const double variance_a = std::max(aa - mean_a * mean_a, 0.0),
                         variance_b = std::max(bb - mean_b * mean_b, 0.0);
            const double deviations = std::sqrt(variance_a * variance_b), weight = weight_around(x, y);
            means.luminance += weight * (2 * mean_a * mean_b + kC1) / (mean_a * mean_a + mean_b * mean_b + kC1);
            means.contrast += weight * (2 * deviations + kC2) / (variance_a + variance_b + kC2);
            means.structure += weight * (ab - mean_a * mean_b + kC2 / 2) / (deviations + kC2 / 2);
            means.weights += weight;
        }
    means.luminance /= means.weights;
    means.contrast /= means.weights;
    means.structure /= means.weights;
    return means;
}

struct Pictures {
    explicit Pictures(int width, int height, int depth = 8)
        : geometry(test::luma_geometry(width, height, depth)),
          reference(structural::make_picture(Content::kTexture, geometry, 1, false)),
          distorted(geometry, [&](int x, int y) {
              // Worse from left to right.
              const uint32_t noise = test::synthetic_hash(x, y, 0, 0, 5) % static_cast<uint32_t>(1 + x / 3);
              return std::min(reference.at(0, x, y) + (noise << (depth - 8)), (1u << depth) - 1);
          }) {}

    std::map<std::string, double> scores(const test::OptionList& list, const test::WeightAt& weight_at) const {
        return test::scores_under(descriptor(), geometry, test::options_of(descriptor(), list),
                                  {reference.view(), distorted.view()}, weight_at);
    }
    Plain plain(bool is_distorted) const {
        Plain image(geometry.width, geometry.height);
        for (int y = 0; y < image.height; ++y)
            for (int x = 0; x < image.width; ++x) image.at(x, y) = (is_distorted ? distorted : reference).at(0, x, y);
        return image;
    }

    FrameGeometry geometry;
    test::SamplePicture reference, distorted;
};

TEST(FloatMsSsimWeights, EqualsThePlainComputation) {
    const Pictures pictures(195, 181);
    // Weight that grows to the right, and in blocks, so that no two scales see the same.
    const auto weight_at = [](int x, int y) { return (x / 9 + y / 7) % 3 == 0 ? 0 : (x * 3 / 2 + y % 5) % 256; };
    const auto scores = pictures.scores({{"enable_lcs", 1}}, weight_at);
    const auto whole = pictures.scores({{"enable_lcs", 1}}, {});
    const test::TestWeights sample_weights(pictures.geometry, weight_at);
    Plain a = pictures.plain(false), b = pictures.plain(true);
    for (int scale = 0; scale < kScales; ++scale) {
        const Means means =
            means_of(a, b, 1 << scale, sample_weights, pictures.geometry.width, pictures.geometry.height);
        const std::string suffix = "_scale" + std::to_string(scale);
        EXPECT_NEAR(scores.at("float_ms_ssim_l" + suffix), means.luminance, 2e-6) << scale;
        EXPECT_NEAR(scores.at("float_ms_ssim_c" + suffix), means.contrast, 2e-5) << scale;
        EXPECT_NEAR(scores.at("float_ms_ssim_s" + suffix), means.structure, 2e-5) << scale;
        EXPECT_GT(std::abs(scores.at("float_ms_ssim_c" + suffix) - whole.at("float_ms_ssim_c" + suffix)), 1e-5)
            << scale;
        a = next_scale(a);
        b = next_scale(b);
    }
}

TEST(FloatMsSsimWeights, WholeOnesChangeNothing) {
    for (const int depth : {8, 12}) {
        const Pictures pictures(183, 240, depth);
        const auto whole = pictures.scores({{"enable_lcs", 1}}, {});
        for (const int weight : {1, 100, 255})
            for (const auto& [name, score] : pictures.scores({{"enable_lcs", 1}}, [&](int, int) { return weight; }))
                EXPECT_NEAR(score, whole.at(name), 1e-6) << name;
    }
}

/// At the last scale no window's centre comes nearer to a border than 72 samples.
TEST(FloatMsSsimWeights, WithoutWeightAtSomeScaleThereIsNoScore) {
    const Pictures pictures(190, 200);
    EXPECT_FALSE(pictures.scores({}, [](int x, int y) { return x == 72 && y == 72; }).empty());
    EXPECT_TRUE(pictures.scores({}, [](int x, int) { return x < 72 ? 255 : 0; }).empty());
    EXPECT_TRUE(pictures.scores({}, [](int, int) { return 0; }).empty());
}

TEST(FloatMsSsimWeights, KernelsEqualTheCpu) {
    for (const auto& [width, height, depth, shift] :
         std::vector<std::array<int, 4>>{{176, 176, 8, 0}, {317, 183, 8, 0}, {257, 191, 10, 6}, {201, 260, 16, 0}})
        for (const bool with_terms : {false, true}) {
            SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits");
            OptionValues options(descriptor().options);
            options.set(0, with_terms);
            const FrameGeometry geometry = test::luma_geometry(width, height, depth);
            test::expect_weighted_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_MS_SSIM_KERNELS),
                                                       geometry, options, test::emulated_lumas(geometry, shift, 0, 2));
        }
}

} // namespace
} // namespace qc::float_ms_ssim
