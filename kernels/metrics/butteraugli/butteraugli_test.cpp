// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the CPU without golden files: frozen scores, hostile pictures, the plan, options and what is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "metrics/butteraugli/butteraugli_lines.hpp"
#include "metrics/butteraugli/butteraugli_settings.hpp"
#include "metrics/butteraugli/butteraugli_test_support.hpp"
#include "tests/support/sample_picture.hpp"

namespace qc::butteraugli {
namespace {

using test::flat_picture;
using test::SamplePicture;
using test::SyntheticClip;
using test::SyntheticPicture;

const Words kVideoColours{{"matrix", "bt709"}, {"range", "limited"}, {"transfer", "bt1886"}, {"chroma_loc", "left"}};

ColourTags tags(int matrix, int range, int primaries, int transfer, int location) {
    return {matrix, range, primaries, transfer, location};
}

// ---- map ------------------------------------------------------------------------------------------------------------

/// Its largest value is the score, and its norms are the norms.
TEST(Butteraugli, MapThatTheScoresAreOf) {
    for (const auto& [width, height] : {std::pair{67, 45}, {12, 9}}) {
        const Pair pair(width, height);
        const auto scorer = scorer_of(pair.geometry);
        std::vector<float> values(static_cast<size_t>(width) * static_cast<size_t>(height));
        scorer->draw({pair.reference.view(), pair.distorted.view()}, {}, {values.data(), {width}, width, height});
        double sum = 0.0;
        for (const float value : values) sum += std::pow(static_cast<double>(value), 3.0);
        const test::Recorder scores = pair.scores({{"subscores", "norms"}});
        EXPECT_NEAR(*std::max_element(values.begin(), values.end()), scores.values("butteraugli").at(0), 1e-5);
        EXPECT_NEAR(std::cbrt(sum / (width * height)), scores.values("butteraugli_norm3").at(0), 1e-5);
        EXPECT_GT(scores.values("butteraugli").at(0), 1.0);
    }
}

// ---- scores ---------------------------------------------------------------------------------------------------------

/// Of the first frames, with BT.709; every layout and depth.
TEST(Butteraugli, FrozenScores) {
    struct Expected {
        double largest, mixed;
    };
    const Expected expected[] = {{5.388953435165968, 3.6255795988475867},
                                 {6.02160256768504, 3.9613260437838123},
                                 {6.0446229108068241, 4.0949389897148762},
                                 {4.5157360108079265, 3.2773587926172687},
                                 {3.7604087160832185, 3.0073493980952422}};
    size_t i = 0;
    for (const SyntheticClip& clip : test::kSyntheticClips) {
        const SyntheticPicture reference(clip, false, 0), distorted(clip, true, 0);
        for (const auto& [cpu, bound] : {std::pair{Cpu::kReference, 1e-8}, {Cpu::kBackend, kCpuBound}}) {
            const test::Recorder recorder =
                run(test::synthetic_geometry(clip), kVideoColours, reference.view(), distorted.view(), cpu);
            EXPECT_NEAR(recorder.values("butteraugli").at(0), expected[i].largest, bound) << clip.name;
            EXPECT_NEAR(recorder.values("butteraugli_3norm").at(0), expected[i].mixed, bound) << clip.name;
        }
        ++i;
    }
}

TEST(Butteraugli, IdenticalPicturesScoreExactly0) {
    for (int width = 8; width <= 70; width += 13)
        for (int height = 8; height <= 70; height += 11) {
            const Pair pair(width, height, static_cast<qc_chroma>(width % 4), height % 2 == 0 ? 8 : 10);
            const test::Recorder recorder =
                run(pair.geometry, {{"subscores", "norms"}}, pair.distorted.view(), pair.distorted.view());
            EXPECT_EQ(recorder.scores.size(), 6u);
            for (const auto& [name, frames] : recorder.scores) EXPECT_EQ(frames.at(0), 0.0) << name;
        }
}

TEST(Butteraugli, OrderOfTheInputsMatters) {
    const Pair pair(64, 64);
    EXPECT_GT(std::abs(score_of(pair.geometry, {}, pair.distorted.view(), pair.reference.view()) - pair.score()), 1e-3);
}

/// Norms grow with their power towards the largest value, and the tool's is the mean of three.
TEST(Butteraugli, NormsAreThoseOfOneMap) {
    const test::Recorder recorder = Pair(67, 45).scores({{"subscores", "norms"}});
    const auto value = [&](const char* name) { return recorder.values(name).at(0); };
    EXPECT_LT(value("butteraugli_norm2"), value("butteraugli_norm3"));
    EXPECT_LT(value("butteraugli_norm3"), value("butteraugli_norm6"));
    EXPECT_LT(value("butteraugli_norm6"), value("butteraugli_norm12"));
    EXPECT_LT(value("butteraugli_norm12"), value("butteraugli"));
    EXPECT_DOUBLE_EQ(value("butteraugli_3norm"),
                     (value("butteraugli_norm3") + value("butteraugli_norm6") + value("butteraugli_norm12")) / 3.0);
    EXPECT_EQ(Pair(67, 45).scores().scores.size(), 2u);
}

// ---- plan -----------------------------------------------------------------------------------------------------------

TEST(ButteraugliPlan, TheSecondScaleNeedsEightPlaces) {
    EXPECT_EQ(plan_of(Pair(8, 8).geometry).scales, 1);
    EXPECT_EQ(plan_of(Pair(14, 100).geometry).scales, 1);
    EXPECT_EQ(plan_of(Pair(15, 15).geometry).scales, 2);
    EXPECT_EQ(plan_of(Pair(15, 17).geometry).scale[1].width, 8);
    EXPECT_EQ(plan_of(Pair(15, 17).geometry).scale[1].height, 9);
}

TEST(ButteraugliPlan, GaussiansHaveMassOne) {
    const Plan plan = plan_of(Pair(64, 64).geometry);
    for (int g = 0; g < kGaussians; ++g) {
        const Gaussian<double>& blur = plan.blur[g];
        EXPECT_EQ(blur.radius, std::max(1, static_cast<int>(2.25 * kDeviation[g]))) << g;
        double sum = blur.tap[0];
        for (int i = 1; i <= blur.radius; ++i) sum += 2 * blur.tap[i];
        EXPECT_NEAR(sum, 1.0, 1e-15) << g;
        EXPECT_NEAR(blur.tap[1] / blur.tap[0], std::exp(-0.5 / (kDeviation[g] * kDeviation[g])), 1e-15) << g;
    }
}

template <size_t kCount>
double times_of(const Line (&lines)[kCount]) {
    double times = 0;
    for (const Line& line : lines) times += line.times;
    return times;
}

TEST(ButteraugliPlan, SixteenLinesWithinTheirReach) {
    EXPECT_EQ(times_of(kDenseLines), 16.0);
    EXPECT_EQ(times_of(kSparseLines), 16.0);
    for (const Line& line : kDenseLines)
        for (int k = 0; k < line.samples; ++k)
            EXPECT_LE(std::max(std::abs(line.at[k].x), std::abs(line.at[k].y)), kLineReach);
}

TEST(ButteraugliPlan, ThreeSmallestOfWhatComes) {
    Erosion<double> smallest(2.0);
    EXPECT_DOUBLE_EQ(smallest.value(), 0.45 * 2 + 0.3 * 4 + 0.25 * 4);
    for (const double value : {5.0, 3.0, 1.0, 9.0}) smallest.take(value);
    EXPECT_DOUBLE_EQ(smallest.value(), 0.45 * 1 + 0.3 * 2 + 0.25 * 3);
}

TEST(ButteraugliPlan, OwnFunctionsEqualTheLibrarys) {
    for (double x = 1e-3; x < 1e9; x *= 1.0137) {
        EXPECT_NEAR(natural_log(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x)))) << x;
        EXPECT_NEAR(natural_log(static_cast<float>(x)), std::log(x), 2e-6 * std::max(1.0, std::abs(std::log(x)))) << x;
    }
    for (double x = 0.0; x < 4.0; x += 0.013) EXPECT_NEAR(decay(x), std::exp(-x), 3e-15 * std::exp(-x)) << x;
    EXPECT_EQ(natural_log(1.0), 0.0);
}

