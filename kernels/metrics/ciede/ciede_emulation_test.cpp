// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of the CUDA backend and its kernels, run on the host against the CPU reference. The
// special function unit is replaced by exact functions with an error of more than the documented size on top.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "metrics/ciede/ciede.hpp"
#include "metrics/ciede/ciede_kernels.hpp"
#include "metrics/ciede/ciede_test_colours.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/golden/golden.hpp"

namespace qc::ciede {
namespace {

/// Off by 2^-22 of the value (of 1 for small logarithms), times kRoots for the square root and power, kOthers else.
template <int kRoots, int kOthers>
struct EmulatedSeeds {
    static float scaled(double value, int factor) { return static_cast<float>(value * (1.0 + factor * 0x1p-22)); }
    static float reciprocal(float x) { return scaled(1.0 / x, kOthers); }
    static float inverse_root(float x) { return scaled(1.0 / std::sqrt(static_cast<double>(x)), kRoots); }
    static float exp2(float x) { return scaled(std::exp2(static_cast<double>(x)), kRoots); }
    static float log2(float x) {
        const double exact = std::log2(static_cast<double>(x));
        return static_cast<float>(exact + kOthers * 0x1p-22 * std::max(1.0, std::abs(exact)));
    }
};
using Exact = EmulatedSeeds<0, 0>;

const Tables& tables() {
    static const std::unique_ptr<const Tables> kTables = [] {
        auto filled = std::make_unique<Tables>();
        fill_tables(filled.get());
        return filled;
    }();
    return *kTables;
}

float largest_code(int depth) {
    return static_cast<float>((1 << depth) - 1);
}

double to_decibels(double mean) {
    return 45.0 - 20.0 * std::log10(mean);
}

// ---- functions of one or two variables ------------------------------------------------------------------------------

TEST(CiedeArithmetic, PowerIsGoodTo45Bits) {
    double largest = 0.0;
    for (int i = 0; i < 400000; ++i) {
        const double x = kPowerThreshold + (2.2435 - kPowerThreshold) * i / 400000.0;
        const double expected = static_cast<double>(std::pow(static_cast<long double>(x), 2.4L));
        const double actual = power_of(x, power_interval(x), make_coefficients(8).power, tables().power);
        largest = std::max(largest, std::abs(actual / expected - 1.0));
    }
    EXPECT_LT(largest, 0x1p-45);
}

TEST(CiedeArithmetic, ChannelsBelowTheThresholdTakeTheLine) {
    for (const double x : {-0.9, -1e-9, 0.0, 0.03, kPowerThreshold, std::nextafter(kPowerThreshold, 1.0), 0.1, 2.24}) {
        const double channel = 1.055 * x - 0.055;
        const double expected = x > kPowerThreshold ? std::pow(x, 2.4) : channel / 12.92;
        double channels[] = {x, 0.5, 0.6};
        linearise(channels, make_coefficients(8), tables().power);
        EXPECT_NEAR(channels[0], expected, 1e-14) << x;
        EXPECT_NEAR(channels[1], std::pow(0.5, 2.4), 1e-14) << x;
        EXPECT_NEAR(channels[2], std::pow(0.6, 2.4), 1e-14) << x;
    }
}

template <typename Seeds>
void expect_rounded_cube_roots() {
    std::mt19937 random(1);
    int wrong = 0;
    for (int i = 0; i < 300000; ++i) {
        const double t = std::ldexp(1.0 + random() * 0x1p-32, static_cast<int>(random() % 10) - 7);
        wrong += cube_root<Seeds>(t) != static_cast<float>(std::pow(t, 1.0 / 3.0)) ? 1 : 0;
    }
    EXPECT_LE(wrong, 1);
}

TEST(CiedeArithmetic, CubeRootsAreRounded) {
    expect_rounded_cube_roots<Exact>();
    expect_rounded_cube_roots<EmulatedSeeds<1, 1>>();
    expect_rounded_cube_roots<EmulatedSeeds<-1, 1>>();
    expect_rounded_cube_roots<EmulatedSeeds<1, -1>>();
}

template <typename Seeds>
void expect_rounded_polar_coordinates() {
    std::mt19937 random(2);
    const auto coordinate = [&] {
        const auto integer = static_cast<float>(static_cast<int>(random() % 0x1000000) - 0x800000);
        return std::ldexp(integer, -16 - static_cast<int>(random() % 8));
    };
    int wrong_chromas = 0, wrong_hues = 0;
    for (int i = 0; i < 300000; ++i) {
        const float a = coordinate(), b = coordinate();
        const double x = a, y = b;
        wrong_chromas += chroma_of<Seeds>(a, b) != static_cast<float>(std::sqrt(x * x + y * y)) ? 1 : 0;
        auto hue = static_cast<float>(std::atan2(y, x));
        if (hue < 0.0f) hue = static_cast<float>(hue + 2.0 * kPi);
        wrong_hues += hue_of<Seeds>(b, a, tables().angle) != hue ? 1 : 0;
    }
    EXPECT_LE(wrong_chromas, 1);
    EXPECT_LE(wrong_hues, 2);
}

TEST(CiedeArithmetic, ChromasAndHuesAreRounded) {
    expect_rounded_polar_coordinates<Exact>();
    expect_rounded_polar_coordinates<EmulatedSeeds<1, 1>>();
    expect_rounded_polar_coordinates<EmulatedSeeds<-1, -1>>();
}

TEST(CiedeArithmetic, HuesOnTheAxes) {
    const auto hue = [](float b, float a) { return hue_of<Exact>(b, a, tables().angle); };
    EXPECT_EQ(hue(0.0f, 0.0f), 0.0f);
    EXPECT_EQ(hue(0.0f, 3.0f), 0.0f);
    EXPECT_EQ(hue(2.0f, 0.0f), static_cast<float>(kPi / 2.0));
    EXPECT_EQ(hue(0.0f, -1.0f), static_cast<float>(kPi));
    EXPECT_EQ(hue(-5.0f, 0.0f), static_cast<float>(1.5 * kPi));
    EXPECT_EQ(hue(-1e-6f, 100.0f), static_cast<float>(2.0 * kPi));
    EXPECT_EQ(chroma_of<Exact>(0.0f, 0.0f), 0.0f);
    EXPECT_EQ(chroma_of<Exact>(-3.0f, 4.0f), 5.0f);
}

/// Half a turn is a difference that grey pixels really have.
TEST(CiedeArithmetic, DifferencesAroundHalfATurn) {
    const auto half = static_cast<float>(kPi); // above pi
    EXPECT_EQ(hue_difference(0.0f, std::nextafter(half, 0.0f)), std::nextafter(half, 0.0f));
    EXPECT_EQ(hue_difference(0.0f, half), static_cast<float>(static_cast<double>(half) - 2.0 * kPi));
    EXPECT_EQ(hue_difference(half, 0.0f), static_cast<float>(2.0 * kPi - static_cast<double>(half)));
    EXPECT_EQ(hue_difference(6.0f, 0.25f), static_cast<float>(0.25 - 6.0 + 2.0 * kPi));
    EXPECT_EQ(mean_hue(1.0f, 2.0f), 1.5f);
    EXPECT_EQ(mean_hue(6.0f, 0.25f), static_cast<float>((6.25 + 2.0 * kPi) / 2.0));
    EXPECT_EQ(mean_hue(6.25f, 1.0f), static_cast<float>((7.25 + 2.0 * kPi) / 2.0));
}

TEST(CiedeArithmetic, SmoothFunctions) {
    for (int i = 0; i <= 200000; ++i) {
        const auto x = static_cast<float>(i * (kPi / 2.0) / 200000.0);
        ASSERT_NEAR(sine(x), std::sin(static_cast<double>(x)), 1.2e-7) << x;
        ASSERT_EQ(sine(-x), -sine(x));
        const float e = 30.0f * x;
        ASSERT_NEAR(decay(e), std::exp(-static_cast<double>(e)), 1.5e-7 * std::exp(-static_cast<double>(e))) << e;
        const double hue = 6.0 * x; // up to one and a half turns
        const double expected = 1.0 - 0.17 * std::cos(hue - kPi / 6.0) + 0.24 * std::cos(2.0 * hue) +
                                0.32 * std::cos(3.0 * hue + kPi / 30.0) - 0.20 * std::cos(4.0 * hue - 7.0 * kPi / 20.0);
        // The argument itself is rounded; T changes by up to 2.4 of that.
        ASSERT_NEAR(hue_weight(static_cast<float>(hue), tables().hue), expected, 1.5e-6) << hue;
    }
    EXPECT_LT(decay(1e30f), 1e-20f);
}

// ---- colours --------------------------------------------------------------------------------------------------------

struct Agreement {
    int pairs = 0, other_labs = 0, other_bits = 0;
    double largest = 0.0; ///< relative difference of a pair of colours
};

template <typename Seeds>
void compare_pairs(Colours colours, int depth, int count, Agreement* agreement) {
    const Coefficients coefficients = make_coefficients(depth);
    const auto same = [](const Lab& p, const Lab& q) { return p.lightness == q.lightness && p.a == q.a && p.b == q.b; };
    PairSource source(colours, depth);
    for (int i = 0; i < count; ++i) {
        const Pair pair = source.next();
        const Lab reference = reference_lab(pair.reference, depth), distorted = reference_lab(pair.distorted, depth);
        const Lab a = lab_of<Seeds>(pair.reference, coefficients, tables().power);
        const Lab b = lab_of<Seeds>(pair.distorted, coefficients, tables().power);
        const float expected = reference_difference(reference, distorted);
        const float actual = difference_of<Seeds>(a, b, tables());
        ++agreement->pairs;
        agreement->other_labs += same(a, reference) && same(b, distorted) ? 0 : 1;
        agreement->other_bits += actual == expected ? 0 : 1;
        if (pair.reference == pair.distorted) {
            ASSERT_EQ(actual, 0.0f);
        } else {
            agreement->largest = std::max(agreement->largest, std::abs(static_cast<double>(actual) / expected - 1.0));
        }
    }
}

/// What the descriptor's bound is made from: the largest error on a picture of one pair of colours.
TEST(CiedeEmulation, PairsOfColours) {
    constexpr int kCount = 20000;
    Agreement all;
    for (const int depth : {8, 10, 12, 16})
        for (const Colours colours : {Colours::kAny, Colours::kOneCodeApart, Colours::kGrey, Colours::kSimilar,
                                      Colours::kMuted, Colours::kBlueSide}) {
            compare_pairs<Exact>(colours, depth, kCount, &all);
            compare_pairs<EmulatedSeeds<1, 1>>(colours, depth, kCount, &all);
            compare_pairs<EmulatedSeeds<-1, 1>>(colours, depth, kCount, &all);
            compare_pairs<EmulatedSeeds<-1, -1>>(colours, depth, kCount, &all);
        }
    const double decibels = 20.0 * std::log10(1.0 + all.largest);
    std::printf("%d pairs of colours: %d with another Lab, %d with other bits, largest difference %.3g of the value, "
                "%.3g dB\n",
                all.pairs, all.other_labs, all.other_bits, all.largest, decibels);
    EXPECT_LE(all.other_labs, 2);
    EXPECT_LT(decibels, descriptor().backend_bound.absolute);
}

/// Every grey of 8 bits against itself and against its neighbour.
TEST(CiedeEmulation, GreyAxis) {
    const Coefficients coefficients = make_coefficients(8);
    for (uint32_t y = 0; y < 255; ++y) {
        const Sample grey{y, 128, 128}, next{y + 1, 128, 128};
        const Lab a = lab_of<Exact>(grey, coefficients, tables().power),
                  b = lab_of<Exact>(next, coefficients, tables().power);
        EXPECT_EQ(difference_of<Exact>(a, a, tables()), 0.0f) << y;
        const float expected = reference_difference(reference_lab(grey, 8), reference_lab(next, 8));
        EXPECT_NEAR(difference_of<Exact>(a, b, tables()), expected, 3e-7f * expected) << y;
    }
}

// ---- pictures -------------------------------------------------------------------------------------------------------

/// What the kernels make of a pair.
template <typename Seeds>
double emulated_sum(const DevicePicture& reference, const DevicePicture& distorted, const FrameGeometry& geometry,
                    bool descending = false) {
#define QC_CIEDE_KERNELS_WITH_SEEDS(KERNEL) QC_CIEDE_KERNELS_OF(KERNEL, Seeds)
    test::EmulatedProgram program(QC_EMULATED_KERNELS(QC_CIEDE_KERNELS_WITH_SEEDS));
    const auto scorer = create_scorer(descriptor(), geometry, OptionValues({}));
    EXPECT_TRUE(scorer->prepare(program).ok());
    std::vector<DevicePair> pairs(1);
    pairs[0].reference = reference;
    pairs[0].distorted = distorted;
    test::EmulatedQueue queue(descending);
    return std::bit_cast<double>(test::emulate_batch(*scorer, pairs, queue).at(0));
}

template <typename Seeds>
double emulated_sum(const HostPicture& reference, const HostPicture& distorted, const FrameGeometry& geometry) {
    return emulated_sum<Seeds>(test::device_view(reference), test::device_view(distorted), geometry);
}

/// First pictures of all golden clips.
TEST(CiedeEmulation, GoldenClips) {
    if (const char* reason = golden::missing_clips()) GTEST_SKIP() << reason;
    double largest = 0.0;
    int compared = 0;
    for (const golden::Clip& clip : golden::sampled_clips()) {
        const FrameGeometry geometry = clip.geometry();
        if (!validate(descriptor(), geometry, OptionValues({})).ok()) continue;
        const golden::ClipPictures pictures(clip);
        ASSERT_TRUE(pictures.ok()) << clip.name;
        const HostPicture &reference = pictures.reference()[0], &distorted = pictures.distorted()[0];
        const double pixels = static_cast<double>(geometry.width) * geometry.height;
        const double expected = to_decibels(score_cpu_rows(geometry, {reference, distorted}) / pixels);
        using Seeds = EmulatedSeeds<1, -1>;
        const double actual = to_decibels(emulated_sum<Seeds>(reference, distorted, geometry) / pixels);
        ++compared;
        if (actual == expected) continue; // infinities among them
        EXPECT_NEAR(actual, expected, descriptor().backend_bound.absolute) << clip.name;
        largest = std::max(largest, std::abs(actual - expected));
    }
    std::printf("%d clips, largest difference %.3g dB\n", compared, largest);
    EXPECT_GT(compared, 0);
}

FrameGeometry geometry_of(int width, int height, int depth, int shift_x, int shift_y) {
    return test::geometry_of(width, height, depth, width >> shift_x, height >> shift_y);
}

/// Pictures as decoders leave them: rows padded, chroma apart or interleaved, samples in the upper bits.
void expect_all_layouts(const FrameGeometry& geometry) {
    std::mt19937 random(static_cast<unsigned>(geometry.width * 1000 + geometry.height));
    const auto peak = static_cast<uint32_t>(largest_code(geometry.depth));
    const auto noise = [&](int, int) { return random() & peak; };
    const test::SamplePicture reference(geometry, noise), distorted(geometry, noise);
    const double expected = score_cpu(geometry, {reference.view(), distorted.view()});
    const test::Surface other(distorted, {.padding = 4});
    for (const bool semi_planar : {false, true})
        for (const int shift : {0, 16 - geometry.depth})
            for (const size_t padding : {0, 1, 4, 8}) {
                if (geometry.depth == 8 && shift != 0) continue;
                const test::Surface surface(reference,
                                            {.semi_planar = semi_planar, .shift = shift, .padding = padding});
                const double actual =
                    emulated_sum<FastSeeds>(surface.device(), other.device(), geometry, padding % 4 == 0);
                EXPECT_NEAR(actual / expected, 1.0, 1e-6)
                    << geometry.width << "x" << geometry.height << " " << geometry.depth << " bits, chroma "
                    << geometry.chroma_width << "x" << geometry.chroma_height << ", semi-planar " << semi_planar
                    << ", shift " << shift << ", padding " << padding;
            }
}

TEST(CiedeEmulation, EveryLayoutAndSize) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{2, 2}, {3, 3}, {5, 2}, {7, 18}, {61, 33}, {128, 16}, {131, 19}, {260, 35}})
        for (const auto& [shift_x, shift_y] : std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {1, 1}})
            for (const int depth : {8, 10, 16}) expect_all_layouts(geometry_of(width, height, depth, shift_x, shift_y));
}

