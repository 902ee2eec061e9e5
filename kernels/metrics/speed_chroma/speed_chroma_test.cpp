// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "families/speed/speed_frozen.hpp"
#include "families/speed/speed_linear.hpp"
#include "metrics/speed_chroma/speed_chroma.hpp"

namespace qc::speed_chroma {
namespace {

// ---- arithmetic that both SpEED metrics share -----------------------------------------------------------------------

TEST(SpeedMath, InverseRootHasTheBitsOfDividingForEveryArgumentAndGuess) {
    int different = 0;
    for (uint32_t i = 0; i <= 1u << 23; ++i) {
        const float a = std::bit_cast<float>(0x3f800000u + i);
        const double root = 1.0 / std::sqrt(static_cast<double>(a));
        const auto expected = static_cast<float>(root);
        // A device's guess is off by so much at most, so it is one of these.
        const auto nearest = std::bit_cast<int32_t>(expected);
        for (int off = -speed::kInverseRootGuessError; off <= speed::kInverseRootGuessError; ++off)
            different += speed::inverse_root_from(a, std::bit_cast<float>(nearest + off)) != expected;
    }
    EXPECT_EQ(different, 0);
}

float moved(float x, int floats) {
    return std::bit_cast<float>(std::bit_cast<int32_t>(x) + floats);
}

/// The divisors with the largest and the least mantissa are where such corrections fail first.
TEST(SpeedMath, QuotientThatIsSureHasTheBitsOfDividing) {
    std::mt19937 random(2);
    for (const float b : {1.0f, std::nextafter(1.0f, 2.0f), std::nextafter(2.0f, 1.0f), 1.5f, 1.2345679f, 1.9876543f}) {
        int different = 0, unsure = 0;
        for (uint32_t i = 0; i < 1u << 23; ++i) {
            const float a = std::bit_cast<float>(0x3f800000u + i);
            const auto off = static_cast<int>(random() % 5) - 2; // PTX's rcp.approx is within one
            const speed::Quotient quotient = speed::quotient_from(a, b, moved(1.0f / b, off));
            if (!quotient.sure)
                ++unsure;
            else
                different += quotient.value != a / b;
        }
        EXPECT_EQ(different, 0) << b;
        EXPECT_LE(unsure, 100) << b;
    }
}

/// Guesses that are some units in the last place off, as a device's.
struct BadGuesses {
    int reciprocal_off, root_off;
    float reciprocal(float x) const { return moved(1.0f / x, reciprocal_off); }
    float inverse_root(float x) const { return moved(1.0f / std::sqrt(x), root_off); }
};

TEST(SpeedMath, StepFromGuessesHasTheBitsOfTheStepOrSaysNo) {
    constexpr int n = speed::kDimensions;
    std::mt19937 random(3);
    std::uniform_real_distribution<float> number(-1.0f, 1.0f);
    int unsure = 0;
    for (int turn = 0; turn < 20000; ++turn) {
        const int rows = 2 + turn % (n - 1);
        float d[n], e[n], next_d[n], next_e[n];
        for (int k = 0; k < n; ++k) { // at every other turn numbers of very different size
            const float size = turn % 2 == 0 ? 1.0f : std::ldexp(1.0f, static_cast<int>(random() % 24) - 12);
            d[k] = number(random) * size;
            e[k] = number(random) * size;
        }
        const BadGuesses guesses{turn / 2 % 3 - 1, turn / 6 % 13 - 6};
        if (!speed::qr_step_from(guesses, d, e, rows, next_d, next_e)) {
            ++unsure;
            continue;
        }
        speed::qr_step(d, e, rows);
        for (int k = 0; k < rows; ++k) EXPECT_EQ(next_d[k], d[k]);
        for (int k = 0; k + 1 < rows; ++k) EXPECT_EQ(next_e[k], e[k]);
    }
    EXPECT_LT(unsure, 100);
    float d[] = {1.0f, 2.0f, 3.0f}, e[] = {1e-30f, 1.0f}, next_d[3], next_e[2];
    EXPECT_FALSE(speed::qr_step_from(speed::DeviceGuesses(), d, e, 3, next_d, next_e)) << "too small a number";
}

TEST(SpeedMath, LogarithmIsTheLibrarysToThreeUnitsInTheLastPlace) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 300000; ++i) {
        const int exponent = static_cast<int>(random() % 80) - 40;
        double x = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, exponent);
        if (i % 3 == 0) x = 1.0 + (x - 1.0) * 0x1p-40; // near 1
        const double expected = std::log2(x);
        ASSERT_LE(std::abs(speed::log2_of(x) - expected), 3 * std::abs(std::nextafter(expected, INFINITY) - expected))
            << x;
    }
    EXPECT_EQ(speed::log2_of(1.0), 0.0);
    EXPECT_EQ(speed::log2_of(0.125), -3.0);
    EXPECT_EQ(speed::log2_of(5e-324), -1074.0);
    EXPECT_EQ(speed::log2_of(0.0), -INFINITY);
    EXPECT_EQ(speed::log2_of(INFINITY), INFINITY);
    EXPECT_TRUE(std::isnan(speed::log2_of(-1.0)));
    EXPECT_TRUE(std::isnan(speed::log2_of(-INFINITY)));
    EXPECT_TRUE(std::isnan(speed::log2_of(NAN)));
    EXPECT_EQ(speed::kLog2TwoPiE, std::log2(2.0 * M_PI * M_E));
}

