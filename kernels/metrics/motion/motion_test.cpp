// SPDX-License-Identifier: BSD-2-Clause-Patent
// Motion: frozen scores, the rules over time, every small size against a second implementation that does nothing
// clever, and the CUDA kernel's code run on the host.
#include "metrics/motion/motion.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "families/motion/motion_scorer.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/sample_picture.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::motion {
namespace {

using test::OptionList;
using Picture = test::SamplePicture;
using test::Recorder;
using test::Surface;

constexpr const char* kSad = "VMAF_integer_feature_motion_sad_score";

/// Equal to the last bit: integers and one chain of divisions leave no room for less.
void expect_scores(const std::vector<double>& actual, const std::vector<double>& expected, const std::string& what) {
    EXPECT_EQ(actual, expected) << what;
}

// ---- frozen scores --------------------------------------------------------------------------------------------------

struct FrozenScores {
    const char* clip;
    std::vector<double> sad, motion2, motion3;                        ///< default options
    std::vector<double> sad_five, motion2_five, motion3_five_average; ///< five-frame window and moving average
};

/// libvmaf 3.2.0 on the clips of synthetic_clip.hpp.
const std::vector<FrozenScores> kFrozenScores = {
    {"g64x48_420_8",
     {0.0, 3.2199668884277344, 3.1192118326822915, 2.903477986653646},
     {0.0, 3.1192118326822915, 2.903477986653646, 2.903477986653646},
     {3.2199668884277344, 3.1192118326822915, 2.903477986653646, 2.903477986653646},
     {0.0, 0.0, 6.038252512613933, 5.735416412353516},
     {0.0, 0.0, 5.735416412353516, 5.735416412353516},
     {6.038252512613933, 6.038252512613933, 5.8868344624837246, 5.735416412353516}},
    {"g175x99_420_8",
     {0.0, 3.0517890963203462, 3.0143806367243866, 2.9959039051226553},
     {0.0, 3.0143806367243866, 2.9959039051226553, 2.9959039051226553},
     {3.0517890963203462, 3.0143806367243866, 2.9959039051226553, 2.9959039051226553},
     {0.0, 0.0, 5.797445436507936, 5.768382034632035},
     {0.0, 0.0, 5.768382034632035, 5.768382034632035},
     {5.797445436507936, 5.797445436507936, 5.782913735569986, 5.768382034632035}},
    {"g176x176_420_10",
     {0.0, 3.0114160963326446, 3.04087943084969, 3.008518187467717},
     {0.0, 3.0114160963326446, 3.008518187467717, 3.008518187467717},
     {3.0114160963326446, 3.0114160963326446, 3.008518187467717, 3.008518187467717},
     {0.0, 0.0, 5.806296986981857, 5.799487909994835},
     {0.0, 0.0, 5.799487909994835, 5.799487909994835},
     {5.806296986981857, 5.806296986981857, 5.802892448488346, 5.799487909994835}},
    {"g80x66_422_12",
     {0.0, 3.004873194839015, 3.1261430220170454},
     {0.0, 3.004873194839015, 3.1261430220170454},
     {3.004873194839015, 3.004873194839015, 3.1261430220170454},
     {0.0, 0.0, 5.842726089015152},
     {0.0, 0.0, 5.842726089015152},
     {5.842726089015152, 5.842726089015152, 5.842726089015152}},
    {"g48x32_444_16",
     {0.0, 3.414148966471354, 2.9820556640625},
     {0.0, 2.9820556640625, 2.9820556640625},
     {3.414148966471354, 2.9820556640625, 2.9820556640625},
     {0.0, 0.0, 6.194272359212239},
     {0.0, 0.0, 6.194272359212239},
     {6.194272359212239, 6.194272359212239, 6.194272359212239}},
};

TEST(Motion, SyntheticClipsHaveTheFrozenScores) {
    for (const FrozenScores& frozen : kFrozenScores) {
        for (const test::SyntheticClip& clip : test::kSyntheticClips) {
            if (std::string(clip.name) != frozen.clip) continue;
            const test::SyntheticStream stream(clip);
            const Recorder plain = test::score_stream(descriptor(), stream.geometry(), {}, stream.reference(), {});
            expect_scores(plain.values(kSad), frozen.sad, frozen.clip);
            expect_scores(plain.values("integer_motion2"), frozen.motion2, frozen.clip);
            expect_scores(plain.values("integer_motion3"), frozen.motion3, frozen.clip);

            const OptionList options{{"motion_five_frame_window", 1}, {"motion_moving_average", 1}};
            const Recorder five = test::score_stream(descriptor(), stream.geometry(), options, stream.reference(), {});
            expect_scores(five.values(kSad), frozen.sad_five, frozen.clip);
            expect_scores(five.values("integer_motion2"), frozen.motion2_five, frozen.clip);
            expect_scores(five.values("integer_motion3"), frozen.motion3_five_average, frozen.clip);
        }
    }
}

// ---- over time ------------------------------------------------------------------------------------------------------

constexpr int kSide = 4;                        ///< of the pictures below
constexpr uint64_t kUnit = 256 * kSide * kSide; ///< sum that gives a score of 1

/// Finalises a stream whose frame i has scores[i] before weights and limits.
Recorder finalise_scores(const std::vector<double>& scores, const OptionList& options) {
    std::vector<std::vector<uint64_t>> accumulators;
    accumulators.reserve(scores.size());
    for (const double score : scores) accumulators.push_back({static_cast<uint64_t>(score * kUnit)});
    return test::finalise_stream(descriptor(), test::luma_geometry(kSide, kSide, 8), options, accumulators);
}

TEST(MotionOverTime, ThreeFrameWindow) {
    struct Case {
        std::vector<double> scores, motion2, motion3;
    };
    const std::vector<Case> cases = {{{}, {}, {}},
                                     {{0}, {0}, {0}},
                                     {{0, 5}, {0, 5}, {5, 5}},
                                     {{0, 5, 3}, {0, 3, 3}, {5, 3, 3}},
                                     {{0, 5, 7, 3}, {0, 5, 3, 3}, {5, 5, 3, 3}},
                                     {{0, 2, 4, 8, 1}, {0, 2, 4, 1, 1}, {2, 2, 4, 1, 1}}};
    for (const Case& c : cases) {
        const Recorder recorder = finalise_scores(c.scores, {});
        EXPECT_EQ(recorder.values(kSad), c.scores);
        EXPECT_EQ(recorder.values("integer_motion2"), c.motion2);
        EXPECT_EQ(recorder.values("integer_motion3"), c.motion3);
    }
}

TEST(MotionOverTime, FiveFrameWindow) {
    struct Case {
        std::vector<double> scores, motion2, motion3;
    };
    const std::vector<Case> cases = {{{0}, {0}, {0}},
                                     {{0, 0}, {0, 0}, {0, 0}},
                                     {{0, 0, 5}, {0, 0, 5}, {5, 5, 5}},
                                     {{0, 0, 5, 3}, {0, 0, 3, 3}, {5, 5, 3, 3}},
                                     {{0, 0, 5, 3, 7}, {0, 0, 3, 5, 7}, {5, 5, 3, 5, 7}},
                                     {{0, 0, 5, 3, 7, 2}, {0, 0, 3, 5, 2, 2}, {5, 5, 3, 5, 2, 2}}};
    for (const Case& c : cases) {
        const Recorder recorder = finalise_scores(c.scores, {{"motion_five_frame_window", 1}});
        EXPECT_EQ(recorder.values(kSad), c.scores);
        EXPECT_EQ(recorder.values("integer_motion2"), c.motion2);
        EXPECT_EQ(recorder.values("integer_motion3"), c.motion3);
    }
}

TEST(MotionOverTime, MovingAverageTakesThePreviousValueBeforeAveraging) {
    const std::vector<double> scores{0, 8, 4, 2, 16};
    const Recorder recorder = finalise_scores(scores, {{"motion_moving_average", 1}});
    EXPECT_EQ(recorder.values("integer_motion2"), (std::vector<double>{0, 4, 2, 2, 16}));
    EXPECT_EQ(recorder.values("integer_motion3"), (std::vector<double>{8, 6, 3, 2, 9}));
}

TEST(MotionOverTime, WeightAndLimitComeBeforeTheMinimumBlendAfterIt) {
    const OptionList options{
        {"motion_fps_weight", 0.5}, {"motion_max_val", 3}, {"motion_blend_factor", 0.25}, {"motion_blend_offset", 1}};
    const Recorder recorder = finalise_scores({0, 10, 4, 1}, options);
    EXPECT_EQ(recorder.values(kSad), (std::vector<double>{0, 3, 2, 0.5}));
    EXPECT_EQ(recorder.values("integer_motion2"), (std::vector<double>{0, 2, 0.5, 0.5}));
    EXPECT_EQ(recorder.values("integer_motion3"), (std::vector<double>{1.5, 1.25, 0.5, 0.5}));
}

/// Scores of frames with weights; negative: the weights are all 0. Shares are the picture's whole.
std::map<std::string, std::map<int64_t, double>> finalise_weighted(const std::vector<double>& scores,
                                                                   const OptionList& options) {
    FrameGeometry geometry = test::luma_geometry(kSide, kSide, 8);
    geometry.has_weights = true;
    const auto finaliser = create_finaliser(descriptor(), geometry, test::options_of(descriptor(), options));
    struct Sink final : ScoreSink {
        Recorder recorder{descriptor()};
        std::vector<int64_t> left_out;
        void put(int64_t frame, int output, double value) override { recorder.put(frame, output, value); }
        void leave_out(int64_t frame) override { left_out.push_back(frame); }
    } sink;
    std::vector<int64_t> expected;
    for (size_t i = 0; i < scores.size(); ++i) {
        const bool counts = scores[i] >= 0.0;
        if (!counts) expected.push_back(static_cast<int64_t>(i));
        const std::vector<uint64_t> words{counts ? static_cast<uint64_t>(scores[i] * kUnit) * 255 : 0,
                                          counts ? uint64_t{255} * kSide * kSide : 0};
        finaliser->finalise(static_cast<int64_t>(i), words, sink);
    }
    finaliser->flush(static_cast<int64_t>(scores.size()), sink);
    EXPECT_EQ(sink.left_out, expected);
    for (auto& [name, values] : sink.recorder.scores)
        for (const int64_t frame : expected) values.erase(frame);
    return sink.recorder.scores;
}

/// A frame without weight has no score, and its neighbours do without.
TEST(MotionOverTime, FramesWithoutWeight) {
    using Values = std::map<int64_t, double>;
    struct Case {
        std::vector<double> scores;
        OptionList options;
        Values sad, motion2, motion3;
    };
    const OptionList none, average{{"motion_moving_average", 1}}, five{{"motion_five_frame_window", 1}};
    const Case cases[] = {
        {{0, 5, 7, 3},
         none,
         {{0, 0}, {1, 5}, {2, 7}, {3, 3}},
         {{0, 0}, {1, 5}, {2, 3}, {3, 3}},
         {{0, 5}, {1, 5}, {2, 3}, {3, 3}}},
        {{0, 5, -1, 7, 3},
         none,
         {{0, 0}, {1, 5}, {3, 7}, {4, 3}},
         {{0, 0}, {1, 5}, {3, 3}, {4, 3}},
         {{0, 5}, {1, 5}, {3, 3}, {4, 3}}},
        {{-1, 5, 7}, none, {{1, 5}, {2, 7}}, {{1, 5}, {2, 7}}, {{1, 5}, {2, 7}}},
        {{0, -1, 7}, none, {{0, 0}, {2, 7}}, {{0, 0}, {2, 7}}, {{0, 0}, {2, 7}}},
        {{0, 5, -1}, none, {{0, 0}, {1, 5}}, {{0, 0}, {1, 5}}, {{0, 5}, {1, 5}}},
        {{-1, -1}, none, {}, {}, {}},
        {{0, 8, -1, 2, 16},
         average,
         {{0, 0}, {1, 8}, {3, 2}, {4, 16}},
         {{0, 0}, {1, 8}, {3, 2}, {4, 16}},
         {{0, 8}, {1, 8}, {3, 5}, {4, 9}}},
        {{0, 0, 5, 3, -1, 2, 9},
         five,
         {{0, 0}, {1, 0}, {2, 5}, {3, 3}, {5, 2}, {6, 9}},
         {{0, 0}, {1, 0}, {2, 3}, {3, 5}, {5, 9}, {6, 9}},
         {{0, 5}, {1, 5}, {2, 3}, {3, 5}, {5, 9}, {6, 9}}},
        {{0, 0, -1, 3, -1, 2},
         five,
         {{0, 0}, {1, 0}, {3, 3}, {5, 2}},
         {{0, 0}, {1, 0}, {3, 3}, {5, 2}},
         {{0, 0}, {1, 0}, {3, 3}, {5, 2}}},
    };
    for (const Case& c : cases) {
        auto scores = finalise_weighted(c.scores, c.options);
        EXPECT_EQ(scores[kSad], c.sad);
        EXPECT_EQ(scores["integer_motion2"], c.motion2);
        EXPECT_EQ(scores["integer_motion3"], c.motion3);
    }
}

TEST(MotionOverTime, DebugWritesTheScoreAgain) {
    const Recorder recorder = finalise_scores({0, 5, 3}, {{"debug", 1}});
    EXPECT_EQ(recorder.values("integer_motion"), (std::vector<double>{0, 5, 3}));
}

TEST(MotionOverTime, AFrameIsCompleteWhenTheNextIsKnown) {
    for (const int lag : {1, 2}) {
        const OptionValues options =
            test::options_of(descriptor(), {{"motion_five_frame_window", static_cast<double>(lag - 1)}});
        const auto finaliser = create_finaliser(descriptor(), test::luma_geometry(kSide, kSide, 8), options);
        Recorder recorder(descriptor());
        for (int64_t frame = 0; frame < 8; ++frame) {
            const std::vector<uint64_t> sum{frame < lag ? 0 : static_cast<uint64_t>(frame) * kUnit};
            finaliser->finalise(frame, sum, recorder);
            if (frame < lag) continue;
            EXPECT_EQ(recorder.values("integer_motion2").size(), std::max<size_t>(frame, lag));
            EXPECT_EQ(recorder.values("integer_motion3").size(), std::max<size_t>(frame, lag));
        }
    }
}

TEST(Motion, RefusesPicturesSmallerThanTheFilter) {
    const OptionValues options = test::options_of(descriptor(), {});
    EXPECT_TRUE(validate(descriptor(), test::luma_geometry(3, 3, 8), options).ok());
    EXPECT_EQ(validate(descriptor(), test::luma_geometry(2, 3, 8), options).code(), QC_ERROR_INVALID);
    EXPECT_EQ(validate(descriptor(), test::luma_geometry(3, 2, 8), options).code(), QC_ERROR_INVALID);
    EXPECT_NE(validate(descriptor(), test::luma_geometry(2, 9, 8), options).text().find("2x9"), std::string::npos);
}

TEST(Motion, ForceZeroReadsNoPixels) {
    const OptionValues options = test::options_of(descriptor(), {{"motion_force_zero", 1}});
    const auto metric = create_scorer(descriptor(), test::luma_geometry(64, 64, 8), options);
    HostReference reference{};
    alignas(16) uint8_t unreadable = 0;
    reference.history[0].data = &unreadable; // a read of more than this byte shows under a sanitizer
    reference.current.plane[0].data = &unreadable;
    std::vector<uint64_t> sum{0};
    metric->score(reference, sum);
    EXPECT_EQ(sum[0], 0u);
}

// ---- the slow twin --------------------------------------------------------------------------------------------------

int reflect(int i, int n) {
    if (i < 0) return -i;
    if (i >= n) return 2 * n - 2 - i;
    return i;
}

using WeightAt = std::function<int(int x, int y)>;

/// Straight from the definition: filter the difference down the columns, then along the rows, in 64 bits.
uint64_t obvious_sum(
    const Picture& previous, const Picture& current, int depth,
    const WeightAt& weight_at = [](int, int) { return 1; }) {
    const int64_t taps[5] = {3571, 16004, 26386, 16004, 3571};
    const int width = current.geometry().width, height = current.geometry().height;
    const auto column_filtered = [&](int x, int y) {
        int64_t sum = int64_t{1} << (depth - 1);
        for (int k = 0; k < 5; ++k) {
            const int row = reflect(y - 2 + k, height);
            sum += taps[k] * (int64_t{previous.at(0, x, row)} - current.at(0, x, row));
        }
        return sum >> depth;
    };
    uint64_t total = 0;
    for (int y = 0; y < height; ++y) {
        std::vector<int64_t> row(width);
        for (int x = 0; x < width; ++x) row[x] = column_filtered(x, y);
        for (int x = 0; x < width; ++x) {
            int64_t sum = 32768;
            for (int k = 0; k < 5; ++k) sum += taps[k] * row[reflect(x - 2 + k, width)];
            total += static_cast<uint64_t>(std::abs(sum >> 16) * weight_at(x, y));
        }
    }
    return total;
}

enum class Content { kNoise, kExtremes, kStripes, kSmallSteps, kBlackToWhite, kWhiteToBlack };
constexpr Content kContents[] = {Content::kNoise,      Content::kExtremes,     Content::kStripes,
                                 Content::kSmallSteps, Content::kBlackToWhite, Content::kWhiteToBlack};

Picture make_picture(int width, int height, int depth, Content content, bool later, unsigned seed) {
    std::mt19937 random(seed * 2 + (later ? 1 : 0));
    const unsigned top = (1u << depth) - 1;
    return Picture(test::luma_geometry(width, height, depth), [&](int, int x, int y) -> uint32_t {
        switch (content) {
        case Content::kNoise:
            return random() & top;
        case Content::kExtremes:
            return random() % 2 * top;
        case Content::kStripes:
            return static_cast<unsigned>(x / 2 + y / 3 + (later ? 1 : 0)) % 2 * top;
        case Content::kSmallSteps:
            return top / 2 + random() % 2; // differences of 1: many ties
        case Content::kBlackToWhite:
            return later ? top : 0;
        case Content::kWhiteToBlack:
            return later ? 0 : top;
        }
        return 0;
    });
}

uint64_t reference_sum(const Picture& previous, const Picture& current) {
    const Surface before(previous, {.padding = 3}), after(current, {});
    const auto sum_by = [&](device::WordLanes lanes) {
        return score_cpu(current.geometry(), before.host().plane[0], after.host().plane[0], lanes);
    };
    const uint64_t sum = sum_by(device::WordLanes::kNone);
    for (const device::WordLanes lanes : device::all_word_lanes())
        EXPECT_EQ(sum_by(lanes), sum) << "lanes " << static_cast<int>(lanes);
    return sum;
}

TEST(Motion, EverySmallSizeEqualsTheSlowTwin) {
    for (const int depth : {8, 10, 12, 16}) {
        for (int height = 3; height <= 40; ++height) {
            for (int width = 3; width <= 40; ++width) {
                const auto seed = static_cast<unsigned>(width * 100 + height);
                const Content content = kContents[(width + height) % std::size(kContents)];
                const Picture previous = make_picture(width, height, depth, content, false, seed);
                const Picture current = make_picture(width, height, depth, content, true, seed);
                ASSERT_EQ(reference_sum(previous, current), obvious_sum(previous, current, depth))
                    << width << "x" << height << " at " << depth << " bits, content " << static_cast<int>(content);
            }
        }
    }
}

TEST(Motion, ExtremesEqualTheSlowTwin) {
    for (int depth = 8; depth <= 16; ++depth) {
        for (const Content content : kContents) {
            const Picture previous = make_picture(211, 67, depth, content, false, 7);
            const Picture current = make_picture(211, 67, depth, content, true, 7);
            ASSERT_EQ(reference_sum(previous, current), obvious_sum(previous, current, depth)) << depth;
            ASSERT_EQ(reference_sum(current, previous), obvious_sum(current, previous, depth)) << depth;
        }
    }
}

/// Of all weights there are.
int varied_weight(int x, int y) {
    const int stripe = (x / 5 + y / 3) % 4;
    return stripe == 0 ? 0 : stripe == 1 ? 255 : (31 * x + 57 * y) % 256;
}

struct SampleWeights {
    int width, height, pitch;
    std::vector<uint8_t> weights;