TEST(ButteraugliPlan, ActivityOfNothingIsNothing) {
    EXPECT_NEAR(kActivityShiftRoot, std::sqrt(kActivityShift), 1e-15);
    EXPECT_EQ(activity(0.0, 0.0), 0.0);
    EXPECT_NEAR(activity(0.0f, 0.0f), 0.0f, 2e-6f); // two roundings of 8.8
}

// ---- hostile pictures -----------------------------------------------------------------------------------------------

TEST(ButteraugliHostile, FlatPictures) {
    const FrameGeometry geometry = Pair(37, 31).geometry;
    for (const Words& words : {Words{}, Words{{"intensity_target", "10000"}, {"hf_asymmetry", "10"}},
                               Words{{"gamut", "extend"}, {"intensity_target", "10000"}}, Words{{"transfer", "pq"}},
                               Words{{"gamut", "extend"}, {"transfer", "hlg"}, {"primaries", "bt2020"}}})
        for (const auto& first : test::kFlatCodes)
            for (const auto& second : test::kFlatCodes) {
                const SamplePicture a = flat_picture(geometry, first), b = flat_picture(geometry, second);
                const double score = score_of(geometry, words, a.view(), b.view());
                EXPECT_TRUE(std::isfinite(score));
                EXPECT_GE(score, 0.0);
                if (&first == &second) {
                    EXPECT_EQ(score, 0.0);
                }
            }
    const SamplePicture black = flat_picture(geometry, test::kFlatCodes[0]),
                        white = flat_picture(geometry, test::kFlatCodes[1]);
    EXPECT_GT(score_of(geometry, {}, black.view(), white.view()), 10.0);
    // Codes beyond black are clipped: no difference is left.
    EXPECT_EQ(score_of(geometry, {}, flat_picture(geometry, {0, 128, 128}).view(), black.view()), 0.0);
    EXPECT_GT(score_of(geometry, {{"gamut", "extend"}}, flat_picture(geometry, {0, 128, 128}).view(), black.view()),
              0.0);
}

