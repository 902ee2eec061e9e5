// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_vif on the CPU: windows, logarithm, a pixel's terms, frozen scores, limits and refusals.
#include "metrics/float_vif/float_vif.hpp"

#include <cmath>
#include <limits>

#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::float_vif {
namespace {

// ---- windows --------------------------------------------------------------------------------------------------------

/// To the digits that libvmaf's older tables and newer formula share; the frozen scores below hold the bits.
TEST(FloatVifWindow, DefaultTapsAreLibvmafs) {
    const std::vector<std::vector<float>> expected = {{0.11877394f, 0.11374608f, 0.09990411f, 0.08047511f, 0.05945262f,
                                                       0.04028207f, 0.02503132f, 0.01426550f, 0.00745627f},
                                                      {0.22417361f, 0.19211607f, 0.12092090f, 0.05589817f, 0.01897808f},
                                                      {0.40261996f, 0.24420135f, 0.05448868f},
                                                      {0.66724300f, 0.16637850f}};
    for (int s = 0; s < kScales; ++s) {
        const FilterWindow window = scale_window(s, 1.0);
        ASSERT_EQ(window.radius, 8 >> s);
        for (size_t i = 0; i < expected[s].size(); ++i) EXPECT_NEAR(window.weight[i], expected[s][i], 2e-7) << s;
        for (int k = 0; k <= 2 * window.radius; ++k) EXPECT_EQ(window.tap(k), window.tap(2 * window.radius - k));
    }
}

TEST(FloatVifWindow, KernelScaleSetsTheWidth) {
    const auto taps = [](int scale, double kernel_scale) { return 2 * scale_window(scale, kernel_scale).radius + 1; };
    EXPECT_EQ(taps(0, 0.5), 9);         // 8.5
    EXPECT_EQ(taps(3, 0.5), 3);         // at least three
    EXPECT_EQ(taps(0, 1.5), 27);        // 25.5, 26 made odd
    EXPECT_EQ(taps(0, 360.0 / 97), 65); // 63.1, 64 made odd: the widest
    EXPECT_EQ(taps(0, 360.0 / 97 + 0.0009), 2 * kMaxRadius + 1);
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

TEST(FloatVifLog, IsCloseToTheLogarithm) {
    for (int i = 0; i < 16000; ++i) {
        const auto x = static_cast<float>(std::exp2(i / 1000.0));
        EXPECT_NEAR(log2_by_polynomial(x), std::log2(static_cast<double>(x)), 2e-6) << x;
    }
    EXPECT_EQ(log2_by_polynomial(1.0f), 0.0f);
    EXPECT_EQ(log2_by_polynomial(8.0f), 3.0f);
    EXPECT_EQ(log2_by_polynomial(std::numeric_limits<float>::infinity()), 128.0f);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(log2_by_polynomial(nan), log2_by_polynomial(-nan)); // not a number, but the same on every machine
}

TEST(FloatVifInformation, PixelsOfEveryKind) {
    NoiseModel noise;
    noise.flat_scale = 4.0f / 65025.0f;
    const auto of = [&](float s1, float s2, float s12) { return information({0, 0, s1, s2, s12}, noise); };
    // Below the noise: one bit, less what was added.
    EXPECT_EQ(of(1.0f, 0.0f, 1.0f).numerator, 1.0f);
    EXPECT_EQ(of(1.0f, 0.0f, 1.0f).denominator, 1.0f);
    EXPECT_EQ(of(1.0f, 100.0f, 1.0f).numerator, 1.0f - 100.0f * noise.flat_scale);
    EXPECT_EQ(of(-1.0f, -3.0f, 1.0f).numerator, 1.0f); // variances are never negative
    // The same picture: everything arrives.
    EXPECT_EQ(of(62.0f, 62.0f, 62.0f).denominator, 5.0f);
    EXPECT_EQ(of(62.0f, 62.0f, 62.0f).numerator, 5.0f);
    // Inverted, or flat: nothing does.
    EXPECT_EQ(of(62.0f, 62.0f, -62.0f).numerator, 0.0f);
    EXPECT_EQ(of(62.0f, 0.0f, 0.0f).numerator, 0.0f);
    // The gain is limited after the noise was computed with the full gain.
    noise.gain_limit = 1.0f;
    EXPECT_EQ(of(62.0f, 248.0f, 124.0f).numerator, 5.0f);
    noise.gain_limit = 100.0f;
    EXPECT_GT(of(62.0f, 248.0f, 124.0f).numerator, 6.9f);
}

// ---- frozen scores --------------------------------------------------------------------------------------------------

struct FrozenScores {
    const char* clip;
    std::vector<double> scores[kScales];
    double parts[kScales][2]; ///< numerator and denominator of frame 0
};

/// libvmaf 3.2.0 on the clips of synthetic_clip.hpp.
const std::vector<FrozenScores> kFrozenScores = {
    {"g64x48_420_8",
     {{0.4408515301781192, 0.45095654614790825, 0.44187688315073453, 0.44713491414930906},
      {0.8872253552108632, 0.8824119650151301, 0.8942275368945537, 0.8819004173068621},
      {0.9118371030171649, 0.9082832975517917, 0.9138921698902505, 0.906214804482922},
      {0.9175516826250525, 0.9199592685489403, 0.9207359998536052, 0.9203021420400018}},
     {{8960.6474609375, 20325.771484375},
      {3747.80322265625, 4224.18408203125},
      {910.6781616210938, 998.72900390625},
      {232.4434814453125, 253.3301239013672}}},
    {"g175x99_420_8",
     {{0.44748536824847635, 0.453745277334842, 0.44711018952701376, 0.4511840075014778},
      {0.8841818793336578, 0.8870171324266878, 0.8869765096397517, 0.8824104980389417},
      {0.9094444488426071, 0.9096020613065182, 0.9094839481612718, 0.9052380026238198},
      {0.9205755362655378, 0.9208430758524382, 0.9206063944285814, 0.9172384073866127}},
     {{51780.53515625, 115714.4765625},
      {20532.92578125, 23222.513671875},
      {4823.9287109375, 5304.2587890625},
      {1214.09619140625, 1318.8447265625}}},
    {"g176x176_420_10",
     {{0.44831942231353417, 0.45493102039367506, 0.4467915928832876, 0.45030076935724367},
      {0.8846361399705979, 0.8884292935911957, 0.8876971254225888, 0.8842841366778269},
      {0.9091057564419465, 0.9105763613989178, 0.9104301860106931, 0.9084850950472215},
      {0.9205338145808045, 0.9213843526523642, 0.9211161638041397, 0.9195688766037021}},
     {{92702.3203125, 206777.390625},
      {37480.01171875, 42367.71484375},
      {9116.0322265625, 10027.4716796875},
      {2360.872802734375, 2564.677978515625}}},
    {"g80x66_422_12",
     {{0.44454083522314425, 0.45469382538459674, 0.4457106341361642},
      {0.8850017098997767, 0.8849334316986059, 0.8895109582901989},
      {0.9103870680807696, 0.9074753684112221, 0.9102761992938839},
      {0.9196968604489573, 0.9190352779605395, 0.9182246850147051}},
     {{15598.5576171875, 35089.14453125},
      {6326.90185546875, 7149.02783203125},
      {1489.752197265625, 1636.394287109375},
      {380.3048400878906, 413.5110778808594}}},
    {"g48x32_444_16",
     {{0.43778721074543053, 0.4535912114070998, 0.43722323923810164},
      {0.8923707662146697, 0.8790903137540106, 0.8978711797309193},
      {0.9172647824018794, 0.9083316261961134, 0.9192615203239561},
      {0.9238244149921073, 0.9256336198496382, 0.9254014111647683}},
     {{4398.00390625, 10045.9853515625},
      {1872.6302490234375, 2098.489013671875},
      {461.36895751953125, 502.9833984375},
      {117.69767761230469, 127.40264892578125}}},
};

test::Recorder score(const test::SyntheticClip& clip, const test::OptionList& options) {
    const test::SyntheticStream stream(clip);
    return test::score_stream(descriptor(), stream.geometry(), options, stream.reference(), stream.distorted());
}

TEST(FloatVif, SyntheticClipsHaveTheFrozenScores) {
    for (const test::SyntheticClip& clip : test::kSyntheticClips) {
        const auto frozen = std::find_if(kFrozenScores.begin(), kFrozenScores.end(),
                                         [&](const FrozenScores& f) { return std::string_view(f.clip) == clip.name; });
        ASSERT_NE(frozen, kFrozenScores.end());
        const test::Recorder recorder = score(clip, {{"debug", 1}});
        for (int s = 0; s < kScales; ++s) {
            EXPECT_EQ(recorder.values(format("vif_scale%d", s)), frozen->scores[s]) << clip.name << " scale " << s;
            EXPECT_EQ(recorder.values(format("vif_num_scale%d", s))[0], frozen->parts[s][0]) << clip.name;
            EXPECT_EQ(recorder.values(format("vif_den_scale%d", s))[0], frozen->parts[s][1]) << clip.name;
        }
    }
}

TEST(FloatVif, OptionsActOnTheScores) {
    const test::SyntheticClip& clip = test::kSyntheticClips[0];
    const test::Recorder limited = score(clip, {{"vif_scale1_min_val", 0.885}, {"vif_scale3_min_val", 1.0}});
    EXPECT_EQ(limited.values("vif_scale0"), kFrozenScores[0].scores[0]);
    EXPECT_EQ(limited.values("vif_scale1")[1], 0.885);
    EXPECT_EQ(limited.values("vif_scale1")[2], kFrozenScores[0].scores[1][2]);
    EXPECT_EQ(limited.values("vif_scale3"), std::vector<double>(4, 1.0));

    const test::Recorder skipped = score(clip, {{"vif_skip_scale0", 1}, {"debug", 1}});
    EXPECT_EQ(skipped.values("vif_scale0"), std::vector<double>(4, 0.0));
    EXPECT_EQ(skipped.values("vif_num_scale0"), std::vector<double>(4, 0.0));
    EXPECT_EQ(skipped.values("vif_den_scale0"), std::vector<double>(4, -1.0));
    EXPECT_EQ(skipped.values("vif_scale1"), kFrozenScores[0].scores[1]);
}

TEST(FloatVif, IdenticalPicturesScoreOne) {
    const test::SyntheticClip& clip = test::kSyntheticClips[1];
    const test::SyntheticStream stream(clip);
    const test::Recorder recorder =
        test::score_stream(descriptor(), stream.geometry(), {}, stream.reference(), stream.reference());
    for (int s = 0; s < kScales; ++s)
        for (const double score : recorder.values(format("vif_scale%d", s))) EXPECT_NEAR(score, 1.0, 1e-5) << s;
}

// ---- refusals -------------------------------------------------------------------------------------------------------

Status validated(int width, int height, const test::OptionList& options, int depth = 8) {
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    geometry.depth = depth;
    return validate(descriptor(), geometry, test::options_of(descriptor(), options));
}

TEST(FloatVif, RefusesWhatItDoesNotDefine) {
    EXPECT_TRUE(validated(16, 16, {}).ok());
    EXPECT_EQ(validated(15, 16, {}).text(), "float_vif needs pictures of at least 16x16, these are 15x16");
    EXPECT_FALSE(validated(16, 15, {}).ok());
    EXPECT_FALSE(validated(16, 16, {}, 17).ok());
    // Wider windows need more, resized pictures count after resizing.
    EXPECT_FALSE(validated(31, 32, {{"vif_kernelscale", 3.711}}).ok());
    EXPECT_TRUE(validated(64, 64, {{"vif_kernelscale", 3.711}}).ok());
    EXPECT_EQ(validated(30, 40, {{"vif_prescale", 0.5}}).text(),
              "float_vif needs pictures of at least 31x31, these are 30x40");
    EXPECT_TRUE(validated(31, 40, {{"vif_prescale", 0.5}}).ok()); // 15.5 is rounded up
    EXPECT_TRUE(validated(6, 6, {{"vif_prescale", 4}}).ok());
    EXPECT_NE(validated(5, 6, {{"vif_prescale", 4}}).text().find("at least 6x6"), std::string::npos);
    EXPECT_NE(validated(64, 64, {{"vif_kernelscale", 1.2}}).text().find("vif_kernelscale=1.2"), std::string::npos);
    EXPECT_TRUE(validated(64, 64, {{"vif_kernelscale", 1.5005}}).ok());
    EXPECT_FALSE(validated(5200, 64, {{"vif_prescale", 1.5}, {"vif_prescale_method", 1}}).ok());
    EXPECT_TRUE(validated(5200, 64, {{"vif_prescale", 1.5}, {"vif_prescale_method", 2}}).ok());
}

} // namespace
} // namespace qc::float_vif