    SampleWeights(const FrameGeometry& geometry, const WeightAt& weight_at)
        : width(geometry.width), height(geometry.height), pitch(geometry.width + 3),
          weights(static_cast<size_t>(pitch) * static_cast<size_t>(height)) {
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                weights[static_cast<size_t>(y * pitch + x)] = static_cast<uint8_t>(weight_at(x, y));
    }
    HostPlane host() const { return {weights.data(), {pitch}, width, height}; }
    DevicePlane device() const { return {weights.data(), static_cast<uint32_t>(pitch), 1, 0}; }
    uint64_t sum() const { return std::accumulate(weights.begin(), weights.end(), uint64_t{0}); }
};

using WeightedWords = std::array<uint64_t, kWeightedWords>;

WeightedWords weighted_words(const Picture& previous, const Picture& current, const SampleWeights& sample_weights,
                             device::WordLanes lanes = device::best_word_lanes()) {
    WeightedWords words{};
    score_weighted_cpu(current.geometry(), previous.view().plane[0], current.view().plane[0], sample_weights.host(),
                       words, lanes);
    return words;
}

TEST(Motion, WithWeightsEqualsTheSlowTwin) {
    for (const int depth : {8, 10, 16})
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{3, 3}, {17, 40}, {63, 9}, {291, 33}}) {
            const Picture previous = make_picture(width, height, depth, Content::kNoise, false, 5);
            const Picture current = make_picture(width, height, depth, Content::kNoise, true, 5);
            const SampleWeights sample_weights(current.geometry(), varied_weight);
            const WeightedWords expected{obvious_sum(previous, current, depth, varied_weight), sample_weights.sum()};
            for (const device::WordLanes lanes : device::all_word_lanes())
                EXPECT_EQ(weighted_words(previous, current, sample_weights, lanes), expected)
                    << width << "x" << height << " at " << depth << " bits";
        }
}

