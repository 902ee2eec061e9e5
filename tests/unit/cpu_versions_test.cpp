// SPDX-License-Identifier: BSD-2-Clause-Patent
// What versions of CPU functions count on: that every machine rounds a * b + c once, to the same bits.
#include "device/cpu_versions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "device/row_blur.hpp"

namespace qc::device {
namespace {

template <typename Real>
class Numbers {
public:
    /// Of all sizes around 1, and often with few digits, so that sums lie halfway between two numbers.
    Real next() {
        const Real digits = static_cast<Real>(std::uniform_real_distribution<double>(-2.0, 2.0)(random_));
        const int power = std::uniform_int_distribution<int>(-30, 30)(random_);
        const bool is_short = random_() % 2 == 0;
        return std::ldexp(is_short ? std::round(digits * 8) / 8 : digits, power);
    }

private:
    std::mt19937 random_{7};
};

template <typename Real>
void expect_fused() {
    Numbers<Real> numbers;
    for (int i = 0; i < 500000; ++i) {
        const Real a = numbers.next(), b = numbers.next();
        // Every second one nearly cancels, or ends between two places of the product.
        const Real c = i % 2 == 0 ? numbers.next() : -a * b * (1 + static_cast<Real>(std::ldexp(1.0, -(i % 60))));
        ASSERT_EQ(exact_fused(a, b, c), std::fma(a, b, c)) << a << " * " << b << " + " << c;
    }
}

TEST(CpuVersions, ArithmeticRoundsOnceAsTheInstructionDoes) {
    expect_fused<float>();
    expect_fused<double>();
}

constexpr int kRadius = 5, kWidth = 259, kRows = 13;
constexpr int kMargin = 32, kPitch = kWidth + 2 * kMargin; ///< rows are read and written up to the ends of vectors

template <typename Cpu>
QC_INLINE_HELPER void blur_on(const float* tap, const float* const* rows, const float* scale, float* const* to,
                              float* along) {
    blur_columns<Cpu, kRadius>(tap, rows, scale, kRows, kWidth, to);
    blur_along<Cpu, kRadius>(tap, rows[0], rows[1], kWidth, along);
}
QC_CPU_VERSIONS(blur, (const float* tap, const float* const* rows, const float* scale, float* const* to, float* along),
                (tap, rows, scale, to, along))

TEST(CpuVersions, VectorsOfEveryWidthHaveTheSameBits) {
    Numbers<float> numbers;
    std::vector<std::vector<float>> rows(kRows + 2 * kRadius, std::vector<float>(kPitch));
    std::vector<const float*> around;
    for (auto& row : rows) {
        for (float& sample : row) sample = numbers.next();
        around.push_back(row.data() + kMargin);
    }
    float tap[kRadius + 1], scale[kRows];
    for (float& weight : tap) weight = numbers.next();
    for (float& factor : scale) factor = numbers.next();
    const auto results = [&](const auto& blurred) {
        std::vector<float> all((kRows + 1) * kPitch);
        float* to[kRows + 1];
        for (int i = 0; i <= kRows; ++i) to[i] = all.data() + i * kPitch;
        blurred(tap, around.data() + kRadius, scale, to, to[kRows]);
        for (float* row : to) std::fill(row + kWidth, row + kPitch, 0.0f);
        return all;
    };
    const auto of_this_machine = results(blur);
    const auto of_any = results([](const float* taps, const float* const* from, const float* factors, float* const* to,
                                   float* along) { blur_on<AnyCpu>(taps, from, factors, to, along); });
    ASSERT_EQ(of_this_machine.size(), of_any.size());
    EXPECT_EQ(std::memcmp(of_this_machine.data(), of_any.data(), of_any.size() * sizeof(float)), 0);
}

} // namespace
} // namespace qc::device
