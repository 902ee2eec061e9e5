// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM: its arithmetic step by step, its factors, scores and names.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "families/detail_loss/detail_loss_pictures.hpp"
#include "metrics/float_adm/float_adm.hpp"
#include "metrics/float_adm/float_adm_math.hpp"
#include "metrics/float_adm/float_adm_plan.hpp"
#include "plan/feature_name.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::float_adm {
namespace {

// ---- arithmetic -----------------------------------------------------------------------------------------------------

TEST(FloatAdmMath, FiltersOfConstantsAndRamps) {
    EXPECT_NEAR(low_pass(1, 1, 1, 1), std::sqrt(2.0f), 1e-6f);
    EXPECT_NEAR(high_pass(1, 1, 1, 1), 0.0f, 1e-6f);
    EXPECT_NEAR(high_pass(3, 5, 7, 9), 0.0f, 2e-6f); // two vanishing moments
}

/// The reciprocal of a 2^-11 wide interval's middle, to 13 bits.
float slow_estimate(float x) {
    int exponent = 0;
    const double m = std::frexp(static_cast<double>(std::fabs(x)), &exponent) * 2; // 1 <= m < 2
    const double middle = (std::floor(m * 2048) + 0.5) / 2048;
    const double estimate = std::ldexp(std::floor(8192 / middle + 0.5) / 8192, 1 - exponent);
    return static_cast<float>(std::copysign(estimate, static_cast<double>(x)));
}

/// A device guesses the reciprocal within one unit of the last place: any guess has to do.
TEST(FloatAdmMath, ReciprocalEstimateDoesNotDependOnTheGuess) {
    for (uint32_t i = 0; i < 2048; i++) {
        const float x = float_of(0x3f800000u | i << 12), middle = float_of(0x3f800800u | i << 12);
        for (int error = -3; error <= 3; error++) {
            const float rough = float_of(bits_of(1.0f / middle) + static_cast<uint32_t>(error));
            ASSERT_EQ(round_estimate(middle, rough), slow_estimate(x)) << i << " " << error;
        }
    }
}

TEST(FloatAdmMath, ReciprocalEstimateOfAllSizesAndSigns) {
    for (uint32_t bits = 0x0d000000u; bits < 0x72000000u; bits += 9973) {
        const float x = float_of(bits);
        ASSERT_EQ(reciprocal_estimate(x), slow_estimate(x)) << bits;
        ASSERT_EQ(reciprocal_estimate(-x), slow_estimate(-x)) << bits;
    }
}

#if defined(__x86_64__)
TEST(FloatAdmMath, ReciprocalEstimateIsTheInstructionOfIntel) {
    if (!__builtin_cpu_is("intel")) GTEST_SKIP() << "SKIPPED: this is no Intel CPU, its RCPSS may differ";
    for (uint32_t bits = 0x0d000000u; bits < 0x72000000u; bits += 9973) {
        const float x = float_of(bits);
        ASSERT_EQ(reciprocal_estimate(x), _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(x)))) << bits;
    }
}
#endif

TEST(FloatAdmMath, NeighbourTermIsTheRoundedProductForAllMantissas) {
    for (uint32_t mantissa = 0; mantissa < 1u << 23; mantissa++) {
        const float c = float_of(0x3f800000u | mantissa);
        ASSERT_EQ(neighbour_term(c), static_cast<float>(kThirtieth * static_cast<double>(c))) << mantissa;
    }
}

TEST(FloatAdmMath, CentreIsAddedAsInDoubles) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000000; round++) {
        const auto any = [&] {
            return std::ldexp(static_cast<float>(random() >> 8), static_cast<int>(random() % 24) - 32);
        };
        const float sum = round % 50 == 0 ? 0.0f : any(), c = round % 51 == 0 ? 0.0f : any();
        const double exact = static_cast<double>(sum) + kFifteenth * static_cast<double>(c);
        ASSERT_EQ(add_centre(sum, c), static_cast<float>(exact)) << sum << " " << c;
    }
}

/// The definition, in doubles where it has doubles.
float slow_restore(float o, float t, bool enhanced, double limit) {
    const float x = o + 1e-30f, estimate = slow_estimate(x);
    float ratio = t * (estimate + estimate * (1.0f - x * estimate));
    ratio = ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
    const float r = ratio * o;
    if (!enhanced) return r;
    const double gained = static_cast<double>(r) * limit, most = static_cast<double>(t);
    if (r > 0) return static_cast<float>(std::min(gained, most));
    return r < 0 ? static_cast<float>(std::max(gained, most)) : r;
}

