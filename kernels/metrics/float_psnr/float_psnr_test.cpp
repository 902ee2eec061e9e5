// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_psnr: golden and frozen scores, rounded squares.
#include "metrics/float_psnr/float_psnr.hpp"

#include <gtest/gtest.h>

#include "families/sse/sse_kernels.hpp"
#include "metrics/float_psnr/float_psnr_math.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/any_size.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::float_psnr {
namespace {

using sse::Square;

TEST(FloatPsnr, LargeSquaresAreRoundedToSinglePrecision) {
    EXPECT_EQ(sse::rounded_squared_error(4096, 0), 4096u * 4096u);
    EXPECT_EQ(sse::rounded_squared_error(0, 4097), 16785408u); // 16785409: a tie, to the even neighbour
    EXPECT_EQ(sse::rounded_squared_error(65535, 0), 4294836224u);
    EXPECT_EQ(sse::squared_error_as<Square::kExact>(0, 4097), 16785409u);
}

TEST(FloatPsnr, PeaksAndCaps) {
    EXPECT_EQ(peak(8), 255.0);
    EXPECT_EQ(peak(10), 255.75);
    EXPECT_EQ(peak(12), 255.9375);
    EXPECT_EQ(peak(16), 255.99609375);
    for (const auto& [depth, expected] : std::vector<std::pair<int, double>>{{8, 60}, {10, 72}, {12, 84}, {16, 108}})
        EXPECT_EQ(score(0, 1, depth), expected);
    EXPECT_NEAR(score(400, 100, 8), 42.110203695399477, 1e-12); // 20 log10(255 / 2)
    EXPECT_EQ(score(400 * 16, 100, 10), 10 * std::log10(255.75 * 255.75 / 4));
}

/// Frozen scores, by frame; the formula in the spec's words on sums that a plain loop makes.
TEST(FloatPsnr, SyntheticClipsHaveTheFrozenScores) {
    const std::map<std::string, std::vector<double>> frozen = {
        {"g64x48_420_8", {31.846548419843792, 31.884129373465484, 31.703640848466087, 31.674738993275074}},
        {"g175x99_420_8", {31.692506960806011, 31.811355309605037, 31.737957233949775, 31.747452820114297}},
        {"g176x176_420_10", {31.683953795914555, 31.775688309054736, 31.671589285735422, 31.710759263797531}},
        {"g80x66_422_12", {31.671349857350005, 31.791699688856454, 31.699011333583513}},
        {"g48x32_444_16", {32.899543522211268, 33.354907339955943, 33.131302170050418}},
    };
    for (const test::SyntheticClip& clip : test::kSyntheticClips) {
        const test::SyntheticStream stream(clip);
        const std::vector<double> actual =
            test::score_stream(descriptor(), stream.geometry(), {}, stream.reference(), stream.distorted())
                .values("float_psnr");
        const std::vector<double>& expected = frozen.at(clip.name);
        ASSERT_EQ(actual.size(), expected.size());
        for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-9) << clip.name << " " << i;
    }
}

TEST(FloatPsnrGolden, EveryClip) {
    golden::expect_golden_scores({.metric = descriptor(), .least = 240});
}

TEST(FloatPsnr, TakesEverySize) {
    test::expect_takes_any_size(descriptor());
}

} // namespace
} // namespace qc::float_psnr
