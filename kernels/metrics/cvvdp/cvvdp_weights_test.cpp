// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP with weights: what places count, and the kernels against the CPU.
#include <bit>
#include <cmath>

#include "metrics/cvvdp/cvvdp_emulation.hpp"
#include "tests/support/weight_runner.hpp"

namespace qc::cvvdp {
namespace {

FrameGeometry geometry_of(int width, int height, int depth = 8, bool has_weights = true) {
    FrameGeometry geometry = test::geometry_of(width, height, depth, QC_CHROMA_420);
    geometry.frame_rate = 8.0;
    geometry.has_weights = has_weights;
    return geometry;
}

using IsWrong = std::function<bool(int x, int y)>;

/// A clip, distorted where it is said to be.
struct Clip {
    Clip(
        const FrameGeometry& geometry, int frames, const IsWrong& is_wrong = [](int, int) { return true; }) {
        for (int f = 0; f < frames; ++f)
            for (const bool distorted : {false, true})
                pictures.emplace_back(test::SamplePicture(geometry,
                                                          [&](int plane, int x, int y) {
                                                              const int step = plane == 0 ? 1 : 2;
                                                              return test::synthetic_blocks(
                                                                  x, y, f, plane, geometry.depth,
                                                                  distorted && is_wrong(step * x, step * y));
                                                          }),
                                      test::SurfaceLayout{});
    }
    std::vector<HostPicture> host(bool distorted) const {
        std::vector<HostPicture> list;
        for (size_t i = distorted ? 1 : 0; i < pictures.size(); i += 2) list.push_back(pictures[i].host());
        return list;
    }
    std::vector<test::EmulatedPicture> pictures;
};

/// The words of every frame, with weights for each; none: without.
std::vector<std::vector<uint64_t>> words_under(const FrameGeometry& geometry, const Clip& clip,
                                               const std::vector<test::TestWeights>& all_weights) {
    const OptionValues options = options_of_words({});
    const auto scorer = create_scorer(descriptor(), geometry, options);
    const auto depth = static_cast<size_t>(earlier_pairs(descriptor(), geometry, options));
    const std::vector<HostPicture> reference = clip.host(false), distorted = clip.host(true);
    std::vector<std::vector<uint64_t>> words;
    for (size_t f = 0; f < reference.size(); ++f) {
        words.emplace_back(scorer->accumulator_words());
        HostPair pair{reference[f], distorted[f]};
        if (!all_weights.empty()) pair.weights = all_weights[f].view();
        scorer->score(pair, past_of(reference, distorted, f, depth), words.back());
    }
    return words;
}

std::vector<uint64_t> words_under(const FrameGeometry& geometry, const Clip& clip, const test::WeightAt& weight_at) {
    return words_under(geometry, clip, {test::TestWeights(geometry, weight_at)}).at(0);
}

double sum_in(const std::vector<uint64_t>& words, int channel, int band, int bands) {
    return std::bit_cast<double>(words[static_cast<size_t>(word_of(channel, band, bands))]);
}

/// Places one by one, added up by hand, make what weights of all of them make: differences and weights, in every band.
TEST(CvvdpWeights, PlacesAddUp) {
    const FrameGeometry geometry = geometry_of(13, 10);
    const Clip clip(geometry, 1);
    std::vector<double> sums;
    for (int y = 0; y < 10; ++y)
        for (int x = 0; x < 13; ++x) {
            const std::vector<uint64_t> alone = words_under(geometry, clip, test::only_at(x, y));
            sums.resize(alone.size());
            for (size_t i = 0; i < alone.size(); ++i)
                sums[i] += test::varied_weight(x, y) / 9.0 * std::bit_cast<double>(alone[i]);
        }
    const std::vector<uint64_t> all = words_under(geometry, clip, test::varied_weight);
    for (size_t i = 0; i < all.size(); ++i)
        EXPECT_NEAR(std::bit_cast<double>(all[i]), sums[i], 1e-9 * (1.0 + sums[i])) << i;
    // Of level 0 they are the user's; of the coarser ones a fourth each time, except for odd borders.
    const int bands = static_cast<int>(all.size()) / (kChannels + 1);
    double weights = 0.0, halved = 0.0;
    for (int y = 0; y < 10; ++y)
        for (int x = 0; x < 13; ++x) {
            weights += test::varied_weight(x, y) / 255.0;
            halved += test::varied_weight(x, y) / 255.0 * (x == 12 ? 2 : 1) / 4.0;
        }
    ASSERT_GE(bands, 3);
    EXPECT_NEAR(sum_in(all, kChannels, 0, bands), weights, 1e-9);
    EXPECT_NEAR(sum_in(all, kChannels, 1, bands), halved, 1e-9);
}

/// The finest band sees differences where there is weight, and no others.
TEST(CvvdpWeights, PlacesLieWhereTheyAre) {
    const FrameGeometry geometry = geometry_of(96, 40);
    const Clip clip(geometry, 1, [](int x, int) { return x >= 60; });
    const auto seen_at = [&](int x, int y) {
        const std::vector<uint64_t> words = words_under(geometry, clip, test::only_at(x, y));
        return sum_in(words, 0, 0, static_cast<int>(words.size()) / (kChannels + 1));
    };
    for (const int y : {0, 21, 39}) {
        EXPECT_EQ(seen_at(10, y), 0.0);
        EXPECT_EQ(seen_at(50, y), 0.0);
    }
    EXPECT_GT(seen_at(70, 20) + seen_at(71, 20) + seen_at(72, 20) + seen_at(90, 11), 0.0);
}

TEST(CvvdpWeights, WhiteOnesHaveTheSameBits) {
    const FrameGeometry geometry = geometry_of(75, 46), whole = geometry_of(75, 46, 8, false);
    const Clip clip(geometry, 3);
    const auto frames_of = [&](const FrameGeometry& of, int weight) {
        std::vector<test::TestWeights> all_weights;
        for (int f = 0; of.has_weights && f < 3; ++f) all_weights.emplace_back(of, [&](int, int) { return weight; });
        return score_words(of, options_of_words({}), words_under(of, clip, all_weights)).frames;
    };
    const std::vector<double> expected = frames_of(whole, 0), grey = frames_of(geometry, 100);
    EXPECT_EQ(frames_of(geometry, 255), expected);
    for (size_t f = 0; f < 3; ++f) EXPECT_NEAR(grey[f], expected[f], 1e-9 * expected[f]);
    EXPECT_GT(expected[2], 1.0);
}

/// A frame without weight has no value, and those behind it go on as if it had.
TEST(CvvdpWeights, BlackFramesAreLeftOut) {
    const FrameGeometry geometry = geometry_of(40, 30);
    const Clip clip(geometry, 4);
    std::vector<test::TestWeights> all_weights;
    for (int f = 0; f < 4; ++f)
        all_weights.emplace_back(geometry, [&](int x, int y) { return f == 1 ? 0 : test::varied_weight(x, y); });
    const auto words = words_under(geometry, clip, all_weights);
    test::Recorder recorder(descriptor());
    const auto finaliser = create_finaliser(descriptor(), geometry, options_of_words({}));
    for (int64_t f = 0; f < 4; ++f) finaliser->finalise(f, words[static_cast<size_t>(f)], recorder);
    const auto& values = recorder.scores.at("cvvdp_frame");
    EXPECT_EQ(values.size(), 3u);
    EXPECT_EQ(values.count(1), 0u);
}

TEST(CvvdpWeights, RefusesFramesThatWait) {
    const OptionValues options = options_of_words({{"padding", "symmetric"}});
    EXPECT_TRUE(validate(descriptor(), geometry_of(40, 30, 8, false), options).ok());
    const Status status = validate(descriptor(), geometry_of(40, 30), options);
    EXPECT_EQ(status.code(), QC_ERROR_UNSUPPORTED);
    EXPECT_NE(status.text().find("padding=symmetric"), std::string::npos) << status.text();
}

TEST(CvvdpWeights, KernelsAreNearTheCpu) {
    for (const auto& [width, height, depth] :
         std::vector<std::array<int, 3>>{{2, 2, 8}, {7, 13, 8}, {131, 34, 8}, {70, 65, 10}})
        for (const bool draws : {false, true}) {
            SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits");
            const FrameGeometry geometry = geometry_of(width, height, depth);
            const OptionValues options = options_of_words({});
            const Clip clip(geometry, 4);
            std::vector<test::TestWeights> all_weights;
            DeviceClip device;
            for (int f = 0; f < 4; ++f) {
                all_weights.emplace_back(geometry, [&](int x, int y) { return test::varied_weight(x + f, y); });
                const HostPlane sample_weights = all_weights.back().view();
                device.weights.push_back(
                    {sample_weights.data, static_cast<uint32_t>(sample_weights.pitch.bytes), 1, 0});
                device.reference.push_back(clip.pictures[static_cast<size_t>(2 * f)].device());
                device.distorted.push_back(clip.pictures[static_cast<size_t>(2 * f + 1)].device());
            }
            const auto scorer = create_scorer(descriptor(), geometry, options);
            if (draws) scorer->draw_maps();
            test::EmulatedProgram program(emulated_kernels());
            ASSERT_TRUE(scorer->prepare(program).ok());
            const int past = earlier_pairs(descriptor(), geometry, options);
            EmulatedMaps maps{descriptor().map->shape(geometry, options), 255.0f};
            const auto words = emulate(*scorer, device, past, 3, false, 2, draws ? &maps : nullptr);
            EXPECT_EQ(words, emulate(*scorer, device, past, 2, true)) << "other batches, the other order of threads";
            const auto expected = score_words(geometry, options, words_under(geometry, clip, all_weights)).frames;
            const auto actual = score_words(geometry, options, words).frames;
            for (size_t f = 0; f < expected.size(); ++f)
                EXPECT_NEAR(actual[f], expected[f], bound_of(expected[f])) << f;
            if (!draws) continue;
            FrameGeometry whole = geometry;
            whole.has_weights = false;
            const auto plain = create_scorer(descriptor(), whole, options);
            plain->draw_maps();
            test::EmulatedProgram plain_program(emulated_kernels());
            ASSERT_TRUE(plain->prepare(plain_program).ok());
            EmulatedMaps plain_maps{maps.shape, maps.scale};
            emulate(*plain, device, past, 3, false, 2, &plain_maps);
            EXPECT_EQ(maps.frames, plain_maps.frames) << "maps are whole";
        }
}

} // namespace
} // namespace qc::cvvdp