/// Noise in one plane only.
TEST(ButteraugliHostile, ChromaAloneCounts) {
    const Pair pair(64, 64);
    for (const int changed : {1, 2}) {
        const double score = score_of(pair.geometry, {}, pair.reference.view(), pair.distorted_in(changed));
        EXPECT_GT(score, 0.1) << changed;
    }
}

TEST(ButteraugliHostile, GreyIsColourWithNeutralChroma) {
    test::expect_grey_is_neutral_colour(score_of);
    EXPECT_EQ(convention(*scorer_of(Pair(60, 52, QC_CHROMA_400).geometry), "matrix"), "");
}

// ---- options and colours --------------------------------------------------------------------------------------------

TEST(ButteraugliOptions, EachChangesTheScore) {
    const Pair pair(67, 45);
    const double base = pair.score();
    for (const Words& words :
         {Words{{"intensity_target", "250"}}, Words{{"hf_asymmetry", "1"}}, Words{{"constants", "libjxl011"}},
          Words{{"gamut", "extend"}}, Words{{"gamut", "floor"}}, Words{{"chroma", "nearest"}},
          Words{{"chroma", "bilinear"}}, Words{{"transfer", "bt709oetf"}}, Words{{"matrix", "fcc"}},
          Words{{"range", "full"}}, Words{{"primaries", "p3"}}, Words{{"chroma_loc", "center"}}})
        EXPECT_GT(std::abs(pair.score(words) - base), 1e-6) << words[0].first << " " << words[0].second;
    for (const Words& words :
         {Words{{"intensity_target", "80"}}, Words{{"hf_asymmetry", "0.8"}}, Words{{"constants", "libjxl07"}},
          Words{{"gamut", "clip"}}, Words{{"chroma", "catmullrom"}}, Words{{"subscores", "norms"}}})
        EXPECT_EQ(pair.score(words), base) << words[0].first << " " << words[0].second;
}

