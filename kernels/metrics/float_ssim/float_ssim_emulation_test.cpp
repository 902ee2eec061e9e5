// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/structural/structural_emulation.hpp"
#include "metrics/float_ssim/float_ssim.hpp"
#include "metrics/float_ssim/float_ssim_kernels.hpp"

namespace qc::float_ssim {
namespace {

using structural::Content;
using structural::EmulationCase;

void expect_equal(const EmulationCase& c, int scale) {
    SCOPED_TRACE(testing::Message() << "scale " << scale);
    OptionValues options(descriptor().options);
    options.set(3, scale);
    for (const bool descending : {false, true})
        structural::expect_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_SSIM_KERNELS), c, options,
                                                descending);
}

TEST(FloatSsimEmulation, EveryFormatEqualsTheCpu) {
    const EmulationCase cases[] = {
        {317, 83, 8, 0, 2},
        {512, 390, 8, 0, 1, Content::kTexture, 4},
        {157, 345, 10, 0, 2, Content::kNoise},
        {157, 45, 10, 6, 2},
        {132, 67, 12, 4, 1, Content::kEdges, 4},
        {75, 333, 16, 0, 2, Content::kTexture, 4},
        {64, 64, 8, 0, 1, Content::kBlack},
        {64, 64, 16, 0, 1, Content::kFlat},
    };
    for (const EmulationCase& c : cases) {
        expect_equal(c, 0);
        expect_equal(c, 1);
    }
}

TEST(FloatSsimEmulation, EveryFactorEqualsTheCpu) {
    for (int factor = 2; factor <= 10; ++factor) {
        expect_equal({200, 151, 8, 0, 2, Content::kNoise}, factor);
        expect_equal({151, 163, 12, 4, 1, Content::kEdges}, factor);
        expect_equal({144, 201, 16, 0, 1, Content::kNoise, 4}, factor);
    }
}

TEST(FloatSsimEmulation, MapsEqualTheCpu) {
    for (const auto& [width, height, depth, scale] :
         std::vector<std::array<int, 4>>{{317, 83, 8, 0}, {11, 12, 8, 1}, {700, 520, 10, 0}, {150, 161, 16, 3}})
        for (const bool descending : {false, true}) {
            SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits, scale " << scale);
            const FrameGeometry geometry = test::luma_geometry(width, height, depth);
            OptionValues options(descriptor().options);
            options.set(3, scale);
            const auto metric = create_scorer(descriptor(), geometry, options);
            metric->draw_maps();
            test::EmulatedProgram program(QC_EMULATED_KERNELS(QC_FLOAT_SSIM_KERNELS));
            ASSERT_TRUE(metric->prepare(program).ok());
            test::expect_emulated_maps_equal_cpu(*metric, descriptor().map->shape(geometry, options),
                                                 test::EmulatedPairs(test::emulated_lumas(geometry, 0, 0, 2)),
                                                 descending);
        }
}

TEST(FloatSsimEmulation, WeightsEqualTheCpu) {
    for (const auto& [width, height, depth, scale] :
         std::vector<std::array<int, 4>>{{317, 83, 8, 0}, {11, 12, 8, 1}, {700, 520, 10, 0}, {151, 163, 16, 3}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits, scale " << scale);
        const FrameGeometry geometry = test::luma_geometry(width, height, depth);
        OptionValues options(descriptor().options);
        options.set(3, scale);
        test::expect_weighted_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_SSIM_KERNELS), geometry,
                                                   options, test::emulated_lumas(geometry, 0, 0, 2));
    }
}

TEST(FloatSsimEmulation, SmallSizesEqualTheCpu) {
    for (int height = 11; height <= 54; height += 3)
        for (int width = 11; width <= 45; ++width) {
            expect_equal({width, height, (width + height) % 2 != 0 ? 8 : 10, 0, 1, Content::kNoise}, 1);
            if (testing::Test::HasFailure()) return;
        }
}

} // namespace
} // namespace qc::float_ssim
