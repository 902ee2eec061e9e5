// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of Butteraugli, run on the host, against the CPU reference and the golden scores.
#include <bit>
#include <cmath>
#include <cstdio>

#include "metrics/butteraugli/butteraugli_kernels.hpp"
#include "metrics/butteraugli/butteraugli_test_support.hpp"
#include "tests/device/colour_cases.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/synthetic_pair.hpp"

namespace qc::butteraugli {
namespace {

using test::Layout, test::Sampling;

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_BUTTERAUGLI_KERNELS);

/// Accumulators of a batch, row by row.
std::vector<uint64_t> emulate_batch(Scorer& scorer, const std::vector<DevicePair>& pairs, bool descending) {
    test::EmulatedProgram program(kKernels);
    EXPECT_TRUE(scorer.prepare(program).ok());
    test::EmulatedQueue queue(descending);
    std::vector<uint64_t> words = test::emulate_batch(scorer, pairs, queue);
    EXPECT_LE(queue.launches(), 15 * std::min(tuning::kParts, static_cast<int>(pairs.size())));
    return words;
}

/// Every score that there is.
std::vector<double> scores_of(const FrameGeometry& geometry, std::span<const uint64_t> words) {
    test::Recorder recorder(descriptor());
    create_finaliser(descriptor(), geometry, options_of({{"subscores", "norms"}}))->finalise(0, words, recorder);
    std::vector<double> scores;
    for (const OutputSpec& output : descriptor().outputs)
        scores.push_back(recorder.values(std::string(output.alias)).at(0));
    return scores;
}

/// Relative, the largest of so many pairs.
struct Difference {
    double score = 0.0;
    int pairs = 0;

    void add(double actual, double expected) {
        score = std::max(score, std::abs(actual - expected) / std::max(std::abs(expected), 1e-2));
    }
    void print(const char* what) const {
        std::printf("%s: %d pairs, largest relative difference of scores %.3g\n", what, pairs, score);
    }
};

void expect_scores_near(const FrameGeometry& geometry, std::span<const uint64_t> words,
                        std::span<const uint64_t> expected, Difference* difference) {
    const BackendBound& bound = descriptor().backend_bound;
    const std::vector<double> scores = scores_of(geometry, words), wanted = scores_of(geometry, expected);
    for (size_t i = 0; i < scores.size(); ++i) {
        EXPECT_NEAR(scores[i], wanted[i], bound.absolute + bound.relative * wanted[i]) << descriptor().outputs[i].alias;
        difference->add(scores[i], wanted[i]);
    }
    ++difference->pairs;
}

void expect_emulation_near_cpu(const test::ColourCase& c, bool descending, Difference* difference) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = geometry_of(c);
    const OptionValues options = options_of(c.words);
    const Status valid = validate(descriptor(), geometry, options);
    ASSERT_TRUE(valid.ok()) << valid.text();
    const auto metric = create_scorer(descriptor(), geometry, options);
    const std::vector<test::EmulatedPicture> pictures = make_pictures(c);
    const test::EmulatedPairs pairs(pictures);
    const std::vector<uint64_t> expected = pairs.cpu_words(*metric);
    const std::vector<uint64_t> words = emulate_batch(*metric, pairs.device, descending);
    for (size_t i = 0; i < pairs.device.size(); ++i)
        expect_scores_near(geometry, std::span(words).subspan(i * kAccumulatorWords, kAccumulatorWords),
                           std::span(expected).subspan(i * kAccumulatorWords, kAccumulatorWords), difference);
}

void expect_near_cpu(const std::vector<test::ColourCase>& cases, const char* what) {
    Difference difference;
    bool descending = false;
    for (const test::ColourCase& c : cases) {
        expect_emulation_near_cpu(c, descending, &difference);
        descending = !descending;
    }
    difference.print(what);
}

/// With one scale and with two.
TEST(ButteraugliEmulation, MapsAreNearTheCpu) {
    for (const test::ColourCase& c :
         std::vector<test::ColourCase>{{177, 121, Sampling::k420, 8, 0, Layout::kPlanar, Layout::kSemiPlanar, {}, 3},
                                       {13, 9, Sampling::k444, 10},
                                       {66, 40, Sampling::kRgb}})
        expect_maps_near_cpu(descriptor(), kKernels, c, {2e-3f});
}

TEST(ButteraugliEmulation, EveryLayoutAndDepth) {
    expect_near_cpu(test::every_layout_and_depth(), "layouts and depths");
}