/// An option gives what the same tag on both inputs gives.
TEST(ButteraugliOptions, OptionsAndTagsMeanTheSame) {
    Pair pair(65, 49);
    const struct {
        Words words;
        ColourTags tags;
    } cases[] = {{{{"matrix", "bt2020nc"}}, tags(9, 1, 1, 1, 1)},
                 {{{"range", "full"}}, tags(1, 2, 1, 1, 1)},
                 {{{"transfer", "srgb"}}, tags(1, 1, 1, 13, 1)},
                 {{{"chroma_loc", "topleft"}}, tags(1, 1, 1, 1, 3)}};
    for (const auto& each : cases) {
        pair.geometry.reference_colour = pair.geometry.distorted_colour = tags(1, 1, 1, 1, 1);
        const double by_option = pair.score(each.words);
        pair.geometry.reference_colour = pair.geometry.distorted_colour = each.tags;
        EXPECT_EQ(pair.score(), by_option) << each.words[0].first;
    }
}

/// PQ is absolute: grey of a given light differs from other grey by as much, whatever 1.0 stands for.
TEST(ButteraugliOptions, PqKeepsItsLight) {
    const Pair pair(40, 36, QC_CHROMA_420, 10);
    const double at_80 = pair.score({{"transfer", "pq"}});
    EXPECT_NEAR(pair.score({{"transfer", "pq"}, {"intensity_target", "1000"}}), at_80, 1e-9 * at_80);
    EXPECT_NE(pair.score({{"transfer", "hlg"}}), at_80);
}

TEST(ButteraugliNotes, WhatIsAssumedIsTold) {
    const auto metric = scorer_of(Pair(64, 64).geometry, {{"intensity_target", "250"}});
    EXPECT_TRUE(warns(*metric, {"assumed", "matrix smpte170m", "range limited", "transfer function bt1886"}));
    EXPECT_EQ(convention(*metric, "intensity_target"), "250 cd/m2");
    EXPECT_EQ(convention(*metric, "hf_asymmetry"), "0.8");
    EXPECT_EQ(convention(*metric, "constants"), "libjxl07");
    EXPECT_EQ(convention(*metric, "chroma"), "catmullrom");
    FrameGeometry tagged = Pair(64, 64).geometry;
    tagged.reference_colour = tagged.distorted_colour = tags(1, 1, 1, 1, 1);
    EXPECT_TRUE(scorer_of(tagged)->warnings().empty());
    EXPECT_TRUE(warns(*scorer_of(tagged, {{"transfer", "pq"}}), {"PQ or HLG", "uncalibrated"}));
}

TEST(ButteraugliRefusals, SmallPicturesAndTagsWithoutAMeaning) {
    FrameGeometry geometry = Pair(8, 8).geometry;
    EXPECT_TRUE(validate(descriptor(), geometry, options_of({})).ok());
    geometry.width = 7;
    EXPECT_EQ(validate(descriptor(), geometry, options_of({})).text(),
              "butteraugli needs pictures of at least 8x8, these are 7x8");
    geometry.width = 8;
    geometry.distorted_colour.matrix = 8;
    const Status status = validate(descriptor(), geometry, options_of({}));
    EXPECT_EQ(status.code(), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(status.text().find("butteraugli: unsupported matrix"), 0u) << status.text();
    EXPECT_TRUE(validate(descriptor(), geometry, options_of({{"matrix", "bt709"}})).ok());
}

TEST(ButteraugliRefusals, OptionsOutOfRange) {
    OptionValues options(descriptor().options);
    for (const auto& [option, word] : Words{{"intensity_target", "0"},
                                            {"intensity_target", "20000"},
                                            {"hf_asymmetry", "0"},
                                            {"hf_asymmetry", "nan"},
                                            {"constants", "libjxl08"}})
        EXPECT_FALSE(set_option(descriptor(), option, std::string(word), UnknownOption::kError, &options).ok())
            << option << "=" << word;
}

} // namespace
} // namespace qc::butteraugli
