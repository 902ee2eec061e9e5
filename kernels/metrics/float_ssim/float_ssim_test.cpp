// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_ssim, and the arithmetic that it shares with float_ms_ssim.
#include "metrics/float_ssim/float_ssim.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "families/structural/structural_decibel.hpp"
#include "families/structural/structural_frozen.hpp"
#include "families/structural/structural_plan.hpp"
#include "tests/support/geometry.hpp"

namespace qc::float_ssim {
namespace {

using structural::FixedPoint;
using test::Recorder;

// ---- arithmetic -----------------------------------------------------------------------------------------------------

TEST(Structural, WidenedProductsAreTheProductsInEveryBit) {
    std::mt19937 random(1);
    const auto expect_exact = [](float sample, float weight) {
        const float product = sample * weight;
        if (!std::isfinite(product)) return;
        const double expected = std::ldexp(static_cast<double>(product), -896);
        ASSERT_EQ(std::bit_cast<uint64_t>(structural::Factor<true>(sample).widened_product(weight)),
                  std::bit_cast<uint64_t>(expected))
            << sample << " * " << weight;
        if (std::signbit(sample)) return;
        ASSERT_EQ(std::bit_cast<uint64_t>(structural::Factor<false>(sample).widened_product(weight)),
                  std::bit_cast<uint64_t>(expected))
            << sample << " * " << weight;
    };
    using Limits = std::numeric_limits<float>;
    for (const float weight : {1.0f, 0.001028f, 0.363505f}) {
        for (const float sample : {0.0f, -0.0f, 1.0f, -1.0f, 255.0f, 65025.0f, Limits::min(), Limits::denorm_min(),
                                   -Limits::denorm_min(), Limits::max(), Limits::lowest()})
            expect_exact(sample, weight);
        for (int i = 0; i < 100000; ++i) {
            const auto sample = std::bit_cast<float>(static_cast<uint32_t>(random()));
            if (std::isfinite(sample)) expect_exact(sample, weight);
        }
    }
}

/// The window's sum, term after term.
float filtered_directly(const float* samples) {
    double sum = 0.0;
    for (int k = 0; k < structural::kTaps; ++k) {
        const float product = samples[k] * structural::window_tap(k);
        sum += static_cast<double>(product);
    }
    return static_cast<float>(sum);
}

/// Samples of many magnitudes, so that the sums are not exact and their order counts.
TEST(Structural, RunsHaveTheBitsOfSingleWindows) {
    constexpr int kRun = 16;
    std::mt19937 random(2);
    float samples[kRun + structural::kMargin];
    for (int round = 0; round < 20000; ++round) {
        const int magnitudes = round % 2 == 0 ? 8 : 60;
        for (float& sample : samples) {
            const auto mantissa = static_cast<float>(random() % (1u << 24));
            sample = random() % 5 == 0 ? 0.0f : std::ldexp(mantissa, -static_cast<int>(random() % magnitudes));
        }
        structural::filter_run<kRun, false>(
            [&](int i) { return samples[i]; },
            [&](int i, float result) { ASSERT_EQ(result, filtered_directly(samples + i)) << round << " " << i; });
        for (float& sample : samples) sample = random() % 2 == 0 ? -sample : sample;
        structural::filter_run<kRun, true>(
            [&](int i) { return samples[i]; },
            [&](int i, float result) { ASSERT_EQ(result, filtered_directly(samples + i)) << round << " " << i; });
    }
}

TEST(Structural, WindowIsSymmetric) {
    double sum = 0.0;
    for (int k = 0; k < structural::kTaps; ++k) {
        EXPECT_EQ(structural::window_tap(k), structural::window_tap(structural::kMargin - k));
        sum += static_cast<double>(structural::window_tap(k));
    }
    EXPECT_NEAR(sum, 1.000002, 1e-7);
}

TEST(Structural, FixedPointSumsWithoutOverflow) {
    for (const int64_t terms : {int64_t{1}, int64_t{260 * 470}, int64_t{1910} * 1070, int64_t{16374} * 16374}) {
        const FixedPoint fixed = FixedPoint::for_sum_of(terms);
        for (const double term : {1.0, -1.0, 1.9999, -1.9999}) {
            // `terms` equal terms.
            const uint64_t sum = fixed.from(term) * static_cast<uint64_t>(terms);
            EXPECT_NEAR(fixed.to_double(sum) / static_cast<double>(terms), term, 1e-10) << terms;
        }
        EXPECT_EQ(fixed.to_double(fixed.from(1.0) * static_cast<uint64_t>(terms)), static_cast<double>(terms));
        EXPECT_EQ(fixed.to_double(fixed.from(0.0)), 0.0);
    }
    // At 1920x1080 a term is rounded to 2^-41.
    const FixedPoint fixed = FixedPoint::for_sum_of(int64_t{1910} * 1070);
    EXPECT_NEAR(fixed.to_double(fixed.from(1.0 / 3)), 1.0 / 3, 0x1p-42);
}

/// No term is larger than what FixedPoint has room for, whatever the rounding of the moments.
TEST(Structural, TermsStayBelowTwo) {
    using namespace structural;
    std::mt19937 random(3);
    for (int round = 0; round < 200000; ++round) {
        float a[kTaps], b[kTaps], products[3][kTaps];
        const int kind = round % 4;
        for (int k = 0; k < kTaps; ++k) {
            const auto noise = static_cast<float>(random() % 4) / 256.0f;
            a[k] = kind == 0 ? 255.99f - noise : kind == 1 ? noise : static_cast<float>(random() % 256);
            b[k] = kind == 2 ? a[k] : kind == 3 ? 255.0f - a[k] : 255.99f - noise;
            products[0][k] = a[k] * a[k];
            products[1][k] = b[k] * b[k];
            products[2][k] = a[k] * b[k];
        }
        // One dimension only: no tap count makes variances larger than the samples' range allows.
        const Moments moments{{filtered_directly(a), filtered_directly(b), filtered_directly(products[0]),
                               filtered_directly(products[1]), filtered_directly(products[2])}};
        const Spread spread = spread_of(moments);
        const double l = luminance(moments), c = contrast(spread), s = structure(spread);
        ASSERT_LT(std::abs(l), 1.01);
        ASSERT_LT(std::abs(c), 1.01);
        ASSERT_LT(std::abs(s), 1.5);
        ASSERT_LT(std::abs(l * c * s), 1.5);
    }
}

TEST(FloatSsimMath, AutomaticFactorLeavesAbout256Lines) {
    EXPECT_EQ(automatic_factor(11, 11), 1);
    EXPECT_EQ(automatic_factor(500, 383), 1);
    EXPECT_EQ(automatic_factor(576, 324), 1);
    EXPECT_EQ(automatic_factor(500, 384), 2);
    EXPECT_EQ(automatic_factor(1920, 1080), 4);
    EXPECT_EQ(automatic_factor(1080, 1920), 4);
    EXPECT_EQ(automatic_factor(3840, 2160), 8);
}

TEST(FloatSsimMath, OddSidesGetOneMore) {
    EXPECT_EQ(decimated(1920, 4), 480);
    EXPECT_EQ(decimated(175, 7), 26); // although 175 is a multiple of 7
    EXPECT_EQ(decimated(175, 1), 175);
    EXPECT_EQ(decimated(100, 3), 33);
}

TEST(FloatSsimMath, IntegerMeansAreTheMeans) {
    std::mt19937 random(4);
    constexpr int kWidth = 70, kHeight = 53;
    for (const int depth : {8, 12, 16}) {
        const test::SamplePicture noise(test::luma_geometry(kWidth, kHeight, depth),
                                        [&](int, int) { return random() % (1u << depth); });
        const float scale = structural::scale_of_depth(depth);
        for (const int factor : {2, 4, 8, 16})
            for (int y = 0; y < decimated(kHeight, factor); ++y)
                for (int x = 0; x < decimated(kWidth, factor); ++x) {
                    const auto at = [&](int u, int v) { return noise.at(0, u, v); };
                    const float expected = mean_around(x, y, factor, kWidth, kHeight, [&](int u, int v) {
                        return static_cast<float>(at(u, v)) * scale;
                    });
                    ASSERT_EQ(integer_mean_around(x, y, factor, kWidth, kHeight, weight_of(factor) * scale, at),
                              expected);
                }
    }
}

// ---- scores ---------------------------------------------------------------------------------------------------------

struct Frozen {
    const test::SyntheticClip& clip;
    double scale;
    float scores[4]; ///< product, luminance, contrast, structure
};

const Frozen kFrozen[] = {
    {structural::kOdd8Bits, 0, {0.91850614547729492f, 0.99892348051071167f, 0.99701505899429321f, 0.9222179651260376f}},
    {structural::kOdd8Bits,
     2,
     {0.97338718175888062f, 0.99907588958740234f, 0.99573147296905518f, 0.97846639156341553f}},
    {structural::kSmall16Bits,
     1,
     {0.91918110847473145f, 0.99962282180786133f, 0.99741607904434204f, 0.92188847064971924f}},
    {structural::kSmall16Bits,
     2,
     {0.97178894281387329f, 0.99977612495422363f, 0.99570518732070923f, 0.97620201110839844f}},
    {structural::kOdd12Bits,
     2,
     {0.97297877073287964f, 0.99891561269760132f, 0.99542039632797241f, 0.97851836681365967f}},
    {structural::kDecimated8Bits,
     0,
     {0.97345185279846191f, 0.99899774789810181f, 0.99558234214782715f, 0.97875452041625977f}},
    {structural::kDecimated8Bits,
     1,
     {0.91964137554168701f, 0.99884766340255737f, 0.99697160720825195f, 0.9234655499458313f}},
};

TEST(FloatSsim, FrozenScores) {
    for (const Frozen& frozen : kFrozen) {
        SCOPED_TRACE(testing::Message() << frozen.clip.name << " scale " << frozen.scale);
        const Recorder scores =
            structural::score_first_frame(descriptor(), frozen.clip, {{"enable_lcs", 1}, {"scale", frozen.scale}});
        int i = 0;
        for (const char* name : {"float_ssim", "float_ssim_l", "float_ssim_c", "float_ssim_s"})
            EXPECT_EQ(scores.values(name), std::vector<double>{static_cast<double>(frozen.scores[i++])}) << name;
    }
}

TEST(FloatSsim, DecibelsOfTheScoreOnly) {
    const Recorder scores = structural::score_first_frame(descriptor(), structural::kOdd8Bits,
                                                          {{"enable_lcs", 1}, {"enable_db", 1}, {"clip_db", 1}});
    EXPECT_EQ(scores.values("float_ssim"), std::vector<double>{10.888751403092058});
    EXPECT_EQ(scores.values("float_ssim_l"), std::vector<double>{static_cast<double>(kFrozen[0].scores[1])});
}

TEST(FloatSsim, IdenticalPicturesScoreExactlyOne) {
    for (const auto& clip : {structural::kOdd8Bits, structural::kSmall16Bits, structural::kDecimated8Bits}) {
        const auto score = [&](const test::OptionList& list) {
            return structural::score_identical(descriptor(), clip, list).values("float_ssim").at(0);
        };
        EXPECT_EQ(score({}), 1.0);
        EXPECT_EQ(score({{"clip_db", 1}}), 1.0);
        EXPECT_EQ(score({{"enable_db", 1}}), std::numeric_limits<double>::infinity());
        EXPECT_EQ(score({{"enable_db", 1}, {"clip_db", 1}}), clip.depth == 16    ? 132.0
                                                             : clip.width == 175 ? 94.0
                                                                                 : 106.0);
    }
}

/// Two limits that libvmaf was seen to write.
TEST(Structural, DecibelsAreLimitedByDepthAndSize) {
    EXPECT_EQ(structural::Decibels(test::luma_geometry(480, 270, 10), true, true).of(1.0), 115.0);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(structural::Decibels(test::luma_geometry(240, 232, 8), true, true).of(nan), 99.0);
    EXPECT_EQ(structural::Decibels(test::luma_geometry(240, 232, 8), true, false).of(nan),
              std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(structural::Decibels(test::luma_geometry(240, 232, 8), false, true).of(nan)));
    EXPECT_LT(structural::Decibels(test::luma_geometry(240, 232, 8), true, true).of(-0.5), 0.0);
}

TEST(FloatSsim, RefusesWhatIsSmallerThanTheWindow) {
    const auto validated = [](int width, int height, int depth, double scale) {
        return validate(descriptor(), test::luma_geometry(width, height, depth),
                        test::options_of(descriptor(), {{"scale", scale}}));
    };
    EXPECT_TRUE(validated(11, 11, 8, 0).ok());
    EXPECT_TRUE(validated(21, 21, 16, 2).ok()); // 10, and one for the odd side
    structural::expect_refusal(validated(10, 11, 8, 0), {"float_ssim", "10x11", "11x11"});
    structural::expect_refusal(validated(20, 40, 8, 2), {"float_ssim", "20x40", "21x21"});
    EXPECT_TRUE(validated(31, 33, 8, 3).ok());
    structural::expect_refusal(validated(32, 40, 8, 3), {"float_ssim", "32x40", "10x13", "scale=3"});
    for (const Status& refused : {validated(10, 11, 8, 0), validated(20, 40, 8, 2), validated(32, 40, 8, 3)})
        EXPECT_EQ(refused.code(), QC_ERROR_INVALID);
}

TEST(FloatSsim, InstancesThatDifferInPresentationShareTheirSums) {
    const FrameGeometry geometry = test::luma_geometry(1920, 1080, 8);
    const auto stage = [&](const test::OptionList& list) {
        return descriptor().stage(geometry, test::options_of(descriptor(), list));
    };
    EXPECT_EQ(stage({}), stage({{"enable_db", 1}, {"clip_db", 1}, {"enable_lcs", 1}, {"scale", 4}}));
    EXPECT_NE(stage({}), stage({{"scale", 1}}));
}

} // namespace
} // namespace qc::float_ssim