TEST(ButteraugliEmulation, EverySizeFromTheSmallest) {
    expect_near_cpu(
        test::sizes_from_8([](int height) { return 8 + height % 5; }, [](int) { return 5; },
                           {63, 64, 65, 89, 90, 91, 127, 128, 129, 181, 243, 244, 245, 257, 383, 384, 385, 490},
                           {8, 15, 66}),
        "sizes");
}

TEST(ButteraugliEmulation, EveryOption) {
    test::OptionCases add(73, 41, 15, 33); // the small ones have one scale
    for (const auto* target : {"1", "80", "250", "1000", "10000"})
        for (const auto* asymmetry : {"0.1", "0.8", "1", "10"})
            add({{"intensity_target", target}, {"hf_asymmetry", asymmetry}}, Sampling::k420);
    for (const auto* constants : {"libjxl07", "libjxl011"}) add({{"constants", constants}}, Sampling::k444);
    test::add_light_options(&add);
    for (const auto* gamut : {"clip", "floor", "extend"}) {
        add({{"gamut", gamut}}, Sampling::k420);
        add({{"gamut", gamut}, {"intensity_target", "10000"}, {"primaries", "bt2020"}}, Sampling::kRgb, 10);
    }
    expect_near_cpu(add.cases, "options");
}

/// Bright places among negative light leave cones adapted to darkness: responses far beyond what halves hold.
TEST(ButteraugliEmulation, ResponsesBeyondHalves) {
    const test::ColourCase c{120, 70, Sampling::k444};
    const auto picture = [&](int bright) {
        const auto sample_at = [bright](int, int x, int y) { return x % 5 == 2 && y % 5 == 2 ? bright : 0; };
        return test::EmulatedPicture(test::SamplePicture(geometry_of(c), sample_at), {});
    };
    Difference difference;
    for (const auto* target : {"80", "10000"})
        for (const auto* gamut : {"clip", "floor", "extend"}) {
            SCOPED_TRACE(testing::Message() << gamut << " at " << target);
            const auto metric = create_scorer(descriptor(), geometry_of(c),
                                              options_of({{"gamut", gamut}, {"intensity_target", target}}));
            const std::vector<test::EmulatedPicture> pictures{picture(255), picture(235)};
            const test::EmulatedPairs pairs(pictures);
            expect_scores_near(geometry_of(c), emulate_batch(*metric, pairs.device, false), pairs.cpu_words(*metric),
                               &difference);
        }
    difference.print("responses beyond halves");
}

/// Tiles, strips and blocks of every kind: inner ones and those at each border.
TEST(ButteraugliEmulation, LargePictures) {
    expect_near_cpu({{1000, 401, Sampling::k420, 8, 0, Layout::kSemiPlanar, Layout::kPlanar},
                     {403, 620, Sampling::k422, 10, 0, Layout::kPlanar, Layout::kPlanar, {}, 1, 0, true}},
                    "large pictures");
}

TEST(ButteraugliEmulation, InputsWithDifferentColours) {
    const test::ColourCase c{150, 118, Sampling::k420};
    FrameGeometry geometry = geometry_of(c);
    test::tag_differently(&geometry);
    const auto metric = create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
    const std::vector<test::EmulatedPicture> pictures = test::planar_and_semi_planar(c, 1, true);
    const test::EmulatedPairs pairs(pictures);
    Difference difference;
    expect_scores_near(geometry, emulate_batch(*metric, pairs.device, false), pairs.cpu_words(*metric), &difference);
    const auto untagged = create_scorer(descriptor(), geometry_of(c), OptionValues(descriptor().options));
    EXPECT_NE(pairs.cpu_words(*metric), pairs.cpu_words(*untagged)); // the tags were honoured
}

TEST(ButteraugliEmulation, BatchesDoNotChangeBits) {
    const test::ColourCase c{150, 77, Sampling::k420, 8, 0, Layout::kSemiPlanar, Layout::kPlanar};
    const auto metric = create_scorer(descriptor(), geometry_of(c), OptionValues(descriptor().options));
    expect_batches_keep_bits(c, kAccumulatorWords, [&](const std::vector<DevicePair>& pairs, bool descending) {
        return emulate_batch(*metric, pairs, descending);
    });
}