TEST(SpeedMath, WindowsHaveTheDefinedLengthsAndTaps) {
    const auto smoothing = gaussian<speed::kMaxSmoothingTaps>(window_taps(9, 1.0), 2.0);
    const auto mean = gaussian<speed::kMaxMeanTaps>(window_taps(2, 1.0), 1.0);
    const float outer[] = {.0756488293f, .0991033912f, .120188937f, .13493669f, .14024429f};
    ASSERT_EQ(smoothing.taps, 9);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(smoothing.weight[i], outer[i]);
        EXPECT_EQ(smoothing.weight[8 - i], outer[i]);
    }
    ASSERT_EQ(mean.taps, 3);
    EXPECT_EQ(mean.weight[0], .166378513f);
    EXPECT_EQ(mean.weight[1], .667242944f);
    EXPECT_EQ(window_taps(9, 360.0 / 97), 35);
    EXPECT_EQ(window_taps(2, 360.0 / 97), 9);
    EXPECT_EQ(window_taps(2, 0.5), 3);
}

/// A covariance with known eigenvalues: a diagonal one between two reflections.
TEST(SpeedMath, LinearAlgebraSolvesAKnownSystem) {
    constexpr int n = speed::kDimensions;
    speed::Matrix covariance{};
    double u[n], length = 0.0;
    for (int i = 0; i < n; ++i) {
        u[i] = 1.0 + i % 7;
        length += u[i] * u[i];
    }
    const auto reflected = [&](int i, int j) { return (i == j) - 2.0 * u[i] * u[j] / length; };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int k = 0; k < n; ++k) sum += reflected(i, k) * (k + 1) * reflected(k, j);
            covariance.at[i][j] = static_cast<float>(sum);
        }
    speed::EigenWork eigen;
    eigen.a = covariance;
    speed::find_eigenvalues<speed::PlainStep>(speed::SerialTeam{}, eigen);
    EXPECT_TRUE(eigen.regular);
    std::sort(eigen.diagonal, eigen.diagonal + n);
    for (int k = 0; k < n; ++k) EXPECT_NEAR(eigen.diagonal[k], k + 1.0f, 1e-4f);

    speed::FactorWork factor;
    speed::factorise(speed::SerialTeam{}, covariance, factor);
    EXPECT_TRUE(factor.regular);
    // The energy of the reflection's column k is 1 / (25 eigenvalue k).
    for (int k = 0; k < n; ++k)
        EXPECT_NEAR(speed::block_energy(factor, [&](int o) { return static_cast<float>(reflected(o, k)); }),
                    1.0f / 25.0f / static_cast<float>(k + 1), 1e-5f);
}

TEST(SpeedMath, SingularMatricesAreSeen) {
    speed::EigenWork eigen;
    eigen.a = {};
    speed::find_eigenvalues<speed::PlainStep>(speed::SerialTeam{}, eigen);
    EXPECT_FALSE(eigen.regular);
    for (int i = 0; i < speed::kDimensions; ++i) eigen.a.at[i][i] = i == 7 ? 9e-7f : 1.0f;
    speed::find_eigenvalues<speed::PlainStep>(speed::SerialTeam{}, eigen);
    EXPECT_FALSE(eigen.regular);
    eigen.a = {};
    for (int i = 0; i < speed::kDimensions; ++i) eigen.a.at[i][i] = i == 7 ? 1.1e-6f : 1.0f;
    speed::find_eigenvalues<speed::PlainStep>(speed::SerialTeam{}, eigen);
    EXPECT_TRUE(eigen.regular);
}

