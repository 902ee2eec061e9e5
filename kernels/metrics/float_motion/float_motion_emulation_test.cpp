// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of float_motion without a GPU: every format and option against the CPU reference, bit for bit.
#include "metrics/float_motion/float_motion.hpp"
#include "metrics/float_motion/float_motion_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_motion {
namespace {

using test::EmulatedPlane;

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_FLOAT_MOTION_KERNELS);

struct Case {
    int width, height, depth, shift, chroma_step, count;
    test::OptionList options;
};

/// Frames of one stream; the first of them has none before it.
struct Stream {
    std::vector<EmulatedPlane> planes; ///< three a frame

    explicit Stream(const Case& c) {
        for (int frame = 0; frame < c.count; ++frame)
            for (int p = 0; p < kMaxPlanes; ++p) {
                const int width = p == 0 ? c.width : c.width / 2, height = p == 0 ? c.height : c.height / 2;
                planes.emplace_back(width, height, c.depth, frame, c.shift, p == 0 ? 1 : c.chroma_step,
                                    static_cast<uint32_t>(frame + 7 * p), frame % 2 != 0);
            }
    }
    const EmulatedPlane& plane(int frame, int p) const { return planes[static_cast<size_t>(frame * kMaxPlanes + p)]; }
};

DeviceReference device_reference(const Stream& stream, int frame) {
    DeviceReference reference{};
    for (int p = 0; p < kMaxPlanes; ++p) reference.current.plane[p] = stream.plane(frame, p).device();
    if (frame == 0) return reference;
    reference.history[0] = stream.plane(frame - 1, 0).device();
    for (int p = 1; p < kMaxPlanes; ++p) reference.chroma_history[0][p - 1] = stream.plane(frame - 1, p).device();
    return reference;
}

HostReference host_reference(const Stream& stream, int frame) {
    HostReference reference{};
    for (int p = 0; p < kMaxPlanes; ++p) reference.current.plane[p] = stream.plane(frame, p).host();
    if (frame == 0) return reference;
    reference.history[0] = stream.plane(frame - 1, 0).host();
    for (int p = 1; p < kMaxPlanes; ++p) reference.chroma_history[0][p - 1] = stream.plane(frame - 1, p).host();
    return reference;
}

void expect_emulation_equals_cpu(const Case& c, bool descending) {
    std::string title = format("%dx%d, %d bits << %d, %d frames", c.width, c.height, c.depth, c.shift, c.count);
    for (const auto& [name, value] : c.options) title += format(", %s=%g", std::string(name).c_str(), value);
    SCOPED_TRACE(title);
    FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
    geometry.chroma_width = c.width / 2;
    geometry.chroma_height = c.height / 2;
    const OptionValues options = test::options_of(descriptor(), c.options);
    ASSERT_TRUE(validate(descriptor(), geometry, options).ok());
    const auto metric = create_scorer(descriptor(), geometry, options);
    test::EmulatedProgram program(kKernels);
    ASSERT_TRUE(metric->prepare(program).ok());

    const Stream stream(c);
    std::vector<DeviceReference> references;
    std::vector<uint64_t> expected(static_cast<size_t>(c.count) * metric->accumulator_words());
    for (int frame = 0; frame < c.count; ++frame) {
        references.push_back(device_reference(stream, frame));
        references.back().output = static_cast<uint32_t>(c.count - 1 - frame); // rows in another order than the frames
        metric->score(host_reference(stream, frame),
                      std::span(expected).subspan(references.back().output * metric->accumulator_words(),
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
        {517, 83, 8, 0, 1, 3, {}},
        {500, 130, 8, 0, 1, 2, {{"motion_filter_size", 3}}},
        {257, 45, 10, 6, 1, 3, {{"motion_filter_size", 1}}},
        {130, 67, 12, 4, 1, 2, {{"motion_add_scale1", 1}}},
        {131, 66, 8, 0, 1, 2, {{"motion_add_scale1", 1}}},
        {300, 50, 16, 0, 1, 3, {{"motion_add_uv", 1}}},
        {251, 37, 8, 0, 2, 2, {{"motion_add_uv", 1}}},
        {251, 39, 10, 6, 2, 3, {{"motion_add_uv", 1}, {"motion_add_scale1", 1}}},
        {64, 64, 8, 0, 1, 2, {{"motion_force_zero", 1}}},
    };
    for (const Case& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

TEST(FloatMotionEmulation, SmallSizesEqualTheCpu) {
    for (int height = 3; height <= 40; ++height)
        for (int width = 3; width <= 40; width += 1 + height % 2) {
            const bool bytes = (width + height) % 2 != 0;
            expect_emulation_equals_cpu({width, height, bytes ? 8 : 10, 0, 1, 2, {{"motion_add_scale1", 1}}}, false);
            if (HasFailure()) return;
        }
}

} // namespace
} // namespace qc::float_motion
