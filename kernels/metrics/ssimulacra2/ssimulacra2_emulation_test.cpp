// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of SSIMULACRA 2, run on the host, against the CPU reference and the golden scores.
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "contract/settings.hpp"
#include "metrics/ssimulacra2/ssimulacra2.hpp"
#include "metrics/ssimulacra2/ssimulacra2_kernels.hpp"
#include "metrics/ssimulacra2/ssimulacra2_settings.hpp"
#include "tests/device/colour_cases.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/synthetic_pair.hpp"

namespace qc::ssimulacra2 {
namespace {

using test::Layout, test::Sampling;
using Words = test::WordList;

constexpr double kNormTolerance = 5e-5;

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_SSIMULACRA2_KERNELS);

/// Accumulators of a batch, row by row.
std::vector<uint64_t> emulate_batch(Scorer& scorer, const std::vector<DevicePair>& pairs, bool descending) {
    test::EmulatedProgram program(kKernels);
    EXPECT_TRUE(scorer.prepare(program).ok());
    test::EmulatedQueue queue(descending);
    std::vector<uint64_t> words = test::emulate_batch(scorer, pairs, queue);
    EXPECT_LE(queue.launches(), 4);
    return words;
}

OptionValues options_of(const Words& words) {
    return test::written_options(descriptor(), words);
}

double score_of(const FrameGeometry& geometry, const OptionValues& options, std::span<const uint64_t> words) {
    test::Recorder recorder(descriptor());
    create_finaliser(descriptor(), geometry, options)->finalise(0, words, recorder);
    return recorder.values("ssimulacra2").at(0);
}

/// Largest differences from the CPU backend.
struct Differences {
    double score = 0.0, norm = 0.0;
    int pairs = 0;

