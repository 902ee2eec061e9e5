// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floats in 16 bits on the host, which stand for the GPU's conversions in emulated kernels.
#include "device/half_floats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace qc::device {
namespace {

constexpr Half kOne = 0x3c00, kLargest = 0x7bff, kInfinite = 0x7c00, kSign = 0x8000;

TEST(HalfFloats, KnownValues) {
    EXPECT_EQ(float_of_half(kOne), 1.0f);
    EXPECT_EQ(float_of_half(0x3555), 0.333251953125f);
    EXPECT_EQ(float_of_half(kLargest), 65504.0f);
    EXPECT_EQ(float_of_half(0x0400), 0x1p-14f); // the smallest normal number
    EXPECT_EQ(float_of_half(0x0001), 0x1p-24f);
    EXPECT_EQ(half_of(1.0f / 3.0f), 0x3555);
    EXPECT_EQ(half_of(-1.0f), kOne | kSign);
    EXPECT_EQ(half_of(-0.0f), kSign);
}

/// Every number, and what lies between it and the next one: to the nearest, ties to the even one.
TEST(HalfFloats, RoundsToNearest) {
    for (Half half = 0; half < kLargest; ++half) {
        const float value = float_of_half(half), next = float_of_half(half + 1), middle = (value + next) / 2;
        ASSERT_LT(value, next);
        for (const Half sign : {Half{0}, kSign}) {
            const float factor = sign == 0 ? 1.0f : -1.0f;
            ASSERT_EQ(half_of(factor * value), half | sign);
            ASSERT_EQ(half_of(factor * middle), (half % 2 == 0 ? half : half + 1) | sign) << half;
            ASSERT_EQ(half_of(factor * std::nextafter(middle, value)), half | sign) << half;
            ASSERT_EQ(half_of(factor * std::nextafter(middle, next)), (half + 1) | sign) << half;
        }
    }
}

TEST(HalfFloats, WhatIsTooLargeIsInfinite) {
    EXPECT_EQ(half_of(std::nextafter(65520.0f, 0.0f)), kLargest);
    for (const float large : {65520.0f, 1e30f, std::numeric_limits<float>::infinity()}) {
        EXPECT_EQ(half_of(large), kInfinite);
        EXPECT_EQ(half_of(-large), kInfinite | kSign);
    }
}

TEST(HalfFloats, PairsAndRows) {
    const uint32_t pair = half_pair_of(1.0f, -0.25f);
    EXPECT_EQ(low_of_pair(pair), 1.0f);
    EXPECT_EQ(high_of_pair(pair), -0.25f);
    alignas(8) Half row[4];
    store_half2(row, 0.5f, -1.0f);
    store_half2(row + 2, 3.0f, 0.0f);
    const Float4 read = load_half4(row);
    EXPECT_EQ(read.value[0], 0.5f);
    EXPECT_EQ(read.value[1], -1.0f);
    EXPECT_EQ(read.value[3], 0.0f);
}

} // namespace
} // namespace qc::device
