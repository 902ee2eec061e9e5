// SPDX-License-Identifier: BSD-2-Clause-Patent
// CIEDE2000: options, refusals, golden scores.
#include "metrics/ciede/ciede.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/golden/golden_metric.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::ciede {
namespace {

/// Where libvmaf takes each pixel's own chroma sample: 4:4:4, and 4:2:0 of even sizes.
bool libvmaf_is_sound(const FrameGeometry& geometry) {
    const ChromaGrid grid = make_chroma_grid(geometry);
    return grid.shift_x == grid.shift_y && (grid.shift_x == 0 || (geometry.width % 2 == 0 && geometry.height % 2 == 0));
}

FrameGeometry geometry_of(int width, int height, int depth, int chroma_width, int chroma_height) {
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    geometry.chroma_width = chroma_width;
    geometry.chroma_height = chroma_height;
    geometry.depth = depth;
    geometry.sample = depth == 8 ? SampleType::kU8 : SampleType::kU16;
    return geometry;
}

TEST(Ciede, RefusesWhatHasNoScore) {
    const OptionValues options(descriptor().options);
    const auto code = [&](const FrameGeometry& geometry) { return validate(descriptor(), geometry, options).code(); };
    EXPECT_EQ(code(geometry_of(2, 2, 8, 1, 1)), QC_OK);
    EXPECT_EQ(code(geometry_of(1, 1, 16, 1, 1)), QC_OK);
    EXPECT_EQ(code(geometry_of(64, 64, 12, 32, 64)), QC_OK);
    EXPECT_EQ(code(geometry_of(64, 64, 8, 0, 0)), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(code(geometry_of(1, 64, 8, 0, 0)), QC_ERROR_UNSUPPORTED);
    const Status status = validate(descriptor(), geometry_of(64, 48, 8, 0, 0), options);
    EXPECT_NE(status.text().find("ciede needs chroma planes, these pictures of 64x48"), std::string::npos)
        << status.text();
}

TEST(Ciede, ChromaIsRepeatedAndClamped) {
    const ChromaGrid odd = make_chroma_grid(geometry_of(5, 7, 8, 2, 3)),
                     wide = make_chroma_grid(geometry_of(6, 4, 8, 3, 4)),
                     full = make_chroma_grid(geometry_of(5, 7, 8, 5, 7));
    EXPECT_EQ(odd.column(0), 0);
    EXPECT_EQ(odd.column(3), 1);
    EXPECT_EQ(odd.column(4), 1); // the last one that there is
    EXPECT_EQ(odd.row(5), 2);
    EXPECT_EQ(odd.row(6), 2);
    EXPECT_EQ(wide.column(5), 2);
    EXPECT_EQ(wide.row(3), 3); // 4:2:2 has all rows
    EXPECT_EQ(full.column(4), 4);
    EXPECT_EQ(full.row(6), 6);
}

TEST(Ciede, SumBecomesDecibels) {
    const FrameGeometry geometry = geometry_of(10, 10, 8, 5, 5);
    const auto word = [](double sum) { return std::vector<uint64_t>{std::bit_cast<uint64_t>(sum)}; };
    const auto recorder = test::finalise_stream(descriptor(), geometry, {}, {word(100.0), word(0.0), word(1e5)});
    const std::vector<double> scores = recorder.values("ciede2000");
    ASSERT_EQ(scores.size(), 3u);
    EXPECT_EQ(scores[0], 45.0);
    EXPECT_EQ(scores[1], std::numeric_limits<double>::infinity());
    EXPECT_EQ(scores[2], -15.0);
}

/// Colours that differ in one respect only, where the formula is short. k_L is 0.65.
TEST(Ciede, SingleSteps) {
    // Lightness alone: S_L = 1 + 0.015 (L - 50)^2 / sqrt(20 + (L - 50)^2), L the mean of both.
    EXPECT_NEAR(reference_difference({49.0f, 0.0f, 0.0f}, {51.0f, 0.0f, 0.0f}), 2.0 / 0.65, 1e-6);
    EXPECT_NEAR(reference_difference({79.0f, 0.0f, 0.0f}, {81.0f, 0.0f, 0.0f}),
                2.0 / (0.65 * (1.0 + 0.015 * 900.0 / std::sqrt(920.0))), 1e-6);
    // Chroma alone, from grey: G is that of the mean chroma, so small that a is stretched by half.
    EXPECT_NEAR(reference_difference({50.0f, 0.0f, 0.0f}, {50.0f, 1.0f, 0.0f}), 1.5 / (1.0 + 0.045 * 0.75), 1e-4);
    EXPECT_EQ(reference_difference({50.0f, 10.0f, -20.0f}, {50.0f, 10.0f, -20.0f}), 0.0f);
}

TEST(Ciede, WhiteAndBlack) {
    const Lab white = reference_lab({235, 128, 128}, 8), black = reference_lab({16, 128, 128}, 8);
    EXPECT_NEAR(white.lightness, 100.0f, 1e-4f);
    EXPECT_NEAR(white.a, 0.0f, 1e-2f);
    EXPECT_NEAR(black.lightness, 0.0f, 1e-5f);
    for (const int depth : {10, 12, 16}) {
        const uint32_t unit = 1u << (depth - 8);
        const Lab same = reference_lab({150 * unit, 90 * unit, 170 * unit}, depth),
                  expected = reference_lab({150, 90, 170}, 8);
        EXPECT_NEAR(same.lightness, expected.lightness, 1e-4f);
        EXPECT_NEAR(same.a, expected.a, 1e-4f);
        EXPECT_NEAR(same.b, expected.b, 1e-4f);
    }
}

/// First scores of clips that are a formula, in the order of kSyntheticClips; the golden clips show that they are
/// libvmaf's where that has one.
constexpr double kSyntheticScores[] = {32.013287257419748, 32.019306290527929, 32.325870217113902, 31.878084425728126,
                                       32.114496252582832};

TEST(Ciede, SyntheticClips) {
    size_t number = 0;
    for (const test::SyntheticClip& clip : test::kSyntheticClips) {
        const test::SyntheticPicture reference(clip, false, 0), distorted(clip, true, 0);
        const HostPicture a[] = {reference.view()}, b[] = {distorted.view()};
        const auto recorder = test::score_stream(descriptor(), test::synthetic_geometry(clip), {}, a, b);
        const std::vector<double> scores = recorder.values("ciede2000");
        ASSERT_EQ(scores.size(), 1u);
        EXPECT_NEAR(scores[0], kSyntheticScores[number++], 1e-9) << clip.name;
    }
}

TEST(CiedeGolden, EveryClip) {
    const int compared = test::compare_with_golden_clips(descriptor(), {"ciede2000"}, 0.0, libvmaf_is_sound);
    if (!IsSkipped()) {
        EXPECT_GT(compared, 0);
    }
}

} // namespace
} // namespace qc::ciede
