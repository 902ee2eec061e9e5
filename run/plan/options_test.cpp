// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options in; what they mean, or what is wrong with them, out.
#include "quality_cuda_run/options.h"

#include <string>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

struct Result {
    qcr_option_meanings meanings{};
    std::string refusal;
};

Result read(const qcr_option_values& values) {
    Result result;
    qc_error error{};
    const qc_status status = qcr_read_options(&values, &result.meanings, &error);
    EXPECT_EQ(status, *error.text != '\0' ? QC_ERROR_INVALID : QC_OK);
    result.refusal = error.text;
    return result;
}

TEST(Options, Words) {
    EXPECT_EQ(read({"p5", "psnr", nullptr, nullptr, 0, 1, 0, 0, nullptr, nullptr}).meanings.pool, QC_POOL_P5);
    EXPECT_EQ(read({"mean", "psnr", "", "", 0, 1, 0, 0, nullptr, nullptr}).meanings.stats_format, QC_STATS_FORMAT_PSNR);
    EXPECT_EQ(read({"mean", "scores", "", "", 0, 1, 0, 0, nullptr, nullptr}).meanings.stats_format,
              QC_STATS_FORMAT_NONE);
}

TEST(Options, Refusals) {
    static constexpr struct {
        qcr_option_values values;
        const char* refusal;
    } kCases[] = {
        {{"mean", "scores", "r", nullptr, 0, 1, 0, 0, nullptr, nullptr}, ""},
        {{"mean", "scores", nullptr, "ssim", 1, 2, 1, 1, nullptr, nullptr}, ""},
        {{"mean", "scores", "", "ssim", 1, 1, 0, 1, nullptr, nullptr}, ""},
        {{"mean", "scores", nullptr, "", 0, 1, 1, 0, nullptr, nullptr},
         ""}, // there is no map whose rendition it could be
        {{"medium", "scores", nullptr, nullptr, 0, 1, 0, 0, nullptr, nullptr},
         "pool=medium is not known; accepted: mean, harmonic_mean, min, max, p1, p5, p10, p50, stddev"},
        {{"mean", "vmaf", nullptr, nullptr, 0, 1, 0, 0, nullptr, nullptr},
         "stats_format=vmaf is not known; accepted: scores, psnr, ssim"},
        {{"mean", "scores", "r", "ssim", 0, 1, 0, 0, nullptr, nullptr},
         "maps=ssim: not accepted with record, which knows no pictures"},
        {{"mean", "scores", nullptr, "ssim", 0, 2, 2, 0, nullptr, nullptr},
         "map_rendition=2: 0 to 1 is accepted, there are 2 renditions"},
        {{"mean", "scores", "r", nullptr, 1, 1, 0, 0, nullptr, nullptr},
         "mask=1: not accepted with record, which knows no masks; 0 is accepted"},
        {{"mean", "scores", "r", nullptr, 0, 1, 0, 1, nullptr, nullptr},
         "align=auto: with record none and start are accepted"},
        {{"mean", "scores", nullptr, nullptr, 0, 1, 0, 0, "auto", "none"}, ""},
        {{"mean", "scores", "r", nullptr, 1, 1, 0, 0, "1x1+0+0", "area"},
         "mask=1: not accepted with record, which knows no masks; 0 is accepted"},
        {{"mean", "scores", nullptr, "ssim", 0, 1, 0, 0, "auto", "none"},
         "crop=auto: not accepted with maps; crop=WxH+X+Y|WxH+X+Y is"},
        {{"mean", "scores", "r", "", 0, 1, 0, 0, "auto", "none"},
         "crop=auto: not accepted with record; crop=WxH+X+Y|WxH+X+Y is"},
        {{"mean", "scores", "", "", 1, 1, 0, 0, "auto", nullptr},
         "crop=auto: not accepted with mask=1; crop=WxH+X+Y|WxH+X+Y is"},
        {{"mean", "scores", "", "", 0, 1, 0, 0, "auto", "area"},
         "crop=auto: not accepted with scale; crop=WxH+X+Y|WxH+X+Y is"},
    };
    for (const auto& of : kCases) EXPECT_EQ(read(of.values).refusal, of.refusal);
}

} // namespace
} // namespace qc::run