TEST(FloatAdmMath, RestoredPartEqualsTheDefinition) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal(0.0f, 20.0f);
    for (const double limit : {1.0, 1.2, 37.5, 100.0}) {
        const Gain gain = make_gain(limit);
        for (int round = 0; round < 200000; round++) {
            const float o = round % 17 == 0 ? 0.0f : normal(random), t = round % 19 == 0 ? 0.0f : normal(random);
            const bool enhanced = random() % 2 != 0;
            ASSERT_EQ(restore(o, t, enhanced, gain), slow_restore(o, t, enhanced, limit)) << o << " " << t;
        }
    }
    EXPECT_FALSE(make_gain(1.2).single);
    EXPECT_TRUE(make_gain(37.5).single);
}

TEST(FloatAdmMath, AngleFlag) {
    const float o[kBands] = {3, 4, 0}, same[kBands] = {6, 8, 1}, opposite[kBands] = {-3, -4, 0}, zero[kBands] = {};
    const float near[kBands] = {3.05f, 3.95f, 0}, far[kBands] = {3.2f, 3.8f, 0}; // 0.7 and 3 degrees
    EXPECT_TRUE(same_angle(o, same));
    EXPECT_TRUE(same_angle(o, near));
    EXPECT_TRUE(same_angle(o, zero));
    EXPECT_FALSE(same_angle(o, far));
    EXPECT_FALSE(same_angle(o, opposite));
}

TEST(FloatAdmMath, PowersAreRoundedFromGoodDoubles) {
    std::mt19937 random(3);
    for (int round = 0; round < 300000; round++) {
        const float x =
            std::ldexp(static_cast<float>(0x800000 + random() % 0x800000), static_cast<int>(random() % 40) - 45);
        const float p = 1.0f + static_cast<float>(random() % 1000) / 250.0f;
        const double exact = std::pow(static_cast<double>(x), static_cast<double>(p));
        ASSERT_EQ(power(x, p), static_cast<float>(exact)) << x << " ^ " << p;
    }
    EXPECT_EQ(power(0.0f, 2.0f), 0.0f);
    EXPECT_EQ(power(1.0f, 20.0f), 1.0f);
    EXPECT_EQ(power(3.0f, 2.0f), 9.0f);
    EXPECT_EQ(power(1e-30f, 20.0f), 0.0f);
    EXPECT_EQ(power(1e30f, 20.0f), std::numeric_limits<float>::infinity());
}

// ---- factors --------------------------------------------------------------------------------------------------------

TEST(FloatAdmPlan, WatsonAndBarten) {
    FrameGeometry geometry;
    geometry.width = geometry.height = 64;
    Settings settings;
    Plan plan = make_plan(geometry, settings);
    EXPECT_EQ(plan.level[0].factor[kBandH], 0.0173815377f);
    EXPECT_EQ(plan.level[0].factor[kBandD], 0.005890687f);
    EXPECT_EQ(plan.level[3].factor[kBandV], 0.0456734113f);
    settings.viewing.mode = 7; // all but 1 and 2 are 0
    EXPECT_EQ(make_plan(geometry, settings).level[1].factor[kBandH], plan.level[1].factor[kBandH]);
    settings.viewing.mode = kCsfBarten;
    settings.viewing.diagonal_scale = 0.5;
    plan = make_plan(geometry, settings);
    EXPECT_EQ(plan.level[0].factor[kBandH], 1.21049654f);
    EXPECT_EQ(plan.level[3].factor[kBandH], 26.9758816f);
    EXPECT_EQ(plan.level[3].factor[kBandD], 26.9758816f / 2);
}

TEST(FloatAdmPlan, OverridesReplaceSingleFactors) {
    FrameGeometry geometry;
    geometry.width = geometry.height = 64;
    Settings settings;
    settings.straight_override[1] = 0.0;
    settings.diagonal_override[3] = 2.5;
    const Plan plan = make_plan(geometry, settings), plain = make_plan(geometry, {});
    EXPECT_EQ(plan.level[1].factor[kBandH], 0.0f);
    EXPECT_EQ(plan.level[1].factor[kBandV], 0.0f);
    EXPECT_EQ(plan.level[1].factor[kBandD], plain.level[1].factor[kBandD]);
    EXPECT_EQ(plan.level[3].factor[kBandD], 2.5f);
    EXPECT_EQ(plan.level[3].factor[kBandH], plain.level[3].factor[kBandH]);
}

