// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of floating-point ADM without a GPU, against the CPU backend, bit for bit: every format, sizes
// around tiles, extremes, options. Not the reciprocal's first guess, which is the hardware's.
#include "families/detail_loss/detail_loss_emulation.hpp"
#include "metrics/float_adm/float_adm.hpp"
#include "metrics/float_adm/float_adm_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_adm {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_FLOAT_ADM_KERNELS);

/// Blocks of all GPUs can have this much shared memory.
constexpr size_t kSharedLimit = size_t{64} * 1024;

void expect_device_like_cpu(const std::vector<Pair>& pairs, const test::OptionList& list = {},
                            const test::SurfaceLayout& layout = {}, bool descending = false) {
    test::EmulatedProgram program(kKernels, kSharedLimit);
    test::EmulatedQueue queue(descending);
    expect_batch_like_cpu(descriptor(), test::options_of(descriptor(), list), pairs, layout, program, queue);
    EXPECT_EQ(program.uploads(), 0u);
    EXPECT_EQ(queue.launches(), 5);
    EXPECT_EQ(queue.zeros(), 0);
}

// ---- tests ----------------------------------------------------------------------------------------------------------

TEST(FloatAdmEmulation, SmallSizes) {
    for (int width = kMinimumSize; width <= 66; width++) {
        const int other = kMinimumSize + (width * 7) % 50;
        expect_device_like_cpu({textured(width, other, 8, 1)}, {}, {}, width % 3 == 0);
        expect_device_like_cpu({textured(other, width, 8, 2)}, {}, {}, width % 3 != 0);
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, SizesAroundTilesAndNarrowBands) {
    for (const auto& size : kTileSizes) {
        expect_device_like_cpu({textured(size[0], size[1], 8, 3)});
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, DepthsShiftsAndAlignments) {
    each_layout([](int depth, int /*offset*/, const test::SurfaceLayout& layout) {
        expect_device_like_cpu({textured(175, 99, depth, 4)}, {}, layout);
    });
}

TEST(FloatAdmEmulation, Batches) {
    for (const int count : {2, 3, 7}) {
        expect_device_like_cpu(batch_of(count), {}, {}, count == 3);
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, ExtremeContent) {
    for (const int depth : {8, 16}) {
        expect_device_like_cpu({binary_noise(131, 99, depth, 1)});
        expect_device_like_cpu({flat(131, 99, depth, 0, 255)});
        expect_device_like_cpu({flat(131, 99, depth, 128 << (depth - 8), 128 << (depth - 8))});
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, Options) {
    const Pair pair = textured(227, 135, 8, 6);
    const test::OptionList all[] = {{{"adm_enhn_gain_limit", 1}},
                                    {{"adm_enhn_gain_limit", 1.2}},
                                    {{"adm_skip_scale0", 1}},
                                    {{"adm_csf_mode", 1}},
                                    {{"adm_csf_mode", 2}, {"adm_enhn_gain_limit", 1}, {"adm_norm_view_dist", 5}},
                                    {{"adm_bypass_cm", 1}},
                                    {{"adm_p_norm", 2}},
                                    {{"adm_p_norm", 2.7}, {"adm_bypass_cm", 1}, {"adm_skip_scale0", 1}},
                                    {{"adm_f1s1", 0.5}, {"adm_f2s3", 0.01}}};
    for (const test::OptionList& list : all) {
        expect_device_like_cpu({pair}, list);
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, WeightsEqualTheCpu) {
    struct Case {
        int width, height, depth, shift, count;
        test::OptionList options;
    };
    const Case cases[] = {{227, 135, 8, 0, 3, {}},
                          {175, 99, 10, 6, 1, {{"adm_p_norm", 2.7}}},
                          {17, 66, 8, 0, 2, {}},
                          {501, 211, 8, 0, 1, {{"adm_skip_scale0", 1}}},
                          {131, 99, 16, 0, 1, {{"adm_p_norm", 2}, {"adm_bypass_cm", 1}}}};
    for (const Case& c : cases) {
        SCOPED_TRACE(testing::Message() << c.width << "x" << c.height << ", " << c.depth << " bits");
        const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
        test::expect_weighted_emulation_equals_cpu(descriptor(), kKernels, geometry,
                                                   test::options_of(descriptor(), c.options),
                                                   test::emulated_lumas(geometry, c.shift, 0, c.count));
    }
}

TEST(FloatAdmEmulation, FullHighDefinition) {
    expect_device_like_cpu({textured(1920, 1080, 8, 7)});
}

} // namespace
} // namespace qc::float_adm
