// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM with weights: the fast implementation against the readable one, both against scores of regions and of
// halves, and how the scores come from the words.
#include <cmath>
#include <functional>
#include <string>

#include "families/detail_loss/detail_loss_test_support.hpp"
#include "families/detail_loss/detail_loss_weights.hpp"
#include "metrics/adm/adm_test_support.hpp"

namespace qc::adm {
namespace {

using WeightAt = std::function<int(int x, int y)>;

struct SampleWeights {
    int width, height, pitch;
    std::vector<uint8_t> weights;

    SampleWeights(const Pair& pair, const WeightAt& weight_at)
        : width(pair.reference.geometry().width), height(pair.reference.geometry().height), pitch(width + 5),
          weights(static_cast<size_t>(pitch) * static_cast<size_t>(height)) {
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                weights[static_cast<size_t>(y * pitch + x)] = static_cast<uint8_t>(weight_at(x, y));
    }
    HostPlane view() const { return {weights.data(), {pitch}, width, height}; }
};

int whole(int, int) {
    return 255;
}
int varied(int x, int y) {
    const int stripe = (x / 5 + y / 3) % 4;
    return stripe == 0 ? 0 : stripe == 1 ? 255 : (31 * x + 57 * y) % 256;
}

Plan weighted_plan(const Pair& pair, const Assignments& assignments = {}) {
    Settings settings;
    if (assignments.count("adm_enhn_gain_limit") != 0) settings.gain_limit = assignments.at("adm_enhn_gain_limit");
    settings.skip_level0 = assignments.count("adm_skip_scale0") != 0;
    settings.impairment = assignments.count("adm_skip_aim") == 0;
    Plan plan = plan_of(pair, settings);
    plan.has_weights = true;
    return plan;
}

HostPair view_of(const Pair& pair, const SampleWeights& sample_weights) {
    HostPair view = pair.view();
    view.weights = sample_weights.view();
    return view;
}

Words fast_words(const Plan& plan, const Pair& pair, const SampleWeights& sample_weights, device::WordLanes lanes) {
    Words words(kWeightedWords);
    RowWorkspaces workspaces;
    score_cpu_rows(plan, pair.reference.geometry().sample, view_of(pair, sample_weights), words, workspaces, lanes);
    return words;
}

Words readable_words(const Plan& plan, const Pair& pair, const SampleWeights& sample_weights) {
    Words words(kWeightedWords);
    score_cpu(plan, pair.reference.geometry().sample, view_of(pair, sample_weights), words);
    return words;
}

Words checked_words(const Plan& plan, const Pair& pair, const SampleWeights& sample_weights) {
    const Words words = readable_words(plan, pair, sample_weights);
    for (const device::WordLanes lanes : device::all_word_lanes())
        EXPECT_EQ(fast_words(plan, pair, sample_weights, lanes), words);
    return words;
}

/// Without the sums of weights.
Words sums_of(const Words& words) {
    return {words.begin(), words.begin() + kSumsOfWeights};
}

Words unweighted_words(Plan plan, const Pair& pair) {
    plan.has_weights = false;
    return reference_words(plan, pair);
}

// ---- weights --------------------------------------------------------------------------------------------------------

/// Where nothing is repeated: the sum under the coefficient.
TEST(AdmWeights, WeightsAreSumsUnderTheCoefficient) {
    const Pair pair = textured(83, 71, 8, 1);
    const Plan plan = weighted_plan(pair);
    const SampleWeights sample_weights(pair, varied);
    const detail_loss::BandWeights weights = detail_loss::weigh_bands(sample_weights.view(), plan);
    for (int level = 0; level < kLevels; level++) {
        const int step = 2 << level;
        const auto& band = weights[static_cast<size_t>(level)];
        ASSERT_EQ(band.width, plan.level[level].width);
        for (int y = 0; (y + 1) * step <= sample_weights.height; y++)
            for (int x = 0; (x + 1) * step <= sample_weights.width; x++) {
                int sum = 0;
                for (int i = 0; i < step * step; i++) sum += varied(x * step + i % step, y * step + i / step);
                ASSERT_EQ(band.at(x, y), sum) << "level " << level << " at " << x << ", " << y;
            }
    }
}

/// Beyond the border the last ones count again.
TEST(AdmWeights, WholeWeightsAreWholeUpToTheBorder) {
    for (const int size : {33, 34, 47, 65}) {
        const Pair pair = textured(size, 98 - size, 8, 1);
        const SampleWeights sample_weights(pair, whole);
        const detail_loss::BandWeights weights = detail_loss::weigh_bands(sample_weights.view(), weighted_plan(pair));
        for (int level = 0; level < kLevels; level++)
            for (const auto weight : weights[static_cast<size_t>(level)].samples)
                ASSERT_EQ(weight, detail_loss::full_weight(level));
    }
}

// ---- words ----------------------------------------------------------------------------------------------------------

TEST(AdmWeights, WholeWeightsGiveTheWordsThatThereAreWithout) {
    const Pair pairs[] = {textured(175, 99, 8, 1), textured(66, 39, 10, 2), full_noise(131, 99, 16, 3),
                          checkerboard(131, 99, 8, 8), flat(64, 48, 8, 0, 255)};
    for (const Pair& pair : pairs) {
        const Plan plan = weighted_plan(pair);
        const Words words = checked_words(plan, pair, SampleWeights(pair, whole));
        EXPECT_EQ(sums_of(words), unweighted_words(plan, pair));
        for (int level = 0; level < kLevels; level++) {
            const LevelPlan& region = plan.level[level];
            EXPECT_EQ(words[static_cast<size_t>(kSumsOfWeights + level)],
                      uint64_t{detail_loss::full_weight(level)} * static_cast<uint64_t>(region.right - region.left) *
                          static_cast<uint64_t>(region.bottom - region.top));
        }
    }
}

TEST(AdmWeights, OptionsAndDepths) {
    for (const int depth : {8, 10, 12, 16})
        for (const Assignments& assignments :
             {Assignments{}, {{"adm_skip_aim", 1}}, {{"adm_skip_scale0", 1}}, {{"adm_enhn_gain_limit", 1.2}}}) {
            const Pair pair = textured(121, 65, depth, 4);
            const Words words = checked_words(weighted_plan(pair, assignments), pair, SampleWeights(pair, varied));
            EXPECT_NE(sums_of(words), unweighted_words(weighted_plan(pair, assignments), pair));
        }
}

/// White in whole coefficients of all levels: what is pooled is what a region of just these would pool, with all bits.
TEST(AdmWeights, WhiteInARectangleIsThatRegionAlone) {
    const Pair pair = textured(227, 199, 8, 5);
    const Plan plan = weighted_plan(pair);
    const Words words = checked_words(plan, pair, SampleWeights(pair, detail_loss::white_in_rectangle));
    EXPECT_EQ(sums_of(words), cpu_words(detail_loss::plan_of_rectangle(plan), pair));
}

/// Weights and what they leave add up to all, except for the rounding of rows.
TEST(AdmWeights, HalvesAddUp) {
    const Pair pair = textured(175, 121, 8, 6);
    const Plan plan = weighted_plan(pair);
    const Words all = unweighted_words(plan, pair),
                one = sums_of(checked_words(plan, pair, SampleWeights(pair, varied)));
    const Words other =
        sums_of(checked_words(plan, pair, SampleWeights(pair, [](int x, int y) { return 255 - varied(x, y); })));
    EXPECT_NE(one, other);
    for (size_t i = 0; i < all.size(); i++) {
        const auto difference = static_cast<int64_t>(one[i] + other[i] - all[i]);
        EXPECT_LE(std::abs(difference), plan.level[i / kWordsPerLevel].height) << i;
        EXPECT_GE(one[i], all[i] / 8) << i;
    }
}

TEST(AdmWeights, SumsOfWeightedEnergiesDoNotOverflow) {
    constexpr int kColumns = 4096;
    WeightedSum sum;
    for (int x = 0; x < kColumns; x++) sum.add(uint64_t{INT64_MAX}, detail_loss::full_weight(kLevels - 1));
    EXPECT_EQ(sum.rounded(detail_loss::full_weight(kLevels - 1), 13), uint64_t{1} << 62);
    WeightedSum negative;
    negative.add(static_cast<uint64_t>(-1000), 40);
    EXPECT_EQ(static_cast<int64_t>(negative.rounded(20, 3)), round_shift(int64_t{-2000}, 3));
    negative.add(static_cast<uint64_t>(-7), 20);
    EXPECT_EQ(static_cast<int64_t>(negative.rounded(20, 3)), round_shift(int64_t{-2007}, 3));
}

// ---- scores ---------------------------------------------------------------------------------------------------------

std::map<std::string, double> scores_of(const Plan& plan, const Pair& pair, const SampleWeights& sample_weights,
                                        const Assignments& assignments) {
    FrameGeometry geometry = pair.reference.geometry();
    geometry.has_weights = true;
    return ScoreMap(test::finalise_stream(descriptor(), geometry, list_of(assignments),
                                          {readable_words(plan, pair, sample_weights)}))
        .scores;
}

/// Where nothing differs and nothing is to be seen, the noise term is all there is: it grows with the weights.
TEST(AdmWeights, TheNoiseTermIsOfTheWeights) {
    const Pair pair = flat(160, 96, 8, 7, 7);
    constexpr int kLeft = 32, kTop = 16, kRight = 96, kBottom = 80, kWeight = 51;
    const SampleWeights sample_weights(
        pair, [](int x, int y) { return x >= kLeft && x < kRight && y >= kTop && y < kBottom ? kWeight : 0; });
    const auto scores = scores_of(weighted_plan(pair), pair, sample_weights, {{"debug", 1}});
    for (int level = 0; level < kLevels; level++) {
        const double area = (kRight - kLeft) * (kBottom - kTop) / std::pow(4.0, level + 1) * kWeight / 255.0;
        const double expected = 3.0 * std::cbrt(area * 0.03125);
        EXPECT_NEAR(scores.at("integer_adm_den_scale" + std::to_string(level)), expected, 1e-5 * expected);
        EXPECT_NEAR(scores.at("integer_adm_num_scale" + std::to_string(level)), expected, 1e-5 * expected);
    }
    EXPECT_EQ(scores.at("integer_adm2"), 1.0);
}

TEST(AdmWeights, OnlySharesCount) {
    const Pair pair = textured(175, 99, 8, 8);
    const auto bright = scores_of(weighted_plan(pair), pair,
                                  SampleWeights(pair, [](int x, int y) { return x > 2 * y ? 240 : 80; }), {});
    const auto dark =
        scores_of(weighted_plan(pair), pair, SampleWeights(pair, [](int x, int y) { return x > 2 * y ? 3 : 1; }), {});
    for (const auto& [name, score] : bright) EXPECT_NEAR(dark.at(name), score, 2e-6 * score) << name;
}

TEST(AdmWeights, ALevelThatIsSkippedNeedsNoWeight) {
    const Pair pair = textured(99, 75, 8, 9);
    const auto scores = scores_of(weighted_plan(pair, {{"adm_skip_scale0", 1}}), pair, SampleWeights(pair, varied),
                                  {{"adm_skip_scale0", 1}});
    EXPECT_EQ(scores.at("integer_adm_scale0"), 0.0);
    EXPECT_GT(scores.at("integer_adm2"), 0.5);
}

} // namespace
} // namespace qc::adm
