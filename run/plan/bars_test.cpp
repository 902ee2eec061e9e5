// SPDX-License-Identifier: BSD-2-Clause-Patent
// Made-up pictures with and without bars in; what is compared, out.
#include "quality_cuda_run/bars.h"

#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

constexpr qcr_names kTwo = {{"main", "reference"}, 2};

/// What is shown: where it lies in a picture of some size, and how it is changed.
struct Shown {
    int width, height, x, y;
    int noise = 0;
    int dark = 0; ///< so many first pictures are black
};

constexpr int kWidth = 96, kHeight = 64; ///< of what is shown

int code_of(int x, int y, int time) {
    return static_cast<int>(110 + 40 * std::sin(0.13 * x + 0.1 * time) + 30 * std::cos(0.21 * y - 0.07 * time) +
                            20 * std::sin(0.05 * x * y));
}

struct Result {
    std::vector<qcr_crop> crops{2};
    Lines said;
};

Result decide(const Shown& distorted, const Shown& reference, int pictures = 12, int brightness = 1) {
    Result result;
    qcr_bars* bars = qcr_bars_create();
    qc_format format[2]{};
    qc_error error{};
    unsigned random = 1;
    for (int i = 0; i < 2; ++i) {
        const Shown& of = i == 0 ? distorted : reference;
        EXPECT_EQ(qc_format_from_name("gray", of.width, of.height, &format[i]), QC_OK);
        for (int n = 0; n < pictures; ++n) {
            std::vector<uint8_t> luma(static_cast<size_t>(of.width * of.height), 16);
            for (int y = 0; y < of.height; ++y)
                for (int x = 0; x < of.width; ++x) {
                    const int u = x - of.x, v = y - of.y;
                    const bool is_shown =
                        u >= 0 && v >= 0 && u < kWidth && v < kHeight && n >= of.dark && brightness != 0;
                    int code = is_shown ? code_of(u, v, n) : 16;
                    random = random * 1664525 + 1013904223;
                    if (of.noise != 0)
                        code += static_cast<int>((random >> 16) % static_cast<unsigned>(of.noise)) - of.noise / 2;
                    luma[static_cast<size_t>(y * of.width + x)] = static_cast<uint8_t>(code);
                }
            EXPECT_EQ(qcr_bars_see(bars, i, &format[i], luma.data(), of.width, &error), QC_OK);
        }
    }
    Messages heard;
    const qcr_sink sink = heard.sink();
    const qc_format* const formats[] = {&format[0], &format[1]};
    EXPECT_EQ(qcr_bars_decide(bars, &kTwo, formats, result.crops.data(), &sink), QC_OK);
    qcr_bars_destroy(bars);
    result.said = heard.all;
    return result;
}

std::string text_of(const qcr_crop& crop) {
    return std::to_string(crop.width) + "x" + std::to_string(crop.height) + "+" + std::to_string(crop.x) + "+" +
           std::to_string(crop.y);
}

TEST(Bars, WhatAllShow) {
    constexpr const char* kWhole = "0x0+0+0";
    static const struct {
        const char* what;
        Shown distorted, reference;
        const char *own, *references;
    } kCases[] = {
        {"no bars", {96, 64, 0, 0}, {96, 64, 0, 0}, kWhole, kWhole},
        {"a letterboxed reference", {96, 64, 0, 0, 6}, {96, 88, 0, 12}, kWhole, "96x64+0+12"},
        {"a letterboxed encode", {96, 88, 0, 12, 6}, {96, 64, 0, 0}, "96x64+0+12", kWhole},
        {"pillars", {96, 64, 0, 0, 6}, {128, 64, 16, 0}, kWhole, "96x64+16+0"},
        {"both, not in the middle", {96, 64, 0, 0, 6}, {128, 88, 20, 6}, kWhole, "96x64+20+6"},
        {"the same bars", {96, 88, 0, 12, 6}, {96, 88, 0, 12}, "96x64+0+12", "96x64+0+12"},
        {"other bars", {96, 88, 0, 10, 6}, {96, 80, 0, 4}, "96x64+0+10", "96x64+0+4"},
        {"a black start", {96, 64, 0, 0, 6, 9}, {96, 88, 0, 12, 0, 9}, kWhole, "96x64+0+12"},
    };
    for (const auto& of : kCases) {
        SCOPED_TRACE(of.what);
        const Result result = decide(of.distorted, of.reference);
        EXPECT_EQ(text_of(result.crops[0]), of.own);
        EXPECT_EQ(text_of(result.crops[1]), of.references);
    }
    EXPECT_EQ(decide({96, 64, 0, 0}, {96, 88, 0, 12}).said,
              Lines{"I crop=auto: of input 1 (reference), 96x88, 96x64+0+12 is compared"});
    EXPECT_EQ(decide({96, 64, 0, 0}, {96, 64, 0, 0}).said,
              Lines{"I crop=auto: no input has black bars, nothing is cropped"});
}

TEST(Bars, WhatTellsNothing) {
    const Lines nothing{
        "W crop=auto: the first pictures do not tell beyond doubt what all inputs show, nothing is cropped"};
    EXPECT_EQ(decide({96, 64, 0, 0}, {96, 88, 0, 12}, 12, 0).said, nothing) << "black";
    EXPECT_EQ(decide({96, 64, 0, 0}, {96, 88, 0, 12}, 0).said, nothing) << "no pictures";
    EXPECT_EQ(decide({96, 64, 0, 0, 0, 12}, {96, 88, 0, 12}).said, nothing) << "one of them is black";
    EXPECT_EQ(decide({96, 40, 0, -10}, {96, 64, 0, 0}).said, nothing) << "a part of what the other one shows";
    EXPECT_EQ(decide({96, 64, 0, 0}, {96, 88, 0, 11}).said, nothing) << "chroma could not be cut there";
}

TEST(Bars, FormatsThatAreNotLookedAt) {
    qc_format format{};
    qc_error error{};
    ASSERT_EQ(qc_format_from_name("rgb24", 8, 8, &format), QC_OK);
    qcr_bars* bars = qcr_bars_create();
    EXPECT_EQ(qcr_bars_see(bars, 1, &format, nullptr, 0, &error), QC_ERROR_UNSUPPORTED);
    EXPECT_NE(std::string(error.text).find("put a format filter before it"), std::string::npos);
    qcr_bars_destroy(bars);
}

} // namespace
} // namespace qc::run
