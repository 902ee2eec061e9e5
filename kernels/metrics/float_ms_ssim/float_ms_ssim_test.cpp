// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "families/structural/structural_frozen.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_math.hpp"

namespace qc::float_ms_ssim {
namespace {

using test::Recorder;

// ---- arithmetic -----------------------------------------------------------------------------------------------------

template <int kRun, bool kSigned>
void expect_runs_equal_single_windows(int rounds) {
    constexpr int kRows = 2 * kRun + kSide - 2;
    std::mt19937 random(1);
    float samples[kRows][kSide];
    const auto directly = [&](int result) {
        double sum = 0.0;
        for (int v = 0; v < kSide; ++v)
            for (int u = 0; u < kSide; ++u) {
                const float product = samples[2 * result + v][u] * low_pass_tap(distance(u), distance(v));
                sum += static_cast<double>(product);
            }
        return static_cast<float>(sum);
    };
    for (int round = 0; round < rounds; ++round) {
        // Many magnitudes: the sums are not exact, and their order counts.
        const int magnitudes = round % 2 == 0 ? 8 : 60;
        for (auto& row : samples)
            for (float& sample : row) {
                sample =
                    std::ldexp(static_cast<float>(random() % (1u << 24)), -static_cast<int>(random() % magnitudes));
                if (kSigned && random() % 2 == 0) sample = -sample;
            }
        int written = 0;
        low_pass_run<kRun, kSigned>([&](int row, int u) { return samples[row][u]; },
                                    [&](int i, float result) {
                                        ASSERT_EQ(result, directly(i)) << round << " " << i;
                                        ++written;
                                    });
        ASSERT_EQ(written, kRun);
    }
}

TEST(FloatMsSsimMath, RunsHaveTheBitsOfSingleWindows) {
    expect_runs_equal_single_windows<8, false>(3000);
    expect_runs_equal_single_windows<8, true>(3000);
    expect_runs_equal_single_windows<4, true>(1000);
    expect_runs_equal_single_windows<1, true>(1000);
}

TEST(FloatMsSsimMath, LowPassKeepsTheMean) {
    double sum = 0.0;
    for (int v = 0; v < kSide; ++v)
        for (int u = 0; u < kSide; ++u) {
            EXPECT_EQ(low_pass_tap(distance(u), distance(v)), low_pass_tap(distance(v), distance(u)));
            sum += static_cast<double>(low_pass_tap(distance(u), distance(v)));
        }
    EXPECT_NEAR(sum, 1.0, 1e-5);
}

// ---- scores ---------------------------------------------------------------------------------------------------------

struct Frozen {
    const test::SyntheticClip& clip;
    double score;
    float luminance[kScales], contrast[kScales], structure[kScales];
};

const Frozen kFrozen[] = {
    {structural::kSmallest10Bits,
     0.98290867003314941,
     {0.99893677234649658f, 0.9990619421005249f, 0.99914431571960449f, 0.99937170743942261f, 0.99973291158676147f},
     {0.99708539247512817f, 0.99512898921966553f, 0.99306678771972656f, 0.99181389808654785f, 0.99142038822174072f},
     {0.92339354753494263f, 0.98000198602676392f, 0.9964483380317688f, 0.99963498115539551f, 0.99995934963226318f}},
    {structural::kOdd12Bits,
     0.9829203578089839,
     {0.99875932931900024f, 0.99891483783721924f, 0.99907392263412476f, 0.99944794178009033f, 0.99986255168914795f},
     {0.99703419208526611f, 0.99501144886016846f, 0.99286842346191406f, 0.99184763431549072f, 0.99140757322311401f},
     {0.92326945066452026f, 0.98022991418838501f, 0.99653720855712891f, 0.99961566925048828f, 0.99997198581695557f}},
    {structural::kDecimated8Bits,
     0.98315068029709252,
     {0.99884766340255737f, 0.99899810552597046f, 0.99915218353271484f, 0.99947655200958252f, 0.99988663196563721f},
     {0.99697160720825195f, 0.99513328075408936f, 0.99292284250259399f, 0.99183022975921631f, 0.99140286445617676f},
     {0.9234655499458313f, 0.9808076024055481f, 0.99660766124725342f, 0.99957585334777832f, 0.99995458126068115f}},
};

TEST(FloatMsSsim, FrozenScores) {
    for (const Frozen& frozen : kFrozen) {
        SCOPED_TRACE(frozen.clip.name);
        const Recorder scores = structural::score_first_frame(descriptor(), frozen.clip, {{"enable_lcs", 1}});
        const std::string stem = "float_ms_ssim";
        EXPECT_EQ(scores.values(stem), std::vector<double>{frozen.score});
        const auto expect = [&](const char* letter, int scale, float value) {
            const std::string name = stem + "_" + letter + "_scale" + std::to_string(scale);
            EXPECT_EQ(scores.values(name), std::vector<double>{static_cast<double>(value)}) << name;
        };
        for (int scale = 0; scale < kScales; ++scale) {
            expect("l", scale, frozen.luminance[scale]);
            expect("c", scale, frozen.contrast[scale]);
            expect("s", scale, frozen.structure[scale]);
        }
    }
}

TEST(FloatMsSsim, ScoreDoesNotDependOnOtherOutputs) {
    const auto& clip = kFrozen[1].clip;
    EXPECT_EQ(structural::score_first_frame(descriptor(), clip, {}).values("float_ms_ssim"),
              std::vector<double>{kFrozen[1].score});
    EXPECT_EQ(structural::score_first_frame(descriptor(), clip, {{"enable_db", 1}}).values("float_ms_ssim"),
              std::vector<double>{17.675212317790386});
}

TEST(FloatMsSsim, IdenticalPicturesScoreExactlyOne) {
    for (const auto& clip : {structural::kSmallest10Bits, structural::kDecimated8Bits}) {
        const auto score = [&](const test::OptionList& list) {
            return structural::score_identical(descriptor(), clip, list).values("float_ms_ssim").at(0);
        };
        EXPECT_EQ(score({}), 1.0);
        EXPECT_EQ(score({{"enable_db", 1}}), std::numeric_limits<double>::infinity());
        EXPECT_EQ(score({{"enable_db", 1}, {"clip_db", 1}}), clip.depth == 10 ? 109.0 : 106.0);
    }
}

/// A power of a negative mean is not a number. In decibels the smaller-than comparison then takes the limit.
TEST(FloatMsSsim, NegativeStructureIsNotANumber) {
    const test::SyntheticClip& clip = structural::kSmallest10Bits;
    const FrameGeometry geometry = test::luma_geometry(clip.width, clip.height, clip.depth);
    std::mt19937 random(5);
    const test::SamplePicture reference(geometry, [&](int, int) { return random() % 1024; });
    const test::SamplePicture inverse(geometry, [&](int x, int y) { return 1023 - reference.at(0, x, y); });
    const HostPicture a = reference.view(), b = inverse.view();
    const auto score = [&](const test::OptionList& list) {
        return test::score_stream(descriptor(), geometry, list, std::span(&a, 1), std::span(&b, 1))
            .values("float_ms_ssim")
            .at(0);
    };
    EXPECT_TRUE(std::isnan(score({})));
    EXPECT_EQ(score({{"enable_db", 1}}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(score({{"enable_db", 1}, {"clip_db", 1}}), 109.0);
}

TEST(FloatMsSsim, RefusesWhatHasNoFiveScales) {
    const OptionValues options(descriptor().options);
    FrameGeometry geometry = test::synthetic_geometry(structural::kSmallest10Bits);
    EXPECT_TRUE(validate(descriptor(), geometry, options).ok());
    geometry.width = 175;
    structural::expect_refusal(validate(descriptor(), geometry, options), {"float_ms_ssim", "175x176", "176x176"});
    EXPECT_EQ(validate(descriptor(), geometry, options).code(), QC_ERROR_INVALID);
    geometry.width = 1920;
    geometry.height = 175;
    structural::expect_refusal(validate(descriptor(), geometry, options), {"float_ms_ssim", "1920x175"});
}

} // namespace
} // namespace qc::float_ms_ssim
