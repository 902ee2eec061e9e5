// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssim/ssim.hpp"

#include <gtest/gtest.h>

#include "families/structural/structural_emulation.hpp"
#include "families/structural/structural_frozen.hpp"
#include "metrics/ssim/ssim_kernels.hpp"
#include "tests/support/weight_runner.hpp"

namespace qc::ssim {
namespace {

using structural::Content;
using structural::EmulationCase;

// ---- the kernels on the host --------------------------------------------------------------------------------

void expect_equal(const EmulationCase& c) {
    for (const bool descending : {false, true})
        structural::expect_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_SSIM_KERNELS), c,
                                                OptionValues(descriptor().options), descending);
}

TEST(SsimEmulation, EveryFormatEqualsTheCpu) {
    expect_equal({117, 83, 8, 0, 2});
    expect_equal({64, 48, 8, 0, 1, Content::kEdges, 4});
    expect_equal({264, 75, 8, 0, 3, Content::kNoise, 4}); // strips, and parts of them
    expect_equal({241, 40, 8, 0, 2, Content::kEdges});
    expect_equal({70, 50, 8, 0, 1, Content::kFlat});
    expect_equal({75, 61, 10, 6, 2, Content::kNoise});
    expect_equal({130, 33, 12, 4, 1, Content::kEdges});
    expect_equal({64, 40, 12, 0, 1, Content::kFlat});
    expect_equal({90, 50, 16, 0, 2, Content::kNoise});
    expect_equal({33, 33, 16, 0, 1, Content::kEdges});
}

TEST(SsimEmulation, SmallSizesEqualTheCpu) {
    for (int height = 1; height <= 20; ++height)
        for (int width = 1; width <= 36; width += 1 + width / 10) {
            expect_equal({width, height, (width + height) % 2 != 0 ? 8 : 16, 0, 1, Content::kNoise});
            if (testing::Test::HasFailure()) return;
        }
}

// ---- rows -----------------------------------------------------------------------------------------------------------

TEST(SsimRows, EqualTheReference) {
    for (const int depth : {8, 10, 12, 16})
        for (const auto& [width, height] :
             {std::pair{1, 1}, {1, 9}, {9, 1}, {5, 3}, {8, 8}, {40, 31}, {67, 20}, {130, 9}})
            for (const Content content : {Content::kNoise, Content::kEdges, Content::kFlat}) {
                const FrameGeometry geometry = test::luma_geometry(width, height, depth);
                const auto reference = structural::make_picture(content, geometry, 5, false);
                const auto distorted = structural::make_picture(content, geometry, 5, true);
                const auto fixed = structural::FixedPoint::for_sum_of(int64_t{width} * height);
                const HostPair pair{reference.view(), distorted.view()};
                uint64_t expected = 0, actual = 1;
                score_cpu(geometry, fixed, pair, std::span(&expected, 1));
                score_cpu_rows(geometry, fixed, pair, std::span(&actual, 1));
                EXPECT_EQ(actual, expected) << width << "x" << height << " " << depth << " bits";
            }
}

/// White: the largest sums.
TEST(SsimRows, HoldTheLargestSums) {
    for (const int depth : {8, 12, 16}) {
        const FrameGeometry geometry = test::luma_geometry(30, 20, depth);
        const test::SamplePicture white(geometry, [&](int, int) { return (1u << depth) - 1; });
        const auto fixed = structural::FixedPoint::for_sum_of(30 * 20);
        uint64_t expected = 0, actual = 1;
        score_cpu(geometry, fixed, {white.view(), white.view()}, std::span(&expected, 1));
        score_cpu_rows(geometry, fixed, {white.view(), white.view()}, std::span(&actual, 1));
        EXPECT_EQ(actual, expected) << depth;
    }
}

// ---- scores ---------------------------------------------------------------------------------------------------------