TEST(Motion, WithWholeWeightsNothingOverflows) {
    const auto whole = [](int, int) { return 255; };
    const Picture black = make_picture(70001, 3, 16, Content::kBlackToWhite, false, 0);
    const Picture white = make_picture(70001, 3, 16, Content::kBlackToWhite, true, 0);
    const WeightedWords words = weighted_words(white, black, SampleWeights(black.geometry(), whole));
    EXPECT_EQ(words, (WeightedWords{uint64_t{70001} * 3 * 65535 * 255, uint64_t{70001} * 3 * 255}));
}

TEST(Motion, FullSwingIsTheLargestSum) {
    const Picture black = make_picture(17, 9, 16, Content::kBlackToWhite, false, 0);
    const Picture white = make_picture(17, 9, 16, Content::kBlackToWhite, true, 0);
    EXPECT_EQ(reference_sum(black, white), 17u * 9u * 65535u);
    EXPECT_EQ(reference_sum(white, black), 17u * 9u * 65535u);
    EXPECT_EQ(reference_sum(white, white), 0u);
}

/// Rows longer than what a 32-bit sum holds.
TEST(Motion, VeryWideRowsDoNotOverflow) {
    const Picture black = make_picture(70001, 3, 16, Content::kBlackToWhite, false, 0);
    const Picture white = make_picture(70001, 3, 16, Content::kBlackToWhite, true, 0);
    EXPECT_EQ(reference_sum(white, black), uint64_t{70001} * 3 * 65535);
}

