// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/text/text.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

TEST(Text, NumbersAreThoseOfPrintfInTheCLocale) {
    for (const double value : {0.0, -0.0, 1.0, 95.123456789, -3.5e-9, 1e15, 1e300, 2.5, 0.0000005}) {
        EXPECT_EQ(number(value, 6), formatted("%.6f", value));
        EXPECT_EQ(number(value, 3), formatted("%.3f", value));
        EXPECT_EQ(brief_number(value), formatted("%g", value));
    }
    EXPECT_EQ(number(-std::nan(""), 6), "nan");
    EXPECT_EQ(number(-std::numeric_limits<double>::infinity(), 6), "-inf");
    EXPECT_EQ(number(std::numeric_limits<double>::max(), 6).size(), 309U + 7U);
}

TEST(Text, JsonStaysJson) {
    EXPECT_EQ(json_string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c  \"");
    EXPECT_EQ(json_string("\xc3\xa9\xff"), "\"\xc3\xa9\\ufffd\"");
    EXPECT_EQ(json_number(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(json_number(1.5), "1.500000");
}

} // namespace
} // namespace qc::run
