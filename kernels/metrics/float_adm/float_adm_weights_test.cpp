// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM with weights: against scores of regions and of halves, and how the scores come from the words.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "families/detail_loss/detail_loss_pictures.hpp"
#include "families/detail_loss/detail_loss_test_support.hpp"
#include "metrics/float_adm/float_adm.hpp"
#include "metrics/float_adm/float_adm_cpu.hpp"
#include "metrics/float_adm/float_adm_plan.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_adm {
namespace {

using WeightAt = std::function<int(int x, int y)>;
using Words = std::vector<uint64_t>;

int varied(int x, int y) {
    const int stripe = (x / 5 + y / 3) % 4;
    return stripe == 0 ? 0 : stripe == 1 ? 255 : (31 * x + 57 * y) % 256;
}

Plan plan_of(const Pair& pair, double power = 3.0) {
    Settings settings;
    settings.power = power;
    return make_plan(pair.reference.geometry(), settings);
}

Words words_of(const Plan& plan, const Pair& pair) {
    Words words(kWords);
    score_cpu(plan, pair.reference.geometry().sample, pair.view(), words);
    return words;
}

Words weighted_words(Plan plan, const Pair& pair, const WeightAt& weight_at) {
    const int width = pair.reference.geometry().width, height = pair.reference.geometry().height;
    std::vector<uint8_t> weights;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) weights.push_back(static_cast<uint8_t>(weight_at(x, y)));
    HostPair view = pair.view();
    view.weights = {weights.data(), {width}, width, height};
    plan.has_weights = true;
    Words words(kWeightedWords);
    score_cpu(plan, pair.reference.geometry().sample, view, words);
    return words;
}

Words sums_of(const Words& words) {
    return {words.begin(), words.begin() + kSumsOfWeights};
}

TEST(FloatAdmWeights, WholeWeightsGiveTheWordsThatThereAreWithout) {
    for (const int depth : {8, 10, 16})
        for (const double power : {3.0, 2.7}) {
            const Pair pair = textured(175, 99, depth, 1);
            const Plan plan = plan_of(pair, power);
            const Words words = weighted_words(plan, pair, [](int, int) { return 255; });
            EXPECT_EQ(sums_of(words), words_of(plan, pair));
            for (int i = 0; i < kLevels; i++) {
                const LevelPlan& level = plan.level[i];
                EXPECT_EQ(words[static_cast<size_t>(kSumsOfWeights + i)],
                          uint64_t{255} * (4u << (2 * i)) * static_cast<uint64_t>(level.right - level.left) *
                              static_cast<uint64_t>(level.bottom - level.top));
            }
        }
}

/// White in whole coefficients of all levels: what is pooled is what a region of just these would pool, with all bits.
TEST(FloatAdmWeights, WhiteInARectangleIsThatRegionAlone) {
    const Pair pair = textured(227, 199, 8, 5);
    const Plan plan = plan_of(pair);
    const Words words = weighted_words(plan, pair, detail_loss::white_in_rectangle);
    EXPECT_EQ(sums_of(words), words_of(detail_loss::plan_of_rectangle(plan), pair));
}

/// Weights and what they leave add up to all, except for the rounding of single precision.
TEST(FloatAdmWeights, HalvesAddUp) {
    const Pair pair = textured(175, 121, 8, 6);
    const Plan plan = plan_of(pair);
    const Words all = words_of(plan, pair), one = weighted_words(plan, pair, varied);
    const Words other = weighted_words(plan, pair, [](int x, int y) { return 255 - varied(x, y); });
    for (size_t i = 0; i < all.size(); i++) {
        const auto a = std::bit_cast<double>(one[i]), b = std::bit_cast<double>(other[i]);
        const auto sum = std::bit_cast<double>(all[i]);
        EXPECT_NEAR(a + b, sum, 1e-5 * sum) << i;
        if (sum > 0) EXPECT_GT(a, 0.1 * sum) << i;
    }
}

/// Where nothing differs and nothing is to be seen, the noise term is all there is: it grows with the weights.
TEST(FloatAdmWeights, TheNoiseTermIsOfTheWeights) {
    const Pair pair = flat(160, 96, 8, 128, 128);
    constexpr int kLeft = 32, kTop = 16, kRight = 96, kBottom = 80, kWeight = 51;
    FrameGeometry geometry = pair.reference.geometry();
    geometry.has_weights = true;
    const Words words = weighted_words(plan_of(pair), pair, [](int x, int y) {
        return x >= kLeft && x < kRight && y >= kTop && y < kBottom ? kWeight : 0;
    });
    const test::Recorder recorder = test::finalise_stream(descriptor(), geometry, {{"debug", 1}}, {words});
    for (int level = 0; level < kLevels; level++) {
        const double area = (kRight - kLeft) * (kBottom - kTop) / std::pow(4.0, level + 1) * kWeight / 255.0;
        const double expected = 3.0 * std::cbrt(area * 0.03125);
        EXPECT_NEAR(recorder.values("adm_den_scale" + std::to_string(level)).at(0), expected, 1e-5 * expected);
    }
    EXPECT_EQ(recorder.values("adm2").at(0), 1.0);
}

} // namespace
} // namespace qc::float_adm