// ---- scores ---------------------------------------------------------------------------------------------------------

struct Frozen {
    int clip;
    const char* suffix;
    double scores[3][3]; ///< [frame][u, v, uv]
};
constexpr Frozen kFrozen[] = {
    {0,
     "",
     {{13.300735473632812, 16.643537521362305, 14.972136497497559},
      {10.155529022216797, 15.049605369567871, 12.602567672729492},
      {15.438675880432129, 17.029693603515625, 16.23418426513672}}},
    {0,
     "_nnf_0.1_snn_0.19_wvm_5_mxv_5",
     {{5.0, 5.0, 5.0}, {5.0, 5.0, 5.0}, {5.0, 3.760777711868286, 4.905709743499756}}},
    {0,
     "_ks_1.5",
     {{22.4451904296875, 14.200606346130371, 18.322898864746094},
      {13.808415412902832, 7.103202819824219, 10.455808639526367},
      {14.94714641571045, 19.426334381103516, 17.18674087524414}}},
    {0,
     "_ps_1.3_psm_bilinear",
     {{19.67711639404297, 31.36124038696289, 25.51917839050293},
      {19.6024112701416, 27.002424240112305, 23.302417755126953},
      {22.579607009887695, 18.5335693359375, 20.55658721923828}}},
    {0,
     "_ps_1.3_psm_lanczos4",
     {{17.763343811035156, 29.38220977783203, 23.572776794433594},
      {16.00151252746582, 25.434221267700195, 20.717866897583008},
      {17.04585838317871, 17.960166931152344, 17.503013610839844}}},
    {0,
     "_ps_1.2",
     {{25.77532958984375, 18.147193908691406, 21.961261749267578},
      {22.21159553527832, 19.655969619750977, 20.93378257751465},
      {17.500762939453125, 14.31026840209961, 15.905515670776367}}},
    {0,
     "_ps_0.98_psm_bicubic",
     {{16.729969024658203, 14.323654174804688, 15.526811599731445},
      {15.944494247436523, 4.482057571411133, 10.213275909423828},
      {6.902048110961914, 12.907575607299805, 9.90481185913086}}},
    {1,
     "",
     {{11.567543029785156, 16.796754837036133, 14.182148933410645},
      {8.241106986999512, 16.630842208862305, 12.43597412109375},
      {15.719990730285645, 16.619421005249023, 16.169706344604492}}},
    {1, "_nnf_0.1_snn_0.19_wvm_5_mxv_5", {{5.0, 5.0, 5.0}, {5.0, 5.0, 5.0}, {5.0, 5.0, 5.0}}},
    {1,
     "_ks_1.5",
     {{17.88330078125, 14.369379997253418, 16.126340866088867},
      {9.193875312805176, 10.651623725891113, 9.922749519348145},
      {14.191401481628418, 18.558015823364258, 16.37470817565918}}},
    {1,
     "_ps_1.3_psm_bilinear",
     {{20.50783348083496, 17.00418472290039, 18.75600814819336},
      {31.39241600036621, 18.534252166748047, 24.963333129882812},
      {20.10647964477539, 20.52448081970215, 20.315479278564453}}},
    {1,
     "_ps_1.3_psm_lanczos4",
     {{20.141691207885742, 15.490565299987793, 17.81612777709961},
      {26.67089080810547, 21.274717330932617, 23.97280502319336},
      {19.09977912902832, 16.70769500732422, 17.903736114501953}}},
    {1,
     "_ps_1.2",
     {{26.166284561157227, 10.657177925109863, 18.411731719970703},
      {16.958066940307617, 16.765037536621094, 16.861553192138672},
      {16.10603141784668, 15.715899467468262, 15.910964965820312}}},
    {1,
     "_ps_0.98_psm_bicubic",
     {{14.629008293151855, 16.856882095336914, 15.742944717407227},
      {11.598490715026855, 19.875825881958008, 15.737157821655273},
      {19.001184463500977, 7.911994934082031, 13.456589698791504}}},
};

