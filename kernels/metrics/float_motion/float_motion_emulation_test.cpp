// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of float_motion without a GPU: every format and option against the CPU reference, bit for bit.
#include "metrics/float_motion/float_motion.hpp"
#include "metrics/float_motion/float_motion_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_motion {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_FLOAT_MOTION_KERNELS);

struct Case {
    int width, height, depth, shift;
    bool semi_planar;
    int count;
    test::OptionList options;
    bool has_weights = false;
};

/// Frames of one stream; the first of them has none before it.
std::vector<test::EmulatedPicture> make_stream(const Case& c, const FrameGeometry& geometry) {
    std::vector<test::EmulatedPicture> frames;
    for (int frame = 0; frame < c.count; ++frame) {
        const auto sample_at = [&](int p, int x, int y) {
            return test::synthetic_blocks(x, y, frame + 7 * p, 0, c.depth, frame % 2 != 0);
        };
        const test::SurfaceLayout layout{
            .semi_planar = c.semi_planar, .shift = c.shift, .padding = static_cast<size_t>(frame)};
        frames.emplace_back(test::SamplePicture(geometry, sample_at, frame), layout);
    }
    return frames;
}

/// A frame and the one before it, as a backend views its pictures.
template <typename Reference, typename Picture>
Reference reference_of(const std::vector<test::EmulatedPicture>& stream, size_t frame,
                       Picture (test::EmulatedPicture::*view)() const) {
    Reference reference{};
    reference.current = (stream[frame].*view)();
    if (frame == 0) return reference;
    const Picture before = (stream[frame - 1].*view)();
    reference.history[0] = before.plane[0];
    for (const int p : {1, 2}) reference.chroma_history[0][p - 1] = before.plane[p];
    return reference;
}

/// Weights, and as many behind them as there are frames, which begin one by one later.
std::vector<uint8_t> weights_of(const FrameGeometry& geometry) {
    std::vector<uint8_t> weights(static_cast<size_t>(geometry.width) * static_cast<size_t>(geometry.height) + 8);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<uint8_t>(i / 7 % 4 == 0 ? 0 : i / 7 % 4 == 1 ? 255 : i * 37 % 256);
    return weights;
}

void expect_emulation_equals_cpu(const Case& c, bool descending) {
    std::string title = format("%dx%d, %d bits << %d, %d frames", c.width, c.height, c.depth, c.shift, c.count);
    for (const auto& [name, value] : c.options) title += format(", %s=%g", std::string(name).c_str(), value);
    SCOPED_TRACE(title);
    FrameGeometry geometry = test::geometry_of(c.width, c.height, c.depth, c.width / 2, c.height / 2);
    geometry.has_weights = c.has_weights;
    const OptionValues options = test::options_of(descriptor(), c.options);
    ASSERT_TRUE(validate(descriptor(), geometry, options).ok());
    const auto metric = create_scorer(descriptor(), geometry, options);
    test::EmulatedProgram program(kKernels);
    ASSERT_TRUE(metric->prepare(program).ok());

    const std::vector<test::EmulatedPicture> stream = make_stream(c, geometry);
    std::vector<DeviceReference> references;
    std::vector<uint64_t> expected(static_cast<size_t>(c.count) * metric->accumulator_words());
    const std::vector<uint8_t> weights = weights_of(geometry);
    for (size_t frame = 0; frame < stream.size(); ++frame) {
        DeviceReference& reference =
            references.emplace_back(reference_of<DeviceReference>(stream, frame, &test::EmulatedPicture::device));
        reference.output = static_cast<uint32_t>(stream.size() - 1 - frame); // rows in another order than the frames
        auto on_host = reference_of<HostReference>(stream, frame, &test::EmulatedPicture::host);
        if (c.has_weights) {
            reference.weights = {weights.data() + frame, static_cast<uint32_t>(c.width), 1, 0};
            on_host.weights = {weights.data() + frame, {c.width}, c.width, c.height};
        }
        metric->score(on_host, std::span(expected).subspan(reference.output * metric->accumulator_words(),
                                                           metric->accumulator_words()));
    }
    DeviceBatch batch;
    batch.references = references.data();
    batch.count = c.count;
    test::EmulatedQueue queue(descending);
    EXPECT_EQ(test::emulate_batch(*metric, batch, queue), expected);
}

TEST(FloatMotionEmulation, EveryFormatAndOptionEqualsTheCpu) {
    const Case cases[] = {
        {517, 83, 8, 0, false, 3, {}},
        {500, 130, 8, 0, false, 2, {{"motion_filter_size", 3}}},
        {257, 45, 10, 6, false, 3, {{"motion_filter_size", 1}}},
        {130, 67, 12, 4, false, 2, {{"motion_add_scale1", 1}}},
        {131, 66, 8, 0, false, 2, {{"motion_add_scale1", 1}}},
        {300, 50, 16, 0, false, 3, {{"motion_add_uv", 1}}},
        {251, 37, 8, 0, true, 2, {{"motion_add_uv", 1}}},
        {251, 39, 10, 6, true, 3, {{"motion_add_uv", 1}, {"motion_add_scale1", 1}}},
        {64, 64, 8, 0, false, 2, {{"motion_force_zero", 1}}},
    };
    for (const Case& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

TEST(FloatMotionEmulation, WeightsEqualTheCpu) {
    const Case cases[] = {
        {517, 83, 8, 0, false, 3, {}, true},
        {257, 45, 10, 6, false, 2, {{"motion_filter_size", 1}}, true},
        {130, 67, 12, 4, false, 2, {{"motion_add_scale1", 1}}, true},
        {251, 39, 8, 0, true, 3, {{"motion_add_uv", 1}, {"motion_add_scale1", 1}}, true},
        {7, 7, 16, 0, false, 2, {{"motion_add_uv", 1}, {"motion_add_scale1", 1}}, true},
        {64, 64, 8, 0, false, 2, {{"motion_force_zero", 1}}, true},
    };
    for (const Case& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

TEST(FloatMotionEmulation, SmallSizesEqualTheCpu) {
    for (int height = 3; height <= 40; ++height)
        for (int width = 3; width <= 40; width += 1 + height % 2) {
            const bool bytes = (width + height) % 2 != 0;
            expect_emulation_equals_cpu({width, height, bytes ? 8 : 10, 0, false, 2, {{"motion_add_scale1", 1}}},
                                        false);
            if (HasFailure()) return;
        }
}

} // namespace
} // namespace qc::float_motion
