// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the C API makes of a configuration: numbers and their ranges, formats, structs of other versions, defaults. The
// ranges that are tried here are those that the header states: its text is read too.
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <regex>
#include <sstream>

#include "api/session_config.hpp"
#include "quality_cuda.h"
#include "tests/support/c_session.hpp"
#include "tests/unit/fake_metrics.hpp"

namespace qc::test {
namespace {

/// What a check says: "" if it accepts.
std::string refusal(const qc_config& config, qc_status expected = QC_ERROR_INVALID) {
    qc_error error;
    std::memset(&error, 'x', sizeof(error));
    const qc_status status = qc_config_check(&config, &error);
    EXPECT_EQ(status, error.text[0] == '\0' ? QC_OK : expected) << error.text;
    return error.text;
}

std::string file_text(const std::string& path) {
    std::ifstream file(std::string(QC_SOURCE_ROOT) + "/" + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The header's declaration of a field of qc_config or qc_format, with its comment, in one line.
std::string stated(const std::string& structure, const std::string& field) {
    static const std::string header = file_text("engine/include/quality_cuda.h");
    const size_t begin = header.find("typedef struct " + structure + " {"), end = header.find("} " + structure, begin);
    const std::string body = header.substr(begin, end - begin);
    std::smatch found;
    const std::regex declaration("\\n    [\\w ,]+[ *]" + field + "(\\[\\w+\\])?;\\s*/\\*\\*<([^*]|\\*[^/])*\\*/");
    EXPECT_TRUE(std::regex_search(body, found, declaration)) << structure << "." << field;
    return std::regex_replace(found.str(), std::regex("\\s+"), " ");
}

/// @param words null: nothing has to be there
void expect_stated(const std::string& structure, const std::string& field, const char* words) {
    if (words == nullptr) return;
    const std::string text = stated(structure, field);
    EXPECT_NE(text.find(words), std::string::npos) << text;
}

void set_int(void* base, size_t offset, int value) {
    std::memcpy(static_cast<char*>(base) + offset, &value, sizeof(value));
}

struct Field {
    const char* name;
    size_t offset;
    std::vector<int> accepted, refused;
    const char* text;   ///< of the refusal
    const char* stated; ///< in the header; null: the names of an enumeration say it
};

#define QC_FIELD(structure, name) #name, offsetof(structure, name)

/// A program in C may hand over any number where an enumeration is expected, and reading it has to be defined.
template <typename... Enumeration>
constexpr bool kMayHoldAnyNumber = (requires { Enumeration{1000}; } && ...);
static_assert(kMayHoldAnyNumber<qc_backend, qc_chroma, qc_memory, qc_log_level, qc_pool, qc_stats_format, qc_log_format,
                                qc_status, qc_scaling, qc_convert, qc_map_layout, qc_map_colours>);

TEST(CApiConfig, NumbersOfMaps) {
    qc_config config = cpu_config("psnr");
    config.map_white = -0.5;
    EXPECT_EQ(refusal(config), "map_white=-0.5: a number that is not negative is accepted");
    config.map_white = 0.5;
    config.map_rendition = 1;
    EXPECT_EQ(refusal(config), "map_rendition=1: 0..0 is accepted");
    config.map_rendition = 0;
    config.map_colours = QC_MAP_COLOURS_HEAT;
    EXPECT_EQ(refusal(config), "map_colours=1: a map_layout with chroma is accepted, 1 or 2");
    config.map_layout = QC_MAP_LAYOUT_NV12;
    EXPECT_EQ(refusal(config), "");
}

TEST(CApiConfig, NumbersOfTheConfiguration) {
    const Field fields[] = {
        {QC_FIELD(qc_config, renditions), {0, 1}, {-1, 17}, "0..16", "1..QC_MAX_RENDITIONS; 0 means 1"},
        {QC_FIELD(qc_config, bitdepth), {0, 10}, {-1, 8, 12, 16}, "0 or 10", "Nothing else is accepted"},
        {QC_FIELD(qc_config, stats_format), {0}, {-1, 3}, "0..2", nullptr},
        {QC_FIELD(qc_config, n_subsample), {0, 1, INT_MAX}, {-1, INT_MIN}, "0..2147483647", "1..INT_MAX; 0 means 1"},
        {QC_FIELD(qc_config, skip_unsupported), {0, 1}, {-1, 2}, "0..1", "1: a metric"},
        {QC_FIELD(qc_config, backend), {0, 1, 2, 3}, {-1, 5}, "0..4", "AUTO takes the CPU"},
        {QC_FIELD(qc_config, device), {0, 1024}, {-1, 1025}, "0..1024", "0..1024"},
        {QC_FIELD(qc_config, n_threads), {0, 1, 1024}, {-1, 1025}, "0..1024", "1..1024"},
        {QC_FIELD(qc_config, batch), {0, 1, 64}, {-1, 65}, "0..64", "1..64"},
        {QC_FIELD(qc_config, slots), {0, 1, 2048}, {-1, 2049}, "0..2048", "1..2048"},
        {QC_FIELD(qc_config, latency_first), {0, 1}, {-1, 2}, "0..1", "1: a batch leaves"},
        {QC_FIELD(qc_config, scaling), {0, 1, 2, 3, 4}, {-1, 5}, "0..4", "a factor of at most 16"},
        {QC_FIELD(qc_config, scoring_width), {0}, {-1, 32769}, "0..32768", nullptr},
        {QC_FIELD(qc_config, scoring_height), {0}, {-1, 32769}, "0..32768", "1..32768"},
        {QC_FIELD(qc_config, roi_x), {0}, {-1, 32769}, "0..32768", nullptr},
        {QC_FIELD(qc_config, roi_y), {0}, {-1, 32769}, "0..32768", nullptr},
        {QC_FIELD(qc_config, roi_width), {0}, {-1, 32769}, "0..32768", nullptr},
        {QC_FIELD(qc_config, roi_height), {0}, {-1, 32769}, "0..32768", "All 0: the whole picture"},
        {QC_FIELD(qc_config, watch_contents), {0, 1, 2}, {-1, 3}, "0..2", "1: watches whether"},
        {QC_FIELD(qc_config, map_rendition), {0}, {-1, 16}, "0..15", nullptr},
        {QC_FIELD(qc_config, map_layout), {0, 1, 2}, {-1, 3}, "0..2", nullptr},
        {QC_FIELD(qc_config, map_colours), {0}, {-1, 2}, "0..1", nullptr},
        {QC_FIELD(qc_config, map_memory), {0, 1}, {-1, 2}, "0..1", "where they lie"},
        {QC_FIELD(qc_config, weights), {0, 1}, {-1, 2}, "0..1", "every frame comes with weights"},
        {QC_FIELD(qc_config, convert), {0, 1, 2, 3}, {-1, 4}, "0..3", nullptr},
    };
    for (const Field& field : fields) {
        qc_config config = cpu_config("psnr");
        for (const int value : field.accepted) {
            set_int(&config, field.offset, value);
            EXPECT_EQ(refusal(config), "") << field.name << "=" << value;
        }
        for (const int value : field.refused) {
            set_int(&config, field.offset, value);
            const std::string expected = format("%s=%d: %s is accepted", field.name, value, field.text);
            EXPECT_EQ(refusal(config), expected);
            qc_error error{};
            qc_session* session = nullptr;
            EXPECT_EQ(check_options(&config, &error), QC_ERROR_INVALID);
            EXPECT_EQ(error.text, expected);
            EXPECT_EQ(qc_session_create(&config, &session, &error), QC_ERROR_INVALID);
            EXPECT_EQ(error.text, expected);
            EXPECT_EQ(accepts_rgb(&config), 0);
        }
        expect_stated("qc_config", field.name, field.stated);
    }
}

TEST(CApiConfig, TheFrameRateIsANumber) {
    qc_config config = cpu_config("psnr");
    for (const double rate : {0.0, 0.001, 23.976, 1e6}) {
        config.frame_rate = rate;
        EXPECT_EQ(refusal(config), "");
    }
    for (const double rate : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        config.frame_rate = rate;
        EXPECT_EQ(refusal(config), format("frame_rate=%g: a number that is not negative is accepted", rate));
    }
}

TEST(CApiConfig, NumbersOfAFormat) {
    const int unsupported = QC_ERROR_UNSUPPORTED, invalid = QC_ERROR_INVALID;
    const struct {
        Field field;
        int code;
    } cases[] = {
        {{QC_FIELD(qc_format, width), {1, 32768}, {0, -1, 32769}, "1..32768", "1..32768"}, invalid},
        {{"height", offsetof(qc_format, height), {1, 32768}, {0, -1, 32769}, "1..32768", "1..32768"}, invalid},
        {{QC_FIELD(qc_format, chroma), {0, 1, 2, 3, 4, 5, 6}, {-1, 7}, "0..6", nullptr}, unsupported},
        {{QC_FIELD(qc_format, depth),
          {8},
          {0, 7, 11, 13, 15, 17, 32},
          "8, 9, 10, 12, 14 or 16",
          "8, 9, 10, 12, 14 or 16"},
         unsupported},
        {{QC_FIELD(qc_format, container_bits), {8}, {0, 10, 24}, "8, 16 or 32", "8 for a depth of 8, otherwise 16; 32"},
         unsupported},
        {{QC_FIELD(qc_format, container_bits), {}, {16, 32}, "8 with depth=8", nullptr}, unsupported},
        {{QC_FIELD(qc_format, shift), {0}, {-1, 1}, "0 with depth=8", "0..container_bits-depth"}, unsupported},
        {{QC_FIELD(qc_format, semi_planar), {0, 1, 2}, {-1, 3}, "0..2", "0: they have planes of their own"}, invalid},
        {{QC_FIELD(qc_format, rgb), {0}, {-1, 2}, "0..1", "0: not"}, invalid},
        {{QC_FIELD(qc_format, pixel_step), {0}, {-1, 5}, "0..4", "1..4; otherwise 0"}, unsupported},
        {{QC_FIELD(qc_format, pixel_step), {}, {2, 3, 4}, "0 with 4:2:0", nullptr}, unsupported},
        {{QC_FIELD(qc_format, big_endian), {0}, {-1, 2}, "0..1", "0: their least"}, invalid},
        {{QC_FIELD(qc_format, big_endian), {}, {1}, "0 with container_bits=8", nullptr}, invalid},
    };
    for (const auto& [field, code] : cases)
        for (const bool reference : {true, false}) {
            qc_config config = cpu_config("skeleton");
            config.renditions = 2;
            config.distorted[1] = config.distorted[0];
            qc_format* const format_of_it = reference ? &config.reference : &config.distorted[1];
            for (const int value : field.refused) {
                set_int(format_of_it, field.offset, value);
                EXPECT_EQ(refusal(config, static_cast<qc_status>(code)),
                          format("%s.%s=%d: %s is accepted", reference ? "reference" : "distorted[1]", field.name,
                                 value, field.text));
                EXPECT_EQ(check_options(&config, nullptr), QC_OK) << "formats are not looked at";
            }
            for (const int value : field.accepted) { // on all sides, so that they do not differ
                set_int(&config.reference, field.offset, value);
                for (qc_format& distorted : config.distorted) set_int(&distorted, field.offset, value);
                EXPECT_EQ(refusal(config), "") << field.name << "=" << value;
            }
            expect_stated("qc_format", std::strcmp(field.name, "width") == 0 ? "height" : field.name, field.stated);
        }
}

TEST(CApiConfig, FormatsThatDoNotFitThemselves) {
    const auto refused = [](const char* layout, qc_status code, auto&& change) {
        qc_config config = cpu_config("ssimulacra2");
        EXPECT_EQ(qc_format_from_name(layout, 96, 64, &config.reference), QC_OK) << layout;
        config.distorted[0] = config.reference;
        if (config.reference.chroma != QC_CHROMA_400) EXPECT_EQ(refusal(config), "") << layout;
        change(config.reference);
        return refusal(config, code);
    };
    const auto unsupported = QC_ERROR_UNSUPPORTED;
    EXPECT_EQ(refused("p010le", unsupported, [](qc_format& f) { f.shift = 7; }),
              "reference.shift=7: 0..6 with depth=10 is accepted");
    EXPECT_EQ(refused("yuv420p10le", unsupported, [](qc_format& f) { f.container_bits = 8; }),
              "reference.container_bits=8: 16 with depth=10 is accepted");
    EXPECT_EQ(refused("gbrp", unsupported, [](qc_format& f) { f.chroma = QC_CHROMA_420; }),
              "reference.chroma=1: 3 with rgb is accepted");
    EXPECT_EQ(refused("gbrp", unsupported, [](qc_format& f) { f.semi_planar = 1; }),
              "reference.semi_planar=1: 0 with rgb is accepted");
    EXPECT_EQ(refused("rgb24", QC_ERROR_INVALID, [](qc_format& f) { f.sample_offset[2] = 3; }),
              "reference.sample_offset[2]=3: 0..2 with pixel_step=3 is accepted");
    EXPECT_EQ(refused("rgb24", QC_ERROR_INVALID, [](qc_format& f) { f.sample_offset[0] = -1; }),
              "reference.sample_offset[0]=-1: 0..2 with pixel_step=3 is accepted");
    EXPECT_EQ(refused("yuyv422", unsupported, [](qc_format& f) { f.pixel_step = 3; }),
              "reference.pixel_step=3: 0 or 4 with 4:2:2 is accepted");
    EXPECT_EQ(refused("yuyv422", QC_ERROR_INVALID, [](qc_format& f) { f.sample_offset[0] = 2; }),
              "reference.sample_offset[0]=2: 0..1 with pixel_step=4 is accepted");
    EXPECT_EQ(refused("vuyx", unsupported, [](qc_format& f) { f.semi_planar = 1; }),
              "reference.semi_planar=1: 0 with pixel_step=4 is accepted");
    EXPECT_EQ(refused("ya8", QC_ERROR_INVALID, [](qc_format& f) { f.sample_offset[0] = 2; }),
              "reference.sample_offset[0]=2: 0..1 with pixel_step=2 is accepted");
    EXPECT_EQ(refused("v30xle", QC_ERROR_INVALID, [](qc_format& f) { f.sample_offset[1] = 23; }),
              "reference.sample_offset[1]=23: 0..22 with pixel_step=1 is accepted");
    EXPECT_EQ(refused("x2rgb10le", unsupported, [](qc_format& f) { f.container_bits = 16; }),
              "reference.container_bits=16: 32 with pixel_step=1 is accepted");
    EXPECT_EQ(refused("x2rgb10le", unsupported, [](qc_format& f) { f.shift = 1; }),
              "reference.shift=1: 0 with pixel_step=1 is accepted");
    for (size_t i = 0; i < std::size(qc_format{}.reserved); ++i)
        EXPECT_EQ(refused("yuv420p", QC_ERROR_INVALID, [&](qc_format& f) { f.reserved[i] = 1; }),
                  format("reference.reserved[%zu]=1: 0 is accepted", i));
    // Of planar pictures the offsets are ignored, of all the colour tags may be anything.
    EXPECT_EQ(refused("yuv420p", QC_OK, [](qc_format& f) { f.sample_offset[1] = -5; }), "");
    for (const int tag : {-1, 0, 2, 255, 1000}) {
        qc_config config = cpu_config("psnr");
        for (qc_format* each : {&config.reference, &config.distorted[0]}) each->colour = {tag, tag, tag, tag, tag};
        EXPECT_EQ(refusal(config), "") << tag;
    }
}

TEST(CApiConfig, WhatIsNotToBeConverted) {
    qc_config config = cpu_config("psnr", "yuv420p");
    config.distorted[0] = format_of(layout_named("gbrp"), 96, 64);
    EXPECT_EQ(refusal(config), "");
    config.convert = QC_CONVERT_OFF;
    EXPECT_EQ(refusal(config), "the distorted input is RGB, the reference YUV: convert one of them first, or drop "
                               "convert=off");
    config.convert = QC_CONVERT_ERROR;
    EXPECT_EQ(refusal(config), "convert=error: the distorted input would be converted from gbrp, full range, to "
                               "yuv420p, limited range, matrix smpte170m (assumed): convert it first, or use "
                               "convert=auto");
    config.reference = config.distorted[0];
    config.convert = QC_CONVERT_OFF;
    EXPECT_NE(refusal(config, QC_ERROR_UNSUPPORTED).find("psnr takes YUV pictures, but these are RGB"),
              std::string::npos);
}

TEST(CApiConfig, InputsThatDoNotFitEachOther) {
    const auto refused = [](const char* metrics, const char* layout, const char* distorted, int width) {
        qc_config config = cpu_config(metrics, layout);
        config.distorted[0] = format_of(layout_named(distorted), width, 64);
        return refusal(config);
    };
    EXPECT_EQ(refused("psnr", "yuv420p", "yuv420p", 32),
              "the distorted input is 32x64, the reference 96x64: choose a scaling, or scale one of them first");
    EXPECT_EQ(refused("ssimulacra2", "yuv444p", "gbrp", 96), "");
    EXPECT_EQ(
        refused("psnr", "yuv422p", "yuv420p", 96),
        "psnr needs chroma, but the reference is 4:2:2 and the distorted input 4:2:0: convert the reference first, or "
        "ask for metrics of luma alone");
    EXPECT_NE(refused("ssimulacra2", "yuv444p", "yuv420p", 256), "") << "its scores are of luma and chroma together";
    EXPECT_EQ(refused("skeleton", "yuv420p", "yuv444p", 96), "") << "it reads luma alone";
    EXPECT_EQ(refused("psnr", "yuv420p", "yuv420p12le", 96), "") << "depths may differ";
}

/// A size to score, and pictures of others.
TEST(CApiConfig, ScaledInputs) {
    const auto refused = [](qc_scaling scaling, int width, int height, int scoring_width, int scoring_height) {
        qc_config config = cpu_config("psnr");
        config.distorted[0].width = width;
        config.distorted[0].height = height;
        config.scaling = scaling;
        config.scoring_width = scoring_width;
        config.scoring_height = scoring_height;
        return refusal(config);
    };
    for (int scaling = QC_SCALING_BICUBIC; scaling < QC_SCALING_COUNT; ++scaling) {
        EXPECT_EQ(refused(static_cast<qc_scaling>(scaling), 32, 64, 0, 0), "");
        EXPECT_EQ(refused(static_cast<qc_scaling>(scaling), 96, 64, 192, 128), "");
    }
    EXPECT_EQ(refused(QC_SCALING_NONE, 96, 64, 192, 128),
              "scoring_width=192, scoring_height=128: 0 is accepted without scaling");
    EXPECT_EQ(refused(QC_SCALING_AREA, 96, 64, 192, 0),
              "scoring_width=192, scoring_height=0: both or neither is accepted");
    EXPECT_EQ(refused(QC_SCALING_AREA, 6, 4, 0, 0), "") << "a factor of 16";
    EXPECT_EQ(refused(QC_SCALING_AREA, 5, 4, 0, 0),
              "the distorted input is 5x4 and would be scaled to 96x64: a factor of at most 16 is accepted");
    EXPECT_EQ(refused(QC_SCALING_AREA, 96, 64, 1537, 64),
              "the reference is 96x64 and would be scaled to 1537x64: a factor of at most 16 is accepted");
}

/// A rectangle of the scored picture, which is 96x64.
TEST(CApiConfig, Region) {
    const auto refused = [](int x, int y, int width, int height) {
        qc_config config = cpu_config("psnr");
        config.roi_x = x;
        config.roi_y = y;
        config.roi_width = width;
        config.roi_height = height;
        return refusal(config);
    };
    EXPECT_EQ(refused(0, 0, 96, 64), "");
    EXPECT_EQ(refused(94, 62, 2, 2), "");
    EXPECT_EQ(refused(2, 4, 17, 19), "") << "sizes may be odd";
    EXPECT_EQ(refused(2, 0, 95, 64), "roi=2:0:95:64: what lies in the scored picture of 96x64 is accepted");
    EXPECT_EQ(refused(0, 2, 96, 63), "roi=0:2:96:63: what lies in the scored picture of 96x64 is accepted");
    EXPECT_EQ(refused(2, 2, 0, 16), "roi=2:2:0:16: a width and a height of at least 1 are accepted");
    EXPECT_EQ(refused(2, 2, 0, 0), "roi=2:2:0:0: a width and a height of at least 1 are accepted");
    EXPECT_EQ(refused(1, 2, 16, 16), "roi=1:2:16:16: a corner at multiples of 2 across and 2 down is accepted, where "
                                     "chroma samples of these pictures are");
}

// ---- check and check_options ----------------------------------------------------------------------------------------

TEST(CApiConfig, OptionsAreCheckedBeforeThePicturesAreKnown) {
    qc_config config{};
    config.struct_size = sizeof(config);
    config.metrics = "psnr+vmaf";
    qc_error error{};
    EXPECT_EQ(check_options(&config, &error), QC_OK) << error.text;
    EXPECT_EQ(refusal(config), "reference.width=0: 1..32768 is accepted") << "no size has a meaning of its own";
    config.metrics = "psnr|nonsense";
    EXPECT_EQ(check_options(&config, &error), QC_ERROR_INVALID);
    EXPECT_NE(std::strstr(error.text, "nonsense"), nullptr) << error.text;
    config.metrics = "vmaf";
    config.model = "version=nonsense";
    EXPECT_EQ(check_options(&config, &error), QC_ERROR_INVALID);
    config.model = "path=/there/is/none.json";
    EXPECT_EQ(check_options(&config, &error), QC_ERROR_IO);
    EXPECT_NE(std::strstr(error.text, "/there/is/none.json"), nullptr) << error.text;
    config.model = nullptr;
    config.options = "psnr.nonsense=1";
    EXPECT_EQ(check_options(&config, &error), QC_ERROR_INVALID);
}

TEST(CApiConfig, MessagesAreOneLineWhateverTheOptionsHold) {
    qc_config config{};
    config.struct_size = sizeof(config);
    config.model = "version=vmaf_v0.6.1:disable_clip=y\r\nes\x7f\x1b";
    qc_error error{};
    EXPECT_EQ(check_options(&config, &error), QC_ERROR_INVALID);
    EXPECT_NE(std::strstr(error.text, "disable_clip=y??es??: it takes true or false"), nullptr) << error.text;
}

TEST(CApiConfig, ChecksPicturesWhereTheyAreKnown) {
    qc_config config = cpu_config("psnr+vmaf", "yuv420p", 8, 8);
    qc_error error{};
    EXPECT_NE(qc_config_check(&config, &error), QC_OK);
    EXPECT_NE(std::strstr(error.text, "adm"), nullptr) << error.text;
    EXPECT_EQ(check_options(&config, &error), QC_OK) << error.text;
    config.skip_unsupported = 1;
    EXPECT_EQ(qc_config_check(&config, &error), QC_OK) << error.text;
    config = cpu_config("psnr", "yuv420p", 64, 64);
    config.distorted[0].width = 32;
    EXPECT_EQ(qc_config_check(&config, &error), QC_ERROR_INVALID);
}

TEST(CApiConfig, ChecksLogNothing) {
    qc_config config = cpu_config("vmaf|psnr", "yuv420p", 8, 8);
    config.skip_unsupported = 1;
    config.model = "auto";
    int lines = 0;
    config.log_opaque = &lines;
    config.log = [](void* opaque, qc_log_level, const char*) { ++*static_cast<int*>(opaque); };
    EXPECT_EQ(qc_config_check(&config, nullptr), QC_OK);
    EXPECT_EQ(check_options(&config, nullptr), QC_OK);
    EXPECT_EQ(accepts_rgb(&config), 0);
    EXPECT_EQ(lines, 0);
    qc_session* session = nullptr;
    ASSERT_EQ(qc_session_create(&config, &session, nullptr), QC_OK);
    EXPECT_GT(lines, 0) << "what the checks kept for themselves";
    qc_session_destroy(session);
}

TEST(CApiConfig, AcceptsRgb) {
    qc_config config = cpu_config("ssimulacra2");
    EXPECT_EQ(accepts_rgb(&config), 1);
    config.reference.width = 0;
    EXPECT_EQ(accepts_rgb(&config), 1) << "the formats are not looked at";
    config.metrics = "ssimulacra2|psnr";
    EXPECT_EQ(accepts_rgb(&config), 0);
    config.metrics = "nonsense";
    EXPECT_EQ(accepts_rgb(&config), 0);
    EXPECT_EQ(accepts_rgb(nullptr), 0);
}

// ---- requests -------------------------------------------------------------------------------------------------------

/// A copy of a built-in model as a file.
std::string write_model(const TemporaryFolder& folder, const char* slope) {
    const std::string path = folder.file("model.json");
    std::ofstream(path) << R"({"model_dict": {"model_type": "LIBSVMNUSVR", "norm_type": "linear_rescale",
        "feature_names": ["psnr_y"], "feature_opts_dicts": [{}], "slopes": [1.0, )"
                        << slope << R"(], "intercepts": [0.0, 0.0], "score_clip": [0.0, 100.0],
        "model": "svm_type nu_svr\nkernel_type rbf\ngamma 0.04\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:0.5 \n"}})";
    return path;
}

TEST(CApiRequest, FilesAreReadOnce) {
    const TemporaryFolder folder;
    const std::string model = "path=" + write_model(folder, "0.01");
    qc_config config = cpu_config("vmaf", "yuv420p", 64, 48);
    config.model = model.c_str();
    qc_error error{};
    qc_request* request = nullptr;
    ASSERT_EQ(qc_request_create(&config, &request, &error), QC_OK) << error.text;
    std::filesystem::remove(folder.file("model.json"));
    config.model = config.metrics = nullptr;
    EXPECT_EQ(qc_request_check(request, &config, &error), QC_OK) << error.text;
    for (int i = 0; i < 2; ++i) {
        qc_session* session = nullptr;
        ASSERT_EQ(qc_request_open(request, &config, &session, &error), QC_OK) << error.text;
        qc_feature feature{};
        EXPECT_EQ(qc_session_feature(session, qc_session_feature_count(session) - 1, &feature), QC_OK);
        EXPECT_STREQ(feature.name, "vmaf");
        EXPECT_EQ(feature.is_model, 1);
        qc_session_destroy(session);
    }
    qc_request_destroy(request);
    config.model = model.c_str();
    EXPECT_EQ(check_options(&config, &error), QC_ERROR_IO) << "the file was there";
}

TEST(CApiRequest, LooksAtPicturesWhenTheyAreKnown) {
    qc_config config = cpu_config("psnr+vmaf", "yuv420p", 64, 48);
    config.reference = qc_format{};
    qc_error error{};
    qc_request* request = nullptr;
    ASSERT_EQ(qc_request_create(&config, &request, &error), QC_OK) << error.text;
    EXPECT_EQ(qc_request_accepts_rgb(request), 0);
    EXPECT_EQ(qc_request_check(request, &config, &error), QC_ERROR_INVALID);
    EXPECT_STREQ(error.text, "reference.width=0: 1..32768 is accepted");
    const qc_config tiny = cpu_config("psnr", "yuv420p", 8, 8);
    qc_session* session = nullptr;
    EXPECT_EQ(qc_request_open(request, &tiny, &session, &error), QC_ERROR_INVALID);
    EXPECT_NE(std::strstr(error.text, "adm"), nullptr) << "the request's metrics count, not those of the strings";
    EXPECT_EQ(session, nullptr);
    qc_config two = cpu_config("psnr", "yuv420p", 64, 48);
    two.renditions = 2;
    two.distorted[1] = two.distorted[0];
    EXPECT_EQ(qc_request_check(request, &two, &error), QC_ERROR_INVALID);
    EXPECT_NE(std::strstr(error.text, "renditions=2"), nullptr) << error.text;
    two.renditions = 1; // what 0 stands for
    EXPECT_EQ(qc_request_check(request, &two, &error), QC_OK) << error.text;
    qc_request_destroy(request);
}

TEST(CApiRequest, NothingIsNothing) {
    const qc_config config = cpu_config("psnr");
    qc_session* session = nullptr;
    qc_request* request = nullptr;
    EXPECT_EQ(qc_request_create(nullptr, &request, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_request_create(&config, nullptr, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_request_check(nullptr, &config, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_request_open(nullptr, &config, &session, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_request_accepts_rgb(nullptr), 0);
    qc_request_destroy(nullptr);
    ASSERT_EQ(qc_request_create(&config, &request, nullptr), QC_OK);
    EXPECT_EQ(qc_request_check(request, nullptr, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_request_open(request, &config, nullptr, nullptr), QC_ERROR_INVALID);
    qc_request_destroy(request);
}

// ---- structs of other versions --------------------------------------------------------------------------------------

/// A caller's memory around a struct of any size.
struct Caller {
    explicit Caller(const qc_config& config, size_t size, unsigned char behind)
        : bytes(std::max(size, sizeof(config)) + 64, behind) {
        std::memcpy(bytes.data(), &config, std::min(size, sizeof(config)));
        get()->struct_size = size;
    }
    qc_config* get() { return reinterpret_cast<qc_config*>(bytes.data()); }

    std::vector<unsigned char> bytes;
};

TEST(CApiConfig, AnOlderCallersStructIsShorter) {
    qc_config full = cpu_config("psnr");
    full.latency_first = 1;
    full.batch = 3;
    const size_t first = offsetof(qc_config, frame_rate);
    for (size_t size = first; size < sizeof(qc_config); size += 8) {
        Caller caller(full, size, 0xff); // what lies behind the struct is no business of the library
        qc_config read;
        std::memset(&read, 0xee, sizeof(read));
        ASSERT_TRUE(read_config(*caller.get(), &read).ok()) << size;
        qc_config expected{};
        std::memcpy(&expected, &full, size);
        expected.struct_size = sizeof(qc_config);
        EXPECT_EQ(std::memcmp(&read, &expected, sizeof(read)), 0) << size;
        EXPECT_EQ(qc_config_check(caller.get(), nullptr), QC_OK) << size;
    }
    // As short as can be: the default metrics of the default backend.
    qc_config large = cpu_config("psnr", "yuv420p", 192, 176);
    Caller caller(large, first, 0xff);
    qc_session* session = nullptr;
    qc_error error{};
    ASSERT_EQ(qc_session_create(caller.get(), &session, &error), QC_OK) << error.text;
    qc_feature feature{};
    ASSERT_EQ(qc_session_feature(session, qc_session_feature_count(session) - 1, &feature), QC_OK);
    EXPECT_STREQ(feature.name, "vmaf");
    qc_session_destroy(session);
}

TEST(CApiConfig, ANewerCallersStructIsLonger) {
    const qc_config config = cpu_config("psnr");
    for (const size_t size : {sizeof(config) + 8, sizeof(config) + 64, size_t{65536}}) {
        Caller caller(config, size, 0);
        EXPECT_EQ(refusal(*caller.get()), "") << size;
        caller.bytes[size] = 1; // behind the struct
        EXPECT_EQ(refusal(*caller.get()), "") << size;
        for (const size_t at : {sizeof(config), size - 1}) {
            caller.bytes[at] = 1;
            EXPECT_EQ(refusal(*caller.get()),
                      format("qc_config.struct_size=%zu: byte %zu is not 0; this library knows the first %zu and is "
                             "older than its caller: leave out what is new, or update the library",
                             size, at, sizeof(config)));
            caller.bytes[at] = 0;
        }
    }
}

TEST(CApiConfig, SizesThatNoStructHas) {
    const size_t first = offsetof(qc_config, frame_rate);
    for (const size_t size : {size_t{0}, size_t{8}, first - 8, first + 4, sizeof(qc_config) - 1, sizeof(qc_config) + 4,
                              size_t{65536 + 8}, SIZE_MAX}) {
        qc_config config = cpu_config("psnr");
        config.struct_size = size;
        EXPECT_EQ(refusal(config), format("qc_config.struct_size=%zu: %zu..65536 in steps of 8 is accepted; set it to "
                                          "sizeof(qc_config)",
                                          size, first));
        qc_session* session = nullptr;
        EXPECT_EQ(qc_session_create(&config, &session, nullptr), QC_ERROR_INVALID);
    }
}

TEST(CApiConfig, StatsFillNoMoreThanTheirSize) {
    const qc_config config = cpu_config("skeleton");
    qc_session* session = nullptr;
    ASSERT_EQ(qc_session_create(&config, &session, nullptr), QC_OK);
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const qc_frame frame = frame_of(stream.reference[0].view(), {stream.distorted[0][0].view()});
    ASSERT_EQ(qc_session_submit(session, &frame), QC_OK);
    qc_stats whole{};
    whole.struct_size = sizeof(whole);
    ASSERT_EQ(qc_session_stats(session, &whole), QC_OK);
    EXPECT_EQ(whole.frames_submitted, 1);
    EXPECT_EQ(whole.batches, 1);
    for (size_t size = 8; size <= sizeof(whole) + 64; size += 8) {
        std::vector<unsigned char> bytes(sizeof(whole) + 80, 0xee);
        auto* const stats = reinterpret_cast<qc_stats*>(bytes.data());
        stats->struct_size = size;
        ASSERT_EQ(qc_session_stats(session, stats), QC_OK) << size;
        EXPECT_EQ(stats->struct_size, size);
        for (size_t i = 8; i < bytes.size(); ++i) {
            const unsigned char expected = i >= size           ? 0xee
                                           : i < sizeof(whole) ? reinterpret_cast<char*>(&whole)[i]
                                                               : 0;
            ASSERT_EQ(bytes[i], expected) << "size " << size << ", byte " << i;
        }
    }
    for (const size_t size : {size_t{0}, size_t{4}, sizeof(whole) - 1, size_t{65544}}) {
        whole.struct_size = size;
        EXPECT_EQ(qc_session_stats(session, &whole), QC_ERROR_INVALID);
        EXPECT_EQ(
            qc_session_error(session),
            format("qc_stats.struct_size=%zu: 8..65536 in steps of 8 is accepted; set it to sizeof(qc_stats)", size));
    }
    qc_session_destroy(session);
}

// ---- defaults -------------------------------------------------------------------------------------------------------

TEST(CApiConfig, ZeroStandsForTheStatedDefaults) {
    const std::map<unsigned, std::pair<int, int>> expected{// cores: threads of the CPU backend, copying threads
                                                           {0, {1, 1}}, {1, {1, 1}}, {2, {2, 1}},   {4, {4, 2}},
                                                           {7, {7, 3}}, {8, {8, 4}}, {64, {64, 4}}, {5000, {1024, 4}}};
    for (const auto& [cores, threads] : expected) {
        qc_config cpu{}, cuda{};
        resolve_common_defaults(&cpu);
        resolve_common_defaults(&cuda);
        EXPECT_EQ(cpu.renditions, 1);
        EXPECT_EQ(cpu.n_subsample, 1);
        resolve_cpu_defaults(cores, &cpu);
        resolve_cuda_defaults(cores, &cuda);
        EXPECT_EQ(cpu.n_threads, threads.first) << cores;
        EXPECT_EQ(cpu.slots, 2 * threads.first) << cores;
        EXPECT_EQ(cuda.n_threads, threads.second) << cores;
        EXPECT_EQ(cuda.batch, 16);
        EXPECT_EQ(cuda.slots, 3);
    }
    expect_stated("qc_config", "n_threads", "0: half of the cores, at most 4");
    expect_stated("qc_config", "batch", "0: 16");
    expect_stated("qc_config", "slots", "CUDA: batches in flight, 0: 3. CPU: frames in flight, 0: 2 x threads");
}

TEST(CApiConfig, WhatIsGivenStays) {
    qc_config config{};
    config.renditions = 5;
    config.n_subsample = 7;
    config.n_threads = 9;
    config.batch = 11;
    config.slots = 13;
    const qc_config given = config;
    resolve_common_defaults(&config);
    resolve_cuda_defaults(64, &config);
    resolve_cpu_defaults(64, &config);
    EXPECT_EQ(std::memcmp(&config, &given, sizeof(config)), 0);
}

TEST(CApiConfig, TheDescriptionTellsThem) {
    qc_config config = cpu_config("skeleton");
    config.n_threads = 3;
    for (const int slots : {0, 1, 2048}) {
        config.slots = slots;
        qc_session* session = nullptr;
        ASSERT_EQ(qc_session_create(&config, &session, nullptr), QC_OK);
        EXPECT_EQ(qc_session_description(session),
                  format("CPU: 3 threads, %d frames in flight", slots == 0 ? 6 : slots));
        qc_session_destroy(session);
    }
}

} // namespace
} // namespace qc::test
