// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of SSIMULACRA 2, run on the host, against the CPU reference and the golden scores.
#include <bit>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <utility>

#include "metrics/ssimulacra2/ssimulacra2.hpp"
#include "metrics/ssimulacra2/ssimulacra2_kernels.hpp"
#include "plan/option_parser.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::ssimulacra2 {
namespace {

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

enum class Layout { kPlanar, kSemiPlanar, kPacked3, kPacked4 };
enum class Sampling { kGrey, k420, k422, k444, kRgb };

using Words = std::vector<std::pair<std::string_view, std::string_view>>;

OptionValues options_of(const Words& words) {
    OptionValues options(descriptor().options);
    for (const auto& [option, word] : words)
        EXPECT_TRUE(set_option(descriptor(), option, std::string(word), UnknownOption::kError, &options).ok())
            << option << "=" << word;
    return options;
}

struct EmulationCase {
    int width, height;
    Sampling sampling;
    int depth = 8, shift = 0;
    Layout reference = Layout::kPlanar, distorted = Layout::kPlanar;
    Words words{};
    int count = 1;
    int pitch_extra = 0; ///< samples; odd numbers keep rows from being aligned
    bool hard = false;   ///< noise and flat blocks of extreme values instead of mild structure
};

std::ostream& operator<<(std::ostream& stream, const EmulationCase& c) {
    constexpr const char* kSamplings[] = {"grey", "4:2:0", "4:2:2", "4:4:4", "RGB"};
    constexpr const char* kLayouts[] = {"planar", "semi-planar", "packed 3", "packed 4"};
    stream << c.width << "x" << c.height << " " << kSamplings[static_cast<int>(c.sampling)] << " " << c.depth
           << " bits << " << c.shift << ", " << kLayouts[static_cast<int>(c.reference)] << " and "
           << kLayouts[static_cast<int>(c.distorted)] << ", " << c.count << " pairs, pitch + " << c.pitch_extra
           << (c.hard ? ", hard" : "");
    for (const auto& [option, word] : c.words) stream << " " << option << "=" << word;
    return stream;
}

FrameGeometry geometry_of(const EmulationCase& c) {
    constexpr qc_chroma kChromas[] = {QC_CHROMA_400, QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444, QC_CHROMA_444};
    FrameGeometry geometry = test::geometry_of(c.width, c.height, c.depth, kChromas[static_cast<int>(c.sampling)]);
    geometry.rgb = c.sampling == Sampling::kRgb;
    return geometry;
}

test::EmulatedPicture make_picture(const EmulationCase& c, Layout layout, int frame, bool distorted) {
    const auto sample_at = [&](int plane, int x, int y) {
        // Flat blocks of extremes are out of gamut.
        return c.hard ? test::synthetic_blocks(x, y, frame, plane, c.depth, distorted, test::FlatBlocks::kExtremes)
                      : test::synthetic_sample(x, y, frame, plane, c.depth, distorted);
    };
    return {test::SamplePicture(geometry_of(c), sample_at),
            {.semi_planar = layout == Layout::kSemiPlanar,
             .shift = c.shift,
             .padding = static_cast<size_t>(c.pitch_extra),
             .pixel_step = layout == Layout::kPacked3   ? 3
                           : layout == Layout::kPacked4 ? 4
                                                        : 0}};
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
    return term < kMaps ? mean : std::sqrt(std::sqrt(mean));
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

Differences expect_emulation_near_cpu(const EmulationCase& c, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = geometry_of(c);
    const OptionValues options = options_of(c.words);
    Differences differences;
    const Status valid = validate(descriptor(), geometry, options);
    EXPECT_TRUE(valid.ok()) << valid.text();
    if (!valid.ok()) return differences;
    Plan plan;
    EXPECT_TRUE(plan_for(geometry, options, &plan).ok());
    const auto metric = create_scorer(descriptor(), geometry, options);

    std::vector<test::EmulatedPicture> pictures;
    for (int i = 0; i < c.count; ++i) {
        pictures.push_back(make_picture(c, c.reference, i, false));
        pictures.push_back(make_picture(c, c.distorted, i, true));
    }
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
    const std::vector<EmulationCase> cases{
        {177, 121, Sampling::k420, 8, 0, Layout::kPlanar, Layout::kSemiPlanar, {}, 3},
        {300, 262, Sampling::k420, 10, 6, Layout::kSemiPlanar, Layout::kSemiPlanar, {{"prune", "1"}}},
        {9, 11, Sampling::k444},
        {95, 66, Sampling::kRgb, 8, 0, Layout::kPlanar, Layout::kPlanar, {{"kernel", "gauss17"}}},
        {130, 70, Sampling::kGrey, 8, 0, Layout::kPlanar, Layout::kPlanar, {}, 1, 0, true}};
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) {
            SCOPED_TRACE(testing::Message() << c);
            const FrameGeometry geometry = geometry_of(c);
            const OptionValues options = options_of(c.words);
            const auto metric = create_scorer(descriptor(), geometry, options);
            metric->draw_maps();
            test::EmulatedProgram program(kKernels);
            ASSERT_TRUE(metric->prepare(program).ok());
            std::vector<test::EmulatedPicture> pictures;
            for (int i = 0; i < c.count; ++i) {
                pictures.push_back(make_picture(c, c.reference, i, false));
                pictures.push_back(make_picture(c, c.distorted, i, true));
            }
            // Errors are kept with 8 significant bits: rounding moves them by up to a 256th; the rest is the kernels'.
            // What planes have that are left out comes to a quarter of a level.
            test::expect_emulated_maps_equal_cpu(*metric, descriptor().map->shape(geometry, options),
                                                 test::EmulatedPairs(pictures), descending,
                                                 {1.0f / 256 + 1e-4f, 0.25f});
        }
}

void expect_near_cpu(const std::vector<EmulationCase>& cases, const char* what) {
    Differences all;
    bool descending = false;
    for (const EmulationCase& c : cases) {
        const Differences one = expect_emulation_near_cpu(c, descending);
        all.score = std::max(all.score, one.score);
        all.norm = std::max(all.norm, one.norm);
        all.pairs += one.pairs;
        descending = !descending;
    }
    all.print(what);
}

TEST(Ssimulacra2Emulation, EveryLayoutAndDepth) {
    expect_near_cpu(
        {
            {177, 121, Sampling::k420},
            {178, 122, Sampling::k420, 8, 0, Layout::kSemiPlanar, Layout::kPlanar, {}, 1, 14},
            {160, 128, Sampling::k420, 8, 0, Layout::kSemiPlanar, Layout::kSemiPlanar, {}, 1, 0, true},
            {177, 121, Sampling::k420, 10, 6, Layout::kSemiPlanar, Layout::kSemiPlanar, {}, 1, 1},
            {130, 115, Sampling::k420, 12, 4, Layout::kSemiPlanar, Layout::kSemiPlanar, {}, 1, 2},
            {131, 116, Sampling::k420, 16, 0, Layout::kPlanar, Layout::kSemiPlanar},
            {177, 121, Sampling::k422},
            {144, 114, Sampling::k422, 10, 0, Layout::kPlanar, Layout::kPlanar, {}, 1, 4},
            {145, 113, Sampling::k422, 12, 0, Layout::kSemiPlanar, Layout::kPlanar, {}, 1, 0, true},
            {177, 121, Sampling::k444},
            {128, 120, Sampling::k444, 10, 6, Layout::kPlanar, Layout::kPlanar, {}, 1, 3},
            {129, 119, Sampling::k444, 16, 0, Layout::kPlanar, Layout::kPlanar, {}, 1, 0, true},
            {177, 121, Sampling::kGrey},
            {130, 116, Sampling::kGrey, 12, 4},
            {177, 121, Sampling::kRgb},
            {177, 121, Sampling::kRgb, 8, 0, Layout::kPacked3, Layout::kPacked4},
            {128, 114, Sampling::kRgb, 8, 0, Layout::kPacked4, Layout::kPlanar, {}, 1, 0, true},
            {133, 117, Sampling::kRgb, 10},
            {132, 116, Sampling::kRgb, 12, 0, Layout::kPacked3, Layout::kPacked3},
            {129, 115, Sampling::kRgb, 16, 0, Layout::kPacked3, Layout::kPlanar, {}, 1, 0, true},
        },
        "layouts and depths");
}

TEST(Ssimulacra2Emulation, EverySizeFromTheSmallest) {
    std::vector<EmulationCase> cases;
    for (int height = 8; height <= 40; ++height)
        for (int width = 8; width <= 40; width += 1 + (height % 3)) {
            const auto sampling = static_cast<Sampling>((width + height) % 5);
            cases.push_back({width, height, sampling, width % 2 ? 8 : 10});
        }
    for (const int size : {63, 64, 65, 112, 113, 119, 120, 121, 127, 128, 129, 143, 144, 145, 239, 240, 241, 257})
        for (const int other : {8, 15, 66, 113}) {
            cases.push_back({size, other, Sampling::k420});
            cases.push_back({other, size, Sampling::k420, 10});
        }
    expect_near_cpu(cases, "sizes");
}

TEST(Ssimulacra2Emulation, EveryOption) {
    std::vector<EmulationCase> cases;
    const auto add = [&](const Words& words, Sampling sampling, int depth = 8) {
        EmulationCase c{161, 119, sampling, depth};
        c.words = words;
        cases.push_back(c);
        c.width = 60; // fewer levels
        c.height = 33;
        c.hard = true;
        cases.push_back(c);
    };
    for (const auto* location : {"left", "center", "topleft", "top"})
        for (const auto* chroma : {"catmullrom", "bilinear", "nearest"}) {
            add({{"chroma_loc", location}, {"chroma", chroma}}, Sampling::k420);
            add({{"chroma_loc", location}, {"chroma", chroma}}, Sampling::k422, 10);
        }
    for (const auto* transfer : {"bt1886", "srgb", "bt709oetf", "gamma22", "gamma28", "linear", "pq", "hlg"}) {
        add({{"transfer", transfer}}, Sampling::k420, 10);
        add({{"transfer", transfer}, {"primaries", "bt2020"}, {"matrix", "bt2020nc"}}, Sampling::k444, 12);
        add({{"transfer", transfer}}, Sampling::kRgb);
    }
    for (const auto* primaries : {"bt709", "bt470bg", "smpte170m", "smpte240m", "bt2020", "p3"})
        add({{"primaries", primaries}, {"range", "full"}}, Sampling::k422);
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
    expect_near_cpu(cases, "options");
}

TEST(Ssimulacra2Emulation, InputsWithDifferentColours) {
    EmulationCase c{150, 118, Sampling::k420};
    FrameGeometry geometry = geometry_of(c);
    geometry.reference_colour = {.matrix = 1, .range = 1, .primaries = 1, .transfer = 1, .chroma_location = 1};
    geometry.distorted_colour = {.matrix = 6, .range = 2, .primaries = 9, .transfer = 13, .chroma_location = 3};
    const OptionValues options(descriptor().options);
    const auto metric = create_scorer(descriptor(), geometry, options);
    const std::vector<test::EmulatedPicture> pictures{make_picture(c, Layout::kPlanar, 1, false),
                                                      make_picture(c, Layout::kSemiPlanar, 1, true)};
    const test::EmulatedPairs pairs(pictures);
    const std::vector<uint64_t> words = emulate_batch(*metric, pairs.device, false);
    const std::vector<uint64_t> expected = pairs.cpu_words(*metric);
    EXPECT_NEAR(score_of(geometry, options, words), score_of(geometry, options, expected),
                descriptor().backend_bound.absolute);
    EXPECT_LT(score_of(geometry, options, words), 60.0); // the tags were honoured
}

/// A pair's words are the same alone and anywhere in a batch, and where pairs share their reference.
TEST(Ssimulacra2Emulation, BatchesDoNotChangeBits) {
    const EmulationCase c{250, 137, Sampling::k420, 8, 0, Layout::kSemiPlanar, Layout::kPlanar};
    const FrameGeometry geometry = geometry_of(c);
    const auto metric = create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
    std::vector<test::EmulatedPicture> references, renditions;
    for (const int i : {0, 1}) references.push_back(make_picture(c, c.reference, i, false));
    for (const int i : {0, 1, 2, 3, 4}) renditions.push_back(make_picture(c, c.distorted, i, true));
    std::vector<DevicePair> pairs(5);
    for (size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].reference = references[i < 2 ? 0 : 1].device();
        pairs[i].distorted = renditions[i].device();
        pairs[i].output = static_cast<uint32_t>((i + 2) % 5);
    }
    const std::vector<uint64_t> together = emulate_batch(*metric, pairs, false);
    EXPECT_EQ(together, emulate_batch(*metric, pairs, true));
    for (DevicePair pair : pairs) {
        const auto row = std::span(together).subspan(size_t{pair.output} * kAccumulatorWords, kAccumulatorWords);
        pair.output = 0;
        const std::vector<uint64_t> alone = emulate_batch(*metric, {pair}, true);
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(), row.begin()));
    }
}

