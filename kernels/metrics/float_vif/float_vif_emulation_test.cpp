// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of float_vif without a GPU: every format and option against the CPU reference, bit for bit.
#include "metrics/float_vif/float_vif.hpp"
#include "metrics/float_vif/float_vif_phases.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_vif {
namespace {

using test::argument;
using test::each_block;
using test::EmulatedKernel;
using test::EmulatedPlane;
using test::ThreadOrder;

constexpr float kUnset = -1e30f;

template <class Plan>
void run_tiles(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& order) {
    const auto& task = argument<ScaleTask>(arguments, 0);
    ASSERT_EQ(block.x, static_cast<unsigned>(Plan::kThreads));
    each_block(grid, [&](int x, int y, int pair) {
        const TileOrigin origin{x * Plan::kWidth, y * Plan::kHeight};
        const typename Plan::Source source(task, pair);
        std::vector<float> shared(Plan::kSharedFloats, kUnset);
        order.each(Plan::kThreads,
                   [&](int thread) { vertical_phase<Plan>(shared.data(), thread, source, origin, task); });
        order.each(Plan::kThreads, [&](int thread) {
            decimation_phase<Plan>(shared.data(), thread, origin, task, pair);
            horizontal_phase<Plan>(shared.data(), thread, origin, task, pair);
        });
    });
}

template <typename Source>
void run_any_tiles(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& order) {
    const auto& task = argument<ScaleTask>(arguments, 0);
    ASSERT_EQ(block.x, static_cast<unsigned>(AnyTile::kThreads));
    each_block(grid, [&](int x, int y, int pair) {
        const TileOrigin origin{x * AnyTile::kWidth, y * AnyTile::kHeight};
        const Source source(task, pair);
        std::vector<float> shared(static_cast<size_t>(AnyTile(task).shared_floats()), kUnset);
        order.each(AnyTile::kThreads,
                   [&](int thread) { any_vertical_phase(shared.data(), thread, source, origin, task); });
        order.each(AnyTile::kThreads,
                   [&](int thread) { any_horizontal_phase(shared.data(), thread, origin, task, pair); });
    });
}

template <typename Sample>
void run_resize(Dim3 grid, Dim3 /*block*/, void** arguments, const ThreadOrder& order) {
    const auto& task = argument<ResizeTask>(arguments, 0);
    each_block(grid, [&](int x, int y, int pair) {
        order.each(kResizeBlock, [&](int thread) { resize_sample<Sample>(task, pair, x * kResizeBlock + thread, y); });
    });
}

const std::vector<EmulatedKernel> kKernels = {
    {"float_vif_scale0_u8", run_tiles<Scale0U8>},
    {"float_vif_scale0_u16", run_tiles<Scale0U16>},
    {"float_vif_scale1", run_tiles<Scale1>},
    {"float_vif_scale2", run_tiles<Scale2>},
    {"float_vif_scale3", run_tiles<Scale3>},
    {"float_vif_any_u8", run_any_tiles<PictureSource<uint8_t>>},
    {"float_vif_any_u16", run_any_tiles<PictureSource<uint16_t>>},
    {"float_vif_any_scratch", run_any_tiles<ScratchSource>},
    {"float_vif_resize_u8", run_resize<uint8_t>},
    {"float_vif_resize_u16", run_resize<uint16_t>},
    {"float_vif_sum_rows", test::emulate_sum_rows},
    {"float_vif_sum_columns", test::emulate_sum_columns<DevicePair>},
};

struct Case {
    int width, height, depth, shift, count;
    test::OptionList options;
};

void expect_emulation_equals_cpu(const Case& c, bool descending) {
    std::string title = format("%dx%d, %d bits << %d, %d pairs", c.width, c.height, c.depth, c.shift, c.count);
    for (const auto& [name, value] : c.options) title += format(", %s=%g", std::string(name).c_str(), value);
    SCOPED_TRACE(title);
    const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
    const OptionValues options = test::options_of(descriptor(), c.options);
    ASSERT_TRUE(validate(descriptor(), geometry, options).ok());
    const auto metric = create_scorer(descriptor(), geometry, options);
    test::EmulatedProgram program(kKernels);
    ASSERT_TRUE(metric->prepare(program).ok());

    std::vector<EmulatedPlane> planes;
    for (int i = 0; i < c.count; ++i) {
        const auto seed = static_cast<uint32_t>(i + c.width);
        planes.emplace_back(c.width, c.height, c.depth, i, c.shift, 1, seed, false);
        planes.emplace_back(c.width, c.height, c.depth, 3 * i, c.shift, 1, seed, true);
    }
    test::expect_emulation_equals_cpu(*metric, planes, descending);
}

TEST(FloatVifEmulation, EveryFormatEqualsTheCpu) {
    const Case cases[] = {
        {517, 83, 8, 0, 2, {}},  {500, 130, 8, 0, 1, {{"vif_enhn_gain_limit", 1.0}}},
        {257, 45, 10, 0, 2, {}}, {257, 45, 10, 6, 1, {{"vif_sigma_nsq", 1.2}}},
        {130, 67, 12, 4, 1, {}}, {300, 50, 16, 0, 3, {{"vif_sigma_nsq", 0.0}}},
    };
    for (const Case& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

TEST(FloatVifEmulation, EveryOptionEqualsTheCpu) {
    const Case cases[] = {
        {241, 64, 8, 0, 2, {{"vif_skip_scale0", 1}}},
        {241, 39, 12, 0, 1, {{"vif_skip_scale0", 1}, {"vif_kernelscale", 1.5}}},
        {150, 91, 8, 0, 1, {{"vif_kernelscale", 0.5}}},
        {301, 283, 10, 6, 1, {{"vif_kernelscale", 3.711}}},
        {129, 70, 8, 0, 2, {{"vif_prescale", 0.5}}},
        {129, 70, 8, 0, 1, {{"vif_prescale", 0.75}, {"vif_prescale_method", 1}}},
        {91, 50, 8, 0, 1, {{"vif_prescale", 1.3}, {"vif_prescale_method", 2}}},
        {91, 50, 10, 6, 2, {{"vif_prescale", 1.3}, {"vif_prescale_method", 3}}},
        {91, 50, 8, 0, 1, {{"vif_prescale", 0.5}, {"vif_prescale_method", 3}, {"vif_kernelscale", 2.0 / 3}}},
        {6, 7, 8, 0, 1, {{"vif_prescale", 4.0}, {"vif_prescale_method", 3}}},
        {200, 100, 8, 0, 1, {{"vif_prescale", 0.5}, {"vif_skip_scale0", 1}, {"vif_prescale_method", 1}}},
    };
    for (const Case& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

TEST(FloatVifEmulation, SmallSizesEqualTheCpu) {
    for (int height = 16; height <= 40; height += 3)
        for (int width = 16; width <= 40; ++width) {
            const bool bytes = (width + height) % 2 != 0;
            expect_emulation_equals_cpu({width, height, bytes ? 8 : 10, 0, 1, {}}, false);
            if (HasFailure()) return;
        }
}

} // namespace
} // namespace qc::float_vif
