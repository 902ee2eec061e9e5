// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the CPU without golden files: the row version against the readable reference, hostile pictures,
// frozen scores.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "metrics/ssimulacra2/ssimulacra2_test_support.hpp"
#include "tests/support/sample_picture.hpp"
#include "tests/support/thread_counts.hpp"

namespace qc::ssimulacra2 {
namespace {

using test::flat_picture;
using test::SamplePicture;
using test::SyntheticClip;
using test::SyntheticPicture;

// ---- map ------------------------------------------------------------------------------------------------------------

/// Where every level has whole samples, its mean is the norms' weighted sum, each field's mean with the weights of both
/// of its norms.
TEST(Ssimulacra2, MeanOfTheMap) {
    constexpr int kWidth = 512, kHeight = 256;
    const Pair pair(kWidth, kHeight);
    const int levels = plan_of(pair.geometry, {}).levels;
    const test::OptionList list = list_of({{"subscores", "norms"}});
    const test::Recorder scores = run(pair.geometry, list, pair.reference.view(), pair.distorted.view());
    double expected = 0.0;
    for (int level = 0; level < levels; ++level)
        for (int c = 0; c < kChannels; ++c)
            for (int m = 0; m < kFields; ++m) {
                const std::string name = format(
                    "ssimulacra2_norm_%c%d_l1_%s", "xyb" [c], level,
                    std::array { "ssim", "artifact", "detail" }[static_cast<size_t>(m)]);
                const double weight = kWeights[norm_index(levels, c, level, term_index(kFirst, m))] +
                                      kWeights[norm_index(levels, c, level, term_index(kFourth, m))];
                expected += 0.9562382616834844 * weight * scores.values(name).at(0);
            }
    std::vector<float> values(size_t{kWidth} * kHeight);
    create_scorer(descriptor(), pair.geometry, test::options_of(descriptor(), list))
        ->draw({pair.reference.view(), pair.distorted.view()}, {}, {values.data(), {kWidth}, kWidth, kHeight});
    double sum = 0.0;
    for (const float value : values) sum += static_cast<double>(value);
    EXPECT_NEAR(sum / (kWidth * kHeight), expected, 1e-5 * expected);
    EXPECT_GT(expected, 0.5);
    EXPECT_EQ(kHeight % (1 << (levels - 1)), 0);
}

// ---- row by row against the readable reference ----------------------------------------------------------------------

const Words kVideoColours{{"matrix", "bt709"}, {"range", "limited"}, {"transfer", "bt1886"}, {"chroma_loc", "left"}};

/// Every needed sum, relative to itself; those of fields that are rounding errors, relative to the picture.
void expect_equal_to_reference(const FrameGeometry& geometry, const Words& words, const HostPair& pair,
                               const std::string& what) {
    const Plan plan = plan_of(geometry, words);
    std::vector<uint64_t> expected(kAccumulatorWords), actual(kAccumulatorWords);
    score_cpu(geometry, plan, pair, expected);
    RowWorkspaces workspaces;
    score_cpu_rows(geometry, plan, pair, actual, workspaces);
    const double nothing = 1e-13 * geometry.width * geometry.height;
    for (size_t i = 0; i < kAccumulatorWords; ++i) {
        const auto sum = std::bit_cast<double>(expected[i]);
        ASSERT_NEAR(std::bit_cast<double>(actual[i]), sum, 1e-10 * sum + nothing) << what << ", sum " << i;
    }
}

void expect_equal_to_reference(const Pair& pair, const Words& words, const std::string& what) {
    expect_equal_to_reference(pair.geometry, words, pair.views(), what);
}

std::string described(const Words& words) {
    std::string text;
    for (const auto& [option, word] : words) text += std::string(option) + "=" + std::string(word) + " ";
    return text;
}

TEST(Ssimulacra2CpuRows, SameBitsFromAnyNumberOfThreads) {
    for (const Words& words : {Words{}, Words{{"kernel", "gauss17"}, {"border", "renorm"}}}) {
        SCOPED_TRACE(described(words));
        const Pair pair(61, 157);
        const Plan plan = plan_of(pair.geometry, words);
        RowWorkspaces workspaces;
        test::expect_same_bits_from_any_threads(
            pair.views(), kAccumulatorWords,
            [&](const HostPair& views, auto& sums) { score_cpu_rows(pair.geometry, plan, views, sums, workspaces); });
    }
}

TEST(Ssimulacra2CpuRows, AllSmallSizesLayoutsAndDepths) {
    const int sides[] = {8, 9, 10, 13, 15, 16, 17, 24, 31, 33, 57, 65, 112, 113, 130};
    for (size_t i = 0; i < std::size(sides); ++i)
        for (const size_t j : {i, (i + 1) % std::size(sides), (i + 7) % std::size(sides)}) {
            const qc_chroma chroma = static_cast<qc_chroma>((i + j) % 4);
            const int depth = std::array{8, 10, 12, 16}[(i + 2 * j) % 4];
            expect_equal_to_reference(Pair(sides[i], sides[j], chroma, depth), {{"subscores", "norms"}},
                                      format("%dx%d, chroma %d, %d bits", sides[i], sides[j], chroma, depth));
            if (HasFatalFailure()) return;
        }
}

/// Every word of every option, alone and under every preset.
TEST(Ssimulacra2CpuRows, AllOptions) {
    const Pair pairs[] = {Pair(67, 45, QC_CHROMA_420, 8), Pair(46, 61, QC_CHROMA_422, 10)};
    for (const OptionSpec& option : descriptor().options)
        for (const std::string_view word : option.choices)
            for (const std::string_view preset : {"default", "vship", "rs", "vmaf-fork"}) {
                Words words{{"preset", preset}};
                if (option.name != "preset") words.emplace_back(option.name, word);
                for (const Pair& pair : pairs) expect_equal_to_reference(pair, words, described(words));
                if (HasFatalFailure()) return;
            }
}

/// Combinations that meet in no preset: values beyond the gamut go through every transfer function.
TEST(Ssimulacra2CpuRows, TransferFunctionsBeyondTheGamut) {
    const Pair pair(40, 33, QC_CHROMA_444, 16);
    for (const char* transfer : {"bt1886", "srgb", "bt709oetf", "gamma22", "gamma28", "linear", "pq", "hlg"})
        for (const char* gamut : {"clip", "floor", "extend"})
            for (const char* primaries : {"bt709", "bt2020", "p3"}) {
                const Words words{{"transfer", transfer}, {"gamut", gamut}, {"primaries", primaries}};
                expect_equal_to_reference(pair, words, described(words));
                if (HasFatalFailure()) return;
            }
}

TEST(Ssimulacra2CpuRows, Rgb) {
    for (const int depth : {8, 16}) {
        Pair pair(41, 50, QC_CHROMA_444, depth);
        pair.geometry.rgb = true;
        for (const char* range : {"full", "limited"})
            for (const char* preset : {"default", "vship", "rs", "vmaf-fork"})
                expect_equal_to_reference(pair, {{"range", range}, {"preset", preset}}, range);
    }
}

// ---- scores ---------------------------------------------------------------------------------------------------------

TEST(Ssimulacra2, IdenticalPicturesScoreExactly100) {
    for (int width = 8; width <= 130; width += 7)
        for (int height = 8; height <= 130; height += 11) {
            const Pair pair(width, height, static_cast<qc_chroma>(width % 4), height % 2 == 0 ? 8 : 10);
            EXPECT_EQ(score_of(pair.geometry, {}, pair.distorted.view(), pair.distorted.view()), 100.0)
                << width << "x" << height;
        }
}

TEST(Ssimulacra2, OrderOfTheInputsMatters) {
    const Pair pair(64, 64);
    const double swapped = score_of(pair.geometry, {}, pair.distorted.view(), pair.reference.view());
    EXPECT_GT(std::abs(swapped - pair.score()), 0.01);
}

// ---- plan -----------------------------------------------------------------------------------------------------------

TEST(Ssimulacra2Plan, LevelsFollowTheSize) {
    const auto levels = [](int width, int height, const Words& words = {}) {
        return plan_of(Pair(width, height).geometry, words).levels;
    };
    EXPECT_EQ(levels(8, 8), 2);
    EXPECT_EQ(levels(61, 45), 4);
    EXPECT_EQ(levels(112, 300), 5);
    EXPECT_EQ(levels(113, 113), 6);
    EXPECT_EQ(levels(8, 8, {{"preset", "vship"}}), 6);
    EXPECT_EQ(levels(8, 8, {{"preset", "vmaf-fork"}}), 1);
    EXPECT_EQ(levels(224, 300, {{"preset", "vmaf-fork"}}), 5);
    EXPECT_EQ(levels(225, 225, {{"preset", "vmaf-fork"}}), 6);
    const Plan plan = plan_of(Pair(135, 117).geometry);
    EXPECT_EQ(plan.level[1].width, 68);
    EXPECT_EQ(plan.level[1].height, 59);
    EXPECT_EQ(plan.level[5].width, 5);
}

int needed_terms(const Plan& plan) {
    int count = 0;
    for (const auto& level : plan.needed)
        for (const uint8_t terms : level) count += __builtin_popcount(terms);
    return count;
}

TEST(Ssimulacra2Plan, OnlyTermsWithWeightsAreNeeded) {
    const FrameGeometry geometry = Pair(128, 128).geometry;
    EXPECT_EQ(needed_terms(plan_of(geometry)), 52);
    EXPECT_EQ(needed_terms(plan_of(geometry, {{"prune", "1"}})), 25);
    EXPECT_EQ(needed_terms(plan_of(geometry, {{"subscores", "norms"}})), 108);
    EXPECT_EQ(needed_terms(plan_of(geometry, {{"preset", "vship"}})), 25);
    EXPECT_EQ(needed_terms(plan_of(geometry, {{"preset", "vship"}, {"prune", "0"}})), 52);
    const Plan plan = plan_of(geometry);
    EXPECT_EQ(plan.needed[0][kX], 1 << term_index(kFirst, kArtifact) | 1 << term_index(kFourth, kArtifact));
    EXPECT_EQ(plan.needed[5][kY], 0);
    EXPECT_EQ(plan.needed[4][kB], 0x3f);
}

TEST(Ssimulacra2Plan, SmallPicturesUseTheWeightsConsecutively) {
    const Plan plan = plan_of(Pair(61, 45).geometry);
    for (int c = 0; c < kChannels; ++c)
        for (int level = 0; level < 4; ++level)
            for (int term = 0; term < kTerms; ++term)
                EXPECT_EQ((plan.needed[level][c] >> term & 1) != 0, kWeights[c * 24 + level * 6 + term] != 0.0);
}

TEST(Ssimulacra2Plan, KernelsHaveMassOne) {
    for (const char* kernel : {"cosine9", "gauss17"}) {
        const BlurKernel<double> blur = plan_of(Pair(64, 64).geometry, {{"kernel", kernel}}).blur;
        double sum = blur.tap[0], moment = 0;
        for (int i = 1; i <= kMaxRadius; ++i) {
            sum += 2 * blur.tap[i];
            moment += 2 * blur.tap[i] * i * i;
        }
        EXPECT_NEAR(sum, 1.0, 1e-15) << kernel;
        EXPECT_NEAR(moment, 2.25, 1e-3) << kernel;
        float single = to_single(blur).tap[0];
        for (int i = 1; i <= kMaxRadius; ++i) single += 2 * to_single(blur).tap[i];
        EXPECT_NEAR(single, 1.0f, 2e-7f) << kernel;
    }
    EXPECT_EQ(plan_of(Pair(64, 64).geometry, {{"border", "renorm"}}).blur.renormalise, 1);
    EXPECT_EQ(plan_of(Pair(64, 64).geometry).blur.radius, 4);
}

// ---- hostile pictures -----------------------------------------------------------------------------------------------

TEST(Ssimulacra2Hostile, FlatPictures) {
    const FrameGeometry geometry = Pair(67, 51).geometry;
    for (const Words& words : {Words{}, Words{{"preset", "vship"}}, Words{{"preset", "rs"}},
                               Words{{"preset", "vmaf-fork"}}, Words{{"gamut", "extend"}, {"transfer", "pq"}},
                               Words{{"gamut", "extend"}, {"transfer", "hlg"}, {"primaries", "bt2020"}}})
        for (const auto& first : test::kFlatCodes)
            for (const auto& second : test::kFlatCodes) {
                const SamplePicture a = flat_picture(geometry, first), b = flat_picture(geometry, second);
                const double score = score_of(geometry, words, a.view(), b.view());
                EXPECT_TRUE(std::isfinite(score));
                if (&first == &second)
                    EXPECT_EQ(score, 100.0);
                else
                    EXPECT_LE(score, 100.0);
            }
    const SamplePicture black = flat_picture(geometry, test::kFlatCodes[0]),
                        white = flat_picture(geometry, test::kFlatCodes[1]),
                        red = flat_picture(geometry, test::kFlatCodes[4]);
    // Flat against flat is mild: there are no edges to lose, and the structural term sees the border only.
    EXPECT_LT(score_of(geometry, {}, black.view(), white.view()), 30.0);
    EXPECT_LT(score_of(geometry, {}, black.view(), red.view()), 50.0);
    // Codes beyond black and white are clipped: no difference is left.
    EXPECT_EQ(score_of(geometry, {}, flat_picture(geometry, {0, 128, 128}).view(), black.view()), 100.0);
    EXPECT_LT(score_of(geometry, {{"gamut", "extend"}}, flat_picture(geometry, {0, 128, 128}).view(), black.view()),
              100.0);
}

/// The brightest blue of 16-bit codes lies beyond the pole of PQ's curve.
TEST(Ssimulacra2Hostile, PqBeyondItsPeak) {
    const FrameGeometry geometry = Pair(40, 40, QC_CHROMA_444, 16).geometry;
    const SamplePicture blue = flat_picture(geometry, {65535, 65535, 32768}),
                        white = flat_picture(geometry, {65535, 32768, 32768});
    for (const char* transfer : {"pq", "hlg", "bt1886"}) {
        const Words words{{"gamut", "extend"}, {"transfer", transfer}, {"primaries", "bt2020"}};
        const double score = score_of(geometry, words, white.view(), blue.view());
        EXPECT_TRUE(std::isfinite(score)) << transfer;
        EXPECT_LT(score, 95.0) << transfer;
    }
}

/// Noise in one plane only.
TEST(Ssimulacra2Hostile, ChromaAloneCounts) {
    const Pair pair(64, 64);
    for (const int changed : {1, 2}) {
        const double score = score_of(pair.geometry, {}, pair.reference.view(), pair.distorted_in(changed));
        EXPECT_LT(score, 99.0) << changed;
        EXPECT_GT(score, pair.score()) << changed;
    }
}

TEST(Ssimulacra2Hostile, GreyIsColourWithNeutralChroma) {
    test::expect_grey_is_neutral_colour(score_of);
    EXPECT_EQ(convention(*scorer_of(Pair(60, 52, QC_CHROMA_400).geometry), "matrix"), "");
}

/// What a session does with an 8-bit input beside one of 10 bits.
TEST(Ssimulacra2Hostile, LiftedSamplesScoreTheSame) {
    const Pair pair(50, 38);
    FrameGeometry geometry = pair.geometry;
    geometry.depth = 10;
    geometry.sample = SampleType::kU16;
    const auto lifted = [&](const auto& code_at) {
        return SamplePicture(geometry, [&](int plane, int x, int y) { return code_at(x, y, 0, plane, 8) << 2; });
    };
    const SamplePicture reference = lifted(test::synthetic_reference), distorted = lifted(test::synthetic_distorted);
    EXPECT_NEAR(score_of(geometry, {}, reference.view(), distorted.view()), pair.score(), 1e-9);
}

// ---- frozen scores --------------------------------------------------------------------------------------------------

/// Of the first frames, with BT.709; every layout and depth.
TEST(Ssimulacra2, FrozenScores) {
    const double expected[] = {5.3941244911848685, 47.465099798689167, 48.437298808367402, 51.57833369868171,
                               21.318762024321401};
    size_t i = 0;
    for (const SyntheticClip& clip : test::kSyntheticClips) {
        const SyntheticPicture reference(clip, false, 0), distorted(clip, true, 0);
        EXPECT_NEAR(score_of(test::synthetic_geometry(clip), kVideoColours, reference.view(), distorted.view()),
                    expected[i], 1e-8)
            << clip.name;
        ++i;
    }
}

} // namespace
} // namespace qc::ssimulacra2