TEST(Motion, WideSumEqualsSixtyFourBits) {
    std::mt19937 random(1);
    const auto value = [&](int limit) { return static_cast<int32_t>(random() % (2u * limit + 1)) - limit; };
    for (int i = 0; i < 1000000; ++i) {
        const bool extreme = i % 4 == 0;
        const int32_t outer = extreme ? 131070 * (value(1)) : value(131070);
        const int32_t inner = extreme ? 131070 * (value(1)) : value(131070);
        const int32_t centre = extreme ? 65535 * (value(1)) : value(65535);
        const int64_t sum = int64_t{3571} * outer + int64_t{16004} * inner + int64_t{26386} * centre;
        ASSERT_EQ(low_pass(outer, inner, centre), (sum + 32768) >> 16) << outer << " " << inner << " " << centre;
    }
}

// ---- the kernel's code on the host ----------------------------------------------------------------------------------

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_MOTION_KERNELS);

int count_wide_tiles(const Surface& previous, const Surface& current, int width, int depth) {
    const auto is_wide = depth == 8 ? tile_is_wide<uint8_t> : tile_is_wide<uint16_t>;
    int count = 0;
    for (int tile_x = 0; tile_x * kTileWidth < width; ++tile_x)
        count += is_wide(previous.plane(0), current.plane(0), width, tile_x) ? 1 : 0;
    return count;
}