// ---- scores ---------------------------------------------------------------------------------------------------------

test::Recorder score(const Pair& pair, const test::OptionList& list) {
    const std::vector<HostPicture> reference = {pair.reference.view()}, distorted = {pair.distorted.view()};
    return test::score_stream(descriptor(), pair.reference.geometry(), list, reference, distorted);
}

double score(const Pair& pair, const test::OptionList& list, const char* name) {
    return score(pair, list).values(name).at(0);
}

struct FrozenScores {
    const char* clip;
    test::OptionList options;
    std::vector<double> adm2, aim, adm3; ///< of all frames
};

/// This metric's own scores of the clips of synthetic_clip.hpp, from when they equalled libvmaf's on all golden clips.
const std::vector<FrozenScores> kFrozenScores = {
    {"g64x48_420_8",
     {},
     {0.90225220057030753, 0.89946719886361193, 0.8992353638770566, 0.88961900271135674},
     {0.016778423846839606, 0.015996726576187462, 0.013219146600379074, 0.015766138867266209},
     {0.94273688836173397, 0.94173523614371224, 0.94300810863833884, 0.93692643192204528}},
    {"g175x99_420_8",
     {{"adm_enhn_gain_limit", 1}},
     {0.8944550991128698, 0.89074727248738172, 0.89127714575823258, 0.89040718917578432},
     {0.01514975342145234, 0.015832272697100098, 0.013743752175211779, 0.015122835866980872},
     {0.93965267284570875, 0.93745749989514082, 0.93876669679151048, 0.93764217665440175}},
    {"g176x176_420_10",
     {{"adm_csf_mode", 2}, {"adm_norm_view_dist", 5}, {"adm_noise_weight", 0.02}},
     {0.87225972882324054, 0.86035219548210851, 0.85817535873828399, 0.87336643284898197},
     {0.00077078962575267225, 0.00056973285220945989, 0.00043825537497548054, 0.0011379440526053739},
     {0.93574446959874391, 0.92989123131494944, 0.92886855168165428, 0.93611424439818824}},
    {"g80x66_422_12",
     {{"adm_csf_mode", 1}, {"adm_skip_aim_scale", 2}},
     {0.85852727215371971, 0.85356195854269423, 0.86748688290094955},
     {0.0068260729074966359, 0.0083504730182551515, 0.0063615976402033531},
     {0.92585059962311156, 0.92260574276221952, 0.93056264263037303}},
    {"g48x32_444_16",
     {{"adm_skip_scale0", 1}},
     {0.88947639826244984, 0.89902875184224162, 0.9005183052912602},
     {0.0014320861538207148, 0.0018224598327907999, 0.0021400957259597726},
     {0.9440221560543145, 0.94860314600472539, 0.94918910478265017}},
};

TEST(FloatAdmScores, SyntheticClipsHaveTheFrozenScores) {
    for (const FrozenScores& frozen : kFrozenScores) {
        for (const test::SyntheticClip& clip : test::kSyntheticClips) {
            if (std::string(clip.name) != frozen.clip) continue;
            const test::SyntheticStream stream(clip);
            const test::Recorder recorder = test::score_stream(descriptor(), stream.geometry(), frozen.options,
                                                               stream.reference(), stream.distorted());
            EXPECT_EQ(recorder.values("adm2"), frozen.adm2) << frozen.clip;
            EXPECT_EQ(recorder.values("aim"), frozen.aim) << frozen.clip;
            EXPECT_EQ(recorder.values("adm3"), frozen.adm3) << frozen.clip;
        }
    }
}

TEST(FloatAdmScores, DebugOutputsOnlyOnRequest) {
    const Pair pair = textured(65, 49, 8, 1);
    EXPECT_TRUE(score(pair, {}).values("adm_num").empty());
    const test::Recorder recorder = score(pair, {{"debug", 1}});
    EXPECT_EQ(recorder.values("adm"), recorder.values("adm2"));
    double numerator = 0;
    for (const char* name : {"adm_num_scale0", "adm_num_scale1", "adm_num_scale2", "adm_num_scale3"})
        numerator += recorder.values(name).at(0);
    EXPECT_EQ(recorder.values("adm_num").at(0), numerator);
    EXPECT_EQ(recorder.values("adm2").at(0), recorder.values("adm_num").at(0) / recorder.values("adm_den").at(0));
}

