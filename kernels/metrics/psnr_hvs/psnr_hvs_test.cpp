// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR-HVS: golden scores, arithmetic, refusals.
#include "metrics/psnr_hvs/psnr_hvs.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "metrics/psnr_hvs/psnr_hvs_kernels.hpp"
#include "tests/golden/golden_metric.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::psnr_hvs {
namespace {

FrameGeometry geometry_of(int width, int height, int depth, int chroma_width, int chroma_height) {
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    geometry.chroma_width = chroma_width;
    geometry.chroma_height = chroma_height;
    geometry.depth = depth;
    geometry.sample = depth == 8 ? SampleType::kU8 : SampleType::kU16;
    return geometry;
}

/// The device's division by a table entry, with the host's fused multiply-add.
TEST(PsnrHvsMath, DivisionByReciprocalIsRoundedCorrectly) {
    std::mt19937 random(3);
    for (const PlaneTables& tables : kPlaneTables) {
        for (int i = 0; i < kBlockSize; ++i) {
            const float divisor = tables.masking[i], reciprocal = tables.inverse_masking[i];
            for (int round = 0; round < 4000; ++round) {
                const float value = std::ldexp(static_cast<float>(0x800000 + random() % 0x800000),
                                               static_cast<int>(random() % 40) - 43);
                float quotient = value * reciprocal;
                quotient = std::fma(std::fma(-quotient, divisor, value), reciprocal, quotient);
                quotient = std::fma(std::fma(-quotient, divisor, value), reciprocal, quotient);
                ASSERT_EQ(quotient, value / divisor) << value << " / " << divisor;
            }
        }
    }
}

TEST(PsnrHvs, GroupsCoverAllBlocksOfAllPlanes) {
    const Task task = make_task(geometry_of(1920, 1080, 8, 960, 540));
    EXPECT_EQ(task.plane[0].blocks, 274 * 154);
    EXPECT_EQ(task.plane[1].blocks, 137 * 77);
    for (int p = 0; p < kPlanes; ++p) {
        EXPECT_GE(task.plane[p].groups * kLanes, task.plane[p].blocks);
        EXPECT_EQ(plane_of_group(task, task.plane[p].first_group), p);
        EXPECT_EQ(plane_of_group(task, task.plane[p].first_group + task.plane[p].groups - 1), p);
    }
}

TEST(PsnrHvs, PlanesWithoutAnErrorScoreInfinity) {
    const FrameGeometry geometry = geometry_of(64, 64, 8, 32, 32);
    const auto recorder =
        test::finalise_stream(descriptor(), geometry, {}, {{std::bit_cast<uint64_t>(5.0), 0, 0}, {0, 0, 0}});
    EXPECT_TRUE(std::isfinite(recorder.values("psnr_hvs_y")[0]));
    EXPECT_EQ(recorder.values("psnr_hvs_cb")[0], std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isfinite(recorder.values("psnr_hvs")[0]));
    EXPECT_EQ(recorder.values("psnr_hvs")[1], std::numeric_limits<double>::infinity());
}

TEST(PsnrHvs, RefusesWhatHasNoScore) {
    const OptionValues options(descriptor().options);
    const auto code = [&](const FrameGeometry& geometry) { return validate(descriptor(), geometry, options).code(); };
    EXPECT_EQ(code(geometry_of(16, 16, 8, 8, 8)), QC_OK);
    EXPECT_EQ(code(geometry_of(8, 8, 12, 8, 8)), QC_OK);
    EXPECT_EQ(code(geometry_of(16, 8, 10, 8, 8)), QC_OK);
    EXPECT_EQ(code(geometry_of(15, 16, 8, 7, 8)), QC_ERROR_INVALID);
    EXPECT_EQ(code(geometry_of(16, 15, 8, 8, 7)), QC_ERROR_INVALID);
    EXPECT_EQ(code(geometry_of(15, 8, 8, 7, 8)), QC_ERROR_INVALID);
    EXPECT_EQ(code(geometry_of(8, 7, 8, 8, 7)), QC_ERROR_INVALID);
    EXPECT_EQ(code(geometry_of(64, 64, 8, 0, 0)), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(code(geometry_of(64, 64, 16, 32, 32)), QC_ERROR_UNSUPPORTED);
}

TEST(PsnrHvsGolden, EveryClip) {
    const int compared =
        test::compare_with_golden_clips(descriptor(), {"psnr_hvs_y", "psnr_hvs_cb", "psnr_hvs_cr", "psnr_hvs"}, 1e-12,
                                        [](const FrameGeometry&) { return true; });
    if (!IsSkipped()) {
        EXPECT_GT(compared, 0);
    }
}

} // namespace
} // namespace qc::psnr_hvs
