// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM on the CPU: its arithmetic step by step against the definition, and whole pictures, row by row, against
// the readable reference.
#include <array>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "metrics/adm/adm.hpp"
#include "metrics/adm/adm_csf.hpp"
#include "metrics/adm/adm_definition.hpp"
#include "metrics/adm/adm_math.hpp"
#include "metrics/adm/adm_plan.hpp"
#include "metrics/adm/adm_test_support.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::adm {
namespace {

// ---- contrast sensitivity -------------------------------------------------------------------------------------------

Plan plan_for(const Viewing& viewing) {
    FrameGeometry geometry;
    geometry.width = 1920;
    geometry.height = 1080;
    Settings settings;
    settings.viewing = viewing;
    return make_plan(geometry, settings);
}

void expect_csf(const Plan& plan, int level, float straight, float diagonal) {
    EXPECT_EQ(plan.csf[level].straight, straight) << level;
    EXPECT_EQ(plan.csf[level].diagonal, diagonal) << level;
}

void expect_factors(const Plan& plan, int level, uint32_t straight, uint32_t diagonal) {
    EXPECT_EQ(plan.level[level].factor[kBandH], straight) << level;
    EXPECT_EQ(plan.level[level].factor[kBandV], straight) << level;
    EXPECT_EQ(plan.level[level].factor[kBandD], diagonal) << level;
}

struct Factors {
    uint32_t straight, diagonal;
};

void expect_factors(const Plan& plan, const std::array<Factors, kLevels>& of_level) {
    for (size_t i = 0; i < of_level.size(); i++)
        expect_factors(plan, static_cast<int>(i), of_level[i].straight, of_level[i].diagonal);
}

TEST(AdmCsf, WatsonAtThreeHeights) {
    const Plan plan = plan_for({});
    expect_csf(plan, 0, 0.0173815377f, 0.005890687f);
    expect_csf(plan, 1, 0.0319848284f, 0.0142990677f);
    expect_csf(plan, 2, 0.0433726609f, 0.0243969075f);
    expect_csf(plan, 3, 0.0456734113f, 0.0313127376f);
    expect_factors(plan, {{{36453, 49417}, // not the formula's 36451 and 49414
                           {137373792, 61414028},
                           {186284160, 104783920},
                           {196165808, 134487184}}});
}

TEST(AdmCsf, WatsonElsewhere) {
    Viewing viewing;
    viewing.distance = 5;
    const Plan plan = plan_for(viewing);
    expect_csf(plan, 0, 0.00683917431f, 0.00203585601f);
    expect_factors(plan, 0, 14342, 17077);
}

TEST(AdmCsf, BlendTables) {
    Viewing viewing;
    viewing.mode = kCsfBlend;
    const Plan plan = plan_for(viewing);
    expect_factors(plan, {{{24809, 36087}, {107485848, 50586124}, {184468848, 102727024}, {251775280, 154193616}}});
}

TEST(AdmCsf, Barten) {
    Viewing viewing;
    viewing.mode = kCsfBarten;
    const Plan unscaled = plan_for(viewing);
    const float expected[kLevels] = {1.21049654f, 5.0422225f, 14.6270647f, 26.9758816f};
    for (int i = 0; i < kLevels; i++) expect_csf(unscaled, i, expected[i], expected[i]);
    viewing.scale = 0.005;
    viewing.diagonal_scale = 0.002;
    const Plan plan = plan_for(viewing);
    expect_csf(plan, 0, 0.00605248287f, 0.00242099306f);
    expect_factors(plan, 0, 12692, 20308);
    expect_csf(plan, 3, 0.13487941f, 0.0539517626f);
}

// ---- arithmetic, step by step ---------------------------------------------------------------------------------------

TEST(AdmMath, ReciprocalIsExactFromPoorEstimates) {
    for (int32_t m = 1; m <= 32768; m++) {
        const uint32_t expected = (1u << 30) / static_cast<uint32_t>(m);
        ASSERT_EQ(reciprocal_q30(m), expected) << m;
        const float best = 1.0f / static_cast<float>(m);
        for (int ulps = -3; ulps <= 3; ulps++) {
            int32_t bits;
            std::memcpy(&bits, &best, sizeof bits);
            bits += ulps;
            float estimate;
            std::memcpy(&estimate, &bits, sizeof estimate);
            ASSERT_EQ(reciprocal_q30_from(m, estimate), expected) << m << " off by " << ulps;
        }
    }
}

/// Values of many magnitudes, the largest included.
class Values {
public:
    explicit Values(int64_t largest) : largest_(largest) {}
    int32_t next() {
        const uint64_t random = generator_();
        const int bits = static_cast<int>(random % 33);
        int64_t value = static_cast<int64_t>(random >> 8) & ((int64_t{1} << bits) - 1);
        value = random >> 60 == 0 ? largest_ - (value & 3) : std::min(value, largest_);
        return static_cast<int32_t>((random & 128) != 0 ? -value : value);
    }

private:
    std::mt19937_64 generator_{12345};
    int64_t largest_;
};

TEST(AdmMath, WideFiltersEqualSumsOf64Bits) {
    constexpr int64_t kLow[4] = {15826, 27411, 7345, -4240}, kHigh[4] = {-4240, -7345, 27411, -15826};
    // Largest magnitudes before each filter, from the sums of the taps: 15-bit shifts follow smaller values.
    for (const auto& [shift, largest] : {std::pair{15, int64_t{1257100000}}, {16, int64_t{2110000000}}}) {
        Values values(largest);
        for (int n = 0; n < 200000; n++) {
            int32_t x[4];
            for (int32_t& value : x) value = values.next();
            if (n < 16) { // all signs of the extremes
                for (int k = 0; k < 4; k++) x[k] = static_cast<int32_t>(n >> k & 1 ? largest : -largest);
            }
            int64_t low = 0, high = 0;
            for (int k = 0; k < 4; k++) {
                low += kLow[k] * x[k];
                high += kHigh[k] * x[k];
            }
            const Halves halves = split(x[0], x[1], x[2], x[3]);
            const int32_t wide_low = shift == 15 ? low_pass_wide<15>(halves) : low_pass_wide<16>(halves);
            const int32_t wide_high = shift == 15 ? high_pass_wide<15>(halves) : high_pass_wide<16>(halves);
            ASSERT_EQ(wide_low, definition::rounded(low, shift)) << shift << " " << x[0] << " " << x[1];
            ASSERT_EQ(wide_high, definition::rounded(high, shift)) << shift << " " << x[0] << " " << x[1];
        }
    }
}

TEST(AdmMath, QuickAngleTestEqualsExactOne) {
    std::mt19937_64 generator(7);
    int same = 0;
    for (int n = 0; n < 500000; n++) {
        // Pairs around one degree apart, at all magnitudes.
        const double length = std::exp2(static_cast<double>(generator() % 30)),
                     angle = static_cast<double>(generator() % 6283) / 1000;
        const double turned =
            angle + static_cast<double>(static_cast<int64_t>(generator() % 2001) - 1000) / 57296 * 1.0005;
        const int64_t oh = std::llround(length * std::cos(angle)), ov = std::llround(length * std::sin(angle));
        const int64_t th = std::llround(length * std::cos(turned)), tv = std::llround(length * std::sin(turned));
        const float p = static_cast<float>(oh * th + ov * tv), mo = static_cast<float>(oh * oh + ov * ov),
                    mt = static_cast<float>(th * th + tv * tv);
        ASSERT_EQ(same_angle(p, mo, mt), same_angle_exact(p, mo, mt)) << p << " " << mo << " " << mt;
        same += same_angle(p, mo, mt) ? 1 : 0;
    }
    EXPECT_GT(same, 100000);
    EXPECT_TRUE(same_angle(0, 0, 0));
    EXPECT_FALSE(same_angle(-1, 1, 1));
    // Close to the limit, where only double precision decides.
    for (int dot = 16770000; dot < 16777000; dot++) {
        const float p = static_cast<float>(dot), norm = 16777216.0f;
        ASSERT_EQ(same_angle(p, norm, norm), same_angle_exact(p, norm, norm)) << p;
    }
}

template <bool kDeep>
void expect_decoupled(int32_t o, int32_t t, bool enhanced, double limit) {
    const Gain gain = make_gain(limit);
    const Decoupled parts =
        gain.whole != 0 ? decouple<kDeep, true>(o, t, enhanced, gain) : decouple<kDeep, false>(o, t, enhanced, gain);
    const int64_t expected = definition::restored_part(o, t, enhanced, limit, kDeep);
    ASSERT_EQ(parts.restored, expected) << o << " " << t << " " << enhanced << " " << limit;
    ASSERT_EQ(parts.additive, static_cast<int64_t>(t) - expected) << o << " " << t;
}

TEST(AdmMath, DecouplingEqualsTheDefinition) {
    Values shallow(22930), deep(2110000000);
    for (int n = 0; n < 400000; n++) {
        const double limits[] = {1, 100, 1.2, 2, 37.5};
        const double limit = limits[n % 5];
        const int32_t o = shallow.next(), t = n % 3 == 0 ? o + static_cast<int32_t>(n % 7) - 3 : shallow.next();
        expect_decoupled<false>(o, t, n % 2 == 0, limit);
        const int32_t deep_o = deep.next(), deep_t = n % 3 == 0 ? deep_o / 2 + deep_o / 2 + n % 7 : deep.next();
        expect_decoupled<true>(deep_o, deep_t, n % 2 == 0, limit);
        if (HasFatalFailure()) return;
    }
    for (int32_t o = -40; o <= 40; o++) {
        for (int32_t t = -40; t <= 40; t++) {
            for (const double limit : {1.0, 1.2, 100.0}) {
                expect_decoupled<false>(o, t, true, limit);
                expect_decoupled<true>(o, t, true, limit);
                expect_decoupled<true>(o * 32768, t * 32767, true, limit);
            }
        }
    }
}

TEST(AdmMath, MaskerTermsAndEnergiesEqualTheDefinition) {
    Values shallow(22930), deep(2110000000), thresholds(2147483000);
    std::mt19937 generator(3);
    for (int n = 0; n < 200000; n++) {
        const uint32_t factor16 = generator() & 0xffff, factor32 = n % 2 == 0 ? generator() : generator() >> 4;
        const int32_t x = shallow.next(), y = deep.next(), threshold = thresholds.next();
        const MaskerTerms h = masker_level0<kBandH>(weigh_level0(factor16, x));
        const MaskerTerms d = masker_level0<kBandD>(weigh_level0(factor16, x));
        const MaskerTerms far = masker_deep(magnitude(weigh_deep(factor32, y)));
        const definition::Terms slow_h = definition::masker_terms(factor16, x, 0, kBandH);
        const definition::Terms slow_d = definition::masker_terms(factor16, x, 0, kBandD);
        const definition::Terms slow_far = definition::masker_terms(factor32, y, 1, kBandH);
        ASSERT_TRUE(h.neighbour == slow_h.neighbour && h.centre == slow_h.centre) << factor16 << " " << x;
        ASSERT_TRUE(d.neighbour == slow_d.neighbour && d.centre == slow_d.centre) << factor16 << " " << x;
        ASSERT_TRUE(far.neighbour == slow_far.neighbour && far.centre == slow_far.centre) << factor32 << " " << y;
        const Rounding rounding = make_rounding(n % 12);
        ASSERT_EQ(energy_level0<kBandH>(magnitude(weigh_level0(factor16, x)), threshold, rounding),
                  definition::energy(factor16, x, threshold, 0, kBandH, n % 12));
        ASSERT_EQ(energy_level0<kBandD>(magnitude(weigh_level0(factor16, x)), threshold, rounding),
                  definition::energy(factor16, x, threshold, 0, kBandD, n % 12));
        ASSERT_EQ(energy_deep(magnitude(weigh_deep(factor32, y)), threshold, rounding),
                  definition::energy(factor32, y, threshold, 1, kBandH, n % 12));
    }
}

// ---- row by row against the readable reference ----------------------------------------------------------------------

void expect_like_reference(const Pair& pair, const Settings& settings, const std::string& what) {
    const Plan plan = plan_of(pair, settings);
    const Words expected = reference_words(plan, pair);
    for (const device::WordLanes lanes : device::all_word_lanes()) {
        const Words words = cpu_words(plan, pair, lanes);
        for (int i = 0; i < kWords; i++) {
            ASSERT_EQ(words[i], expected[i])
                << what << " " << pair.reference.geometry().width << "x" << pair.reference.geometry().height << "@"
                << pair.reference.geometry().depth << " lanes " << static_cast<int>(lanes) << " word " << i;
        }
    }
}

TEST(AdmCpuRows, AllSmallSizes) {
    for (int width = kMinimumSize; width <= 66; width++) {
        for (int height = kMinimumSize; height <= 66; height++) {
            const int depth = (width + height) % 2 == 0 ? 8 : 10;
            expect_like_reference(textured(width, height, depth, static_cast<uint32_t>(width * 100 + height)),
                                  Settings{}, "size");
            if (HasFatalFailure()) return;
        }
    }
}

Settings settings_with_gain(double limit) {
    Settings settings;
    settings.gain_limit = limit;
    return settings;
}

TEST(AdmCpuRows, DepthsAndGains) {
    for (const int depth : {8, 10, 12, 16}) {
        for (const double limit : {1.0, 1.2, 100.0}) {
            expect_like_reference(textured(227, 135, depth, 5), settings_with_gain(limit),
                                  "gain " + std::to_string(limit));
        }
    }
}

TEST(AdmCpuRows, ExtremeContent) {
    for (const int depth : {8, 10, 12, 16}) {
        expect_like_reference(binary_noise(131, 99, depth, 1), Settings{}, "binary noise");
        expect_like_reference(full_noise(131, 99, depth, 2), Settings{}, "noise");
        for (const int square : {1, 2, 3, 8, 16}) {
            expect_like_reference(checkerboard(131, 99, depth, square), Settings{}, "checkerboard");
        }
        expect_like_reference(flat(131, 99, depth, 0, (1 << depth) - 1), Settings{}, "flat");
    }
}

TEST(AdmCpuRows, OverflowingFactorsWrap) {
    Settings settings;
    settings.viewing.mode = kCsfBarten;
    for (const double scale : {1.0, 1.5, 50.0}) {
        settings.viewing.scale = scale;
        settings.viewing.diagonal_scale = scale * 0.8;
        expect_like_reference(textured(131, 99, 8, 4), settings, "csf mode 1");
        expect_like_reference(binary_noise(131, 99, 16, 4), settings, "csf mode 1");
    }
}

TEST(AdmCpuRows, SkippedPartsAreZero) {
    const Pair pair = textured(99, 75, 8, 6);
    Settings settings;
    settings.skip_level0 = true;
    settings.impairment = false;
    expect_like_reference(pair, settings, "skip");
    const Words words = cpu_words(plan_of(pair, settings), pair);
    for (int i = 0; i < kWordsPerLevel; i++) EXPECT_EQ(words[i], 0u);
    for (int level = 1; level < kLevels; level++) {
        EXPECT_NE(words[level * kWordsPerLevel + kDetail * kBands], 0u);
        for (int band = 0; band < kBands; band++)
            EXPECT_EQ(words[level * kWordsPerLevel + kImpairment * kBands + band], 0u);
    }
}

TEST(AdmCpuRows, LargePicturesShiftTheReferenceRows) {
    // More than 2^20 scored coefficients at level 0: the row shift of the denominator is at work.
    const Pair pair = textured(3200, 2200, 8, 9);
    const Plan plan = plan_of(pair, Settings{});
    EXPECT_GT(plan.level[0].reference_row_shift, 0);
    expect_like_reference(pair, Settings{}, "large");
}

// ---- final scores ---------------------------------------------------------------------------------------------------

/// Scores of an independent implementation of the same text, equal to libvmaf 3.2.0 on the golden clips.
struct Frozen {
    const char* clip;
    int frame;
    double adm2, aim, adm3, scale[kLevels];
};
constexpr Frozen kDefaults[] = {
    {"g64x48_420_8",
     0,
     0.90225281351676101,
     0.016793120403622415,
     0.94272984655656922,
     {0.92570972477648039, 0.89458858989319145, 0.90086893576158855, 0.89225815477268922}},
    {"g64x48_420_8",
     3,
     0.88961310121896797,
     0.015770301939675119,
     0.93692139963964638,
     {0.92740424140910049, 0.8742552627722382, 0.86940935116478912, 0.90393481435035627}},
    {"g175x99_420_8",
     0,
     0.89644162246310544,
     0.014998124500056373,
     0.9407217489815245,
     {0.92735813006552836, 0.88965284797195576, 0.88948475987256725, 0.88826532451412155}},
    {"g175x99_420_8",
     3,
     0.89246284615500249,
     0.014973314827754422,
     0.93874476566362408,
     {0.92769239868333908, 0.88718531532765288, 0.88329538802175778, 0.88249524835949855}},
    {"g176x176_420_10",
     0,
     0.89706220270118908,
     0.016262623977936326,
     0.94039978936162638,
     {0.92862102146190173, 0.88848470498001675, 0.88853313672035528, 0.88946868466508777}},
    {"g176x176_420_10",
     3,
     0.89842725655007716,
     0.016847580167632024,
     0.94078983819122253,
     {0.92949914674673129, 0.88915914144331598, 0.89337168649461007, 0.88814635466263003}},
    {"g80x66_422_12",
     0,
     0.89527374491327294,
     0.014070206569822033,
     0.94060176917172544,
     {0.92655054972046269, 0.89017562866972599, 0.89834391263364533, 0.87502120826008112}},
    {"g80x66_422_12",
     2,
     0.90011177751677396,
     0.011007467878407499,
     0.94455215481918331,
     {0.92376336982246043, 0.88512723669022131, 0.91052183387651409, 0.88232894178788168}},
};
constexpr Frozen kModelOptions[] = {
    {"g64x48_420_8",
     0,
     0.91434249586199545,
     0.0065214775418848733,
     0.93808330384083127,
     {0.97333294976921136, 0.91854819352595052, 0.90475818122117835, 0.8896131615448708}},
    {"g64x48_420_8",
     3,
     0.90534267645185484,
     0.0063034261313824865,
     0.93184884567688364,
     {0.97390627373863869, 0.90354192447140513, 0.87407899712091086, 0.90173869967855225}},
    {"g175x99_420_8",
     0,
     0.90833587890759304,
     0.0057917797002955398,
     0.93409758132522647,
     {0.97370529512906046, 0.91489932942919472, 0.89432680223389749, 0.88560346148294966}},
    {"g175x99_420_8",
     3,
     0.90401970439312407,
     0.0063884680010193968,
     0.9308972526748811,
     {0.97403484535496487, 0.91296530888306093, 0.88804145482685104, 0.87929587014956667}},
    {"g176x176_420_10",
     0,
     0.91006593296941651,
     0.0066570260335845587,
     0.93504904526851618,
     {0.97419493421275161, 0.91394528585210011, 0.89347353322228396, 0.88672327854499933}},
    {"g176x176_420_10",
     3,
     0.91055785605914186,
     0.0072844601189030319,
     0.93520516120572839,
     {0.97440237825572751, 0.91407432531683452, 0.89774880955863934, 0.88489723239428364}},
    {"g80x66_422_12",
     0,
     0.90523908997863556,
     0.0052722460984551047,
     0.93208568915550838,
     {0.97332684648128531, 0.91488379371722872, 0.90229882659925154, 0.87376837525823658}},
    {"g80x66_422_12",
     2,
     0.91130936910491123,
     0.0037635926344346451,
     0.93678748058310757,
     {0.97274578930524247, 0.91207273421633461, 0.91480560027831914, 0.87958674967284012}},
};

Pair synthetic_pair(const test::SyntheticClip& clip, int frame) {
    const auto side = [&](bool distorted) {
        return make_luma(clip.width, clip.height, clip.depth, [&](int x, int y) {
            return static_cast<int>(test::synthetic_sample(x, y, frame, 0, clip.depth, distorted));
        });
    };
    return {side(false), side(true)};
}

const test::SyntheticClip& clip_named(const std::string& name) {
    for (const test::SyntheticClip& clip : test::kSyntheticClips) {
        if (name == clip.name) return clip;
    }
    ADD_FAILURE() << name;
    return test::kSyntheticClips[0];
}

void expect_frozen(const Frozen& frozen, const Assignments& assignments) {
    const ScoreMap scores = score(synthetic_pair(clip_named(frozen.clip), frozen.frame), assignments);
    EXPECT_EQ(scores.at("integer_adm2"), frozen.adm2) << frozen.clip;
    EXPECT_EQ(scores.at("integer_aim"), frozen.aim) << frozen.clip;
    EXPECT_EQ(scores.at("integer_adm3"), frozen.adm3) << frozen.clip;
    for (int i = 0; i < kLevels; i++) {
        EXPECT_EQ(scores.at("integer_adm_scale" + std::to_string(i)), frozen.scale[i]) << frozen.clip << " " << i;
    }
}

TEST(AdmScores, FrozenDefaults) {
    for (const Frozen& frozen : kDefaults) expect_frozen(frozen, {});
}

TEST(AdmScores, FrozenModelOptions) {
    const Assignments v1 = {{"adm_csf_mode", 2},        {"adm_dlm_weight", 0.7}, {"adm_enhn_gain_limit", 1},
                            {"adm_noise_weight", 0.02}, {"adm_min_val", 0.5},    {"adm_norm_view_dist", 5}};
    for (const Frozen& frozen : kModelOptions) expect_frozen(frozen, v1);
}

TEST(AdmScores, DebugOutputsOnlyOnRequest) {
    const Pair pair = textured(64, 48, 8, 1);
    EXPECT_EQ(score(pair, {}).scores.size(), 7u);
    const ScoreMap debug = score(pair, {{"debug", 1}});
    EXPECT_EQ(debug.scores.size(), descriptor().outputs.size());
    EXPECT_EQ(debug.at("integer_adm"), debug.at("integer_adm2"));
    EXPECT_EQ(debug.at("integer_adm2"), debug.at("integer_adm_num") / debug.at("integer_adm_den"));
    const OptionValues off = with_options({}), on = with_options({{"debug", 1}});
    const FrameGeometry geometry = pair.reference.geometry();
    for (const OutputSpec& output : descriptor().outputs) {
        if (output.enabled == nullptr) continue;
        EXPECT_FALSE(output.enabled(off, geometry)) << output.name;
        EXPECT_TRUE(output.enabled(on, geometry)) << output.name;
    }
}

TEST(AdmScores, FlatReferenceWithoutNoiseTerm) {
    const ScoreMap scores = score(flat(64, 48, 8, 80, 80), {{"adm_noise_weight", 0}});
    EXPECT_EQ(scores.at("integer_adm2"), 1.0);
    EXPECT_EQ(scores.at("integer_aim"), 0.0);
}

TEST(AdmScores, SkipAim) {
    const Pair pair = textured(64, 48, 8, 2);
    const ScoreMap all = score(pair, {}), skipped = score(pair, {{"adm_skip_aim", 1}});
    EXPECT_GT(all.at("integer_aim"), 0.0);
    EXPECT_EQ(skipped.at("integer_aim"), 0.0);
    EXPECT_EQ(skipped.at("integer_adm2"), all.at("integer_adm2"));
    EXPECT_EQ(skipped.at("integer_adm3"), all.at("integer_adm2") * 0.5 + 0.5);
}

TEST(AdmScores, SkippedImpairmentIsNotComputed) {
    const Pair pair = textured(64, 48, 8, 3);
    const auto metric = create_scorer(descriptor(), pair.reference.geometry(), with_options({{"adm_skip_aim", 1}}));
    Words words(metric->accumulator_words());
    metric->score(pair.view(), words);
    for (int level = 0; level < kLevels; level++) {
        for (int band = 0; band < kBands; band++)
            EXPECT_EQ(words[level * kWordsPerLevel + kImpairment * kBands + band], 0u);
    }
}

TEST(AdmScores, WarnsOfTheModeThatOverflows) {
    const Pair pair = textured(64, 48, 8, 3);
    const auto warnings = [&](const Assignments& assignments) {
        return create_scorer(descriptor(), pair.reference.geometry(), with_options(assignments))->warnings().size();
    };
    EXPECT_EQ(warnings({}), 0u);
    EXPECT_EQ(warnings({{"adm_csf_mode", 1}}), 1u);
}

// ---- refusals -------------------------------------------------------------------------------------------------------

Status validate(int width, int height, const Assignments& assignments) {
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    return validate(descriptor(), geometry, with_options(assignments));
}

TEST(AdmValidate, Sizes) {
    EXPECT_TRUE(validate(33, 33, {}).ok());
    EXPECT_EQ(validate(32, 33, {}).code(), QC_ERROR_INVALID);
    EXPECT_EQ(validate(33, 32, {}).code(), QC_ERROR_INVALID);
    EXPECT_NE(validate(32, 33, {}).text().find("32x33"), std::string::npos);
}

TEST(AdmValidate, Viewing) {
    EXPECT_TRUE(validate(64, 64, {{"adm_norm_view_dist", 1.5}, {"adm_ref_display_height", 2160}}).ok());
    EXPECT_EQ(validate(64, 64, {{"adm_norm_view_dist", 2.9}}).code(), QC_ERROR_INVALID);
    EXPECT_EQ(validate(64, 64, {{"adm_ref_display_height", 1079}}).code(), QC_ERROR_INVALID);
}

TEST(AdmValidate, BlendTablesAreSelectedExactly) {
    for (const int mode : {2, 3}) {
        const Assignments base = {{"adm_csf_mode", mode}};
        EXPECT_TRUE(validate(64, 64, base).ok());
        Assignments other = base;
        other["adm_norm_view_dist"] = 4;
        const Status status = validate(64, 64, other);
        EXPECT_EQ(status.code(), QC_ERROR_INVALID);
        EXPECT_NE(status.text().find("adm_norm_view_dist=4"), std::string::npos) << status.text();
        other["adm_norm_view_dist"] = 5;
        other["adm_ref_display_height"] = 720;
        EXPECT_TRUE(validate(64, 64, other).ok());
    }
    EXPECT_TRUE(validate(64, 64, {{"adm_norm_view_dist", 4}}).ok());
}

} // namespace
} // namespace qc::adm