TEST(FloatAdmScores, FlatReferenceWithoutNoiseTerm) {
    const test::Recorder recorder = score(flat(64, 64, 8, 128, 20), {{"adm_noise_weight", 0}});
    EXPECT_EQ(recorder.values("adm2").at(0), 1.0);
    EXPECT_EQ(recorder.values("aim").at(0), 0.0);
    EXPECT_EQ(recorder.values("adm3").at(0), 1.0);
}

TEST(FloatAdmScores, SkippedScales) {
    const Pair pair = textured(96, 80, 8, 2);
    const test::Recorder skipped = score(pair, {{"adm_skip_scale0", 1}, {"debug", 1}});
    EXPECT_EQ(skipped.values("adm_scale0").at(0), 0.0);
    EXPECT_EQ(skipped.values("adm_den_scale0").at(0), static_cast<double>(1e-10f));
    EXPECT_EQ(skipped.values("adm_scale1").at(0), score(pair, {}, "adm_scale1"));
    EXPECT_EQ(score(pair, {{"adm_skip_aim_scale", 1}}, "adm2"), score(pair, {}, "adm2"));
    EXPECT_NE(score(pair, {{"adm_skip_aim_scale", 1}}, "aim"), score(pair, {}, "aim"));
}

TEST(FloatAdmScores, BlendsOfDetailAndImpairment) {
    const Pair pair = textured(96, 80, 10, 3);
    const double adm2 = score(pair, {}, "adm2"), aim = score(pair, {}, "aim");
    EXPECT_EQ(score(pair, {{"adm_dlm_weight", 0.25}}, "adm3"), adm2 * 0.25 + (1 - aim) * 0.75);
    EXPECT_EQ(score(pair, {{"adm_adm3_apply_hm", 1}}, "adm3"), 2 * adm2 * aim / (adm2 + aim));
    EXPECT_EQ(score(pair, {{"adm_adm3_apply_hm", 1}, {"adm_min_val", 0.99}}, "adm3"), 0.99);
}

TEST(FloatAdmScores, WithoutMaskingThereIsMoreOfBoth) {
    const Pair pair = textured(96, 80, 8, 4);
    EXPECT_GT(score(pair, {{"adm_bypass_cm", 1}}, "adm2"), score(pair, {}, "adm2"));
    EXPECT_GT(score(pair, {{"adm_bypass_cm", 1}}, "aim"), score(pair, {}, "aim"));
}

// ---- names and refusals ---------------------------------------------------------------------------------------------

std::string name_of(const char* alias, const test::OptionList& list) {
    const OptionValues options = test::options_of(descriptor(), list);
    for (const OutputSpec& output : descriptor().outputs)
        if (output.alias == alias) return log_name(descriptor(), output, options);
    return "";
}

TEST(FloatAdmNames, AreThoseOfLibvmaf) {
    const test::OptionList list = {{"adm_ref_display_height", 2160}, {"adm_csf_mode", 2}, {"adm_adm3_apply_hm", 1}};
    EXPECT_EQ(name_of("adm3", list), "adm3_aah_csf_2_rdf_2160");
    EXPECT_EQ(name_of("adm_num_scale0", list), "adm_num_scale0_aah_csf_2_rdf_2160");
    EXPECT_EQ(name_of("adm", list), "adm");
    EXPECT_EQ(name_of("adm2", {{"adm_f1s1", 0.5}, {"adm_skip_aim_scale", 2}, {"adm_bypass_cm", 1}}),
              "adm2_bcm_1_f1s1_0.5_sasc_2");
    EXPECT_EQ(stored_name(descriptor(), descriptor().outputs[0], OptionValues(descriptor().options)),
              "VMAF_feature_adm2_score");
}

TEST(FloatAdmValidate, DepthAndSize) {
    const OptionValues options(descriptor().options);
    const auto code = [&](int width, int height, int depth) {
        return validate(descriptor(), test::luma_geometry(width, height, depth), options).code();
    };
    EXPECT_EQ(code(17, 17, 8), QC_OK);
    EXPECT_EQ(code(16, 17, 8), QC_ERROR_INVALID);
    EXPECT_EQ(code(17, 16, 8), QC_ERROR_INVALID);
    EXPECT_EQ(code(17, 17, 16), QC_OK);
    EXPECT_EQ(code(17, 17, 17), QC_ERROR_UNSUPPORTED);
}

} // namespace
} // namespace qc::float_adm
