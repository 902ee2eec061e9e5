// SPDX-License-Identifier: BSD-2-Clause-Patent
// XPSNR with weights: against blocks that are scored alone, and the kernels against the CPU.
#include <cmath>

#include "metrics/xpsnr/xpsnr.hpp"
#include "metrics/xpsnr/xpsnr_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/weight_runner.hpp"

namespace qc::xpsnr {
namespace {

constexpr const char* kNames[] = {"xpsnr_y", "xpsnr_u", "xpsnr_v"};
constexpr uint32_t kError = 90; ///< of every sample that is distorted

using IsDistorted = std::function<bool(int plane, int x, int y)>;

test::SamplePicture reference_of(const FrameGeometry& geometry) {
    return {geometry, [&](int plane, int x, int y) {
                return test::synthetic_sample(x, y, 1, plane, geometry.depth, false) * 5 / 8;
            }};
}

std::map<std::string, double> scores_of(const FrameGeometry& geometry, const IsDistorted& is_distorted,
                                        const test::WeightAt& weight_at) {
    const test::SamplePicture reference = reference_of(geometry);
    const test::SamplePicture distorted(geometry, [&](int plane, int x, int y) {
        return reference.at(plane, x, y) + (is_distorted(plane, x, y) ? kError << (geometry.depth - 8) : 0);
    });
    return test::scores_under(descriptor(), geometry, OptionValues(descriptor().options),
                              {reference.view(), distorted.view()}, weight_at);
}

/// The weighted error that a score of a plane is made of.
double error_of(double score, const BlockPlan& plan, int plane) {
    const double peak = (1 << plan.depth) - 1;
    return static_cast<double>(plan.width[plane]) * plan.height[plane] * peak * peak / std::pow(10.0, score / 10.0);
}

/// Every sample is wrong by the same: a block's part is its weight by the user's, and its weight what it scores alone.
TEST(XpsnrWeights, BlocksAddUp) {
    for (const FrameGeometry& geometry :
         {test::geometry_of(81, 60, 8, QC_CHROMA_420), test::geometry_of(90, 51, 10, QC_CHROMA_422)}) {
        const BlockPlan plan = make_plan(geometry);
        ASSERT_TRUE(plan.weighted);
        const auto everywhere = [](int, int, int) { return true; };
        // Blocks that are bright are where others are dark.
        const auto weight_at = [](int x, int y) { return x < 30 ? (x + y) % 7 : (x * x / 9 + y) % 256; };
        const auto scores = scores_of(geometry, everywhere, weight_at), whole = scores_of(geometry, everywhere, {});
        double errors[3] = {}, weights[3] = {};
        for (int k = 0; k < plan.blocks(); ++k) {
            const auto alone =
                scores_of(geometry,
                          [&](int p, int x, int y) {
                              const Rectangle block = plan.block(k, p);
                              return x >= block.x.begin && x < block.x.end && y >= block.y.begin && y < block.y.end;
                          },
                          {});
            for (int p = 0; p < 3; ++p) {
                const Rectangle block = plan.block(k, p);
                const int across = p > 0 ? 2 : 1, down = p > 0 && geometry.chroma_height < geometry.height ? 2 : 1;
                double weight = 0.0;
                for (int y = block.y.begin; y < block.y.end; ++y)
                    for (int x = block.x.begin; x < block.x.end; ++x)
                        for (int j = 0; j < down; ++j)
                            for (int i = 0; i < across; ++i)
                                weight += weight_at(std::min(across * x + i, geometry.width - 1),
                                                    std::min(down * y + j, geometry.height - 1));
                errors[p] += error_of(alone.at(kNames[p]), plan, p) * weight / (block.x.size() * block.y.size());
                weights[p] += weight;
            }
        }
        for (int p = 0; p < 3; ++p) {
            const double samples = static_cast<double>(plan.width[p]) * plan.height[p];
            const double expected = errors[p] / (weights[p] / samples);
            EXPECT_NEAR(error_of(scores.at(kNames[p]), plan, p), expected, 1e-4 * expected) << p;
            EXPECT_GT(std::abs(scores.at(kNames[p]) - whole.at(kNames[p])), 1e-2) << p;
        }
    }
}

/// Within a block too, each sample has its own weight.
TEST(XpsnrWeights, WhatIsHiddenDoesNotCount) {
    const FrameGeometry geometry = test::geometry_of(64, 48, 8, QC_CHROMA_444);
    const auto odd = [](int, int x, int) { return x % 2 == 1; };
    for (const auto& [name, score] : scores_of(geometry, odd, [](int x, int) { return x % 2 == 0 ? 77 : 0; }))
        EXPECT_EQ(score, std::numeric_limits<double>::infinity()) << name;
    for (const auto& [name, score] : scores_of(geometry, odd, [](int x, int) { return x % 2 == 1 ? 77 : 0; }))
        EXPECT_NEAR(score, scores_of(geometry, odd, {}).at(name) - 10.0 * std::log10(2.0), 1e-4) << name;
    EXPECT_TRUE(scores_of(geometry, odd, [](int, int) { return 0; }).empty());
}

/// With blocks, and without, in pictures that are too small for them.
TEST(XpsnrWeights, WholeOnesHaveTheSameBits) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{7, 5}, {45, 44}, {230, 141}})
        for (const auto& [depth, chroma] : {std::pair{8, QC_CHROMA_420}, {12, QC_CHROMA_422}, {10, QC_CHROMA_444}}) {
            const FrameGeometry geometry = test::geometry_of(width, height, depth, chroma);
            const auto distorted = [](int, int x, int y) { return (x * 3 + y) % 5 == 0; };
            const auto whole = scores_of(geometry, distorted, {});
            for (const int weight : {1, 100, 255})
                EXPECT_EQ(scores_of(geometry, distorted, [&](int, int) { return weight; }), whole)
                    << width << "x" << height << ", " << depth << " bits, " << weight;
        }
}

TEST(XpsnrWeights, KernelsEqualTheCpu) {
    for (const bool semi_planar : {false, true})
        for (const auto& [width, height, depth, chroma] : {std::tuple{5, 3, 8, QC_CHROMA_420},
                                                           {147, 83, 8, QC_CHROMA_420},
                                                           {90, 61, 10, QC_CHROMA_422},
                                                           {66, 47, 16, QC_CHROMA_444},
                                                           {70, 45, 8, QC_CHROMA_400}}) {
            SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits");
            const FrameGeometry geometry = test::geometry_of(width, height, depth, chroma);
            std::vector<test::EmulatedPicture> pictures;
            for (int i = 0; i < 4; ++i) {
                const auto sample_at = [&](int plane, int x, int y) {
                    return test::synthetic_sample(x, y, i / 2, plane, geometry.depth, i % 2 == 1);
                };
                pictures.emplace_back(test::SamplePicture(geometry, sample_at),
                                      test::SurfaceLayout{.semi_planar = semi_planar});
            }
            test::expect_weighted_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_XPSNR_KERNELS), geometry,
                                                       OptionValues(descriptor().options), pictures);
        }
}

} // namespace
} // namespace qc::xpsnr
