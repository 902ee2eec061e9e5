// SPDX-License-Identifier: BSD-2-Clause-Patent
// Words of the option and formats in; rectangles, or a refusal, out.
#include "quality_cuda_run/crops.h"

#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

using Rectangle = std::tuple<int, int, int, int>; ///< width, height, x, y

Rectangle of(const qcr_crop& crop) {
    return {crop.width, crop.height, crop.x, crop.y};
}

TEST(Crops, Words) {
    static const struct {
        const char* text;
        Rectangle first, second;
    } kCases[] = {
        {nullptr, {0, 0, 0, 0}, {0, 0, 0, 0}},
        {"", {0, 0, 0, 0}, {0, 0, 0, 0}},
        {"320:136:0:22", {320, 136, 0, 22}, {0, 0, 0, 0}},
        {"|320:136:0:22", {0, 0, 0, 0}, {320, 136, 0, 22}},
        {"320x136+0+22|1x2+3+4", {320, 136, 0, 22}, {1, 2, 3, 4}},
    };
    for (const auto& [text, first, second] : kCases) {
        qcr_crop crops[QCR_MAX_VIDEOS];
        qc_error error{};
        EXPECT_EQ(qcr_read_crops(text, 2, crops, &error), QC_OK) << error.text;
        EXPECT_EQ(of(crops[0]), first);
        EXPECT_EQ(of(crops[1]), second);
    }
    for (const char* text : {"1", "320:136", "320:136:0:22:1", "0:1:0:0", "-1:2:0:0", "a", "1:1:0:0|1:1:0:0|1:1:0:0",
                             "||", "320x136+0:22", "123456:1:0:0"}) {
        qcr_crop crops[QCR_MAX_VIDEOS];
        qc_error error{};
        EXPECT_EQ(qcr_read_crops(text, 2, crops, &error), QC_ERROR_INVALID) << text;
        EXPECT_EQ(error.text,
                  "crop=" + std::string(text) +
                      " is not known; accepted: for each of the 2 inputs, joined by |, W:H:X:Y in luma samples, "
                      "the first two at least 1 (or WxH+X+Y, which needs no escapes), or nothing");
    }
}

TEST(Crops, Places) {
    constexpr qcr_names kTwo = {{"main", "reference"}, 2};
    static const struct {
        const char* format;
        qcr_crop crop;
        const char* refusal;
    } kCases[] = {
        {"yuv420p", {0, 0, 0, 0}, ""},
        {"yuv420p", {0, 22, 320, 136}, ""},
        {"yuv420p", {0, 0, 319, 179}, ""},
        {"yuv420p", {2, 0, 320, 180}, "crop=320:180:2:0 of input 1 (reference), which is 320x180, lies outside of it"},
        {"gray", {0, 90, 320, 91}, "crop=320:91:0:90 of input 1 (reference), which is 320x180, lies outside of it"},
        {"yuv420p",
         {1, 3, 20, 20},
         "crop=20:20:1:3 of input 1 (reference), parts samples of chroma: accepted are multiples of 2 and 2, such as "
         "crop=20:20:0:2"},
        {"yuv422p", {2, 3, 20, 20}, ""},
        {"yuv444p", {1, 3, 20, 20}, ""},
        {"gbrp", {1, 3, 20, 20}, ""},
    };
    for (const auto& [name, crop, refusal] : kCases) {
        qc_format format{};
        qc_error error{};
        ASSERT_EQ(qc_format_from_name(name, 320, 180, &format), QC_OK);
        EXPECT_EQ(qcr_check_crop(&kTwo, 1, &crop, &format, &error), *refusal != '\0' ? QC_ERROR_INVALID : QC_OK);
        EXPECT_STREQ(error.text, refusal);
    }
}

} // namespace
} // namespace qc::run