std::vector<uint64_t> emulate(const DeviceReference& reference, FrameGeometry geometry) {
    geometry.has_weights = reference.weights.data != nullptr;
    const auto scorer = create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
    test::EmulatedProgram program(kKernels, 0);
    EXPECT_TRUE(scorer->prepare(program).ok());
    DeviceBatch batch;
    batch.references = &reference;
    batch.count = 1;
    test::EmulatedQueue queue((geometry.width + geometry.height) % 2 != 0);
    return test::emulate_batch(*scorer, batch, queue);
}

uint64_t emulate(const Surface& previous, const Surface& current, int width, int height, int depth, int* wide_tiles) {
    *wide_tiles += count_wide_tiles(previous, current, width, depth);
    DeviceReference reference{};
    reference.history[0] = previous.plane(0);
    reference.current.plane[0] = current.plane(0);
    return emulate(reference, test::luma_geometry(width, height, depth)).at(0);
}

/// Samples to add to a row so that the pitch suits loads of four.
size_t aligning_padding(int width) {
    return static_cast<size_t>((4 - width % 4) % 4);
}

TEST(MotionKernel, EverySmallSizeEqualsTheReference) {
    int wide_tiles = 0;
    for (const int depth : {8, 10, 16}) {
        for (int height = 3; height <= 40; height += depth == 8 ? 1 : 3) {
            for (int width = 3; width <= 40; ++width) {
                const auto seed = static_cast<unsigned>(width * 100 + height);
                const Content content = kContents[(width + height) % std::size(kContents)];
                const Picture previous = make_picture(width, height, depth, content, false, seed);
                const Picture current = make_picture(width, height, depth, content, true, seed);
                const Surface before(previous, {.padding = aligning_padding(width)});
                const Surface after(current, {.padding = aligning_padding(width) + 4});
                ASSERT_EQ(emulate(before, after, width, height, depth, &wide_tiles), reference_sum(previous, current))
                    << width << "x" << height << " at " << depth << " bits";
            }
        }
    }
    EXPECT_GT(wide_tiles, 0);
}

