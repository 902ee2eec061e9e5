// SPDX-License-Identifier: BSD-2-Clause-Patent
// What only this metric can test of itself: published or frozen scores, the CPU reference against an obvious loop,
// extremes, options. Names, sizes, layouts, renditions and pauses are tests/check/contract_test.cpp's, for every
// metric.
#include "metrics/skeleton/skeleton.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "metrics/skeleton/skeleton_math.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::skeleton {
namespace {

/// Scores of a generated clip, by frame.
std::vector<double> scores_of(const test::SyntheticClip& clip, const test::OptionList& options) {
    std::vector<test::SyntheticPicture> storage;
    storage.reserve(2 * static_cast<size_t>(clip.frames));
    std::vector<HostPicture> reference, distorted;
    for (int frame = 0; frame < clip.frames; ++frame) {
        reference.push_back(storage.emplace_back(clip, false, frame).view());
        distorted.push_back(storage.emplace_back(clip, true, frame).view());
    }
    return test::score_stream(descriptor(), test::synthetic_geometry(clip), options, reference, distorted)
        .values("skeleton_mad");
}

TEST(Skeleton, DifferencesHaveNoSign) {
    EXPECT_EQ(absolute_difference(3, 10), 7u);
    EXPECT_EQ(absolute_difference(10, 3), 7u);
    EXPECT_EQ(absolute_difference(65535, 0), 65535u);
    EXPECT_EQ(absolute_difference(0, 65535), 65535u);
}

/// From another program than this one: the published tool, or the paper's formula written down a second time.
TEST(Skeleton, SyntheticClipsHaveTheFrozenScores) {
    const std::map<std::string, std::vector<double>> frozen = {
        {"g64x48_420_8", {5.322591145833333, 5.337890625, 5.3798828125, 5.450520833333333}},
        {"g175x99_420_8", {5.411255411255412, 5.336796536796537, 5.368484848484848, 5.356305916305916}},
        {"g176x176_420_10", {21.802492252066116, 21.560530733471076, 21.75161415289256, 21.695667613636363}},
        {"g80x66_422_12", {87.96306818181819, 86.92992424242425, 86.43920454545454}},
        {"g48x32_444_16", {1216.068359375, 1158.431640625, 1183.8274739583333}},
    };
    for (const test::SyntheticClip& clip : test::kSyntheticClips)
        EXPECT_EQ(scores_of(clip, {}), frozen.at(clip.name)) << clip.name;
}

TEST(Skeleton, ScaleIsAFactor) {
    const test::SyntheticClip& clip = test::kSyntheticClips[0];
    const std::vector<double> plain = scores_of(clip, {}), doubled = scores_of(clip, {{"skeleton_scale", 2.0}});
    ASSERT_EQ(doubled.size(), plain.size());
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(doubled[i], 2.0 * plain[i]);
    EXPECT_EQ(scores_of(clip, {{"skeleton_scale", 0.0}}), std::vector<double>(plain.size(), 0.0));
}

/// Rows of any pitch, and not a sample beyond them: what lies behind a row is junk.
TEST(Skeleton, ReferenceIsTheObviousLoop) {
    for (const int depth : {8, 10, 12, 16})
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {1, 9}, {7, 1}, {16, 16}, {33, 5}})
            for (const int padding : {0, 3}) {
                const FrameGeometry geometry = test::luma_geometry(width, height, depth);
                const auto make = [&](int frame, bool is_distorted) {
                    const auto sample_at = [&](int x, int y) {
                        return test::synthetic_blocks(x, y, frame, 0, geometry.depth, is_distorted);
                    };
                    return test::SamplePicture(geometry, sample_at, padding);
                };
                const test::SamplePicture reference = make(1, false), distorted = make(2, true);
                uint64_t expected = 0;
                for (int y = 0; y < height; ++y)
                    for (int x = 0; x < width; ++x)
                        expected += static_cast<uint64_t>(
                            std::abs(int64_t{reference.at(0, x, y)} - int64_t{distorted.at(0, x, y)}));
                EXPECT_EQ(score_cpu(HostPair{reference.view(), distorted.view()}, geometry), expected)
                    << width << "x" << height << ", " << depth << " bits, padding " << padding;
            }
}

/// The largest difference everywhere; and the largest word that skeleton.hpp allows becomes a number, not an overflow.
TEST(Skeleton, Extremes) {
    constexpr int kWidth = 40, kHeight = 30;
    for (const int depth : {8, 10, 12, 16}) {
        const auto peak = static_cast<uint32_t>((1 << depth) - 1);
        const FrameGeometry geometry = test::luma_geometry(kWidth, kHeight, depth);
        const auto flat = [&](uint32_t code) { return test::SamplePicture(geometry, [=](int, int) { return code; }); };
        const test::SamplePicture black = flat(0), white = flat(peak);
        const HostPicture a[] = {black.view(), white.view(), white.view()};
        const HostPicture b[] = {white.view(), black.view(), white.view()};
        const std::vector<double> expected{static_cast<double>(peak), static_cast<double>(peak), 0.0};
        EXPECT_EQ(test::score_stream(descriptor(), geometry, {}, a, b).values("skeleton_mad"), expected) << depth;
    }
    const FrameGeometry largest = test::luma_geometry(65536, 65535, 16);
    const uint64_t sum = uint64_t{65535} * 65536 * 65535;
    EXPECT_EQ(test::finalise_stream(descriptor(), largest, {}, {{sum}}).values("skeleton_mad"),
              std::vector<double>{65535.0});
}

} // namespace
} // namespace qc::skeleton