TEST(SpeedChroma, FrozenScores) {
    const char* const names[] = {"speed_chroma_u", "speed_chroma_v", "speed_chroma_uv"};
    for (const Frozen& frozen : kFrozen) {
        const auto scores = speed::score_synthetic(descriptor(), speed::kFrozenClips[frozen.clip], frozen.suffix);
        for (int frame = 0; frame < 3; ++frame)
            for (int output = 0; output < 3; ++output)
                EXPECT_EQ(scores.values(names[output]).at(static_cast<size_t>(frame)), frozen.scores[frame][output])
                    << frozen.clip << " " << frozen.suffix << " frame " << frame << " output " << output;
    }
}

class LastScores : public ScoreSink {
public:
    void put(int64_t, int output, double value) override { values[output] = value; }
    double values[3] = {-1, -1, -1};
};

/// A singular plane is left out of the common score, and limits come last.
TEST(SpeedChroma, CommonScoreLeavesOutASingularPlane) {
    const FrameGeometry geometry = test::synthetic_geometry(speed::kFrozenClips[0]);
    OptionValues options(descriptor().options);
    ASSERT_TRUE(golden::read_suffix(descriptor(), "_mxv_10", &options));
    const auto finaliser = create_finaliser(descriptor(), geometry, options);
    const auto scores_of = [&](double u, bool u_singular, double v, bool v_singular) {
        const uint64_t words[] = {std::bit_cast<uint64_t>(u), u_singular, std::bit_cast<uint64_t>(v), v_singular};
        LastScores scores;
        finaliser->finalise(0, words, scores);
        return scores;
    };
    EXPECT_EQ(scores_of(2.0, false, 4.0, false).values[2], 3.0);
    EXPECT_EQ(scores_of(0.0, true, 4.0, false).values[2], 4.0);
    EXPECT_EQ(scores_of(2.0, false, 0.0, true).values[2], 2.0);
    EXPECT_EQ(scores_of(0.0, true, 0.0, true).values[2], 0.0);
    EXPECT_EQ(scores_of(0.0, true, 4.0, false).values[0], 0.0);
    EXPECT_EQ(scores_of(4.0, false, 30.0, false).values[1], 10.0);
    EXPECT_EQ(scores_of(4.0, false, 12.0, false).values[2], 8.0);
    EXPECT_EQ(scores_of(14.0, false, 30.0, false).values[2], 10.0);
}

// ---- refusals -------------------------------------------------------------------------------------------------------

Status validated(const FrameGeometry& geometry, const char* suffix) {
    OptionValues options(descriptor().options);
    EXPECT_TRUE(golden::read_suffix(descriptor(), suffix, &options));
    return validate(descriptor(), geometry, options);
}

FrameGeometry geometry_of(int width, int height, qc_chroma chroma, int depth) {
    return test::synthetic_geometry({"", width, height, chroma, depth, 1, 0, 0});
}

TEST(SpeedChroma, RefusesWhatIsNotDefinedInOneLine) {
    EXPECT_TRUE(validated(geometry_of(160, 160, QC_CHROMA_420, 8), "").ok());
    EXPECT_TRUE(validated(geometry_of(160, 80, QC_CHROMA_422, 8), "").ok());
    EXPECT_TRUE(validated(geometry_of(80, 80, QC_CHROMA_444, 16), "").ok());
    speed::expect_refusal(validated(geometry_of(159, 160, QC_CHROMA_420, 8), ""),
                          {"speed_chroma", "159x160", "at least 160x160"});
    speed::expect_refusal(validated(geometry_of(160, 159, QC_CHROMA_420, 8), ""), {"160x159"});
    speed::expect_refusal(validated(geometry_of(640, 480, QC_CHROMA_400, 8), ""),
                          {"speed_chroma", "needs chroma planes"});
    speed::expect_refusal(validated(geometry_of(320, 180, QC_CHROMA_420, 8), "_ps_0.6_psm_bilinear"),
                          {"320x180", "at least 266x266"});
    EXPECT_TRUE(validated(geometry_of(266, 266, QC_CHROMA_420, 8), "_ps_0.6_psm_bilinear").ok());
    EXPECT_TRUE(validated(geometry_of(80, 80, QC_CHROMA_420, 8), "_ps_2").ok());
    speed::expect_refusal(validated(geometry_of(640, 480, QC_CHROMA_420, 8), "_ks_0.8"), {"speed_kernelscale=0.8"});
    EXPECT_TRUE(validated(geometry_of(640, 480, QC_CHROMA_420, 8), "_ks_0.666667").ok());
}

} // namespace
} // namespace qc::speed_chroma
