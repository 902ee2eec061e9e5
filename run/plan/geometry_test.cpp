// SPDX-License-Identifier: BSD-2-Clause-Patent
// Words of options and sizes of pictures in; what is scored, or a refusal, out.
#include "quality_cuda_run/geometry.h"

#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

qcr_geometry read(const char* scale, const char* scale_to = nullptr, const char* roi = nullptr) {
    qcr_geometry geometry{};
    qc_error error{};
    EXPECT_EQ(qcr_read_geometry(scale, scale_to, roi, nullptr, &geometry, &error), QC_OK) << error.text;
    EXPECT_STREQ(error.text, "");
    return geometry;
}

std::array<int, 8> numbers_of(const qcr_geometry& geometry) {
    return {geometry.scaling, geometry.size,  geometry.width,     geometry.height,
            geometry.roi_x,   geometry.roi_y, geometry.roi_width, geometry.roi_height};
}

TEST(Geometry, WordsOfOptions) {
    static const struct {
        const char *scale, *scale_to, *roi;
        qcr_geometry read;
    } kCases[] = {
        {nullptr, nullptr, nullptr, {}},
        {"none", "reference", "", {}},
        {"area", nullptr, nullptr, {QC_SCALING_AREA, QCR_SIZE_OF_REFERENCE, 0, 0, 0, 0, 0, 0, 0}},
        {"bicubic", "main", nullptr, {QC_SCALING_BICUBIC, QCR_SIZE_OF_DISTORTED, 0, 0, 0, 0, 0, 0, 0}},
        {"lanczos", "32768x1", nullptr, {QC_SCALING_LANCZOS, QCR_SIZE_GIVEN, 32768, 1, 0, 0, 0, 0, 0}},
        {"bilinear", "64x36", "1:2|30:4", {QC_SCALING_BILINEAR, QCR_SIZE_GIVEN, 64, 36, 1, 2, 30, 4, 0}},
    };
    for (const auto& of : kCases) {
        const qcr_geometry geometry = read(of.scale, of.scale_to, of.roi);
        EXPECT_EQ(numbers_of(geometry), numbers_of(of.read));
    }
}

TEST(Geometry, RefusesOtherWords) {
    constexpr const char *kScale = "scale=%; accepted: none, bicubic, lanczos, bilinear, area",
                         *kTo = "scale_to=%; accepted: reference, main, or WIDTHxHEIGHT with sides of 1 to 32768",
                         *kRegion = "roi=%; accepted: X:Y:WIDTH:HEIGHT in luma samples of the scored picture, the last "
                                    "two at least 1 (or X|Y|WIDTH|HEIGHT, which needs no escapes)";
    static const struct {
        const char *scale, *scale_to, *roi, *wrong, *text;
    } kCases[] = {
        {"", nullptr, nullptr, "", kScale},
        {"Area", nullptr, nullptr, "Area", kScale},
        {"area", "", nullptr, "", kTo},
        {"area", "64", nullptr, "64", kTo},
        {"area", "0x36", nullptr, "0x36", kTo},
        {"area", "-64x36", nullptr, "-64x36", kTo},
        {"area", "64x36x", nullptr, "64x36x", kTo},
        {"area", "32769x36", nullptr, "32769x36", kTo},
        {"area", "100000x36", nullptr, "100000x36", kTo},
        {nullptr, nullptr, "1:2:3", "1:2:3", kRegion},
        {nullptr, nullptr, "1:2:3:0", "1:2:3:0", kRegion},
        {nullptr, nullptr, "1:-2:3:4", "1:-2:3:4", kRegion},
        {nullptr, nullptr, "1:2:3:4:", "1:2:3:4:", kRegion},
        {nullptr, nullptr, "1:2:3:100000", "1:2:3:100000", kRegion},
    };
    for (const auto& of : kCases) {
        std::string text = of.text;
        text.replace(text.find('%'), 1, std::string(of.wrong) + " is not known");
        qcr_geometry geometry{};
        qc_error error{};
        EXPECT_EQ(qcr_read_geometry(of.scale, of.scale_to, of.roi, nullptr, &geometry, &error), QC_ERROR_INVALID);
        EXPECT_EQ(error.text, text);
    }
}

TEST(Geometry, ASizeTakesAKernel) {
    for (const char* to : {"main", "64x36"}) {
        qcr_geometry geometry{};
        qc_error error{};
        EXPECT_EQ(qcr_read_geometry("none", to, nullptr, nullptr, &geometry, &error), QC_ERROR_INVALID);
        EXPECT_EQ(error.text,
                  std::string("scale_to=") + to +
                      ": without scale, reference is accepted; add scale=bicubic, lanczos, bilinear or area");
    }
}

/// One distorted video and its reference.
struct Pair {
    qcr_size distorted, reference;
    double aspect[2];
};

qc_config config_of(const Pair& pair) {
    qc_config config{};
    config.renditions = 1;
    config.distorted[0].width = pair.distorted.width;
    config.distorted[0].height = pair.distorted.height;
    config.reference.width = pair.reference.width;
    config.reference.height = pair.reference.height;
    return config;
}

std::string refusal_of(const qcr_geometry& geometry, const Pair& pair) {
    const qcr_names names = {{"main", "reference"}, 2};
    double aspect[QCR_MAX_VIDEOS];
    std::fill(std::begin(aspect), std::end(aspect), 1);
    std::copy(std::begin(pair.aspect), std::end(pair.aspect), aspect);
    qc_config config = config_of(pair);
    qc_error error{};
    const qc_status status = qcr_configure_geometry(&geometry, &names, aspect, &config, nullptr, &error);
    EXPECT_EQ(status, *error.text != '\0' ? QC_ERROR_INVALID : QC_OK);
    return error.text;
}

