// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU backend of ColorVideoVDP against its readable reference, and the same bits from any number of threads.
#include <gtest/gtest.h>

#include "cpu/thread_pool.hpp"
#include "device/row_powers.hpp"
#include "metrics/cvvdp/cvvdp_cpu_rows.hpp"
#include "metrics/cvvdp/cvvdp_test_support.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::cvvdp {
namespace {

FrameGeometry geometry_of(int width, int height, int depth, qc_chroma chroma) {
    FrameGeometry geometry = test::geometry_of(width, height, depth, chroma);
    geometry.frame_rate = 24;
    return geometry;
}

/// Of pictures that the backend does not score by rows.
constexpr double kSmallBound = 1e-5;

bool is_small(const FrameGeometry& geometry) {
    return geometry.width * geometry.height < kSmallestForRows;
}

void expect_near_reference(const FrameGeometry& geometry, const OptionValues& options, int frames = 2) {
    const Clip clip(geometry, frames);
    const ClipScore expected = score_clip(geometry, options, clip.reference, clip.distorted, Cpu::kReference);
    const ClipScore actual = score_clip(geometry, options, clip.reference, clip.distorted, Cpu::kRows);
    expect_equal_jod(actual, expected, is_small(geometry) ? kSmallBound : kCpuJodBound);
    EXPECT_LT(expected.jod, 9.9);
}

/// Borders of all steps: reflections, odd levels, levels that are not blurred.
TEST(CvvdpCpuRows, Sizes) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{2, 2},
                                                                        {3, 5},
                                                                        {4, 7},
                                                                        {6, 6},
                                                                        {7, 7},
                                                                        {7, 13},
                                                                        {17, 17},
                                                                        {33, 21},
                                                                        {65, 35},
                                                                        {70, 64},
                                                                        {131, 34},
                                                                        {200, 9}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height);
        for (const char* border : {"reference", "fixed"})
            expect_near_reference(geometry_of(width, height, 8, QC_CHROMA_420), options_of_words({{"border", border}}));
    }
}

TEST(CvvdpCpuRows, LayoutsAndDepths) {
    for (const qc_chroma chroma : {QC_CHROMA_400, QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444})
        for (const int depth : {8, 10, 12, 16}) {
            SCOPED_TRACE(testing::Message() << "chroma " << chroma << ", " << depth << " bits");
            expect_near_reference(geometry_of(53, 38, depth, chroma), options_of_words({}));
            expect_near_reference(geometry_of(213, 128, depth, chroma), options_of_words({}));
        }
    FrameGeometry rgb = geometry_of(53, 38, 8, QC_CHROMA_444);
    rgb.rgb = true;
    expect_near_reference(rgb, options_of_words({}));
}

TEST(CvvdpCpuRows, DisplaysAndTime) {
    const FrameGeometry geometry = geometry_of(44, 37, 10, QC_CHROMA_420);
    for (const char* display : {"standard_fhd", "standard_hdr_pq", "standard_hdr_hlg", "standard_hdr_linear",
                                "standard_hmd", "iphone_14_pro_hdr"})
        for (const char* padding : {"replicate", "symmetric"}) {
            SCOPED_TRACE(testing::Message() << display << ", " << padding);
            expect_near_reference(geometry, options_of_words({{"display", display}, {"padding", padding}}), 5);
        }
    expect_near_reference(geometry, options_of_words({{"eotf", "power"}}, {{"gamma", 2.4}, {"exposure", 1.5}}));
    expect_near_reference(geometry, options_of_words({{"matrix", "bt2020"}, {"primaries", "p3"}}));
}

/// Runs begin and end anywhere, and what they have around them is made again by each.
TEST(CvvdpCpuRows, SameBitsFromAnyNumberOfThreads) {
    for (const auto& [width, height] : {std::pair{64, 150}, {37, 99}}) {
        const FrameGeometry geometry = geometry_of(width, height, 8, QC_CHROMA_420);
        const OptionValues options = options_of_words({});
        const Clip clip(geometry, 3);
        const auto words = words_of_clip(geometry, options, clip.reference, clip.distorted, Cpu::kRows);
        for (const int threads : {2, 3, 8}) {
            cpu::ThreadPool pool(threads);
            EXPECT_EQ(words, words_of_clip(geometry, options, clip.reference, clip.distorted, Cpu::kRows, &pool))
                << width << "x" << height << ", " << threads << " threads";
        }
    }
}

TEST(CvvdpCpuRows, PowersOfRows) {
    for (const double exponent : {0.4, 1.302622675895691, 2.264355182647705, 3.6807713508605957}) {
        const device::RowPower power(exponent);
        EXPECT_NEAR(static_cast<double>(power.high) + static_cast<double>(power.low), exponent, 1e-10);
        for (float x = 1e-5f; x < 1e7f; x *= 1.0037f) {
            const double expected = std::pow(static_cast<double>(x), exponent);
            EXPECT_NEAR(device::power_of_row<device::AnyCpu>(x, power), expected, 2.5e-7 * expected)
                << x << "^" << exponent;
        }
    }
    for (float x = 1e-5f; x < 1e5f; x *= 1.0037f) {
        const double expected = std::log2(static_cast<double>(x));
        EXPECT_NEAR(device::log2_of_row<device::AnyCpu>(x), expected, 1.2e-7 * std::abs(expected) + 1e-8) << x;
    }
}

} // namespace
} // namespace qc::cvvdp