    void add(double score_difference, double norm_difference) {
        score = std::max(score, score_difference);
        norm = std::max(norm, norm_difference);
        ++pairs;
    }
    void print(const char* what) const {
        std::printf("%s: %d pairs, largest difference of scores %.3g, of norms %.3g\n", what, pairs, score, norm);
    }
};

double norm_of(uint64_t word, const LevelSize& size, int term) {
    const double mean = std::bit_cast<double>(word) / (static_cast<double>(size.width) * size.height);
    return term < kFields ? mean : std::sqrt(std::sqrt(mean));
}

void expect_norms_near(const Plan& plan, std::span<const uint64_t> words, std::span<const uint64_t> expected,
                       double* largest) {
    for (int c = 0; c < kChannels; ++c)
        for (int level = 0; level < plan.levels; ++level)
            for (int term = 0; term < kTerms; ++term) {
                const auto i = static_cast<size_t>(norm_index(plan.levels, c, level, term));
                if ((plan.needed[level][c] >> term & 1) == 0) {
                    EXPECT_EQ(words[i], 0u) << "channel " << c << " level " << level << " term " << term;
                    continue;
                }
                const double norm = norm_of(words[i], plan.level[level], term);
                const double wanted = norm_of(expected[i], plan.level[level], term);
                EXPECT_NEAR(norm, wanted, kNormTolerance * std::max(1.0, wanted))
                    << "channel " << c << " level " << level << " term " << term;
                *largest = std::max(*largest, std::abs(norm - wanted) / std::max(1.0, wanted));
            }
    for (size_t i = static_cast<size_t>(plan.levels * kChannels * kTerms); i < words.size(); ++i)
        EXPECT_EQ(words[i], 0u);
}

Differences expect_emulation_near_cpu(const test::ColourCase& c, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = geometry_of(c);
    const OptionValues options = options_of(c.words);
    Differences differences;
    const Status valid = validate(descriptor(), geometry, options);
    EXPECT_TRUE(valid.ok()) << valid.text();
    if (!valid.ok()) return differences;
    const Plan plan = make_plan(geometry, settled<Settings>(geometry, options));
    const auto metric = create_scorer(descriptor(), geometry, options);

    const std::vector<test::EmulatedPicture> pictures = make_pictures(c);
    const test::EmulatedPairs pairs(pictures);
    const std::vector<uint64_t> expected = pairs.cpu_words(*metric);
    const std::vector<uint64_t> words = emulate_batch(*metric, pairs.device, descending);
    for (size_t i = 0; i < pairs.device.size(); ++i) {
        const auto row = std::span(words).subspan(i * kAccumulatorWords, kAccumulatorWords);
        const auto expected_row = std::span(expected).subspan(i * kAccumulatorWords, kAccumulatorWords);
        double norm = 0.0;
        expect_norms_near(plan, row, expected_row, &norm);
        const double score = score_of(geometry, options, row), wanted = score_of(geometry, options, expected_row);
        const double bound =
            descriptor().backend_bound.absolute + descriptor().backend_bound.relative * std::abs(wanted);
        EXPECT_NEAR(score, wanted, bound);
        differences.add(std::abs(score - wanted), norm);
    }
    return differences;
}

/// Narrow and wide blurs, all levels and few, planes that do not count.
TEST(Ssimulacra2Emulation, MapsAreNearTheCpu) {
    const std::vector<test::ColourCase> cases{
        {177, 121, Sampling::k420, 8, 0, Layout::kPlanar, Layout::kSemiPlanar, {}, 3},
        {300, 262, Sampling::k420, 10, 6, Layout::kSemiPlanar, Layout::kSemiPlanar, {{"prune", "1"}}},
        {9, 11, Sampling::k444},
        {95, 66, Sampling::kRgb, 8, 0, Layout::kPlanar, Layout::kPlanar, {{"kernel", "gauss17"}}},
        {130, 70, Sampling::kGrey, 8, 0, Layout::kPlanar, Layout::kPlanar, {}, 1, 0, true}};
    // Errors are kept with 8 significant bits: rounding moves them by up to a 256th; the rest is the kernels'. What
    // planes have that are left out comes to a quarter of a level.
    for (const test::ColourCase& c : cases)
        expect_maps_near_cpu(descriptor(), kKernels, c, {1.0f / 256 + 1e-4f, 0.25f});
}

void expect_near_cpu(const std::vector<test::ColourCase>& cases, const char* what) {
    Differences all;
    bool descending = false;
    for (const test::ColourCase& c : cases) {
        const Differences one = expect_emulation_near_cpu(c, descending);
        all.score = std::max(all.score, one.score);
        all.norm = std::max(all.norm, one.norm);
        all.pairs += one.pairs;
        descending = !descending;
    }
    all.print(what);
}

TEST(Ssimulacra2Emulation, EveryLayoutAndDepth) {
    expect_near_cpu(test::every_layout_and_depth(), "layouts and depths");
}

TEST(Ssimulacra2Emulation, EverySizeFromTheSmallest) {
    expect_near_cpu(
        test::sizes_from_8([](int) { return 8; }, [](int height) { return 1 + height % 3; },
                           {63, 64, 65, 112, 113, 119, 120, 121, 127, 128, 129, 143, 144, 145, 239, 240, 241, 257},
                           {8, 15, 66, 113}),
        "sizes");
}

TEST(Ssimulacra2Emulation, EveryOption) {
    test::OptionCases add(161, 119, 60, 33); // the small ones have fewer levels
    test::add_light_options(&add);
    for (const auto* matrix : {"bt709", "bt601", "bt470bg", "smpte170m", "smpte240m", "fcc", "bt2020nc"})
        add({{"matrix", matrix}}, Sampling::k420);
    for (const auto* gamut : {"clip", "floor", "extend"})
        for (const auto* transfer : {"bt1886", "srgb", "pq", "hlg"})
            add({{"gamut", gamut}, {"transfer", transfer}, {"range", "full"}}, Sampling::k420);
    for (const auto* kernel : {"cosine9", "gauss17"})
        for (const auto* border : {"zero", "renorm"})
            for (const auto* prune : {"0", "1"})
                add({{"kernel", kernel}, {"border", border}, {"prune", prune}}, Sampling::k420);
    for (const auto* preset : {"default", "vship", "rs", "vmaf-fork"})
        for (const auto* range : {"limited", "full"}) {
            add({{"preset", preset}, {"range", range}}, Sampling::k420);
            add({{"preset", preset}, {"range", range}}, Sampling::k422, 10);
            add({{"preset", preset}, {"subscores", "norms"}}, Sampling::k444);
            add({{"preset", preset}}, Sampling::kGrey);
        }
    add({{"subscores", "levels"}, {"prune", "1"}}, Sampling::k420);
    expect_near_cpu(add.cases, "options");
}

TEST(Ssimulacra2Emulation, InputsWithDifferentColours) {
    test::ColourCase c{150, 118, Sampling::k420};
    FrameGeometry geometry = geometry_of(c);
    test::tag_differently(&geometry);
    const OptionValues options(descriptor().options);
    const auto metric = create_scorer(descriptor(), geometry, options);
    const std::vector<test::EmulatedPicture> pictures = test::planar_and_semi_planar(c, 1, true);
    const test::EmulatedPairs pairs(pictures);
    const std::vector<uint64_t> words = emulate_batch(*metric, pairs.device, false);
    const std::vector<uint64_t> expected = pairs.cpu_words(*metric);
    EXPECT_NEAR(score_of(geometry, options, words), score_of(geometry, options, expected),
                descriptor().backend_bound.absolute);
    EXPECT_LT(score_of(geometry, options, words), 60.0); // the tags were honoured
}

TEST(Ssimulacra2Emulation, BatchesDoNotChangeBits) {
    const test::ColourCase c{250, 137, Sampling::k420, 8, 0, Layout::kSemiPlanar, Layout::kPlanar};
    const auto metric = create_scorer(descriptor(), geometry_of(c), OptionValues(descriptor().options));
    expect_batches_keep_bits(c, kAccumulatorWords, [&](const std::vector<DevicePair>& pairs, bool descending) {
        return emulate_batch(*metric, pairs, descending);
    });
}

TEST(Ssimulacra2Emulation, IdenticalPicturesScoreExactly100) {
    for (const auto* preset : {"default", "vship", "rs", "vmaf-fork"})
        for (const bool hard : {false, true}) {
            test::ColourCase c{201, 130, Sampling::k420};
            c.hard = hard;
            const FrameGeometry geometry = geometry_of(c);
            const OptionValues options = options_of({{"preset", preset}});
            const auto metric = create_scorer(descriptor(), geometry, options);
            const std::vector<test::EmulatedPicture> pictures = test::planar_and_semi_planar(c, 3, false);
            const std::vector<uint64_t> words = emulate_batch(*metric, test::EmulatedPairs(pictures).device, hard);
            EXPECT_EQ(words, std::vector<uint64_t>(kAccumulatorWords)) << preset;
            EXPECT_EQ(score_of(geometry, options, words), 100.0) << preset;
        }
}

/// What nearly all videos need must not fall back to the kernels that can do everything.
TEST(Ssimulacra2Emulation, UsualVideosTakeTheFastKernels) {
    const auto kernels_of = [](const test::ColourCase& c) {
        return test::kernels_of(*create_scorer(descriptor(), geometry_of(c), options_of(c.words)));
    };
    using Names = std::vector<std::string>;
    test::ColourCase c{640, 360, Sampling::k420};
    EXPECT_EQ(kernels_of(c), (Names{"ssimulacra2_pyramid_u8_420", "ssimulacra2_fields", "ssimulacra2_finish"}));
    c.words = {{"range", "full"}, {"matrix", "bt601"}, {"prune", "1"}, {"chroma_loc", "center"}};
    EXPECT_EQ(kernels_of(c), (Names{"ssimulacra2_pyramid_u8_420", "ssimulacra2_fields", "ssimulacra2_finish"}));
    c.words.clear();
    c.depth = 10;
    c.sampling = Sampling::k422;
    EXPECT_EQ(kernels_of(c), (Names{"ssimulacra2_pyramid_u16_422", "ssimulacra2_fields", "ssimulacra2_finish"}));
    c.words = {{"preset", "vship"}};
    EXPECT_EQ(kernels_of(c),
              (Names{"ssimulacra2_pyramid_u16_422_general", "ssimulacra2_fields_wide", "ssimulacra2_finish"}));
}

/// What 75 MB a pair at 1080p leaves after the pictures.
TEST(Ssimulacra2Emulation, ScratchMemoryIsBounded) {
    test::ColourCase c{1920, 1080, Sampling::k420};
    const auto full = create_scorer(descriptor(), geometry_of(c), OptionValues(descriptor().options));
    EXPECT_LE(full->scratch_bytes(16), size_t{16} * 66500000);
    const auto pruned = create_scorer(descriptor(), geometry_of(c), options_of({{"prune", "1"}}));
    EXPECT_LE(pruned->scratch_bytes(16), size_t{16} * 66500000); // channels keep their places
}

// ---- golden scores --------------------------------------------------------------------------------------------------

double emulated_score(const FrameGeometry& geometry, const Words& words, const HostPicture& reference,
                      const HostPicture& distorted) {
    const OptionValues options = options_of(words);
    const auto metric = create_scorer(descriptor(), geometry, options);
    std::vector<DevicePair> pairs(1);
    pairs[0].reference = test::device_view(reference);
    pairs[0].distorted = test::device_view(distorted);
    return score_of(geometry, options, emulate_batch(*metric, pairs, false));
}

/// The contract of single precision: 2e-3, relative 1e-5 below -200. Without the fast functions 1e-4 or so is used up.
double allowed_difference(double golden_score) {
    return std::max(2e-3, 1e-5 * std::abs(golden_score));
}

TEST(Ssimulacra2EmulationGolden, FirstFramesOfTheSharedClips) {
    if (const char* reason = golden::missing_clips()) GTEST_SKIP() << reason;
    const golden::Json recorded = golden::read_json(golden::folder() / "ssimulacra2" / "clips.json");
    const std::vector<golden::Clip> clips = golden::sampled_clips();
    size_t compared = 0;
    double largest = 0.0;
    for (const golden::Clip& clip : clips) {
        const golden::Json* const frames = golden::recorded_frames(recorded, clip.name);
        if (frames == nullptr) continue;
        const golden::ClipPictures pictures(clip);
        ASSERT_TRUE(pictures.ok()) << clip.name;
        const golden::Json& frame = frames->at(0);
        for (const auto& [key, prune] : {std::pair{"ref64", "0"}, std::pair{"ref64_pruned_0.01", "1"}}) {
            if (!frame.contains(key)) continue;
            const double expected = frame.at(key).get<double>();
            const double score = emulated_score(clip.geometry(), {{"matrix", "bt709"}, {"prune", prune}},
                                                pictures.reference()[0], pictures.distorted()[0]);
            EXPECT_NEAR(score, expected, allowed_difference(expected)) << clip.name << " " << key;
            if (std::abs(expected) < 1000.0) largest = std::max(largest, std::abs(score - expected));
            ++compared;
        }
    }
    std::printf("shared clips: %zu scores, largest difference %.3g\n", compared, largest);
    EXPECT_GE(compared + 1, clips.size());
}

} // namespace
} // namespace qc::ssimulacra2
