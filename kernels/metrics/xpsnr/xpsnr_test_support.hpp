// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the tests of XPSNR have in common: pictures and plans that the CPU reference is held against the definition on,
// and the kernels against the reference. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "api/picture.hpp"
#include "cpu/host_picture.hpp"
#include "metrics/xpsnr/xpsnr.hpp"
#include "tests/support/runs.hpp"

namespace qc::xpsnr {

using Words64 = std::vector<uint64_t>;

inline WeightedErrors weighted_errors(const BlockPlan& plan, const Words64& words) {
    return Weighting(plan).errors(words);
}

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline FrameGeometry geometry_of(int width, int height, qc_chroma chroma = QC_CHROMA_420, int depth = 8) {
    qc_config config = test::config_for(test::layout_named("yuv420p"), width, height, "xpsnr", QC_BACKEND_CPU);
    config.reference.chroma = chroma;
    config.reference.depth = depth;
    config.reference.container_bits = depth == 8 ? 8 : 16;
    config.distorted[0] = config.reference;
    FrameGeometry geometry;
    std::string chroma_conflict;
    const Status status = session_geometry(config, &geometry, &chroma_conflict);
    EXPECT_TRUE(status.ok()) << status.text();
    return geometry;
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

inline DevicePicture device_view(const test::TestPicture& picture, int planes) {
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
inline Inputs make_inputs(const char* reference_layout, const char* distorted_layout, int width, int height,
                          test::Content content, int history, int padding_bytes) {
    Inputs inputs;
    qc_config config = test::config_for(test::layout_named(reference_layout), width, height, "xpsnr", QC_BACKEND_CPU);
    config.distorted[0] = test::format_of(test::layout_named(distorted_layout), width, height);
    std::string chroma_conflict;
    const Status status = session_geometry(config, &inputs.geometry, &chroma_conflict);
    EXPECT_TRUE(status.ok()) << status.text();
    const auto picture = [&](const qc_format& format, bool distorted, unsigned seed) {
        return test::TestPicture(format, content, distorted, seed, padding_bytes);
    };
    inputs.frame = std::make_unique<Frame>(Frame{
        picture(config.reference, false, 3), picture(config.distorted[0], true, 3),
        picture(config.reference, content == test::Content::kBinaryNoise, 2), picture(config.reference, false, 1)});
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

inline Words64 reference_words(const BlockPlan& plan, bool second_order, const Inputs& inputs) {
    Words64 words(static_cast<size_t>(plan.blocks()) * static_cast<size_t>(plan.words_per_block()));
    score_cpu(plan, second_order, inputs.geometry.sample, inputs.host, words);
    return words;
}

/// A plan with blocks and margin of the test's choice: large pictures' cells on small pictures.
inline BlockPlan plan_with(const FrameGeometry& geometry, int side, int margin) {
    BlockPlan plan = make_plan(geometry);
    plan.margin = margin;
    plan.weighted = true;
    plan.columns = (geometry.width + side - 1) / side;
    plan.rows = (geometry.height + side - 1) / side;
    for (int p = 0; p < plan.planes; ++p) {
        plan.block_width[p] = side * plan.width[p] / geometry.width;
        plan.block_height[p] = side * plan.height[p] / geometry.height;
    }
    return plan;
}

// ---- cases: check(plan, second_order, inputs, what) -----------------------------------------------------------------

template <typename Check>
void each_small_size(const Check& check) {
    for (const char* layout : {"yuv420p", "yuv420p10le"})
        for (int height = 2; height <= 50; height += 1 + height / 12)
            for (int width = 2; width <= 70; width += 1 + width / 24) {
                const int history = (width + height) % 3, padding = width % 5;
                const Inputs inputs =
                    make_inputs(layout, layout, width, height, test::Content::kNoise, history, padding);
                for (const int margin : {1, 2})
                    for (const int side : {4, 8, 20}) {
                        const BlockPlan plan = plan_with(inputs.geometry, side, margin);
                        check(plan, width % 2 == 0, inputs,
                              format("%s %dx%d margin %d side %d", layout, width, height, margin, side));
                    }
                check(make_plan(inputs.geometry), false, inputs, format("%dx%d", width, height));
            }
}

template <typename Check>
void each_layout(const Check& check) {
    std::vector<std::string> layouts;
    for (const auto* list : {&test::kAllLayouts, &test::kRgbLayouts})
        for (const test::Layout& layout : *list) layouts.emplace_back(layout.name);
    for (const std::string& layout : layouts)
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{219, 163}, {176, 88}})
            for (const int padding : {0, 6, 16}) {
                const Inputs inputs =
                    make_inputs(layout.c_str(), layout.c_str(), width, height, test::Content::kNatural, 2, padding);
                for (const int margin : {1, 2})
                    check(plan_with(inputs.geometry, 44, margin), margin == 1, inputs,
                          layout + format(" %dx%d margin %d padding %d", width, height, margin, padding));
            }
}

template <typename Check>
void each_mixture(const Check& check) {
    for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{
             {"nv12", "yuv420p"}, {"yuv420p", "nv12"}, {"p010le", "yuv420p10le"}, {"gbrp", "rgb24"}}) {
        const Inputs inputs = make_inputs(a, b, 130, 94, test::Content::kNatural, 1, 2);
        for (const bool second_order : {false, true})
            check(plan_with(inputs.geometry, 44, 1), second_order, inputs, std::string(a) + " " + b);
    }
}

/// Of real plans: strips that several of a thread's turns take, weights by cells, and odd sizes of those.
template <typename Check>
void each_large_picture(const Check& check) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1280, 720}, {2401, 983}, {2560, 1440}})
        for (const char* layout : {"nv12", "yuv420p16le"}) {
            const Inputs inputs = make_inputs(layout, layout, width, height, test::Content::kNoise, 2, 0);
            check(make_plan(inputs.geometry), width % 2 == 0, inputs, layout + format(" %dx%d", width, height));
        }
}

/// The largest sums a thread can meet in a large block.
template <typename Check>
void each_full_swing(const Check& check) {
    for (const char* layout : {"yuv444p", "yuv444p16le"})
        for (const test::Content content : {test::Content::kBinaryNoise, test::Content::kCheckerboard})
            for (const int margin : {1, 2}) {
                const Inputs inputs = make_inputs(layout, layout, 512, 512, content, 2, 0);
                for (const bool second_order : {false, true})
                    check(plan_with(inputs.geometry, 512, margin), second_order, inputs, layout);
            }
}

} // namespace qc::xpsnr
