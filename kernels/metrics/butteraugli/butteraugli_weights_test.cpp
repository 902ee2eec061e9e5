// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli with weights: against norms of the map that it draws, and the kernels against the CPU.
#include <cmath>

#include "metrics/butteraugli/butteraugli_kernels.hpp"
#include "metrics/butteraugli/butteraugli_test_support.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/weight_runner.hpp"

namespace qc::butteraugli {
namespace {

test::SamplePicture picture_of(const FrameGeometry& geometry, int frame, bool distorted) {
    return {geometry, [&](int plane, int x, int y) {
                return test::synthetic_sample(x, y, frame, plane, geometry.depth, distorted);
            }};
}

struct Pictures {
    Pictures(int width, int height, int depth = 8)
        : geometry(test::geometry_of(width, height, depth, QC_CHROMA_420)), reference(picture_of(geometry, 0, false)),
          distorted(picture_of(geometry, 0, true)) {}

    HostPair views() const { return {reference.view(), distorted.view()}; }
    std::map<std::string, double> scores(const test::WeightAt& weight_at) const {
        return test::scores_under(descriptor(), geometry, options_of({{"subscores", "norms"}}), views(), weight_at);
    }

    FrameGeometry geometry;
    test::SamplePicture reference, distorted;
};

TEST(ButteraugliWeights, EqualsNormsOfTheMap) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{13, 9}, {83, 61}}) {
        const Pictures pictures(width, height);
        std::vector<float> map(static_cast<size_t>(width * height));
        create_scorer(descriptor(), pictures.geometry, options_of({}))
            ->draw(pictures.views(), {}, {map.data(), {width}, width, height});
        const auto bright = [](int x, int y) { return x % 5 == 2 ? 0 : (x * 41 + y * 87) % 256; };
        // Little of the picture is left, and not the worst of it.
        const auto few = [&](int x, int y) {
            return map[static_cast<size_t>(y * width + x)] < 0.5f * *std::max_element(map.begin(), map.end()) ? 3 : 0;
        };
        const std::map<std::string, double> whole = pictures.scores({});
        for (const test::WeightAt& weight_at : {test::WeightAt(bright), test::WeightAt(few)}) {
            double sums[13] = {}, weights = 0.0, largest = 0.0;
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) {
                    const double value = map[static_cast<size_t>(y * width + x)], weight = weight_at(x, y);
                    for (const int p : {2, 3, 6, 12}) sums[p] += weight * std::pow(value, p);
                    weights += weight;
                    if (weight > 0.0) largest = std::max(largest, value);
                }
            const auto norm = [&](int p) { return std::pow(sums[p] / weights, 1.0 / p); };
            const auto scores = pictures.scores(weight_at);
            for (const int p : {2, 3, 6, 12}) {
                const std::string name = "butteraugli_norm" + std::to_string(p);
                EXPECT_NEAR(scores.at(name), norm(p), 1e-6 * norm(p));
                EXPECT_GT(std::abs(scores.at(name) - whole.at(name)), 1e-5 * norm(p)) << name;
            }
            EXPECT_NEAR(scores.at("butteraugli_3norm"), (norm(3) + norm(6) + norm(12)) / 3.0, 1e-6 * norm(12));
            EXPECT_NEAR(scores.at("butteraugli"), largest, 1e-6 * largest);
        }
        EXPECT_LT(pictures.scores(few).at("butteraugli"), 0.6 * whole.at("butteraugli"));
    }
}

TEST(ButteraugliWeights, WhiteOnesHaveTheSameBits) {
    const Pictures pictures(57, 44, 10);
    const auto whole = pictures.scores({});
    EXPECT_EQ(pictures.scores([](int, int) { return 255; }), whole);
    for (const auto& [name, score] : pictures.scores([](int, int) { return 100; }))
        EXPECT_NEAR(score, whole.at(name), 1e-12 * whole.at(name)) << name;
    EXPECT_TRUE(pictures.scores([](int, int) { return 0; }).empty());
}

TEST(ButteraugliWeights, KernelsAreNearTheCpu) {
    for (const auto& [width, height, depth] :
         std::vector<std::array<int, 3>>{{8, 9, 8}, {177, 71, 8}, {130, 66, 10}, {260, 34, 16}})
        for (const bool draws : {false, true}) {
            SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits");
            FrameGeometry geometry = test::geometry_of(width, height, depth, QC_CHROMA_420);
            geometry.has_weights = true;
            const OptionValues options = options_of({{"subscores", "norms"}});
            const auto scorer = create_scorer(descriptor(), geometry, options);
            if (draws) scorer->draw_maps();
            test::EmulatedProgram program(QC_EMULATED_KERNELS(QC_BUTTERAUGLI_KERNELS));
            ASSERT_TRUE(scorer->prepare(program).ok());
            std::vector<test::EmulatedPicture> pictures;
            for (int i = 0; i < 4; ++i)
                pictures.emplace_back(picture_of(geometry, i / 2, i % 2 == 1), test::SurfaceLayout{});
            test::EmulatedPairs pairs(pictures);
            const test::EmulatedWeights all_weights(geometry, &pairs);
            if (draws)
                test::expect_emulated_maps_equal_cpu(*scorer, descriptor().map->shape(geometry, options), pairs, true,
                                                     {2e-3f});
            const std::vector<uint64_t> expected = pairs.cpu_words(*scorer);
            std::vector<uint64_t> before;
            for (const bool descending : {false, true}) {
                test::EmulatedQueue queue(descending);
                const std::vector<uint64_t> actual = test::emulate_batch(*scorer, pairs.device, queue);
                for (size_t i = 0; i < 2; ++i) {
                    const size_t row = i * kWeightedWords;
                    EXPECT_EQ(actual[row + kSumOfWeights], expected[row + kSumOfWeights]);
                    test::Recorder one(descriptor()), other(descriptor());
                    const auto finaliser = create_finaliser(descriptor(), geometry, options);
                    finaliser->finalise(0, std::span(actual).subspan(row, kWeightedWords), one);
                    finaliser->finalise(0, std::span(expected).subspan(row, kWeightedWords), other);
                    for (const auto& [name, values] : other.scores)
                        EXPECT_NEAR(one.scores.at(name).at(0), values.at(0),
                                    kBackendBound.absolute + kBackendBound.relative * values.at(0))
                            << name;
                }
                if (descending) {
                    EXPECT_EQ(actual, before);
                }
                before = actual;
            }
        }
}

} // namespace
} // namespace qc::butteraugli
