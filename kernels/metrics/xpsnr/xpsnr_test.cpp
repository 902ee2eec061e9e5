// SPDX-License-Identifier: BSD-2-Clause-Patent
// XPSNR's blocks and their sums: the CPU reference against a second implementation in the definition's words.
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/xpsnr/xpsnr_test_support.hpp"

namespace qc::xpsnr {
namespace {

// ---- blocks ---------------------------------------------------------------------------------------------------------

TEST(XpsnrPlan, BlocksGrowWithThePicture) {
    const struct {
        int width, height, side, columns, rows, margin;
        bool weighted, smoothed;
    } cases[] = {
        {3840, 2160, 128, 30, 17, 2, true, false}, {4096, 2160, 132, 32, 17, 2, true, false},
        {2560, 1440, 84, 31, 18, 2, true, false},  {2048, 1152, 68, 31, 17, 1, true, false},
        {1920, 1080, 64, 30, 17, 1, true, false},  {1280, 720, 44, 30, 17, 1, true, false},
        {640, 480, 24, 27, 20, 1, true, true},     {642, 480, 24, 27, 20, 1, true, false},
        {352, 288, 16, 22, 18, 1, true, true},     {46, 45, 4, 12, 12, 1, true, true},
        {45, 44, 45, 1, 1, 1, false, true},        {1, 1, 1, 1, 1, 1, false, true},
    };
    for (const auto& c : cases) {
        const BlockPlan plan = make_plan(geometry_of(c.width, c.height, QC_CHROMA_400));
        const std::string what = format("%dx%d", c.width, c.height);
        EXPECT_EQ(plan.block_width[0], c.side) << what;
        EXPECT_EQ(plan.columns, c.columns) << what;
        EXPECT_EQ(plan.rows, c.rows) << what;
        EXPECT_EQ(plan.margin, c.margin) << what;
        EXPECT_EQ(plan.weighted, c.weighted) << what;
        EXPECT_EQ(plan.smoothed, c.smoothed) << what;
        EXPECT_EQ(plan.words_per_block(), 3) << what;
    }
}

/// Every sample of every plane lies in exactly one block, and no block is empty.
TEST(XpsnrPlan, BlocksCoverEveryPlane) {
    for (const qc_chroma chroma : {QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444})
        for (int height : {1, 2, 3, 5, 7, 31, 45, 46, 47, 121, 487, 1081, 2161})
            for (int width = 1; width < 140; width += 1 + width / 60) {
                const FrameGeometry geometry = geometry_of(width, height, chroma);
                const BlockPlan plan = make_plan(geometry);
                for (int p = 0; p < plan.planes; ++p) {
                    const std::string what = format("%dx%d plane %d", width, height, p);
                    for (int k = 0; k < plan.blocks(); ++k) {
                        const Rectangle block = plan.block(k, p);
                        ASSERT_GT(block.x.size(), 0) << what;
                        ASSERT_GT(block.y.size(), 0) << what;
                        if (k % plan.columns == plan.columns - 1) {
                            ASSERT_EQ(block.x.end, geometry.stored_width(p)) << what;
                        }
                        if (k / plan.columns == plan.rows - 1) {
                            ASSERT_EQ(block.y.end, geometry.stored_height(p)) << what;
                        }
                    }
                }
            }
}

// ---- the definition, word by word -----------------------------------------------------------------------------------

/// Activities and errors of a block, with nothing shared but the plan.
Words64 obvious_words(const BlockPlan& plan, bool second_order, const Inputs& inputs) {
    const bool bytes = inputs.geometry.sample == SampleType::kU8;
    const auto sample = [&](const HostPlane& plane, int x, int y) -> int64_t {
        if (plane.data == nullptr) return 0;
        return bytes ? plane.as<uint8_t>().at(x, y) : plane.as<uint16_t>().at(x, y);
    };
    const int width = plan.width[0], height = plan.height[0], q = plan.margin;
    const HostPlane& luma = inputs.host.reference.plane[0];
    const auto c = [&](int x, int y) { return sample(luma, std::min(x, width - 1), std::min(y, height - 1)); };
    Words64 words;
    for (int j = 0; j < plan.rows; ++j)
        for (int i = 0; i < plan.columns; ++i) {
            const int side_x = plan.block_width[0], side_y = plan.block_height[0];
            const int x0 = i * side_x, y0 = j * side_y;
            const int bw = std::min(side_x, width - x0), bh = std::min(side_y, height - y0);
            const int xa = x0 == 0 ? q : 0, xe = x0 + bw >= width ? bw - q : bw;
            const int ya = y0 == 0 ? q : 0, ye = y0 + bh >= height ? bh - q : bh;
            uint64_t spatial = 0, temporal = 0;
            const bool active = plan.weighted && xe > xa && ye > ya;
            for (int y = y0 + ya; active && y < y0 + ye; y += q)
                for (int x = x0 + xa; x < x0 + xe; x += q) {
                    int64_t f = 0;
                    if (q == 1) {
                        f = 12 * c(x, y) - 2 * (c(x - 1, y) + c(x + 1, y) + c(x, y - 1) + c(x, y + 1)) -
                            (c(x - 1, y - 1) + c(x + 1, y - 1) + c(x - 1, y + 1) + c(x + 1, y + 1));
                    } else {
                        f = 12 * (c(x, y) + c(x + 1, y) + c(x, y + 1) + c(x + 1, y + 1));
                        for (int e = 0; e < 2; ++e)
                            f -= 3 * (c(x + e, y - 1) + c(x + e, y + 2) + c(x - 1, y + e) + c(x + 2, y + e));
                        f -= 2 * (c(x - 1, y - 1) + c(x + 2, y - 1) + c(x - 1, y + 2) + c(x + 2, y + 2));
                        for (int e = -1; e <= 2; ++e)
                            f -= c(x + e, y - 2) + c(x + e, y + 3) + c(x - 2, y + e) + c(x + 3, y + e);
                    }
                    spatial += static_cast<uint64_t>(std::abs(f));
                }
            for (int y = y0; active && y < y0 + bh; y += q)
                for (int x = x0; x < x0 + bw; x += q) {
                    int64_t t = 0;
                    for (int v = y; v < std::min(y + q, y0 + bh); ++v)
                        for (int u = x; u < std::min(x + q, x0 + bw); ++u) {
                            const int64_t p1 = sample(inputs.host.reference_history[0], u, v);
                            const int64_t p2 = sample(inputs.host.reference_history[1], u, v);
                            t += second_order ? c(u, v) - 2 * p1 + p2 : c(u, v) - p1;
                        }
                    temporal += static_cast<uint64_t>(std::abs(t));
                }
            words.push_back(spatial);
            words.push_back(temporal);
            for (int p = 0; p < plan.planes; ++p) {
                const int w = plan.block_width[p], h = plan.block_height[p];
                uint64_t errors = 0;
                for (int y = j * h; y < std::min((j + 1) * h, plan.height[p]); ++y)
                    for (int x = i * w; x < std::min((i + 1) * w, plan.width[p]); ++x) {
                        const int64_t error =
                            sample(inputs.host.reference.plane[p], x, y) - sample(inputs.host.distorted.plane[p], x, y);
                        errors += static_cast<uint64_t>(error * error);
                    }
                words.push_back(errors);
            }
        }
    return words;
}

void expect_definition(const BlockPlan& plan, bool second_order, const Inputs& inputs, const std::string& what) {
    ASSERT_EQ(reference_words(plan, second_order, inputs), obvious_words(plan, second_order, inputs)) << what;
}

TEST(XpsnrWords, EverySmallSize) {
    each_small_size(expect_definition);
}

TEST(XpsnrWords, EveryLayout) {
    each_layout(expect_definition);
}

TEST(XpsnrWords, MixedLayouts) {
    each_mixture(expect_definition);
}

TEST(XpsnrWords, LargePictures) {
    each_large_picture(expect_definition);
}

TEST(XpsnrWords, FullSwingFits) {
    each_full_swing(expect_definition);
}

} // namespace
} // namespace qc::xpsnr