TEST(Ssimulacra2Emulation, IdenticalPicturesScoreExactly100) {
    for (const auto* preset : {"default", "vship", "rs", "vmaf-fork"})
        for (const bool hard : {false, true}) {
            EmulationCase c{201, 130, Sampling::k420};
            c.hard = hard;
            const FrameGeometry geometry = geometry_of(c);
            const OptionValues options = options_of({{"preset", preset}});
            const auto metric = create_scorer(descriptor(), geometry, options);
            const std::vector<test::EmulatedPicture> pictures{make_picture(c, Layout::kPlanar, 3, false),
                                                              make_picture(c, Layout::kSemiPlanar, 3, false)};
            const std::vector<uint64_t> words = emulate_batch(*metric, test::EmulatedPairs(pictures).device, hard);
            EXPECT_EQ(words, std::vector<uint64_t>(kAccumulatorWords)) << preset;
            EXPECT_EQ(score_of(geometry, options, words), 100.0) << preset;
        }
}

/// What nearly all videos need must not fall back to the kernels that can do everything.
TEST(Ssimulacra2Emulation, UsualVideosTakeTheFastKernels) {
    /// Takes note of what it is asked for.
    class NotingProgram final : public DeviceProgram {
    public:
        Status find(const char* name, size_t, Kernel*) override {
            names.emplace_back(name);
            return {};
        }
        Status upload(const void*, size_t, const void**) override { return {}; }
        std::vector<std::string> names;
    };
    const auto kernels_of = [](const EmulationCase& c) {
        const auto scorer = create_scorer(descriptor(), geometry_of(c), options_of(c.words));
        NotingProgram program;
        EXPECT_TRUE(scorer->prepare(program).ok());
        return program.names;
    };
    using Names = std::vector<std::string>;
    EmulationCase c{640, 360, Sampling::k420};
    EXPECT_EQ(kernels_of(c), (Names{"ssimulacra2_pyramid_u8_420", "ssimulacra2_maps", "ssimulacra2_finish"}));
    c.words = {{"range", "full"}, {"matrix", "bt601"}, {"prune", "1"}, {"chroma_loc", "center"}};
    EXPECT_EQ(kernels_of(c), (Names{"ssimulacra2_pyramid_u8_420", "ssimulacra2_maps", "ssimulacra2_finish"}));
    c.words.clear();
    c.depth = 10;
    c.sampling = Sampling::k422;
    EXPECT_EQ(kernels_of(c), (Names{"ssimulacra2_pyramid_u16_422", "ssimulacra2_maps", "ssimulacra2_finish"}));
    c.words = {{"preset", "vship"}};
    EXPECT_EQ(kernels_of(c),
              (Names{"ssimulacra2_pyramid_u16_422_general", "ssimulacra2_maps_wide", "ssimulacra2_finish"}));
}

/// What 75 MB a pair at 1080p leaves after the pictures.
TEST(Ssimulacra2Emulation, ScratchMemoryIsBounded) {
    EmulationCase c{1920, 1080, Sampling::k420};
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
        const golden::Json* frames = nullptr;
        for (const golden::Json& entry : recorded.at("clips"))
            if (entry.at("clip") == clip.name) frames = &entry.at("frames");
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
