// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 with weights: what a place weighs, and the kernels against the CPU.
#include <bit>
#include <cmath>

#include "metrics/ssimulacra2/ssimulacra2_kernels.hpp"
#include "metrics/ssimulacra2/ssimulacra2_test_support.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/weight_runner.hpp"

namespace qc::ssimulacra2 {
namespace {

using Scores = std::map<std::string, double>;

Scores scores_of(const Pair& pair, const Words& words, const test::WeightAt& weight_at) {
    return test::scores_under(descriptor(), pair.geometry, test::options_of(descriptor(), list_of(words)),
                              {pair.reference.view(), pair.distorted.view()}, weight_at);
}

/// One place alone: both norms of each field are its value, so the score is that of the value that the map shows there.
TEST(Ssimulacra2Weights, OnePlaceIsWhatTheMapShows) {
    const Pair pair(61, 43);
    const auto scorer = scorer_of(pair.geometry);
    std::vector<float> drawn(61 * 43);
    scorer->draw({pair.reference.view(), pair.distorted.view()}, {}, {drawn.data(), {61}, 61, 43});
    for (const auto& [x, y] : std::vector<std::pair<int, int>>{{0, 0}, {17, 20}, {40, 9}, {60, 42}}) {
        const double shown = drawn[static_cast<size_t>(y * 61 + x)];
        const double error = 2.326765642916932 * shown - 0.020884521182843837 * shown * shown +
                             6.248496625763138e-05 * shown * shown * shown;
        EXPECT_NEAR(scores_of(pair, {}, test::only_at(x, y)).at("ssimulacra2"),
                    100.0 - 10.0 * std::pow(error, 0.6276336467831387), 1e-4)
            << x << "," << y;
    }
}

/// How often a sample counts at a level, whose last row and column of odd sizes count twice.
int times_at(int x, int size, int level) {
    int times = 1;
    for (; level > 0; --level, x /= 2, size = (size + 1) / 2)
        if (size % 2 == 1 && x == size - 1) times *= 2;
    return times;
}

/// All places one by one, then added up by hand, make what weights of all of them make.
TEST(Ssimulacra2Weights, PlacesAddUp) {
    constexpr int kWidth = 13, kHeight = 10, kLevels = 2;
    for (const auto* preset : {"default", "vship"}) {
        const Words words{{"preset", preset}, {"subscores", "norms"}};
        const Pair pair(kWidth, kHeight);
        std::map<std::string, double> sums;
        double weights[kLevels] = {};
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) {
                const Scores alone = scores_of(pair, words, test::only_at(x, y));
                for (int level = 0; level < kLevels; ++level) {
                    const double weight =
                        test::varied_weight(x, y) * times_at(x, kWidth, level) * times_at(y, kHeight, level);
                    weights[level] += weight;
                    for (const auto& [name, value] : alone) {
                        if (name.find("_norm_") == std::string::npos || name[18] != '0' + level) continue;
                        sums[name] += weight * (name.find("_l4_") == std::string::npos ? value : std::pow(value, 4.0));
                    }
                }
            }
        ASSERT_EQ(sums.size(), static_cast<size_t>(kLevels * kChannels * kTerms));
        const Scores all = scores_of(pair, words, test::varied_weight);
        for (const auto& [name, sum] : sums) {
            const double mean = sum / weights[name[18] - '0'];
            EXPECT_NEAR(all.at(name), name.find("_l4_") == std::string::npos ? mean : std::pow(mean, 0.25), 1e-9)
                << preset << " " << name;
        }
        const Scores whole = scores_of(pair, words, {});
        EXPECT_GT(std::abs(whole.at("ssimulacra2") - all.at("ssimulacra2")), 1e-3);
        EXPECT_NEAR(whole.at("ssimulacra2"), scores_of(pair, words, [](int, int) { return 255; }).at("ssimulacra2"),
                    1e-9);
    }
}

TEST(Ssimulacra2Weights, WithoutWeightThereIsNoScore) {
    EXPECT_TRUE(scores_of(Pair(33, 20), {}, [](int, int) { return 0; }).empty());
}

TEST(Ssimulacra2Weights, RowsEqualTheReference) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{8, 9}, {97, 66}, {131, 260}}) {
        Pair pair(width, height);
        pair.geometry.has_weights = true;
        const Plan plan = plan_of(pair.geometry, {{"subscores", "norms"}});
        const test::TestWeights sample_weights(pair.geometry, test::varied_weight);
        HostPair views{pair.reference.view(), pair.distorted.view()};
        views.weights = sample_weights.view();
        std::vector<uint64_t> expected(kWeightedWords), actual(kWeightedWords);
        score_cpu(pair.geometry, plan, views, expected);
        RowWorkspaces workspaces;
        score_cpu_rows(pair.geometry, plan, views, actual, workspaces);
        for (size_t i = 0; i < kAccumulatorWords; ++i) {
            const auto wanted = std::bit_cast<double>(expected[i]);
            EXPECT_NEAR(std::bit_cast<double>(actual[i]), wanted, 1e-8 * std::max(1.0, wanted)) << i;
        }
        for (size_t i = kFirstSumOfWeights; i < kWeightedWords; ++i) EXPECT_EQ(actual[i], expected[i]) << i;
        EXPECT_GT(expected[kFirstSumOfWeights], 0u);
    }
}

