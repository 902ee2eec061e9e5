// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR-HVS with weights: blocks scored one by one and averaged by hand, and the kernels against the CPU.
#include <cmath>

#include "metrics/psnr_hvs/psnr_hvs.hpp"
#include "metrics/psnr_hvs/psnr_hvs_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/weight_runner.hpp"

namespace qc::psnr_hvs {
namespace {

constexpr const char* kPlaneNames[kPlanes] = {"psnr_hvs_y", "psnr_hvs_cb", "psnr_hvs_cr"};

/// So that blocks weigh what others do not.
int steep_weight(int x, int y) {
    return x < 12 ? 0 : (x * x + 3 * y) % 256;
}

test::SamplePicture picture_of(const FrameGeometry& geometry, bool distorted) {
    return {geometry,
            [&](int plane, int x, int y) { return test::synthetic_sample(x, y, 3, plane, geometry.depth, distorted); }};
}

struct Pictures {
    explicit Pictures(const FrameGeometry& of)
        : geometry(of), reference(picture_of(of, false)), distorted(picture_of(of, true)) {}

    std::map<std::string, double> scores(const test::WeightAt& weight_at) const {
        return test::scores_under(descriptor(), geometry, OptionValues(descriptor().options),
                                  {reference.view(), distorted.view()}, weight_at);
    }
    /// Error of a block of a plane, from the score of a picture that is nothing else.
    double error(int plane, int x, int y) const {
        const FrameGeometry small = test::geometry_of(8, 8, geometry.depth, 8, 8);
        const auto cut = [&](const test::SamplePicture& from) {
            return test::SamplePicture(
                small, [&](int p, int u, int v) { return p == plane ? from.at(plane, x + u, y + v) : 0; });
        };
        const test::SamplePicture a = cut(reference), b = cut(distorted);
        const auto alone =
            test::scores_under(descriptor(), small, OptionValues(descriptor().options), {a.view(), b.view()}, {});
        return std::pow(10.0, -alone.at(kPlaneNames[plane]) / 10.0);
    }

    FrameGeometry geometry;
    test::SamplePicture reference, distorted;
};

TEST(PsnrHvsWeights, BlocksAverage) {
    for (const FrameGeometry& geometry : {test::geometry_of(61, 46, 8, 30, 23), test::geometry_of(40, 30, 10, 20, 30),
                                          test::geometry_of(33, 29, 12, 33, 29)}) {
        const Pictures pictures(geometry);
        const auto scores = pictures.scores(steep_weight), whole = pictures.scores({});
        for (int p = 0; p < kPlanes; ++p) {
            const int step_x = geometry.width / geometry.plane_width(p),
                      step_y = geometry.height / geometry.plane_height(p);
            double errors = 0.0, weights = 0.0;
            for (int y = 0; y + 8 <= geometry.plane_height(p); y += 7)
                for (int x = 0; x + 8 <= geometry.plane_width(p); x += 7) {
                    double weight = 0.0;
                    for (int v = y * step_y; v < (y + 8) * step_y; ++v)
                        for (int u = x * step_x; u < (x + 8) * step_x; ++u) weight += steep_weight(u, v);
                    errors += weight * pictures.error(p, x, y);
                    weights += weight;
                }
            EXPECT_NEAR(scores.at(kPlaneNames[p]), -10.0 * std::log10(errors / weights), 2e-5) << p;
            EXPECT_GT(std::abs(scores.at(kPlaneNames[p]) - whole.at(kPlaneNames[p])), 1e-4) << p;
        }
    }
}

/// Nothing is rounded but what is rounded without weights.
TEST(PsnrHvsWeights, WholeOnesHaveTheSameBits) {
    const Pictures pictures(test::geometry_of(211, 160, 10, 105, 80));
    const auto whole = pictures.scores({});
    for (const int weight : {1, 100, 255}) EXPECT_EQ(pictures.scores([&](int, int) { return weight; }), whole);
}

TEST(PsnrHvsWeights, WithoutWeightThereIsNoScore) {
    const Pictures pictures(test::geometry_of(44, 44, 8, 22, 22));
    EXPECT_TRUE(pictures.scores([](int, int) { return 0; }).empty());
    // Beyond the last blocks: of luma 8 + 5 * 7 columns, of chroma 8 + 2 * 7.
    EXPECT_TRUE(pictures.scores([](int x, int) { return x == 43 ? 255 : 0; }).empty());
    EXPECT_FALSE(pictures.scores([](int x, int) { return x == 42 ? 255 : 0; }).empty());
}

TEST(PsnrHvsWeights, KernelsEqualTheCpu) {
    for (const bool semi_planar : {false, true})
        for (const FrameGeometry& geometry :
             {test::geometry_of(16, 16, 8, 8, 8), test::geometry_of(203, 131, 8, 101, 65),
              test::geometry_of(150, 90, 10, 75, 90), test::geometry_of(97, 260, 12, 97, 260)}) {
            SCOPED_TRACE(testing::Message() << geometry.width << "x" << geometry.height);
            std::vector<test::EmulatedPicture> pictures;
            for (int i = 0; i < 4; ++i)
                pictures.emplace_back(picture_of(geometry, i % 2 == 1),
                                      test::SurfaceLayout{.semi_planar = semi_planar});
            test::expect_weighted_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_PSNR_HVS_KERNELS), geometry,
                                                       OptionValues(descriptor().options), pictures);
        }
}

} // namespace
} // namespace qc::psnr_hvs