TEST(Geometry, Shapes) {
    static const struct {
        Pair pair;
        const char *is, *reference, *crop; ///< null: they are alike
    } kCases[] = {
        {{{640, 360}, {1920, 1080}, {1, 1}}, nullptr, nullptr, nullptr},
        {{{426, 240}, {1920, 1080}, {1, 1}}, nullptr, nullptr, nullptr},       // 426.67
        {{{720, 576}, {1024, 576}, {64. / 45, 1}}, nullptr, nullptr, nullptr}, // samples that are no squares
        {{{64, 64}, {64, 64}, {1, 2}}, nullptr, nullptr, nullptr},             // nothing is scaled
        {{{640, 480}, {1920, 1080}, {1, 1}},
         "640x480 with a display aspect ratio of 1.3333",
         "1920x1080 with 1.7778",
         "at its left and right: [1:v]crop=1440:1080"},
        {{{1920, 800}, {3840, 2160}, {1, 1}},
         "1920x800 with a display aspect ratio of 2.4000",
         "3840x2160 with 1.7778",
         "above and below: [1:v]crop=3840:1600"},
    };
    for (const auto& of : kCases) {
        const std::string refusal = refusal_of(read("bicubic"), of.pair);
        EXPECT_EQ(refusal_of(read("none"), of.pair), "");
        if (of.is == nullptr)
            EXPECT_EQ(refusal, "");
        else
            EXPECT_EQ(refusal, std::string("Input 0 (main) is ") + of.is + ", the reference " + of.reference +
                                   ": scaling would distort what is compared; the reference may have black bars " +
                                   of.crop + "[r];[0:v][r]quality_cuda=scale=bicubic");
    }
}

/// A container that cuts off borders on one side: scaled, the picture is another one, and nothing else would tell.
TEST(Geometry, SizesOfParts) {
    const qcr_names names = {{"main", "reference"}, 2};
    const double aspect[QCR_MAX_VIDEOS] = {1, 1};
    const struct {
        Pair pair;
        const char* scale;
        bool is_said;
    } cases[] = {{{{1920, 1080}, {1888, 1062}, {1, 1}}, "bicubic", true},
                 {{{1888, 1062}, {1920, 1080}, {1, 1}}, "area", true},
                 {{{1920, 1080}, {1888, 1062}, {1, 1}}, "none", false},
                 {{{1920, 1080}, {1920, 1080}, {1, 1}}, "bicubic", false},
                 {{{1280, 720}, {1920, 1080}, {1, 1}}, "bicubic", false}};
    for (const auto& of : cases) {
        Messages messages;
        const qcr_sink sink = messages.sink();
        const qcr_geometry geometry = read(of.scale);
        qc_config config = config_of(of.pair);
        qc_error error{};
        EXPECT_EQ(qcr_configure_geometry(&geometry, &names, aspect, &config, &sink, &error), QC_OK);
        const Lines said = messages.take();
        ASSERT_EQ(said.size(), of.is_said ? 1U : 0U) << of.scale;
        if (of.is_said) {
            EXPECT_NE(said[0].find("-apply_cropping codec before each -i"), std::string::npos) << said[0];
        }
    }
}

TEST(Geometry, SizesThatAreGiven) {
    const Pair square = {{640, 360}, {1920, 1080}, {1, 1}}, wide = {{720, 576}, {720, 576}, {64. / 45, 64. / 45}};
    EXPECT_EQ(refusal_of(read("area", "1280x720"), square), "");
    EXPECT_EQ(refusal_of(read("area", "1024x576"), wide), ""); // of squares
    EXPECT_EQ(refusal_of(read("area", "360x288"), wide), "");  // of the reference's samples
    EXPECT_EQ(refusal_of(read("area", "640x480"), square),
              "scale_to=640x480 would distort the reference, which is 1920x1080 with a display aspect ratio of 1.7778; "
              "accepted is a size of that ratio, e.g. 854x480");
}

TEST(Geometry, WhatTheEngineIsTold) {
    const qcr_names names = {{"main", "reference"}, 2};
    const Pair pair = {{640, 360}, {1920, 1080}, {1, 1}};
    static const struct {
        const char *scale, *scale_to, *roi;
        qcr_size told, scored, part;
    } kCases[] = {
        {"none", nullptr, nullptr, {0, 0}, {1920, 1080}, {1920, 1080}},
        {"area", nullptr, "1:2:3:4", {0, 0}, {1920, 1080}, {3, 4}},
        {"area", "main", nullptr, {640, 360}, {640, 360}, {640, 360}},
        {"area", "1280x720", "0:0:64:32", {1280, 720}, {1280, 720}, {64, 32}},
    };
    for (const auto& of : kCases) {
        const qcr_geometry geometry = read(of.scale, of.scale_to, of.roi);
        const double aspect[QCR_MAX_VIDEOS] = {1, 1};
        qc_config config = config_of(pair);
        qc_error error{};
        EXPECT_EQ(qcr_configure_geometry(&geometry, &names, aspect, &config, nullptr, &error), QC_OK);
        const auto [scored, part] = qcr_sizes_scored(&geometry, &config.distorted[0], &config.reference);
        EXPECT_EQ(config.scaling, geometry.scaling);
        EXPECT_EQ(config.roi_width, geometry.roi_width);
        EXPECT_EQ(config.roi_y, geometry.roi_y);
        EXPECT_EQ(config.scoring_width, of.told.width);
        EXPECT_EQ(config.scoring_height, of.told.height);
        EXPECT_EQ(scored.width, of.scored.width);
        EXPECT_EQ(scored.height, of.scored.height);
        EXPECT_EQ(part.width, of.part.width);
        EXPECT_EQ(part.height, of.part.height);
    }
}

} // namespace
} // namespace qc::run
