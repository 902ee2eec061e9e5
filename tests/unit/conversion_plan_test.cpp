// SPDX-License-Identifier: BSD-2-Clause-Patent
// What pictures become, from formats, tags and wishes alone.
#include "api/conversion_plan.hpp"

#include <string>
#include <vector>

namespace qc {
namespace {

enum { kUntagged, kLimited, kFull };

qc_format format_of(const char* name, int range = kUntagged, int matrix = 0, int width = 640, int height = 360) {
    qc_format format{};
    EXPECT_EQ(qc_format_from_name(name, width, height, &format), QC_OK) << name;
    if (range != kUntagged) format.colour.range = range;
    format.colour.matrix = matrix;
    return format;
}

qc_config config_of(const qc_format& reference, const std::vector<qc_format>& distorted) {
    qc_config config{};
    config.struct_size = sizeof(config);
    config.reference = reference;
    config.renditions = static_cast<int>(distorted.size());
    for (size_t i = 0; i < distorted.size(); ++i) config.distorted[i] = distorted[i];
    return config;
}

/// A line for each input: "-" if it stays as it is.
std::string lines_of(const qc_config& config, const PictureView& view) {
    std::string lines;
    for (size_t i = 0; i < view.size(); ++i) {
        const qc_format& format = i == 0 ? config.reference : config.distorted[i - 1];
        lines += (i > 0 ? " | " : "") + (view[i].is_needed ? conversion_text(format, view[i]) : std::string("-"));
    }
    return lines;
}

struct Case {
    qc_format reference, distorted;
    const char *main, *rgb;
};

TEST(ConversionPlan, FollowsTheTags) {
    const Case kCases[] = {
        // Ranges: the reference's; what nobody has tagged is what the other one is.
        {format_of("yuv420p", kLimited), format_of("yuv420p", kLimited), "- | -", ""},
        {format_of("yuv420p", kLimited), format_of("yuvj420p"),
         "- | from yuv420p, full range, to yuv420p, limited range", ""},
        {format_of("yuvj420p"), format_of("yuv420p", kLimited, 1),
         "- | from yuv420p, limited range, matrix bt709, to yuv420p, full range, matrix bt709", ""},
        {format_of("yuvj420p"), format_of("yuv420p"), "- | -", ""},
        {format_of("yuv420p"), format_of("yuvj420p"), "- | -", ""},
        {format_of("yuv420p"), format_of("yuv420p"), "- | -", ""},
        // Depths: shifted where the range is limited, and where it is not known.
        {format_of("yuv420p10le", kLimited), format_of("yuv420p", kLimited), "- | -", ""},
        {format_of("yuv420p10le", kFull), format_of("yuv420p", kFull),
         "- | from yuv420p, full range, to yuv420p10le, full range", ""},
        {format_of("nv12", kFull), format_of("yuv420p10le", kLimited),
         "from nv12, full range, to yuv420p10le, full range | "
         "from yuv420p10le, limited range, to yuv420p10le, full range",
         ""},
        // Gray beside luma and chroma is of full range, and becomes what they are.
        {format_of("gray"), format_of("yuv420p"), "from gray, full range, to gray, limited range | -", ""},
        {format_of("gray", kLimited), format_of("yuv420p"), "- | -", ""},
        {format_of("yuv420p"), format_of("gray"), "- | from gray, full range, to gray, limited range", ""},
        {format_of("gray"), format_of("gray10le"), "from gray, full range, to gray10le, full range | -", ""},
        {format_of("gray"), format_of("gray10le", kLimited), "- | -", ""},
        // RGB beside luma and chroma.
        {format_of("gbrp"), format_of("yuv420p", kLimited, 1),
         "from gbrp, full range, to yuv420p, limited range, matrix bt709 | -",
         "from gbrp, full range, to gbrp16le, full range | "
         "from yuv420p, limited range, matrix bt709, to gbrp16le, full range"},
        {format_of("rgb24"), format_of("yuvj420p"),
         "from rgb24, full range, to yuv420p, full range, matrix smpte170m (assumed) | -",
         "from rgb24, full range, to gbrp16le, full range | "
         "from yuv420p, full range, matrix smpte170m (assumed), to gbrp16le, full range"},
        {format_of("yuv422p10le", kLimited, 9), format_of("rgb24"),
         "- | from rgb24, full range, to yuv422p10le, limited range, matrix bt2020nc",
         "from yuv422p10le, limited range, matrix bt2020nc, to gbrp16le, full range | "
         "from rgb24, full range, to gbrp16le, full range"},
        // RGB alone.
        {format_of("rgb24"), format_of("rgb24"),
         "from rgb24, full range, to yuv444p, limited range, matrix bt709 | "
         "from rgb24, full range, to yuv444p, limited range, matrix bt709",
         "- | -"},
        {format_of("rgb48le"), format_of("bgr0"),
         "from rgb48le, full range, to yuv444p16le, limited range, matrix bt709 | "
         "from bgr0, full range, to yuv444p16le, limited range, matrix bt709",
         "- | from bgr0, full range, to gbrp16le, full range"},
    };
    for (const Case& c : kCases) {
        const qc_config config = config_of(c.reference, {c.distorted});
        ConversionPlan plan;
        ASSERT_TRUE(plan_conversions(config, &plan).ok());
        EXPECT_EQ(lines_of(config, plan.main), c.main);
        EXPECT_EQ(lines_of(config, plan.rgb), c.rgb);
    }
}

TEST(ConversionPlan, WishesAreHeeded) {
    qc_config config = config_of(format_of("yuvj420p"), {format_of("yuv420p10le", kLimited)});
    ConversionPlan plan;
    config.convert = QC_CONVERT_OFF;
    ASSERT_TRUE(plan_conversions(config, &plan).ok());
    EXPECT_EQ(lines_of(config, plan.main), "- | -");
    config.convert = QC_CONVERT_KEEP_RANGE;
    ASSERT_TRUE(plan_conversions(config, &plan).ok());
    EXPECT_EQ(lines_of(config, plan.main), "from yuv420p, full range, to yuv420p10le, full range | -");

    config = config_of(format_of("rgb24"), {format_of("yuv420p")});
    config.convert = QC_CONVERT_OFF;
    EXPECT_EQ(plan_conversions(config, &plan).code(), QC_ERROR_INVALID);
    config.convert = QC_CONVERT_KEEP_RANGE;
    ASSERT_TRUE(plan_conversions(config, &plan).ok());
    EXPECT_TRUE(plan.main[0].is_needed && plan.is_mixed);

    config = config_of(format_of("rgb24"), {format_of("yuv420p", kLimited, 8)});
    config.convert = QC_CONVERT_AUTO;
    EXPECT_EQ(plan_conversions(config, &plan).text(),
              "the distorted input is of the matrix with number 8, which RGB is not converted to: convert the RGB "
              "input first");
}

TEST(ConversionPlan, AMatrixThatNobodyTaggedIsThatOfTheSize) {
    const struct {
        int width, height;
        const char* matrix;
    } kSizes[] = {{720, 480, "smpte170m"}, {720, 576, "bt470bg"}, {1280, 544, "bt709"}, {1024, 720, "bt709"}};
    for (const auto& size : kSizes) {
        const qc_config config = config_of(format_of("gbrp", kUntagged, 0, size.width, size.height),
                                           {format_of("yuv420p", kLimited, 0, size.width, size.height)});
        ConversionPlan plan;
        ASSERT_TRUE(plan_conversions(config, &plan).ok());
        EXPECT_EQ(matrix_text(plan.main[0].to.matrix), size.matrix);
        EXPECT_TRUE(plan.main[0].assumes_matrix);
    }
}

TEST(ConversionPlan, RenditionsShareTheReferencesRange) {
    const qc_config config =
        config_of(format_of("yuv420p"), {format_of("yuvj420p"), format_of("yuv420p", kLimited), format_of("rgb24")});
    ConversionPlan plan;
    ASSERT_TRUE(plan_conversions(config, &plan).ok());
    EXPECT_EQ(lines_of(config, plan.main),
              "- | - | from yuv420p, limited range, to yuv420p, full range | "
              "from rgb24, full range, to yuv420p, full range, matrix smpte170m (assumed)");
}

} // namespace
} // namespace qc
