// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C API without a session, sentence by sentence of quality_cuda.h: names of formats, options of metrics, and what
// qc_check() says of a wish.
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "plan/metric_registry.hpp"
#include "quality_cuda.h"
#include "tests/support/c_session.hpp"

namespace qc::test {
namespace {

// ---- formats --------------------------------------------------------------------------------------------------------

qc_format format_named(const char* name) {
    qc_format format{};
    EXPECT_EQ(qc_format_from_name(name, 64, 48, &format), QC_OK) << name;
    return format;
}

void expect_equal(const qc_format& expected, const qc_format& actual, const std::string& name) {
    EXPECT_EQ(std::memcmp(&expected, &actual, sizeof(qc_format)), 0) << name;
}

TEST(CApiNames, FormatsAreThoseOfTheLayouts) {
    for (const std::vector<Layout>* layouts : {&kAllLayouts, &kRgbLayouts})
        for (const Layout& layout : *layouts) {
            qc_format format{};
            if (qc_format_from_name(layout.name, 64, 48, &format) == QC_OK)
                expect_equal(format_of(layout, 64, 48), format, layout.name);
            else
                ADD_FAILURE() << layout.name;
        }
}

TEST(CApiNames, FormatsHaveTheirNamesBack) {
    std::istringstream names(
        "gray gray10le gray12le gray16le yuv420p yuv422p yuv444p yuv420p10le nv12 nv16 nv24 nv20le p010le p012le "
        "p016le p210le p212le p216le p410le p412le p416le gbrp gbrp10le gbrp12le gbrp16le rgb24 bgr24 rgb48le "
        "bgr48le rgb0 bgr0 0rgb 0bgr yuv422p12le yuv444p16le rgba64le bgra64le gbrp10msble yuv444p12msble "
        "gray9le gray14be yuv410p yuv411p yuv440p yuv440p12be yuv420p9le yuv422p14be yuv420p16be gbrp9be "
        "gbrp14le gbrp12msbbe yuv444p10msbbe nv21 nv42 nv20be p010be p416be rgb48be bgra64be yuyv422 yvyu422 "
        "uyvy422 y210le y212be y216le vyu444 vuyx ayuv uyva xv36le xv36be xv48le ayuv64be ya8 ya16le x2rgb10le "
        "x2bgr10le xv30le v30xle");
    for (std::string name; names >> name;) {
        const qc_format format = format_named(name.c_str());
        EXPECT_EQ(qc_format_name(&format), name);
        const bool is_rgb = format.rgb != 0;
        qc_config config = cpu_config(is_rgb ? "ssimulacra2" : "float_psnr");
        config.reference = config.distorted[0] = format;
        qc_error error{};
        EXPECT_EQ(qc_config_check(&config, &error), QC_OK) << name << ": " << error.text;
    }
}

TEST(CApiNames, FurtherNamesMeanTheSame) {
    expect_equal(format_named("yuv420p10le"), format_named("yuv420p10"), "of this machine's byte order");
    expect_equal(format_named("p010le"), format_named("p010"), "of this machine's byte order");
    expect_equal(format_named("rgb0"), format_named("rgba"), "alpha is not looked at");
    expect_equal(format_named("gbrp12le"), format_named("gbrap12le"), "alpha is not looked at");
    expect_equal(format_named("yuv444p"), format_named("yuva444p"), "alpha is not looked at");
    expect_equal(format_named("yuv422p9be"), format_named("yuva422p9be"), "alpha is not looked at");
    expect_equal(format_named("vuyx"), format_named("vuya"), "alpha is not looked at");
    qc_format full = format_named("yuvj420p");
    EXPECT_EQ(full.colour.range, 2);
    EXPECT_STREQ(qc_format_name(&full), "yuv420p") << "whatever its tags";
    full.colour.range = 0;
    expect_equal(format_named("yuv420p"), full, "all other tags are unknown");
}

TEST(CApiNames, OtherFormatsAreRefused) {
    for (const char* name :
         {"",          "yuv",         "yuv411p10le", "yuv440p16le",  "yuv420p8le", "YUV420P",      "pal8",  "monow",
          "uyyvyy411", "nv12le",      "rgb565le",    "rgb444",       "rgb8",       "yuvj420p10le", "graya", "grayf32le",
          "xyz12le",   "bayer_rggb8", "gray32le",    "yuva420p12le", "x2rgb10be",  "yuvbe",        "be",    "le"}) {
        qc_format format{};
        format.width = 7;
        EXPECT_EQ(qc_format_from_name(name, 64, 48, &format), QC_ERROR_UNSUPPORTED) << name;
        EXPECT_EQ(format.width, 7) << "unchanged";
    }
    qc_format format = format_named("nv12");
    EXPECT_EQ(qc_format_from_name(nullptr, 64, 48, &format), QC_ERROR_INVALID);
    EXPECT_EQ(qc_format_from_name("nv12", 64, 48, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_format_from_name("nv12", -1, 0, &format), QC_OK) << "sizes are checked where the format is used";
    EXPECT_EQ(format.width, -1);
    EXPECT_EQ(qc_format_name(nullptr), nullptr);
    format.shift = 3;
    EXPECT_EQ(qc_format_name(&format), nullptr);
}

// ---- options --------------------------------------------------------------------------------------------------------

std::string text_of(const qc_option& option, int metric, int index, double value) {
    if (option.type == QC_OPTION_BOOL) return value != 0.0 ? "true" : "false";
    if (option.type == QC_OPTION_CHOICE) return qc_metric_option_choice(metric, index, static_cast<int>(value));
    return format("%.17g", value);
}

qc_status check(int metric, const qc_option& option, const std::string& value) {
    const std::string name = qc_metric_name(metric), options = name + "." + option.name + "=" + value;
    qc_config config{};
    config.struct_size = sizeof(config);
    config.metrics = name.c_str();
    config.options = options.c_str();
    qc_error error{};
    const qc_status status = qc_check(&config, &error);
    EXPECT_EQ(status == QC_OK, error.text[0] == '\0') << options << ": " << error.text;
    return status;
}

TEST(CApiNames, EveryMetricListsItsOptions) {
    int metric = 0, choices = 0, texts = 0, numbers = 0;
    for (const MetricDescriptor* const descriptor : registered_metrics()) {
        SCOPED_TRACE(descriptor->name);
        int index = 0;
        for (qc_option option{}; qc_metric_option(metric, index, &option) == QC_OK; ++index) {
            const OptionSpec& spec = descriptor->options[static_cast<size_t>(index)];
            EXPECT_EQ(option.name, spec.name);
            EXPECT_EQ(option.help, spec.help);
            EXPECT_GT(std::strlen(option.help), 0U);
            EXPECT_EQ(option.alias, spec.alias);
            EXPECT_EQ(option.default_value, spec.default_value);
            for (const int64_t word : option.reserved) EXPECT_EQ(word, 0);
            choices += option.type == QC_OPTION_CHOICE;
            texts += option.type == QC_OPTION_TEXT;
            if (option.type == QC_OPTION_TEXT) continue;
            // A short name that is another metric's name takes the option to that one.
            if (unambiguous_name(*descriptor) != descriptor->name) continue;
            if (option.default_value >= option.minimum || option.type == QC_OPTION_CHOICE)
                EXPECT_EQ(check(metric, option, text_of(option, metric, index, option.default_value)), QC_OK)
                    << option.name;
            if (option.type == QC_OPTION_CHOICE) {
                for (int i = 0; i < option.choices; ++i)
                    EXPECT_EQ(check(metric, option, qc_metric_option_choice(metric, index, i)), QC_OK);
                EXPECT_EQ(qc_metric_option_choice(metric, index, option.choices), nullptr);
                EXPECT_EQ(check(metric, option, "nonsense"), QC_ERROR_INVALID);
                continue;
            }
            EXPECT_EQ(option.choices, 0);
            EXPECT_EQ(qc_metric_option_choice(metric, index, 0), nullptr);
            EXPECT_EQ(check(metric, option, text_of(option, metric, index, option.minimum)), QC_OK);
            EXPECT_EQ(check(metric, option, text_of(option, metric, index, option.maximum)), QC_OK);
            if (option.type == QC_OPTION_BOOL) continue;
            ++numbers;
            EXPECT_EQ(check(metric, option, format("%.17g", option.minimum - 1.0)), QC_ERROR_INVALID) << option.name;
            EXPECT_EQ(check(metric, option, format("%.17g", option.maximum * 1.001 + 1.0)), QC_ERROR_INVALID)
                << option.name;
        }
        EXPECT_EQ(index, static_cast<int>(descriptor->options.size()));
        qc_option option{};
        EXPECT_EQ(qc_metric_option(metric, index, &option), QC_END);
        EXPECT_EQ(qc_metric_option(metric, -1, &option), QC_ERROR_INVALID);
        EXPECT_EQ(qc_metric_option(metric, 0, nullptr), QC_ERROR_INVALID);
        EXPECT_EQ(qc_metric_option_choice(metric, index, 0), nullptr);
        EXPECT_EQ(qc_metric_option_choice(metric, -1, 0), nullptr);
        ++metric;
    }
    EXPECT_GT(choices, 0);
    EXPECT_GT(texts, 0);
    EXPECT_GT(numbers, 20);
    qc_option option{};
    EXPECT_EQ(qc_metric_option(metric, 0, &option), QC_ERROR_INVALID) << "there is no such metric";
    EXPECT_EQ(qc_metric_option(-1, 0, &option), QC_ERROR_INVALID);
    EXPECT_EQ(qc_metric_option_choice(metric, 0, 0), nullptr);
}

// ---- wishes ---------------------------------------------------------------------------------------------------------

TEST(CApiNames, AWishIsCheckedWithoutPictures) {
    struct Case {
        const char *metrics, *model, *options;
        qc_status status;
        const char* text;
    };
    const Case cases[] = {
        {"vmaf|psnr", nullptr, nullptr, QC_OK, ""},
        {"all", "auto", nullptr, QC_OK, ""},
        {"nonsense", nullptr, nullptr, QC_ERROR_INVALID, "unknown metric \"nonsense\""},
        {"psnr", nullptr, "psnr.nonsense=1", QC_ERROR_INVALID, "metric psnr has no option \"nonsense\""},
        {"psnr", nullptr, "psnr.min_sse=x", QC_ERROR_INVALID, "option min_sse of metric psnr"},
        {nullptr, "version=nonsense", nullptr, QC_ERROR_INVALID, "nonsense"},
        {nullptr, "path=/no/such/model.json", nullptr, QC_ERROR_IO, "/no/such/model.json"},
    };
    for (const Case& c : cases) {
        int lines = 0;
        qc_config config{};
        config.struct_size = sizeof(config);
        config.metrics = c.metrics;
        config.model = c.model;
        config.options = c.options;
        config.log = [](void* count, qc_log_level, const char*) { ++*static_cast<int*>(count); };
        config.log_opaque = &lines;
        qc_error error{};
        EXPECT_EQ(qc_check(&config, &error), c.status) << error.text;
        EXPECT_NE(std::string(error.text).find(c.text), std::string::npos) << error.text;
        EXPECT_EQ(qc_check(&config, nullptr), c.status);
        EXPECT_EQ(lines, 0) << "it logs nothing";
    }
    qc_config config{};
    EXPECT_EQ(qc_check(&config, nullptr), QC_ERROR_INVALID) << "no struct_size";
    EXPECT_EQ(qc_check(nullptr, nullptr), QC_ERROR_INVALID);
    config.struct_size = sizeof(config);
    config.n_threads = -1;
    EXPECT_EQ(qc_check(&config, nullptr), QC_ERROR_INVALID) << "numbers are looked at too";
}

} // namespace
} // namespace qc::test