/// All pixels alike, all planes one code apart, at the middle of the range: nothing averages out.
TEST(CiedeEmulation, FlatPictures) {
    for (const int depth : {10, 12, 16}) {
        const FrameGeometry geometry = geometry_of(16, 8, depth, 1, 1);
        const int middle = (1 << depth) / 2;
        const test::SamplePicture reference(geometry, [&](int, int) { return middle - 1; });
        const test::SamplePicture distorted(geometry, [&](int, int) { return middle; });
        const double expected = score_cpu(geometry, {reference.view(), distorted.view()});
        const double actual = emulated_sum<EmulatedSeeds<-1, 1>>(reference.view(), distorted.view(), geometry);
        EXPECT_NEAR(to_decibels(actual), to_decibels(expected), descriptor().backend_bound.absolute) << depth;
        EXPECT_EQ(emulated_sum<Exact>(reference.view(), reference.view(), geometry), 0.0);
    }
}

/// What is counted with weights: the weighted differences, nearly, and the sum of the weights.
TEST(CiedeEmulation, Weights) {
    for (const auto& [width, height, depth, shift] :
         std::vector<std::array<int, 4>>{{6, 4, 8, 1}, {131, 19, 8, 1}, {61, 33, 10, 1}, {128, 16, 16, 0}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits");
        FrameGeometry geometry = geometry_of(width, height, depth, shift, shift);
        geometry.has_weights = true;
        std::mt19937 random(static_cast<unsigned>(width));
        const auto peak = static_cast<uint32_t>(largest_code(depth));
        const auto noise = [&](int, int) { return random() & peak; };
        std::vector<test::EmulatedPicture> pictures;
        for (int i = 0; i < 4; ++i) pictures.emplace_back(test::SamplePicture(geometry, noise), test::SurfaceLayout{});
        test::EmulatedPairs pairs(pictures);
        const test::EmulatedWeights weights(geometry, &pairs);
        test::EmulatedProgram program(QC_EMULATED_KERNELS(QC_CIEDE_KERNELS));
        const auto scorer = create_scorer(descriptor(), geometry, OptionValues({}));
        ASSERT_TRUE(scorer->prepare(program).ok());
        const std::vector<uint64_t> expected = pairs.cpu_words(*scorer);
        for (const bool descending : {false, true}) {
            test::EmulatedQueue queue(descending);
            const std::vector<uint64_t> actual = test::emulate_batch(*scorer, pairs.device, queue);
            for (size_t i = 0; i < 2; ++i) {
                const double sum = std::bit_cast<double>(expected[i * kWeightedWords + kDifferences]);
                EXPECT_NEAR(std::bit_cast<double>(actual[i * kWeightedWords + kDifferences]), sum, 1e-6 * sum);
                EXPECT_EQ(actual[i * kWeightedWords + kWeights], expected[i * kWeightedWords + kWeights]);
                EXPECT_GT(sum, 0.0);
            }
        }
    }
}

} // namespace
} // namespace qc::ciede
