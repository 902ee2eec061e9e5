// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of float_vif without a GPU: every format and option against the CPU reference, bit for bit.
#include "metrics/float_vif/float_vif.hpp"
#include "metrics/float_vif/float_vif_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_vif {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_FLOAT_VIF_KERNELS);

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

    const auto lumas = test::emulated_lumas(geometry, c.shift, c.width, c.count);
    test::expect_emulation_equals_cpu(*metric, lumas, descending);
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

TEST(FloatVifEmulation, WeightsEqualTheCpu) {
    const Case cases[] = {{317, 83, 8, 0, 2, {}},
                          {129, 70, 10, 6, 1, {{"vif_skip_scale0", 1}}},
                          {150, 91, 16, 0, 1, {{"vif_kernelscale", 0.5}}},
                          {17, 19, 8, 0, 3, {}}};
    for (const Case& c : cases) {
        SCOPED_TRACE(format("%dx%d, %d bits", c.width, c.height, c.depth));
        const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
        test::expect_weighted_emulation_equals_cpu(descriptor(), kKernels, geometry,
                                                   test::options_of(descriptor(), c.options),
                                                   test::emulated_lumas(geometry, c.shift, 0, c.count));
    }
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
