// SPDX-License-Identifier: BSD-2-Clause-Patent
// What two inputs promise in; a refusal, or what is said of them, out.
#include "quality_cuda_run/inputs.h"

#include <string>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

struct Promised {
    const char* format;
    int width = 64, height = 36, rate_num = 25, rate_den = 1;
};

qcr_input_promise promise_of(const Promised& of) {
    qcr_input_promise promise{};
    EXPECT_EQ(qc_format_from_name(of.format, of.width, of.height, &promise.format), QC_OK) << of.format;
    promise.format_name = of.format;
    promise.rate_num = of.rate_num;
    promise.rate_den = of.rate_den;
    return promise;
}

struct Result {
    std::string refusal;
    Lines said;
};

Result check(const Promised& own, const Promised& main, int input = 1, qcr_promise_rules rules = {}) {
    const qcr_names names = {{"main", "reference", "main1"}, 3};
    const qcr_input_promise promise = promise_of(own), distorted = promise_of(main);
    Messages heard;
    const qcr_sink sink = heard.sink();
    qc_error error{};
    rules.names = &names;
    const qc_status status = qcr_check_input(&rules, input, &promise, &distorted, &sink, &error);
    EXPECT_EQ(status, *error.text != '\0' ? QC_ERROR_INVALID : QC_OK);
    return {error.text, heard.all};
}

TEST(Inputs, Sizes) {
    const std::string text =
        "Input 2 (main1) is 32x18, main is 64x36; scale first, e.g. [0:v]scale=32:18:flags=bicubic[d];"
        "[d][2:v]quality_cuda (GPU: scale_cuda=32:18:interp_algo=bicubic)";
    const Promised small = {"gray", 32, 18}, main = {"gray"};
    EXPECT_EQ(check(small, main, 2).refusal, text + ", or have it scaled here: quality_cuda=scale=bicubic");
    EXPECT_EQ(check(small, main, 2, {nullptr, 0, 1, 0}).refusal, text);
    EXPECT_EQ(check(small, main, 2, {nullptr, 1, 0, 0}).refusal, "");
    EXPECT_EQ(check({"gray", 64, 18}, main).refusal.empty(), false);
}

TEST(Inputs, ColoursAreNotConverted) {
    const Result result = check({"gbrp"}, {"yuv420p10le"});
    EXPECT_EQ(result.refusal,
              "Input 1 (reference) is gbrp (RGB), main is yuv420p10le (4:2:0); convert one of them first, "
              "e.g. with [0:v]format=gbrp[d];[d][1:v]quality_cuda");
    EXPECT_EQ(result.said, Lines{});
}

TEST(Inputs, Chroma) {
    static const struct {
        const char *own, *main;
        int input;
        const char *text, *advice;
    } kCases[] = {
        {"yuv444p", "nv12", 1, "yuv444p (4:4:4), main is nv12 (4:2:0)", "yuv420p"},
        {"p010le", "yuv422p10le", 1, "p010le (4:2:0), main is yuv422p10le (4:2:2)", "yuv422p10le"},
        {"yuv420p16le", "gray16le", 1, "yuv420p16le (4:2:0), main is gray16le (no chroma)", "gray16le"},
        {"gray12le", "p212le", 2, "gray12le (no chroma), main is p212le (4:2:2)", nullptr},
    };
    for (const auto& of : kCases) {
        std::string text = std::string(of.input == 1 ? "I Input 1 (reference) is " : "I Input 2 (main1) is ") +
                           of.text + ": only luma can be compared";
        if (of.advice != nullptr)
            text += std::string("; for chroma convert the reference first, e.g. [1:v]format=") + of.advice +
                    "[r];[0:v][r]quality_cuda";
        EXPECT_EQ(check({of.own}, {of.main}, of.input).said, Lines{text});
    }
}

TEST(Inputs, Depths) {
    EXPECT_EQ(
        check({"yuv420p"}, {"p010le"}).said,
        Lines{"I Input 1 (reference) has 8 bits, main has 10: both are scored at 10 bits, the smaller samples shifted "
              "left"});
}

TEST(Inputs, Rates) {
    static const struct {
        int own[2], main[2];
        int by_index;
        bool warns;
    } kCases[] = {
        {{25, 1}, {50, 2}, 0, false}, {{25, 1}, {30000, 1001}, 0, true}, {{25, 1}, {30000, 1001}, 1, false},
        {{0, 1}, {25, 1}, 0, false},  {{25, 1}, {1, 0}, 0, false},       {{25, 1}, {2000000000, 1}, 0, false},
    };
    for (const auto& of : kCases) {
        const Lines said = check({"gray", 64, 36, of.own[0], of.own[1]}, {"gray", 64, 36, of.main[0], of.main[1]}, 1,
                                 {nullptr, 0, 0, of.by_index})
                               .said;
        EXPECT_EQ(said, of.warns
                            ? Lines{"W Input 1 (reference) has 25/1 frames per second, main has 30000/1001: frames are "
                                    "paired by time, the counts follow at the end"}
                            : Lines{});
    }
}

TEST(Inputs, ChromaThatIsRepeatedIsNoOther) {
    EXPECT_EQ(check({"yuv411p"}, {"yuv422p"}).said, Lines{});
    EXPECT_EQ(check({"yuv440p12le"}, {"yuv444p12le"}).said, Lines{});
    EXPECT_EQ(check({"v30xle"}, {"yuv411p"}).said.size(), 2u) << "chroma and depth";
    EXPECT_EQ(check({"v30xle"}, {"yuv411p"}).said[0],
              "I Input 1 (reference) is v30xle (4:4:4), main is yuv411p (4:1:1): only luma can be compared; for chroma "
              "convert the reference first, e.g. [1:v]format=yuv422p10le[r];[0:v][r]quality_cuda");
}

TEST(Inputs, ConversionsByLavfi) {
    const qcr_names names = {{"main", "reference"}, 2};
    static const struct {
        qcr_link_colours from, to;
        const char* text;
    } kCases[] = {
        {{"rgb24", nullptr, nullptr, 1},
         {"yuv420p", "unknown", "unknown", 0},
         "rgb24 (range pc) to yuv420p (matrix unknown, so that of BT.601, range unknown, so tv)"},
        {{"xyz12le", "gbr", "unknown", 0},
         {"yuv444p12le", "bt709", "tv", 0},
         "xyz12le (matrix gbr, range unknown) to yuv444p12le (matrix bt709, range tv)"},
    };
    for (const auto& of : kCases) {
        Messages heard;
        const qcr_sink sink = heard.sink();
        qcr_warn_of_conversion(&names, 1, &of.from, &of.to, &sink);
        EXPECT_EQ(heard.all, Lines{std::string("W Input 1 (reference) was converted by lavfi from ") + of.text +
                                   "; add an explicit format or scale filter to choose the conversion"});
    }
}

} // namespace
} // namespace qc::run