// ---- kernels --------------------------------------------------------------------------------------------------------

struct WeightCase {
    int width, height;
    qc_chroma chroma = QC_CHROMA_420;
    int depth = 8;
    Words words{};
    bool draws = false;
};

void expect_kernels_near_cpu(const WeightCase& c, bool descending) {
    SCOPED_TRACE(testing::Message() << c.width << "x" << c.height << ", " << c.depth << " bits");
    FrameGeometry geometry = test::geometry_of(c.width, c.height, c.depth, c.chroma);
    geometry.has_weights = true;
    const OptionValues options = test::options_of(descriptor(), list_of(c.words));
    const auto scorer = create_scorer(descriptor(), geometry, options);
    if (c.draws) scorer->draw_maps();
    test::EmulatedProgram program(QC_EMULATED_KERNELS(QC_SSIMULACRA2_KERNELS));
    ASSERT_TRUE(scorer->prepare(program).ok());
    std::vector<test::EmulatedPicture> pictures;
    for (int frame = 0; frame < 2; ++frame)
        for (const bool distorted : {false, true}) {
            const auto sample_at = [&](int plane, int x, int y) {
                return test::synthetic_sample(x, y, frame, plane, c.depth, distorted);
            };
            pictures.emplace_back(test::SamplePicture(geometry, sample_at), test::SurfaceLayout{});
        }
    test::EmulatedPairs pairs(pictures);
    const test::EmulatedWeights all_weights(geometry, &pairs);
    if (c.draws)
        test::expect_emulated_maps_equal_cpu(*scorer, descriptor().map->shape(geometry, options), pairs, descending,
                                             {1.0f / 256 + 1e-4f, 0.25f});
    test::EmulatedQueue queue(descending);
    const std::vector<uint64_t> actual = test::emulate_batch(*scorer, pairs.device, queue);
    const std::vector<uint64_t> expected = pairs.cpu_words(*scorer);
    for (size_t i = 0; i < 2; ++i) {
        const auto own = std::span(actual).subspan(i * kWeightedWords, kWeightedWords);
        const auto wanted = std::span(expected).subspan(i * kWeightedWords, kWeightedWords);
        EXPECT_TRUE(std::equal(own.begin() + kFirstSumOfWeights, own.end(), wanted.begin() + kFirstSumOfWeights));
        test::Recorder one(descriptor()), other(descriptor());
        const auto finaliser = create_finaliser(descriptor(), geometry, options);
        finaliser->finalise(0, own, one);
        finaliser->finalise(0, wanted, other);
        ASSERT_EQ(one.scores.size(), other.scores.size());
        for (const auto& [name, values] : other.scores) {
            const double score = values.at(0),
                         bound = kBackendBound.absolute + kBackendBound.relative * std::abs(score);
            const bool is_norm = name.find("_norm_") != std::string::npos;
            EXPECT_NEAR(one.scores.at(name).at(0), score, is_norm ? 5e-5 * std::max(1.0, score) : bound) << name;
        }
    }
}

TEST(Ssimulacra2Weights, KernelsAreNearTheCpu) {
    const std::vector<WeightCase> cases{{177, 121},
                                        {64, 32, QC_CHROMA_444, 10, {{"subscores", "norms"}}},
                                        {95, 130, QC_CHROMA_422, 8, {{"preset", "vship"}, {"subscores", "norms"}}},
                                        {70, 33, QC_CHROMA_400, 12, {{"kernel", "gauss17"}, {"subscores", "norms"}}},
                                        {66, 65, QC_CHROMA_420, 8, {{"border", "renorm"}, {"subscores", "norms"}}},
                                        {99, 40, QC_CHROMA_420, 8, {{"preset", "vmaf-fork"}}},
                                        {97, 80, QC_CHROMA_420, 8, {{"prune", "1"}}, true},
                                        {8, 8},
                                        {9, 270, QC_CHROMA_420, 16, {{"subscores", "norms"}}}};
    for (const WeightCase& c : cases)
        for (const bool descending : {false, true}) expect_kernels_near_cpu(c, descending);
}

} // namespace
} // namespace qc::ssimulacra2
