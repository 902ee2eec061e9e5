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

constexpr int kWidth = 96, kHeight = 64; ///< of what is shown

/// What is shown: where it lies in a picture of some size, and how it is changed.
struct Shown {
    int width, height, x, y;
    int noise = 0;
    int dark = 0;                      ///< so many first pictures are black
    int wide = kWidth, high = kHeight; ///< it is stretched to that
    int matte = 0;                     ///< so many rows of it are black above, and below
};

int code_of(double x, double y, int time) {
    return static_cast<int>(110 + 40 * std::sin(0.13 * x + 0.1 * time) + 30 * std::cos(0.21 * y - 0.07 * time) +
                            20 * std::sin(0.05 * x * y));
}

struct Result {
    std::vector<qcr_crop> crops{2};
    Lines said;
};

void show(qcr_bars* bars, const Shown& distorted, const Shown& reference, int first, int pictures, int brightness) {
    qc_format format[2]{};
    qc_error error{};
    unsigned random = 1 + static_cast<unsigned>(first);
    for (int i = 0; i < 2; ++i) {
        const Shown& of = i == 0 ? distorted : reference;
        EXPECT_EQ(qc_format_from_name("gray", of.width, of.height, &format[i]), QC_OK);
        for (int n = first; n < first + pictures; ++n) {
            std::vector<uint8_t> luma(static_cast<size_t>(of.width * of.height), 16);
            for (int y = 0; y < of.height; ++y)
                for (int x = 0; x < of.width; ++x) {
                    const int u = x - of.x, v = y - of.y;
                    const bool is_shown = u >= 0 && v >= of.matte && u < of.wide && v < of.high - of.matte &&
                                          n >= of.dark && brightness != 0;
                    int code = is_shown
                                   ? code_of((u + 0.5) * kWidth / of.wide - 0.5, (v + 0.5) * kHeight / of.high - 0.5, n)
                                   : 16;
                    random = random * 1664525 + 1013904223;
                    if (of.noise != 0)
                        code += static_cast<int>((random >> 16) % static_cast<unsigned>(of.noise)) - of.noise / 2;
                    luma[static_cast<size_t>(y * of.width + x)] = static_cast<uint8_t>(code);
                }
            EXPECT_EQ(qcr_bars_see(bars, i, &format[i], luma.data(), of.width, &error), QC_OK);
        }
    }
}

Result decide(const Shown& distorted, const Shown& reference, int pictures = 12, int brightness = 1) {
    Result result;
    qcr_bars* bars = qcr_bars_create(1);
    show(bars, distorted, reference, 0, pictures, brightness);
    Messages heard;
    const qcr_sink sink = heard.sink();
    EXPECT_EQ(qcr_bars_decide(bars, &kTwo, result.crops.data(), &sink), QC_OK);
    qcr_bars_destroy(bars);
    result.said = heard.all;
    return result;
}

