// SPDX-License-Identifier: BSD-2-Clause-Patent
// The rows of the CPU backend against the reference: their functions within the stated error, their scores bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "metrics/ciede/ciede.hpp"
#include "metrics/ciede/ciede_row_math.hpp"
#include "metrics/ciede/ciede_test_colours.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/sample_picture.hpp"

namespace qc::ciede {
namespace {

/// The largest relative error on `count` places from `low` to `high`.
template <class Actual, class Expected>
double largest_error(double low, double high, const Actual& actual, const Expected& expected) {
    constexpr int kCount = 300000;
    double largest = 0.0;
    for (int i = 0; i <= kCount; ++i) {
        const double x = low + (high - low) * i / kCount;
        const long double exact = expected(static_cast<long double>(x));
        if (exact == 0.0L) continue;
        largest = std::max(largest, static_cast<double>(std::abs((actual(x) - exact) / exact)));
    }
    return largest;
}

long double exact_hue_weight(long double hue) {
    constexpr long double kExactPi = 3.14159265358979323846264338327950288L;
    return 1.0L - 0.17L * std::cos(hue - kExactPi / 6.0L) + 0.24L * std::cos(2.0L * hue) +
           0.32L * std::cos(3.0L * hue + kExactPi / 30.0L) - 0.20L * std::cos(4.0L * hue - 7.0L * kExactPi / 20.0L);
}

/// Half of what is allowed, as what goes into a function has an error of its own.
constexpr double kAllowed = rows::kRelativeError / 2.0;

template <class Cpu>
void expect_good_functions() {
    using Real = long double;
    const auto sine = [](Real x) { return std::sin(x); };
    EXPECT_LT(
        largest_error(
            0.0078125, 4.0, [](double x) { return rows::cube_root<Cpu>(x); }, [](Real t) { return std::cbrt(t); }),
        kAllowed);
    EXPECT_LT(largest_error(
                  0.0625, 2.3, [](double x) { return rows::power_of_twelve_fifths<Cpu>(x); },
                  [](Real x) { return std::pow(x, 2.4L); }),
              kAllowed);
    EXPECT_LT(
        largest_error(
            0.001, 300.0, [](double x) { return rows::seventh_power(x); }, [](Real x) { return std::pow(x, 7.0L); }),
        kAllowed);
    EXPECT_LT(largest_error(
                  0.0, 64.0, [](double x) { return rows::decay<Cpu>(x); }, [](Real x) { return std::exp(-x); }),
              kAllowed);
    EXPECT_LT(largest_error(
                  -1.5709, 1.5709, [](double x) { return rows::sine<Cpu>(x); }, sine),
              kAllowed);
    EXPECT_LT(largest_error(
                  1e-9, 1e-6, [](double x) { return rows::sine<Cpu>(x); }, sine),
              kAllowed);
    EXPECT_LT(largest_error(
                  0.0, 2.5 * rows::kPi, [](double x) { return rows::hue_weight<Cpu>(x); }, exact_hue_weight),
              kAllowed);
}

/// With products that are rounded and with those that are not.
TEST(CiedeRows, FunctionsAreGoodToTheStatedError) {
    expect_good_functions<device::AnyCpu>();
    expect_good_functions<device::CpuWithAvx2>();
}

TEST(CiedeRows, AnglesAreGoodToTheStatedError) {
    double largest = 0.0;
    for (int i = 0; i < 300000; ++i) {
        const double turn = (i - 150000) / 150000.0 * rows::kPi;
        const double b = 3.7 * std::sin(turn), a = 3.7 * std::cos(turn);
        const long double exact = std::atan2(static_cast<long double>(b), static_cast<long double>(a));
        if (exact == 0.0L) continue;
        for (const double angle : {rows::angle_of(b, a), rows::angle_of<device::CpuWithAvx2>(b, a)})
            largest = std::max(largest, static_cast<double>(std::abs((angle - exact) / exact)));
    }
    EXPECT_LT(largest, kAllowed);
    EXPECT_EQ(rows::angle_of(0.0, 0.0), 0.0);
    EXPECT_EQ(rows::angle_of(0.0, 5.0), 0.0);
    EXPECT_EQ(rows::angle_of(2.0, 0.0), rows::kPi / 2.0);
    EXPECT_EQ(rows::angle_of(-2.0, 0.0), -rows::kPi / 2.0);
    EXPECT_EQ(rows::angle_of(0.0, -1.0), rows::kPi);
    EXPECT_EQ(rows::angle_of(-0.0, -1.0), -rows::kPi);
    EXPECT_EQ(rows::angle_of(1e-30, 1e-30), static_cast<double>(std::atan2(1e-30, 1e-30)));
}

/// Who is not doubted has the same float within the allowed error.
TEST(CiedeRows, DoubtIsNeverMissing) {
    std::mt19937_64 random(1);
    int doubted = 0, other_floats = 0;
    for (int i = 0; i < 400000; ++i) {
        // Every second one near halfway between two floats.
        uint64_t bits = (random() >> 12) | uint64_t{0x3fe} << 52 | random() << 63;
        if (i % 2 == 0) bits = (bits & ~uint64_t{0x1fffffff}) + (uint64_t{1} << 28) + random() % 0x8000 - 0x4000;
        const auto value = std::bit_cast<double>(bits);
        const auto low = static_cast<float>(value * (1.0 - rows::kRelativeError)),
                   high = static_cast<float>(value * (1.0 + rows::kRelativeError));
        other_floats += low != high ? 1 : 0;
        doubted += rows::doubt(value) < 0 ? 1 : 0;
        if (low != high) {
            ASSERT_LT(rows::doubt(value), 0) << value;
        }
    }
    EXPECT_GT(other_floats, 10000);
    EXPECT_LT(doubted, 120000); // of the half that was near
    EXPECT_GE(rows::doubt(0.0), 0);
    EXPECT_GE(rows::doubt(60.0), 0);
}

struct Comparison {
    int pixels = 0, asked = 0, others = 0;
};

void compare_pairs(Colours colours, int depth, int blocks, Comparison* comparison) {
    PairSource source(colours, depth);
    std::vector<uint16_t> codes[2][3];
    std::vector<Pair> pairs;
    for (int i = 0; i < blocks * kRowBlock; ++i) {
        pairs.push_back(source.next());
        const Sample samples[2] = {pairs.back().reference, pairs.back().distorted};
        for (int k = 0; k < 2; ++k) {
            const uint32_t values[3] = {samples[k].y, samples[k].u, samples[k].v};
            for (int p = 0; p < 3; ++p) codes[k][p].push_back(static_cast<uint16_t>(values[p]));
        }
    }
    std::vector<float> differences(pairs.size(), -1.0f);
    const auto rows_of = [&](int k) { return CodeRows{{codes[k][0].data(), codes[k][1].data(), codes[k][2].data()}}; };
    comparison->asked += difference_row(rows_of(0), rows_of(1), blocks, depth, differences.data());
    for (size_t i = 0; i < pairs.size(); ++i) {
        const auto [a, b] = pairs[i];
        const float expected = reference_difference(reference_lab(a, depth), reference_lab(b, depth));
        const bool same = std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(differences[i]);
        ++comparison->pixels;
        if (!same && comparison->others++ < 5) {
            ADD_FAILURE() << depth << " bits, " << a.y << " " << a.u << " " << a.v << " and " << b.y << " " << b.u
                          << " " << b.v << ": " << differences[i] << " in place of " << expected;
        }
    }
}

/// Colours that no display shows, dark ones of strong chroma, are the reference's more often.
TEST(CiedeRows, EveryBitOfPairsOfColours) {
    for (const auto& [colours, most_asked] : {std::pair{Colours::kAny, 0.05},
                                              {Colours::kOneCodeApart, 0.03},
                                              {Colours::kGrey, 0.001},
                                              {Colours::kSimilar, 0.03},
                                              {Colours::kMuted, 0.03},
                                              {Colours::kBlueSide, 0.001}}) {
        Comparison comparison;
        for (const int depth : {8, 10, 12, 16}) compare_pairs(colours, depth, 500, &comparison);
        EXPECT_EQ(comparison.others, 0);
        std::printf("%d pairs of colours, the reference was asked for %d\n", comparison.pixels, comparison.asked);
        EXPECT_LT(comparison.asked, most_asked * comparison.pixels);
    }
}

/// Pictures of every way to halve chroma, odd sizes among them.
TEST(CiedeRows, EveryBitOfPictures) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{
             {2, 2}, {3, 3}, {5, 2}, {7, 18}, {63, 33}, {64, 5}, {65, 6}, {128, 16}, {131, 19}, {260, 35}})
        for (const auto& [shift_x, shift_y] : std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {1, 1}})
            for (const int depth : {8, 10, 16}) {
                const FrameGeometry geometry =
                    test::geometry_of(width, height, depth, width >> shift_x, height >> shift_y);
                std::mt19937 random(static_cast<unsigned>(width * 1000 + height));
                const auto noise = [&](int, int) { return random() & ((1u << depth) - 1); };
                const test::SamplePicture reference(geometry, noise), distorted(geometry, noise);
                const HostPair pair{reference.view(), distorted.view()};
                EXPECT_EQ(std::bit_cast<uint64_t>(score_cpu_rows(geometry, pair)),
                          std::bit_cast<uint64_t>(score_cpu(geometry, pair)))
                    << width << "x" << height << ", " << depth << " bits, chroma " << geometry.chroma_width << "x"
                    << geometry.chroma_height;
            }
}

} // namespace
} // namespace qc::ciede
