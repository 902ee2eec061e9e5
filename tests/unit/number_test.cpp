// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "text/number.hpp"

#include <gtest/gtest.h>

namespace qc::test {
namespace {

TEST(Number, NormalisedLikeTheReference) {
    EXPECT_EQ(normalised_number("1.23456789"), "1.23457");
    EXPECT_EQ(normalised_number("1.0"), "1");
    EXPECT_EQ(normalised_number("0.06"), "0.06"); // single precision, then six digits
    EXPECT_EQ(normalised_number("1080"), "1080");
    EXPECT_EQ(normalised_number("16777217"), "1.67772e+07");
    EXPECT_EQ(normalised_number("-1e-3"), "-0.001");
    EXPECT_EQ(normalised_number("+.5"), "0.5");
    EXPECT_EQ(normalised_number("1e-60"), "0");
    for (const char* text : {"", "-", "true", "1.5x", " 1", "nan", "inf", "0x10", "1e60", "+-1", "bilinear"})
        EXPECT_EQ(normalised_number(text), text);
}

TEST(Number, Parsed) {
    EXPECT_EQ(parse_double("-0.3312466607741135"), -0.3312466607741135);
    EXPECT_EQ(parse_double("1e3"), 1000.0);
    for (const char* text : {"", "+", "1 ", "1,5", "nan", "-inf", "1e999"}) EXPECT_FALSE(parse_double(text)) << text;
}

} // namespace
} // namespace qc::test
