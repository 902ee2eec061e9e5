// SPDX-License-Identifier: BSD-2-Clause-Patent
// XPSNR from block sums to scores: weights and sequence values by hand, frozen scores, sessions.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "cpu/host_picture.hpp"
#include "metrics/xpsnr/xpsnr_test_support.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::xpsnr {
namespace {

using test::Content;
using test::OptionList;
using test::Recorder;

// ---- weights --------------------------------------------------------------------------------------------------------

/// A plan for weights alone: a row of 4x4 blocks is `columns` wide. Its inner blocks have an activity of words / 16.
BlockPlan weight_plan(int columns, int rows) {
    FrameGeometry geometry;
    geometry.width = 4 * columns;
    geometry.height = 4 * rows;
    BlockPlan plan = plan_with(geometry, 4, 1);
    plan.smoothed = false;
    return plan;
}

/// Words that give the blocks these weights (powers of two up to 1/4), and the first ten errors in base 64, which tell
/// the weights apart.
Words64 words_for(const BlockPlan& plan, const std::vector<double>& weights) {
    Words64 words;
    for (size_t k = 0; k < weights.size(); ++k) {
        const Rectangle block = plan.block(static_cast<int>(k), 0);
        const int area = active_part(block.x, plan.width[0], 1).size() * active_part(block.y, plan.height[0], 1).size();
        words.push_back(static_cast<uint64_t>(area / weights[k]));
        words.push_back(0);
        words.push_back(k < 10 ? uint64_t{1} << (6 * k) : 0);
    }
    return words;
}

TEST(XpsnrWeights, AreTheInverseOfActivities) {
    const BlockPlan plan = weight_plan(3, 3);
    const double relative = 144.0 / (3840 * 2160);
    ASSERT_GT(relative, 1e-5);
    const auto expected = [&](double sum) {
        return static_cast<uint64_t>(std::floor(sum * std::sqrt(16.0 * 128 / std::sqrt(relative)) + 0.5));
    };
    Words64 words(9 * 3);
    words[4 * 3 + kSquaredError] = 1000;
    EXPECT_EQ(weighted_errors(plan, words)[0], expected(1000 / 4.0)) << "activities have a floor of 2^(8 - 6)";
    words[4 * 3 + kSpatial] = 160; // of 4x4 samples
    EXPECT_EQ(weighted_errors(plan, words)[0], expected(1000 / 10.0));
    words[4 * 3 + kTemporal] = 40; // counts twice
    EXPECT_EQ(weighted_errors(plan, words)[0], expected(1000 / 15.0));
    // At the corner, activity in space is measured on 3x3 samples, in time on all.
    words.assign(9 * 3, 0);
    words[0 * 3 + kSquaredError] = 1000;
    words[0 * 3 + kSpatial] = 90;
    words[0 * 3 + kTemporal] = 40;
    EXPECT_EQ(weighted_errors(plan, words)[0], expected(1000 / 15.0));
}

TEST(XpsnrWeights, BlocksWithoutActivityCountOnce) {
    // Blocks of one column at the right edge, all of it margin.
    FrameGeometry geometry;
    geometry.width = 9;
    geometry.height = 8;
    BlockPlan plan = plan_with(geometry, 4, 1);
    Words64 words(static_cast<size_t>(plan.blocks()) * 3);
    words[2 * 3 + kSquaredError] = 1000;
    plan.smoothed = false;
    const double scale = std::sqrt(16.0 * 128 / std::sqrt(std::max(1e-5, relative_size(plan))));
    EXPECT_EQ(weighted_errors(plan, words)[0], static_cast<uint64_t>(std::floor(1000 * scale + 0.5)));
}

TEST(XpsnrWeights, SmallestPicturesAreNotWeighted) {
    const BlockPlan plan = make_plan(geometry_of(16, 16));
    EXPECT_FALSE(plan.weighted);
    const WeightedErrors errors = weighted_errors(plan, Words64{0, 0, 70, 80, 90});
    EXPECT_EQ(errors[0], 70u);
    EXPECT_EQ(errors[1], 80u);
    EXPECT_EQ(errors[2], 90u);
}

/// Weights after smoothing, one by one: the errors of all other blocks are 0.
std::vector<double> smoothed_weights(int columns, int rows, const std::vector<double>& weights) {
    BlockPlan plan = weight_plan(columns, rows);
    plan.smoothed = true;
    const double scale = std::sqrt(16.0 * 128 / std::sqrt(std::max(1e-5, relative_size(plan))));
    std::vector<double> result;
    for (size_t k = 0; k < weights.size(); ++k) {
        Words64 words = words_for(plan, weights);
        constexpr double kError = 1 << 30;
        for (size_t i = 0; i < weights.size(); ++i) words[i * 3 + kSquaredError] = i == k ? (1 << 30) : 0;
        const double weight = static_cast<double>(weighted_errors(plan, words)[0]) / scale / kError;
        result.push_back(std::ldexp(std::round(std::ldexp(weight, 20)), -20));
    }
    return result;
}

TEST(XpsnrWeights, SmoothingTakesPeaksDown) {
    constexpr double kLow = 1.0 / 64, kMid = 1.0 / 32, kHigh = 1.0 / 4;
    using Weights = std::vector<double>;
    // A flat picture stays as it is.
    EXPECT_EQ(smoothed_weights(4, 3, Weights(12, kMid)), Weights(12, kMid));
    // A peak inside is taken down to the largest of left, right and above.
    Weights weights(16, kLow);
    weights[4 + 1] = kHigh;
    EXPECT_EQ(smoothed_weights(4, 4, weights), Weights(16, kLow));
    weights[1] = kMid; // above it, a peak itself, but in the first row only left and right count
    EXPECT_EQ(smoothed_weights(4, 4, weights), Weights(16, kLow));
    weights[1] = kLow;
    weights[4 + 2] = kMid; // to the right of it, not yet taken down
    Weights expected(16, kLow);
    expected[4 + 1] = kMid;
    expected[4 + 2] = kMid; // equal to its left neighbour by then
    EXPECT_EQ(smoothed_weights(4, 4, weights), expected);
    // Ends: the first block has its right neighbour only, the last of a row those before it and above.
    weights.assign(16, kLow);
    weights[0] = weights[7] = weights[15] = kHigh;
    EXPECT_EQ(smoothed_weights(4, 4, weights), Weights(16, kLow));
    // Two rows of one column: the first block has no neighbour that counts.
    EXPECT_EQ(smoothed_weights(1, 1, {kHigh}), Weights{kHigh});
}

// ---- scores ---------------------------------------------------------------------------------------------------------

struct FrozenErrors {
    const char* clip;
    std::vector<std::vector<uint64_t>> slow, fast; ///< at 25 and 60 frames per second, by plane and frame
};

/// Of an independent implementation, on the clips of synthetic_clip.hpp.
const std::vector<FrozenErrors> kFrozenErrors = {
    {"g64x48_420_8",
     {{125793, 507009, 532411, 539200}, {20677, 82367, 86831, 88560}, {24725, 94214, 104776, 106566}},
     {{125793, 122579, 489440, 494950}, {20677, 21630, 79774, 81554}, {24725, 23355, 96192, 98139}}},
    {"g175x99_420_8",
     {{540950, 1825906, 1856169, 1863524}, {156520, 538743, 533053, 530801}, {159431, 527093, 556860, 528569}},
     {{540950, 518753, 1715481, 1718805}, {156520, 158721, 492614, 490108}, {159431, 143215, 514776, 488019}}},
    {"g176x176_420_10",
     {{12485807, 46267191, 47081344, 47085072},
      {3165157, 11667560, 11517010, 11775690},
      {3232215, 11866835, 12338904, 12129614}},
     {{12485807, 12151395, 43595405, 43421022},
      {3165157, 3182142, 10663329, 10883808},
      {3232215, 3021986, 11427172, 11202925}}},
    {"g80x66_422_12",
     {{46685215, 193185295, 198987917}, {21977268, 96650149, 97663551}, {23806635, 93763574, 101365180}},
     {{46685215, 44816120, 183189757}, {21977268, 22471298, 89844830}, {23806635, 21963031, 93184895}}},
    {"g48x32_444_16",
     {{3383634709, 3046822045, 3207802387}, {3138611064, 3325583170, 3430800615}, {4390025958, 4179590529, 4580100863}},
     {{3383634709, 3046822045, 3207802387},
      {3138611064, 3325583170, 3430800615},
      {4390025958, 4179590529, 4580100863}}},
};

/// What 10 log10 makes of a weighted error.
double decibels(const FrameGeometry& geometry, int plane, uint64_t error) {
    const double peak = (1 << geometry.depth) - 1;
    const double root = std::sqrt(static_cast<double>(error));
    return 10 * std::log10(static_cast<double>(geometry.stored_width(plane)) * geometry.stored_height(plane) * peak *
                           peak / (root * root));
}

TEST(Xpsnr, SyntheticClipsHaveTheFrozenErrors) {
    const char* const names[3] = {"xpsnr_y", "xpsnr_u", "xpsnr_v"};
    for (const FrozenErrors& frozen : kFrozenErrors)
        for (const test::SyntheticClip& clip : test::kSyntheticClips) {
            if (std::string(clip.name) != frozen.clip) continue;
            const test::SyntheticStream stream(clip);
            for (const bool fast : {false, true}) {
                FrameGeometry geometry = test::synthetic_geometry(clip);
                geometry.frame_rate = fast ? 60 : 25;
                const Recorder recorder =
                    test::score_stream(descriptor(), geometry, {}, stream.reference(), stream.distorted());
                for (int plane = 0; plane < 3; ++plane) {
                    const auto& expected = (fast ? frozen.fast : frozen.slow)[static_cast<size_t>(plane)];
                    const std::vector<double> actual = recorder.values(names[plane]);
                    ASSERT_EQ(actual.size(), expected.size());
                    for (size_t i = 0; i < actual.size(); ++i)
                        EXPECT_NEAR(actual[i], decibels(geometry, plane, expected[i]), 1e-12)
                            << clip.name << " " << names[plane] << " " << i << (fast ? " fast" : " slow");
                }
            }
        }
}

/// Scores of an unweighted 10x10 picture from its squared errors.
Recorder scores_of_errors(const OptionList& options, const std::vector<uint64_t>& errors) {
    FrameGeometry geometry;
    geometry.width = geometry.height = 10;
    std::vector<Words64> words;
    words.reserve(errors.size());
    for (const uint64_t error : errors) words.push_back({0, 0, error});
    return test::finalise_stream(descriptor(), geometry, options, words);
}

TEST(XpsnrScores, FramesAndStream) {
    const auto score = [](double error) { return 10 * std::log10(100.0 * 255 * 255 / error); };
    Recorder recorder = scores_of_errors({}, {100, 1, 0});
    EXPECT_EQ(recorder.values("xpsnr_y"), (std::vector<double>{score(100), score(1), kInfinity}));
    // Roots 10, 1 and 0: their mean squared.
    EXPECT_NEAR(recorder.aggregates.at("axpsnr_y"), score(121.0 / 9), 1e-12);
    EXPECT_EQ(recorder.aggregates.at("axpsnr_min"), recorder.aggregates.at("axpsnr_y"));
    EXPECT_EQ(recorder.aggregates.size(), 2u);
    // A mean root below 1: the mean of the scores.
    EXPECT_EQ(scores_of_errors({}, {1, 0}).aggregates.at("axpsnr_y"), kInfinity);
    EXPECT_EQ(scores_of_errors({}, {1, 1}).aggregates.at("axpsnr_y"), score(1));
    EXPECT_EQ(scores_of_errors({}, {}).aggregates.size(), 0u);
}

TEST(XpsnrScores, LowestPlane) {
    const FrameGeometry geometry = geometry_of(10, 10, QC_CHROMA_444);
    const Recorder recorder = test::finalise_stream(descriptor(), geometry, {}, {{0, 0, 9, 900, 90}});
    EXPECT_EQ(recorder.aggregates.at("axpsnr_min"), recorder.aggregates.at("axpsnr_u"));
    EXPECT_EQ(recorder.aggregates.at("axpsnr_u"), recorder.values("xpsnr_u")[0]);
    EXPECT_LT(recorder.aggregates.at("axpsnr_u"), recorder.aggregates.at("axpsnr_v"));
}

TEST(XpsnrScores, RgbHasItsOwnNames) {
    FrameGeometry geometry = geometry_of(10, 10, QC_CHROMA_444);
    geometry.rgb = true;
    const Recorder recorder = test::finalise_stream(descriptor(), geometry, {}, {{0, 0, 9, 90, 900}});
    const auto score = [](double error) { return 10 * std::log10(100.0 * 255 * 255 / error); };
    EXPECT_NEAR(recorder.values("xpsnr_g").at(0), score(9), 1e-12);
    EXPECT_NEAR(recorder.values("xpsnr_b").at(0), score(90), 1e-12);
    EXPECT_NEAR(recorder.values("xpsnr_r").at(0), score(900), 1e-12);
    EXPECT_EQ(recorder.values("xpsnr_y").size(), 0u);
    EXPECT_NEAR(recorder.aggregates.at("axpsnr_r"), score(900), 1e-12);
}

/// Which order of differences in time is taken, seen by what a still picture after black ones scores.
TEST(Xpsnr, FrameRateChoosesTheOrder) {
    const test::SyntheticClip& clip = test::kSyntheticClips[0];
    const test::SyntheticStream stream(clip);
    const auto scores = [&](double frame_rate, double fps) {
        FrameGeometry geometry = test::synthetic_geometry(clip);
        geometry.frame_rate = frame_rate;
        return test::score_stream(descriptor(), geometry, {{"fps", fps}}, stream.reference(), stream.distorted())
            .values("xpsnr_y");
    };
    const std::vector<double> slow = scores(25, 0), fast = scores(60, 0);
    EXPECT_NE(slow, fast);
    EXPECT_EQ(slow[0], fast[0]);
    EXPECT_EQ(scores(31.99, 0), slow);
    EXPECT_EQ(scores(32, 0), fast);
    EXPECT_EQ(scores(0, 0), slow);
    EXPECT_EQ(scores(25, 50), fast);
    EXPECT_EQ(scores(60, 24), slow);
}

TEST(Xpsnr, SaysWhichFrameRateItAssumes) {
    FrameGeometry geometry = geometry_of(64, 64);
    const auto metric = [&](double rate, double fps) {
        geometry.frame_rate = rate;
        return create_scorer(descriptor(), geometry, test::options_of(descriptor(), {{"fps", fps}}));
    };
    ASSERT_EQ(metric(0, 0)->warnings().size(), 1u);
    EXPECT_NE(metric(0, 0)->warnings()[0].find("below 32"), std::string::npos);
    EXPECT_TRUE(metric(25, 0)->warnings().empty());
    EXPECT_TRUE(metric(0, 25)->warnings().empty());
    EXPECT_EQ(metric(0, 0)->conventions()[0].value, "unknown");
    EXPECT_EQ(metric(25, 50)->conventions()[0].value, "50");
}

TEST(Xpsnr, ValidatesDepthAndSize) {
    const OptionValues options(descriptor().options);
    FrameGeometry geometry;
    EXPECT_EQ(validate(descriptor(), geometry, options).code(), QC_ERROR_INVALID);
    geometry.width = geometry.height = 1;
    for (const int depth : {8, 10, 12, 16}) {
        geometry.depth = depth;
        EXPECT_EQ(validate(descriptor(), geometry, options).code(), QC_OK);
    }
}

/// Through a session: frames' history, missing pictures' places, RGB, all on the CPU.
TEST(XpsnrSession, LooksBackTwoFrames) {
    for (const char* layout : {"yuv420p", "p010le", "gray", "rgb24"}) {
        qc_config config = test::config_for(test::layout_named(layout), 98, 66, "xpsnr", QC_BACKEND_CPU);
        config.frame_rate = 50;
        config.slots = 2;
        const test::Stream stream = test::make_stream(config, Content::kNatural, 4);
        const test::RunResult result = test::run(config, stream);
        ASSERT_TRUE(result.status.ok()) << result.status.text();
        const bool rgb = config.reference.rgb != 0;
        ASSERT_EQ(result.names.size(), config.reference.chroma == QC_CHROMA_400 ? 1u : 3u);
        EXPECT_EQ(result.names[0], rgb ? "xpsnr_g" : "xpsnr_y");
        ASSERT_EQ(result.values.size(), 4u);

        FrameGeometry geometry;
        std::string chroma_conflict;
        ASSERT_TRUE(session_geometry(config, &geometry, &chroma_conflict).ok());
        const auto pool = std::make_shared<cpu::PicturePool>(geometry, true);
        std::vector<std::shared_ptr<const HostPicture>> held;
        std::vector<HostPicture> reference, distorted;
        for (size_t f = 0; f < 4; ++f) {
            held.push_back(pool->take_in(stream.reference[f].view(), config.reference));
            reference.push_back(*held.back());
            held.push_back(pool->take_in(stream.distorted[0][f].view(), config.distorted[0]));
            distorted.push_back(*held.back());
        }
        const Recorder recorder = test::score_stream(descriptor(), geometry, {}, reference, distorted);
        for (size_t c = 0; c < result.names.size(); ++c)
            for (size_t f = 0; f < 4; ++f)
                EXPECT_EQ(result.values[f][c], recorder.values(result.names[c]).at(f)) << layout << result.names[c];
    }
}

} // namespace
} // namespace qc::xpsnr