/// What the watch says of them. @param early what it says before the end @param scales the inputs are scaled already
Lines watch(const Shown& distorted, const Shown& reference, int pairs = 12, bool scales = false,
            Lines* early = nullptr) {
    qcr_bars* bars = qcr_bars_create(0);
    EXPECT_EQ(qcr_bars_awaits(bars), 0);
    Messages heard;
    const qcr_sink sink = heard.sink();
    for (int n = 0; n < pairs; ++n) {
        if (qcr_bars_wants_pair(bars, 2) != 0) show(bars, distorted, reference, n, 1, 1);
        qcr_bars_say(bars, &kTwo, scales ? 1 : 0, 0, &sink);
    }
    if (early != nullptr) *early = heard.all;
    qcr_bars_say(bars, &kTwo, scales ? 1 : 0, 1, &sink);
    qcr_bars_destroy(bars);
    return heard.all;
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

TEST(Bars, PartsOfEqualPicturesAreFound) {
    const Result result = decide({96, 64, 0, 0, 6}, {96, 64, 0, 0, 0, 0, 96, 64, 12});
    EXPECT_EQ(text_of(result.crops[0]), "96x40+0+12");
    EXPECT_EQ(text_of(result.crops[1]), "96x40+0+12");
    EXPECT_EQ(decide({96, 64, 0, 0, 6}, {96, 64, 0, 12, 0, 0, 96, 40})
                  .said.front()
                  .find("W contents: the inputs have different black bars"),
              0U);
}

TEST(Bars, TheWatchTellsOfThoseThatDiffer) {
    static const struct {
        const char* what;
        Shown distorted, reference;
        const char* remedy;
    } kCases[] = {
        {"no bars", {96, 64, 0, 0, 6}, {96, 64, 0, 0}, ""},
        {"the same bars", {96, 88, 0, 12, 6}, {96, 88, 0, 12}, ""},
        {"the same pillars", {128, 64, 16, 0, 6}, {128, 64, 16, 0}, ""},
        {"a letterboxed reference, cut",
         {96, 64, 0, 0, 6},
         {96, 64, 0, 0, 0, 0, 96, 64, 12},
         "crop=96x40+0+12|96x40+0+12"},
        {"a letterboxed encode, cut", {96, 64, 0, 0, 6, 0, 96, 64, 12}, {96, 64, 0, 0}, "crop=96x40+0+12|96x40+0+12"},
        {"a letterboxed reference, stretched",
         {96, 64, 0, 0, 6},
         {96, 64, 0, 10, 0, 0, 96, 44},
         "crop=|96x44+0+10:scale=bicubic"},
        {"a letterboxed encode, squeezed",
         {96, 64, 0, 10, 6, 0, 96, 44},
         {96, 64, 0, 0},
         "crop=96x44+0+10:scale=bicubic"},
        {"pillars, squeezed", {96, 64, 14, 0, 6, 0, 68, 64}, {96, 64, 0, 0}, "crop=68x64+14+0:scale=bicubic"},
        {"a smaller picture in a frame",
         {96, 64, 16, 12, 6, 0, 60, 40},
         {96, 64, 0, 0},
         "crop=60x40+16+12:scale=bicubic"},
        {"a letterbox magnified, and cut at its sides",
         {96, 64, -22, 0, 6, 0, 140, 64},
         {96, 64, 0, 10, 0, 0, 96, 44},
         "crop=86x64+10+0|59x44+22+10:scale=bicubic"},
        {"the same bars elsewhere", {96, 96, 0, 4, 6}, {96, 96, 0, 24}, "crop=96x64+0+4|96x64+0+24"},
        {"a black start", {96, 64, 0, 0, 6, 9}, {96, 64, 0, 10, 0, 9, 96, 44}, "crop=|96x44+0+10:scale=bicubic"},
    };
    for (const auto& of : kCases) {
        SCOPED_TRACE(of.what);
        const Lines said = watch(of.distorted, of.reference, 40);
        ASSERT_EQ(said.size(), *of.remedy != '\0' ? 1U : 0U) << (said.empty() ? "" : said.front());
        if (said.empty()) continue;
        EXPECT_TRUE(said.front().ends_with(": use quality_cuda=" + std::string(of.remedy))) << said.front();
    }
    EXPECT_EQ(
        watch({96, 64, 0, 0}, {96, 64, 0, 10, 0, 0, 96, 44}, 12, true),
        Lines{"W contents: the inputs have different black bars: main (96x64) shows in 96x64+0+0 what the reference "
              "(96x64) shows in 96x44+0+10, and scores compare bars with pictures, and other places: use "
              "quality_cuda=crop=|96x44+0+10"});
}

TEST(Bars, TheWatchWaitsForWhatTells) {
    Lines early;
    EXPECT_EQ(watch({96, 64, 0, 0}, {96, 64, 0, 10, 0, 0, 96, 44}, 60, false, &early).size(), 1U);
    EXPECT_EQ(early.size(), 0U) << "too few pictures so far";
    EXPECT_EQ(watch({96, 64, 0, 0}, {96, 64, 0, 10, 0, 0, 96, 44}, 100, false, &early).size(), 1U);
    EXPECT_EQ(early.size(), 1U);
    EXPECT_EQ(watch({96, 64, 0, 0, 0, 70}, {96, 64, 0, 10, 0, 70, 96, 44}, 100, false, &early).size(), 1U)
        << "black start";
    EXPECT_EQ(early.size(), 0U);
    EXPECT_EQ(watch({96, 64, 0, 0, 0, 100}, {96, 64, 0, 10, 0, 100, 96, 44}, 90).size(), 0U) << "all black";
    EXPECT_EQ(watch({96, 64, 0, 0}, {96, 64, 0, 10, 0, 100, 96, 44}, 90).size(), 0U) << "one is all black";
    EXPECT_EQ(watch({96, 64, 0, 0}, {96, 64, 0, 10, 0, 0, 96, 44}, 0).size(), 0U);
}

TEST(Bars, FormatsThatAreNotLookedAt) {
    qc_format format{};
    qc_error error{};
    ASSERT_EQ(qc_format_from_name("rgb24", 8, 8, &format), QC_OK);
    qcr_bars* bars = qcr_bars_create(1);
    EXPECT_EQ(qcr_bars_see(bars, 1, &format, nullptr, 0, &error), QC_ERROR_UNSUPPORTED);
    EXPECT_NE(std::string(error.text).find("put a format filter before it"), std::string::npos);
    qcr_bars_destroy(bars);
    qcr_bars* watched = qcr_bars_create(0);
    EXPECT_EQ(qcr_bars_see(watched, 1, &format, nullptr, 0, &error), QC_OK) << "the watch does without";
    EXPECT_EQ(qcr_bars_wants_pair(watched, 2), 0);
    qcr_bars_destroy(watched);
}

} // namespace
} // namespace qc::run
