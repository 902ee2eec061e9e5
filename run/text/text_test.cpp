// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/text/text.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "quality_cuda_run/text.h"

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

TEST(Text, NumbersForFrontEnds) {
    static const struct {
        double value;
        int decimals;
        size_t size;
        const char* text;
    } kCases[] = {{1.0 / 3, 6, 64, "0.333333"}, {-0.0, 3, 64, "-0.000"}, {-NAN, 3, 64, "nan"}, {INFINITY, 3, 64, "inf"},
                  {1234.5, 0, 64, "1234"},      {1e6, 6, 8, "1000000"},  {1, 3, 1, ""}};
    for (const auto& of : kCases) {
        char text[64] = "before";
        EXPECT_EQ(qcr_number(text, of.size, of.decimals, of.value), text);
        EXPECT_STREQ(text, of.text);
    }
}

} // namespace
} // namespace qc::run