/// So many pairs are blurred in longer strips than one is.
TEST(ButteraugliEmulation, StripsDoNotChangeBits) {
    const test::ColourCase c{24, tuning::kStripRows + 30, Sampling::kGrey};
    const auto metric = create_scorer(descriptor(), geometry_of(c), OptionValues(descriptor().options));
    const std::vector<test::EmulatedPicture> pictures{test::make_picture(c, Layout::kPlanar, 0, false),
                                                      test::make_picture(c, Layout::kPlanar, 0, true)};
    DevicePair pair = test::EmulatedPairs(pictures).device[0];
    const std::vector<uint64_t> alone = emulate_batch(*metric, {pair}, false);
    std::vector<DevicePair> pairs;
    for (uint32_t i = 0; i < tuning::kParts * (tuning::kFewPairs + 1); ++i) {
        pair.output = i;
        pairs.push_back(pair);
    }
    const std::vector<uint64_t> together = emulate_batch(*metric, pairs, false);
    for (size_t i = 0; i < together.size(); ++i) EXPECT_EQ(together[i], alone[i % kAccumulatorWords]) << i;
}

TEST(ButteraugliEmulation, IdenticalPicturesScoreExactly0) {
    for (const auto* transfer : {"bt1886", "pq"})
        for (const bool hard : {false, true}) {
            test::ColourCase c{201, 130, Sampling::k420};
            c.hard = hard;
            const auto metric = create_scorer(descriptor(), geometry_of(c), options_of({{"transfer", transfer}}));
            const std::vector<test::EmulatedPicture> pictures = test::planar_and_semi_planar(c, 3, false);
            const std::vector<uint64_t> words = emulate_batch(*metric, test::EmulatedPairs(pictures).device, hard);
            EXPECT_EQ(words, std::vector<uint64_t>(kAccumulatorWords)) << transfer;
        }
}

/// What nearly all videos need must not fall back to the kernels that can do everything.
TEST(ButteraugliEmulation, UsualVideosTakeTheFastKernels) {
    const auto response_of = [](const test::ColourCase& c) {
        return test::kernels_of(*create_scorer(descriptor(), geometry_of(c), options_of(c.words))).at(0);
    };
    test::ColourCase c{640, 360, Sampling::k420};
    EXPECT_EQ(response_of(c), "butteraugli_response_u8");
    c.words = {{"range", "full"}, {"matrix", "bt601"}, {"intensity_target", "250"}, {"chroma_loc", "center"}};
    EXPECT_EQ(response_of(c), "butteraugli_response_u8");
    c.depth = 10;
    c.sampling = Sampling::k422;
    EXPECT_EQ(response_of(c), "butteraugli_response_u16");
    c.words = {{"transfer", "pq"}};
    EXPECT_EQ(response_of(c), "butteraugli_response_u16_general");
}

/// What 120 MB a pair at 1080p leaves after the pictures.
TEST(ButteraugliEmulation, ScratchMemoryIsBounded) {
    const test::ColourCase c{1920, 1080, Sampling::k420};
    const auto metric = create_scorer(descriptor(), geometry_of(c), OptionValues(descriptor().options));
    EXPECT_LE(metric->scratch_bytes(16), size_t{16} * 110000000);
}

// ---- golden scores --------------------------------------------------------------------------------------------------

TEST(ButteraugliEmulationGolden, FirstFramesOfTheSharedClips) {
    if (const char* reason = golden::missing_clips()) GTEST_SKIP() << reason;
    const golden::Json recorded = golden::read_json(golden::folder() / "butteraugli" / "clips.json");
    const BackendBound& bound = descriptor().backend_bound;
    Difference difference;
    for (const golden::Clip& clip : golden::sampled_clips()) {
        const golden::Json* const frames = golden::recorded_frames(recorded, clip.name);
        if (frames == nullptr) continue;
        const golden::ClipPictures pictures(clip);
        ASSERT_TRUE(pictures.ok()) << clip.name;
        const auto metric = create_scorer(descriptor(), clip.geometry(), options_of({{"matrix", "bt709"}}));
        std::vector<DevicePair> pairs(1);
        pairs[0].reference = test::device_view(pictures.reference()[0]);
        pairs[0].distorted = test::device_view(pictures.distorted()[0]);
        const std::vector<double> scores = scores_of(clip.geometry(), emulate_batch(*metric, pairs, false));
        const char* const keys[] = {"ref64_max", "ref64_3norm", "N2", "N3"};
        for (size_t i = 0; i < std::size(keys); ++i) {
            const double expected = frames->at(0).at(keys[i]).get<double>();
            EXPECT_NEAR(scores[i], expected, bound.absolute + bound.relative * expected) << clip.name << " " << keys[i];
            difference.add(scores[i], expected);
        }
        ++difference.pairs;
    }
    difference.print("shared clips");
    EXPECT_GE(difference.pairs, 5);
}

} // namespace
} // namespace qc::butteraugli
