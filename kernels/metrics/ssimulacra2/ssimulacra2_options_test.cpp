// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the CPU: colours, what is said of them, refusals, options.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "metrics/ssimulacra2/ssimulacra2_test_support.hpp"
#include "tests/support/sample_picture.hpp"

namespace qc::ssimulacra2 {
namespace {

using test::SamplePicture;

Status validate(const FrameGeometry& geometry, const Words& words = {}) {
    return validate(descriptor(), geometry, test::options_of(descriptor(), list_of(words)));
}

// ---- colour ---------------------------------------------------------------------------------------------------------

/// R'G'B' of one pixel's codes.
std::array<double, 3> rgb_of(const ColourConversion<double>& conversion, std::array<double, 3> codes) {
    std::array<double, 3> rgb{};
    for (size_t i = 0; i < 3; ++i)
        for (size_t p = 0; p < 3; ++p) rgb[i] += conversion.matrix[i][p] * (codes[p] - conversion.origin[p]);
    return rgb;
}

void expect_rgb(const FrameGeometry& geometry, const Words& words, std::array<double, 3> codes,
                std::array<double, 3> expected) {
    const auto actual = rgb_of(plan_of(geometry, words).reference, codes);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(actual[i], expected[i], 2e-3) << "component " << i;
}

TEST(Ssimulacra2Colour, MatricesReproduceKnownCodes) {
    FrameGeometry geometry = Pair(64, 64).geometry;
    // Pure red and white in 8-bit video; codes rounded, so within 1/255.
    expect_rgb(geometry, {{"matrix", "bt709"}}, {63, 102, 240}, {1.003, 0.002, -0.001});
    expect_rgb(geometry, {{"matrix", "bt709"}}, {235, 128, 128}, {1, 1, 1});
    expect_rgb(geometry, {{"matrix", "bt601"}}, {81, 90, 240}, {0.998, -0.001, -0.003});
    expect_rgb(geometry, {{"matrix", "bt601"}, {"range", "full"}}, {76, 85, 255}, {0.9964, 0.0007, -0.0008});
    geometry = Pair(64, 64, QC_CHROMA_420, 10).geometry;
    expect_rgb(geometry, {{"matrix", "bt709"}}, {940, 512, 512}, {1, 1, 1});
    expect_rgb(geometry, {{"matrix", "bt2020nc"}}, {64, 512, 512}, {0, 0, 0});
    expect_rgb(geometry, {{"matrix", "smpte240m"}, {"range", "full"}}, {1023, 512, 512}, {1, 1, 1});
    expect_rgb(geometry, {{"matrix", "fcc"}}, {64 + 876 * 0.30, 512 - 896 * 0.30 / 1.78, 512 + 896 * 0.5}, {1, 0, 0});
}

TEST(Ssimulacra2Colour, RgbPlanesComeInTheOrderGreenBlueRed) {
    FrameGeometry geometry = Pair(64, 64, QC_CHROMA_444).geometry;
    geometry.rgb = true;
    expect_rgb(geometry, {}, {255, 0, 51}, {0.2, 1.0, 0.0});
    expect_rgb(geometry, {{"range", "limited"}}, {235, 16, 16}, {0.0, 1.0, 0.0});
    EXPECT_EQ(plan_of(geometry).reference.transfer, Transfer::kSrgb);
}

/// An option gives what the same tag on both inputs gives.
TEST(Ssimulacra2Colour, OptionsAndTagsMeanTheSame) {
    struct Case {
        const char *option, *word;
        ColourTags tags;
    };
    const ColourTags base = tags(1, 1, 1, 1, 1);
    const Case cases[] = {
        {"matrix", "bt601", tags(6, 1, 1, 1, 1)},      {"matrix", "bt470bg", tags(5, 1, 1, 1, 1)},
        {"matrix", "smpte240m", tags(7, 1, 1, 1, 1)},  {"matrix", "fcc", tags(4, 1, 1, 1, 1)},
        {"matrix", "bt2020nc", tags(9, 1, 1, 1, 1)},   {"range", "full", tags(1, 2, 1, 1, 1)},
        {"primaries", "bt470bg", tags(1, 1, 5, 1, 1)}, {"primaries", "smpte170m", tags(1, 1, 6, 1, 1)},
        {"primaries", "bt2020", tags(1, 1, 9, 1, 1)},  {"primaries", "p3", tags(1, 1, 12, 1, 1)},
        {"transfer", "srgb", tags(1, 1, 1, 13, 1)},    {"transfer", "gamma22", tags(1, 1, 1, 4, 1)},
        {"transfer", "gamma28", tags(1, 1, 1, 5, 1)},  {"transfer", "linear", tags(1, 1, 1, 8, 1)},
        {"transfer", "pq", tags(1, 1, 1, 16, 1)},      {"transfer", "hlg", tags(1, 1, 1, 18, 1)},
        {"chroma_loc", "center", tags(1, 1, 1, 1, 2)}, {"chroma_loc", "topleft", tags(1, 1, 1, 1, 3)},
        {"chroma_loc", "top", tags(1, 1, 1, 1, 4)},
    };
    Pair pair(65, 49);
    pair.geometry.reference_colour = pair.geometry.distorted_colour = base;
    const double without = pair.score();
    for (const Case& each : cases) {
        pair.geometry.reference_colour = pair.geometry.distorted_colour = base;
        const double by_option = pair.score({{each.option, each.word}});
        EXPECT_GT(std::abs(by_option - without), 1e-4) << each.option << " " << each.word;
        pair.geometry.reference_colour = pair.geometry.distorted_colour = each.tags;
        EXPECT_EQ(pair.score(), by_option) << each.option << " " << each.word;
        pair.geometry.distorted_colour = {};
        EXPECT_EQ(pair.score(), by_option) << "one-sided " << each.option << " " << each.word;
    }
}

/// Chroma location and filter: only where chroma is subsampled.
TEST(Ssimulacra2Colour, ChromaIsUpsampledOnlyWhereItIsSmaller) {
    const Pair full(40, 40, QC_CHROMA_444), half(40, 40, QC_CHROMA_422);
    EXPECT_EQ(full.score({{"chroma", "nearest"}}), full.score({{"chroma_loc", "center"}}));
    EXPECT_NE(half.score({{"chroma", "nearest"}}), half.score());
    EXPECT_NE(half.score({{"chroma", "bilinear"}}), half.score());
    EXPECT_EQ(half.score({{"chroma_loc", "topleft"}}), half.score({{"chroma_loc", "left"}}));
    EXPECT_NE(half.score({{"chroma_loc", "center"}}), half.score({{"chroma_loc", "left"}}));
    EXPECT_EQ(half.score({{"chroma", "nearest"}, {"chroma_loc", "center"}}), half.score({{"chroma", "nearest"}}));
}

SamplePicture grey_picture(int width, int height, double value) {
    return SamplePicture(test::luma_geometry(width, height, 16),
                         [&](int, int, int) { return std::lround(65535 * value); });
}

/// Full-range grey of 16 bits, one input in each transfer function: where both stand for the same light, they agree.
TEST(Ssimulacra2Colour, TransferFunctionsReproduceKnownPoints) {
    struct Case {
        int tag;
        double value, light;
    };
    const Case cases[] = {
        {13, 0.5, 0.2140411},
        {13, 0.04, 0.04 / 12.92},
        {1, 0.5, 0.1894646},
        {4, 0.5, 0.2176376},
        {5, 0.5, 0.1435873},
        {16, 0.5080784, 100.0 / 255.0},
        {16, 0.25, 5.1 / 255.0 * 1.0145},
        {18, 0.75, 203.1 / 255.0},
        {18, 0.5, 50.7 / 255.0},
        {14, 0.25, 0.0358968},
    };
    FrameGeometry geometry = Pair(40, 40, QC_CHROMA_400, 16).geometry;
    geometry.reference_colour = tags(0, 2, 1, 8, 0); // linear
    for (const Case& each : cases) {
        geometry.distorted_colour = tags(0, 2, 1, each.tag, 0);
        const SamplePicture light = grey_picture(40, 40, each.light), coded = grey_picture(40, 40, each.value),
                            off = grey_picture(40, 40, each.value + 0.02);
        const double agreeing = score_of(geometry, {}, light.view(), coded.view());
        EXPECT_GT(agreeing, 99.0) << each.tag << " " << each.value;
        EXPECT_LT(score_of(geometry, {}, light.view(), off.view()), agreeing - 0.5) << each.tag << " " << each.value;
    }
    // The camera curve has no tag of its own.
    geometry.reference_colour = geometry.distorted_colour = {};
    EXPECT_EQ(plan_of(geometry, {{"transfer", "bt709oetf"}}).reference.transfer, Transfer::kBt709);
}

TEST(Ssimulacra2Colour, ReferenceWhiteScalesPqAndHlgOnly) {
    Pair pair(64, 48, QC_CHROMA_420, 10);
    const auto with_white = [&](const char* transfer, double white) {
        test::OptionList list = list_of({{"transfer", transfer}});
        list.emplace_back("ref_white", white);
        return run(pair.geometry, list, pair.reference.view(), pair.distorted.view()).values("ssimulacra2").at(0);
    };
    EXPECT_NE(with_white("pq", 203.0), with_white("pq", 255.0));
    EXPECT_NE(with_white("hlg", 203.0), with_white("hlg", 255.0));
    EXPECT_EQ(with_white("bt1886", 203.0), with_white("bt1886", 255.0));
}

TEST(Ssimulacra2Colour, DefaultsFollowTheSize) {
    const auto matrix_of = [](int width, int height, const Words& words = {}) {
        return convention(*scorer_of(Pair(width, height).geometry, words), "matrix");
    };
    EXPECT_EQ(matrix_of(1280, 16), "bt709 (assumed)");
    EXPECT_EQ(matrix_of(16, 578), "bt709 (assumed)");
    EXPECT_EQ(matrix_of(16, 576), "bt470bg (assumed)");
    EXPECT_EQ(matrix_of(640, 480), "smpte170m (assumed)");
    EXPECT_EQ(matrix_of(640, 480, {{"preset", "vmaf-fork"}}), "bt709 (of the preset)");
    EXPECT_EQ(matrix_of(640, 650, {{"preset", "vship"}}), "bt470bg (of the preset)");
    EXPECT_EQ(matrix_of(640, 652, {{"preset", "vship"}}), "bt709 (of the preset)");
    EXPECT_EQ(matrix_of(640, 480, {{"matrix", "fcc"}}), "fcc (set)");
}

TEST(Ssimulacra2Colour, PrimariesAndTransferFollowTheMatrix) {
    FrameGeometry geometry = Pair(64, 64).geometry;
    geometry.reference_colour.matrix = 9;
    EXPECT_EQ(convention(*scorer_of(geometry), "primaries"), "bt2020 (assumed)");
    EXPECT_EQ(convention(*scorer_of(geometry), "transfer"), "bt1886 (assumed)");
    EXPECT_EQ(convention(*scorer_of(geometry, {{"preset", "vship"}}), "transfer"), "pq (of the preset)");
    geometry.reference_colour = tags(6, 1, 6, 6, 1);
    EXPECT_EQ(convention(*scorer_of(geometry), "transfer"),
              "reference bt1886 (tagged), distorted bt1886 (as the reference)");
    EXPECT_NE(convention(*scorer_of(geometry, {{"preset", "vship"}}), "transfer").find("gamma28"), std::string::npos);
}

// ---- what is said ---------------------------------------------------------------------------------------------------

TEST(Ssimulacra2Notes, UntaggedInputsAreToldOnce) {
    const auto metric = scorer_of(Pair(64, 64).geometry);
    EXPECT_EQ(metric->warnings().size(), 1u);
    EXPECT_TRUE(warns(*metric, {"assumed", "matrix smpte170m", "range limited", "transfer function bt1886"}));
    FrameGeometry tagged = Pair(64, 64).geometry;
    tagged.reference_colour = tagged.distorted_colour = tags(1, 1, 1, 1, 1);
    EXPECT_TRUE(scorer_of(tagged)->warnings().empty());
    EXPECT_EQ(convention(*scorer_of(tagged), "range"), "limited (tagged)");
}

TEST(Ssimulacra2Notes, OneSidedTagsServeBoth) {
    FrameGeometry geometry = Pair(64, 64).geometry;
    geometry.reference_colour = tags(1, 1, 1, 1, 1);
    const auto metric = scorer_of(geometry);
    EXPECT_EQ(metric->warnings().size(), 1u);
    EXPECT_TRUE(warns(*metric, {"distorted input is not fully tagged", "matrix bt709"}));
    EXPECT_EQ(convention(*metric, "matrix"), "reference bt709 (tagged), distorted bt709 (as the reference)");
}

TEST(Ssimulacra2Notes, DifferentTagsAreHonouredWithAWarning) {
    Pair pair(64, 64);
    pair.geometry.reference_colour = tags(1, 1, 1, 1, 1);
    pair.geometry.distorted_colour = tags(1, 2, 1, 1, 1);
    const auto metric = scorer_of(pair.geometry);
    EXPECT_TRUE(warns(*metric, {"differ in range", "reference limited (tagged)", "distorted full (tagged)"}));
    const double honoured = pair.score(), alike = pair.score({{"range", "limited"}});
    EXPECT_LT(honoured, alike - 1.0);
    EXPECT_TRUE(std::isfinite(honoured));
}

TEST(Ssimulacra2Notes, HdrIsUncalibrated) {
    const auto metric = scorer_of(Pair(64, 64, QC_CHROMA_420, 10).geometry, {{"transfer", "pq"}});
    EXPECT_TRUE(warns(*metric, {"PQ or HLG", "uncalibrated"}));
    EXPECT_EQ(convention(*metric, "ref_white"), "255 cd/m2, uncalibrated");
}

TEST(Ssimulacra2Notes, OptionsWithoutEffectAreTold) {
    FrameGeometry geometry = Pair(64, 64, QC_CHROMA_444).geometry;
    EXPECT_TRUE(warns(*scorer_of(geometry, {{"chroma_loc", "top"}}), {"chroma_loc has no effect"}));
    geometry.rgb = true;
    EXPECT_TRUE(warns(*scorer_of(geometry, {{"matrix", "bt709"}}), {"matrix has no effect on RGB"}));
    EXPECT_EQ(convention(*scorer_of(geometry), "matrix"), "");
    EXPECT_EQ(convention(*scorer_of(geometry), "transfer"), "srgb (assumed)");
}

// ---- refusals -------------------------------------------------------------------------------------------------------

TEST(Ssimulacra2Refusals, SmallPictures) {
    FrameGeometry geometry = Pair(8, 8).geometry;
    EXPECT_TRUE(validate(geometry).ok());
    geometry.width = 7;
    EXPECT_EQ(validate(geometry).text(), "ssimulacra2 needs pictures of at least 8x8, these are 7x8");
}

TEST(Ssimulacra2Refusals, TagsWithoutAMeaningHere) {
    struct Case {
        int ColourTags::*tag;
        int code;
        const char *text, *option, *word;
    };
    const Case cases[] = {
        {&ColourTags::transfer, 17, "unsupported transfer function", "transfer", "gamma28"},
        {&ColourTags::transfer, 9, "unsupported transfer function", "transfer", "pq"},
        {&ColourTags::matrix, 8, "unsupported matrix", "matrix", "bt709"},
        {&ColourTags::matrix, 14, "unsupported matrix", "matrix", "bt2020nc"},
        {&ColourTags::primaries, 10, "unsupported primaries", "primaries", "p3"},
        {&ColourTags::chroma_location, 6, "unsupported chroma location", "chroma_loc", "top"},
    };
    for (const Case& each : cases) {
        FrameGeometry geometry = Pair(64, 64).geometry;
        geometry.distorted_colour.*each.tag = each.code;
        const Status status = validate(geometry);
        EXPECT_EQ(status.code(), QC_ERROR_UNSUPPORTED) << each.option;
        EXPECT_NE(status.text().find(each.text), std::string::npos) << status.text();
        EXPECT_NE(status.text().find("distorted"), std::string::npos) << status.text();
        EXPECT_NE(status.text().find(each.word), std::string::npos) << status.text();
        EXPECT_TRUE(validate(geometry, {{each.option, each.word}}).ok()) << each.option;
    }
    FrameGeometry rgb = Pair(64, 64, QC_CHROMA_444).geometry;
    rgb.rgb = true;
    rgb.distorted_colour.matrix = 8; // of no consequence in RGB
    EXPECT_TRUE(validate(rgb).ok());
}

// ---- options --------------------------------------------------------------------------------------------------------

TEST(Ssimulacra2Options, EachChangesTheScore) {
    const Pair pair(131, 121);
    const double base = pair.score();
    for (const Words& words : {Words{{"kernel", "gauss17"}}, Words{{"border", "renorm"}}, Words{{"gamut", "extend"}},
                               Words{{"gamut", "floor"}}, Words{{"chroma", "nearest"}}, Words{{"chroma", "bilinear"}},
                               Words{{"transfer", "bt709oetf"}}, Words{{"prune", "1"}}})
        EXPECT_NE(pair.score(words), base) << words[0].first << " " << words[0].second;
    EXPECT_NEAR(pair.score({{"prune", "1"}}), base, 2e-3);
    for (const Words& words : {Words{{"kernel", "cosine9"}}, Words{{"border", "zero"}}, Words{{"gamut", "clip"}},
                               Words{{"chroma", "catmullrom"}}, Words{{"prune", "0"}}, Words{{"preset", "default"}}})
        EXPECT_EQ(pair.score(words), base) << words[0].first << " " << words[0].second;
}

TEST(Ssimulacra2Options, PresetsAreCombinationsThatOptionsOverride) {
    Pair pair(131, 121);
    pair.geometry.reference_colour = pair.geometry.distorted_colour = tags(1, 1, 1, 1, 1);
    EXPECT_EQ(pair.score({{"preset", "vship"}}),
              pair.score({{"kernel", "gauss17"}, {"border", "renorm"}, {"gamut", "extend"}, {"prune", "1"}}));
    EXPECT_EQ(
        pair.score({{"preset", "vship"}, {"kernel", "cosine9"}, {"border", "zero"}, {"gamut", "clip"}, {"prune", "0"}}),
        pair.score());
    EXPECT_NE(pair.score({{"preset", "rs"}}), pair.score({{"preset", "vmaf-fork"}}));
    // Codes within the range of video: the preset rs differs in chroma and in what exceeds 1 only.
    EXPECT_NEAR(pair.score({{"preset", "rs"}}), pair.score({{"chroma", "nearest"}, {"gamut", "floor"}}), 0.5);
}

TEST(Ssimulacra2Options, SubscoresAddUp) {
    const Pair pair(131, 121);
    const test::Recorder levels =
        run(pair.geometry, list_of({{"subscores", "levels"}}), pair.reference.view(), pair.distorted.view());
    double sum = 0;
    for (int level = 0; level < 6; ++level) {
        const double part = levels.values("ssimulacra2_level" + std::to_string(level)).at(0);
        EXPECT_GE(part, 0.0);
        sum += part;
    }
    const double error =
        2.326765642916932 * sum - 0.020884521182843837 * sum * sum + 6.248496625763138e-05 * sum * sum * sum;
    EXPECT_NEAR(100 - 10 * std::pow(error, 0.6276336467831387), pair.score(), 1e-9);

    const test::Recorder norms =
        run(pair.geometry, list_of({{"subscores", "norms"}}), pair.reference.view(), pair.distorted.view());
    EXPECT_EQ(norms.scores.size(), 109u);
    EXPECT_EQ(norms.values("ssimulacra2").at(0), pair.score());
    const Pair tiny(8, 8); // two levels
    EXPECT_EQ(run(tiny.geometry, list_of({{"subscores", "norms"}}), tiny.reference.view(), tiny.distorted.view())
                  .scores.size(),
              37u);
}

} // namespace
} // namespace qc::ssimulacra2
