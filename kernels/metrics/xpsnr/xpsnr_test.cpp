// SPDX-License-Identifier: BSD-2-Clause-Patent
// XPSNR's blocks and their sums: a second implementation in the definition's words, and the CUDA kernels' code run on
// the host for all layouts.
#include <gtest/gtest.h>

#include <cmath>

#include "cpu/host_picture.hpp"
#include "metrics/xpsnr/xpsnr_test_support.hpp"
#include "metrics/xpsnr/xpsnr_tile.hpp"
#include "tests/support/runs.hpp"

namespace qc::xpsnr {
namespace {

using test::Content;
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
                        const Block block = plan.block(k, p);
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

// ---- pictures -------------------------------------------------------------------------------------------------------

/// The pictures of one frame, for both backends.
struct Frame {
    test::TestPicture reference, distorted, one_earlier, two_earlier;
};

struct Inputs {
    FrameGeometry geometry;
    qc_format reference_format{}, distorted_format{};
    std::shared_ptr<cpu::PicturePool> pool;
    std::unique_ptr<Frame> frame;
    std::vector<std::shared_ptr<const HostPicture>> held;
    HostPair host;
    DevicePair device{};
};

DevicePicture device_view(const test::TestPicture& picture, int planes) {
    const qc_picture view = picture.view();
    DevicePicture result{};
    for (int p = 0; p < planes; ++p) {
        const PlaneSource from = plane_source(picture.format(), p);
        result.plane[p] = {static_cast<const char*>(view.plane[from.plane]) + from.first_bytes,
                           static_cast<uint32_t>(view.pitch_bytes[from.plane]), static_cast<uint16_t>(from.step),
                           static_cast<uint16_t>(picture.format().shift)};
    }
    return result;
}

/// @param history how many earlier frames there are
Inputs make_inputs(const char* reference_layout, const char* distorted_layout, int width, int height, Content content,
                   int history, int padding_bytes) {
    Inputs inputs;
    qc_config config = test::config_for(test::layout_named(reference_layout), width, height, "xpsnr", QC_BACKEND_CPU);
    config.distorted[0] = test::format_of(test::layout_named(distorted_layout), width, height);
    bool chroma_agrees = false;
    const Status status = session_geometry(config, &inputs.geometry, &chroma_agrees);
    EXPECT_TRUE(status.ok()) << status.text();
    const auto picture = [&](const qc_format& format, bool distorted, unsigned seed) {
        return test::TestPicture(format, content, distorted, seed, padding_bytes);
    };
    inputs.frame = std::make_unique<Frame>(
        Frame{picture(config.reference, false, 3), picture(config.distorted[0], true, 3),
              picture(config.reference, content == Content::kBinaryNoise, 2), picture(config.reference, false, 1)});
    inputs.pool = std::make_shared<cpu::PicturePool>(inputs.geometry, true);
    const auto host_view = [&](const test::TestPicture& source) {
        inputs.held.push_back(inputs.pool->take_in(source.view(), source.format()));
        return *inputs.held.back();
    };
    const int planes = inputs.geometry.plane_count();
    inputs.host = HostPair{host_view(inputs.frame->reference), host_view(inputs.frame->distorted)};
    inputs.device.reference = device_view(inputs.frame->reference, planes);
    inputs.device.distorted = device_view(inputs.frame->distorted, planes);
    const test::TestPicture* const earlier[2] = {&inputs.frame->one_earlier, &inputs.frame->two_earlier};
    for (int k = 0; k < history; ++k) {
        inputs.host.reference_history[k] = host_view(*earlier[k]).plane[0];
        inputs.device.reference_history[k] = device_view(*earlier[k], planes).plane[0];
    }
    return inputs;
}

Words64 reference_words(const BlockPlan& plan, bool second_order, const Inputs& inputs) {
    Words64 words(static_cast<size_t>(plan.blocks()) * static_cast<size_t>(plan.words_per_block()));
    score_pair(plan, second_order, inputs.geometry.sample, inputs.host, words);
    return words;
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

// ---- the kernels' code on the host ----------------------------------------------------------------------------------

template <typename T, int kMargin, bool kSecondOrder>
Words64 emulate_kernel(const BlockPlan& plan, const DevicePair& pair) {
    Words64 words;
    for (int k = 0; k < plan.blocks(); ++k) {
        Words64 sums(5);
        for (int thread = 0; thread < kThreads; ++thread) {
            const BlockSums<T> own = sum_block<T, kMargin, kSecondOrder>(pair, plan, k, thread);
            for (size_t i = 0; i < 5; ++i) sums[i] += own.word[i];
        }
        words.insert(words.end(), sums.begin(), sums.begin() + plan.words_per_block());
    }
    return words;
}

template <typename T>
Words64 emulate_samples(const BlockPlan& plan, bool second_order, const DevicePair& pair) {
    if (plan.margin == 1)
        return second_order ? emulate_kernel<T, 1, true>(plan, pair) : emulate_kernel<T, 1, false>(plan, pair);
    return second_order ? emulate_kernel<T, 2, true>(plan, pair) : emulate_kernel<T, 2, false>(plan, pair);
}

Words64 emulate(const BlockPlan& plan, bool second_order, const Inputs& inputs) {
    if (inputs.geometry.sample == SampleType::kU8) return emulate_samples<uint8_t>(plan, second_order, inputs.device);
    return emulate_samples<uint16_t>(plan, second_order, inputs.device);
}

void expect_all_equal(const BlockPlan& plan, bool second_order, const Inputs& inputs, const std::string& what) {
    const Words64 expected = obvious_words(plan, second_order, inputs);
    ASSERT_EQ(reference_words(plan, second_order, inputs), expected) << what << ": CPU reference";
    ASSERT_EQ(emulate(plan, second_order, inputs), expected) << what << ": kernel";
}

TEST(XpsnrWords, EverySmallSize) {
    for (const char* layout : {"yuv420p", "yuv420p10le"})
        for (int height = 2; height <= 50; height += 1 + height / 12)
            for (int width = 2; width <= 70; width += 1 + width / 24) {
                const int history = (width + height) % 3, padding = width % 5;
                const Inputs inputs = make_inputs(layout, layout, width, height, Content::kNoise, history, padding);
                for (const int margin : {1, 2})
                    for (const int side : {4, 8, 20}) {
                        const BlockPlan plan = plan_with(inputs.geometry, side, margin);
                        expect_all_equal(plan, width % 2 == 0, inputs,
                                         format("%s %dx%d margin %d side %d", layout, width, height, margin, side));
                    }
                expect_all_equal(make_plan(inputs.geometry), false, inputs, format("%dx%d", width, height));
            }
}

TEST(XpsnrWords, EveryLayout) {
    std::vector<std::string> layouts;
    for (const auto* list : {&test::kAllLayouts, &test::kRgbLayouts})
        for (const test::Layout& layout : *list) layouts.emplace_back(layout.name);
    for (const std::string& layout : layouts)
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{219, 163}, {176, 88}})
            for (const int padding : {0, 6, 16}) {
                const Inputs inputs =
                    make_inputs(layout.c_str(), layout.c_str(), width, height, Content::kNatural, 2, padding);
                for (const int margin : {1, 2})
                    expect_all_equal(plan_with(inputs.geometry, 44, margin), margin == 1, inputs,
                                     layout + format(" %dx%d margin %d padding %d", width, height, margin, padding));
            }
}

TEST(XpsnrWords, MixedLayouts) {
    for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{
             {"nv12", "yuv420p"}, {"yuv420p", "nv12"}, {"p010le", "yuv420p10le"}, {"gbrp", "rgb24"}}) {
        const Inputs inputs = make_inputs(a, b, 130, 94, Content::kNatural, 1, 2);
        for (const bool second_order : {false, true})
            expect_all_equal(plan_with(inputs.geometry, 44, 1), second_order, inputs, std::string(a) + " " + b);
    }
}

/// Of real plans: strips that several of a thread's turns take, weights by cells, and odd sizes of those.
TEST(XpsnrWords, LargePictures) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1280, 720}, {2401, 983}, {2560, 1440}})
        for (const char* layout : {"nv12", "yuv420p16le"}) {
            const Inputs inputs = make_inputs(layout, layout, width, height, Content::kNoise, 2, 0);
            expect_all_equal(make_plan(inputs.geometry), width % 2 == 0, inputs,
                             layout + format(" %dx%d", width, height));
        }
}

/// The largest sums a thread can meet in a large block.
TEST(XpsnrWords, FullSwingFits) {
    for (const char* layout : {"yuv444p", "yuv444p16le"})
        for (const Content content : {Content::kBinaryNoise, Content::kCheckerboard})
            for (const int margin : {1, 2}) {
                const Inputs inputs = make_inputs(layout, layout, 512, 512, content, 2, 0);
                for (const bool second_order : {false, true})
                    expect_all_equal(plan_with(inputs.geometry, 512, margin), second_order, inputs, layout);
            }
}

} // namespace
} // namespace qc::xpsnr