TEST(MotionKernel, TileEdgesEqualTheReference) {
    int wide_tiles = 0;
    for (const int width : {116, 117, 119, 120, 121, 122, 123, 124, 125, 128, 239, 240, 241, 243, 244, 360, 361}) {
        for (const int height : {63, 64, 65, 67, 129}) {
            const Picture previous = make_picture(width, height, 8, Content::kNoise, false, 3);
            const Picture current = make_picture(width, height, 8, Content::kNoise, true, 3);
            const Surface before(previous, {.padding = aligning_padding(width)});
            const Surface after(current, {.padding = aligning_padding(width)});
            ASSERT_EQ(emulate(before, after, width, height, 8, &wide_tiles), reference_sum(previous, current))
                << width << "x" << height;
        }
    }
    EXPECT_GT(wide_tiles, 50);
}

TEST(MotionKernel, LayoutsEqualTheReference) {
    constexpr int kWidth = 244, kHeight = 70;
    struct Layout {
        int depth, shift;
        size_t offset, padding;
        int step;
        test::SurfaceLayout layout() const {
            return {.shift = shift, .offset = offset, .padding = padding, .luma_step = step};
        }
    };
    const std::vector<Layout> layouts = {{8, 0, 0, 0, 1},  {8, 0, 1, 0, 1},  {8, 0, 4, 1, 1},  {8, 0, 0, 0, 2},
                                         {10, 0, 0, 0, 1}, {10, 6, 0, 0, 1}, {10, 6, 1, 0, 1}, {10, 0, 2, 4, 1},
                                         {12, 4, 0, 4, 1}, {16, 0, 0, 0, 1}, {16, 0, 4, 2, 1}};
    for (const Layout& a : layouts) {
        for (const Layout& b : layouts) {
            if (a.depth != b.depth) continue;
            const Picture previous = make_picture(kWidth, kHeight, a.depth, Content::kNoise, false, 11);
            const Picture current = make_picture(kWidth, kHeight, a.depth, Content::kNoise, true, 11);
            const Surface before(previous, a.layout());
            const Surface after(current, b.layout());
            int wide_tiles = 0;
            EXPECT_EQ(emulate(before, after, kWidth, kHeight, a.depth, &wide_tiles), reference_sum(previous, current))
                << a.depth << " bits, shifts " << a.shift << " and " << b.shift;
        }
    }
}