/// The definition, without separation and with sums in long double.
double direct_score(
    const test::SamplePicture& a, const test::SamplePicture& b,
    const test::WeightAt& weight_at = [](int, int) { return 1; }) {
    constexpr int kTap[] = {2, 9, 28, 55, 68, 55, 28, 9, 2};
    const int width = a.geometry().width, height = a.geometry().height;
    const long double peak = (1 << a.geometry().depth) - 1, k1 = 0.01L * peak, k2 = 0.03L * peak;
    long double total = 0, weights = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            long double w = 0, mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
            for (int v = std::max(0, y - 4); v <= std::min(height - 1, y + 4); ++v)
                for (int u = std::max(0, x - 4); u <= std::min(width - 1, x + 4); ++u) {
                    const long double weight = kTap[v - y + 4] * kTap[u - x + 4];
                    const long double p = a.at(0, u, v), q = b.at(0, u, v);
                    w += weight;
                    mean_a += weight * p;
                    mean_b += weight * q;
                    aa += weight * p * p;
                    bb += weight * q * q;
                    ab += weight * p * q;
                }
            mean_a /= w;
            mean_b /= w;
            const long double variances = aa / w - mean_a * mean_a + bb / w - mean_b * mean_b;
            const long double covariance = ab / w - mean_a * mean_b;
            w *= weight_at(x, y);
            total += w * (2 * mean_a * mean_b + k1 * k1) * (2 * covariance + k2 * k2) /
                     ((mean_a * mean_a + mean_b * mean_b + k1 * k1) * (variances + k2 * k2));
            weights += w;
        }
    return static_cast<double>(total / weights);
}

TEST(Ssim, EqualsTheDefinition) {
    for (const Content content : {Content::kTexture, Content::kNoise, Content::kEdges, Content::kFlat})
        for (const int depth : {8, 10, 12, 16})
            for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {40, 31}}) {
                const FrameGeometry geometry = test::luma_geometry(width, height, depth);
                const auto reference = structural::make_picture(content, geometry, 3, false);
                const auto distorted = structural::make_picture(content, geometry, 3, true);
                const HostPicture a = reference.view(), b = distorted.view();
                const auto scores = test::score_stream(descriptor(), geometry, {}, std::span(&a, 1), std::span(&b, 1));
                EXPECT_NEAR(scores.values("ssim").at(0), direct_score(reference, distorted), 1e-12)
                    << width << "x" << height << " " << depth << " " << static_cast<int>(content);
            }
}

TEST(Ssim, EqualsTheDefinitionWithWeights) {
    for (const int depth : {8, 10, 16})
        for (const auto& [width, height] : {std::pair{5, 3}, {40, 31}}) {
            const FrameGeometry geometry = test::luma_geometry(width, height, depth);
            const auto reference = structural::make_picture(Content::kNoise, geometry, 3, false);
            const auto distorted = structural::make_picture(Content::kNoise, geometry, 3, true);
            const auto score = [&](const test::WeightAt& weight_at) {
                return test::scores_under(descriptor(), geometry, OptionValues(descriptor().options),
                                          {reference.view(), distorted.view()}, weight_at)
                    .at("ssim");
            };
            EXPECT_NEAR(score(test::varied_weight), direct_score(reference, distorted, test::varied_weight), 1e-12);
            EXPECT_NEAR(score(test::only_at(4, 1)), direct_score(reference, distorted, test::only_at(4, 1)), 1e-12);
            EXPECT_NEAR(score([](int, int) { return 255; }), score({}), 1e-12);
            EXPECT_GT(std::abs(score(test::varied_weight) - score({})), 1e-6);
        }
}

TEST(Ssim, WeightedKernelsEqualTheCpu) {
    for (const auto& [width, height, depth, shift] : std::vector<std::array<int, 4>>{
             {1, 1, 8, 0}, {33, 17, 8, 0}, {100, 60, 10, 6}, {70, 41, 12, 4}, {65, 33, 16, 0}})
        test::expect_weighted_emulation_equals_cpu(
            descriptor(), QC_EMULATED_KERNELS(QC_SSIM_KERNELS), test::luma_geometry(width, height, depth),
            OptionValues(descriptor().options),
            test::emulated_lumas(test::luma_geometry(width, height, depth), shift, 0, 2));
}

TEST(Ssim, IdenticalPicturesScoreOne) {
    for (const auto& clip : {structural::kOdd8Bits, structural::kSmall16Bits})
        EXPECT_NEAR(structural::score_identical(descriptor(), clip, {}).values("ssim").at(0), 1.0, 1e-14);
}

TEST(Ssim, WeightsCountTheTapsInside) {
    EXPECT_EQ(weight_at(4, 9), 256u);
    EXPECT_EQ(weight_at(0, 9), 68u + 55 + 28 + 9 + 2);
    EXPECT_EQ(weight_at(0, 1), 68u);
    EXPECT_EQ(weight_at(99, 100), weight_at(0, 100));
}

} // namespace
} // namespace qc::ssim