TEST(MotionKernel, WeightsEqualTheReference) {
    for (const int depth : {8, 10, 16})
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{3, 3}, {121, 70}, {244, 97}, {248, 13}}) {
            const Picture previous = make_picture(width, height, depth, Content::kNoise, false, 13);
            const Picture current = make_picture(width, height, depth, Content::kNoise, true, 13);
            const Surface before(previous, {.padding = aligning_padding(width)}), after(current, {});
            const SampleWeights sample_weights(current.geometry(), varied_weight);
            DeviceReference reference{};
            reference.history[0] = before.plane(0);
            reference.current.plane[0] = after.plane(0);
            reference.weights = sample_weights.device();
            const WeightedWords expected = weighted_words(previous, current, sample_weights);
            EXPECT_EQ(emulate(reference, current.geometry()), std::vector(expected.begin(), expected.end()))
                << width << "x" << height << " at " << depth << " bits";
            reference.history[0] = {};
            EXPECT_EQ(emulate(reference, current.geometry()), (std::vector<uint64_t>{0, sample_weights.sum()}));
        }
}

/// With weights of 255 too.
TEST(MotionKernel, FullSwingFitsALanesSum) {
    const Picture black = make_picture(128, 64, 16, Content::kBlackToWhite, false, 0);
    const Picture white = make_picture(128, 64, 16, Content::kBlackToWhite, true, 0);
    int wide_tiles = 0;
    const Surface before(black, {}), after(white, {});
    EXPECT_EQ(emulate(before, after, 128, 64, 16, &wide_tiles), uint64_t{128} * 64 * 65535);
    const SampleWeights sample_weights(white.geometry(), [](int, int) { return 255; });
    DeviceReference reference{};
    reference.history[0] = before.plane(0);
    reference.current.plane[0] = after.plane(0);
    reference.weights = sample_weights.device();
    EXPECT_EQ(emulate(reference, white.geometry()).front(), uint64_t{128} * 64 * 65535 * 255);
}

} // namespace
} // namespace qc::motion
