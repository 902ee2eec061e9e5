// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of XPSNR without a GPU: all layouts and small sizes against the CPU reference.
#include "metrics/xpsnr/xpsnr_kernels.hpp"
#include "metrics/xpsnr/xpsnr_test_support.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::xpsnr {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_XPSNR_KERNELS);

/// A plan of the test's choice has no scorer: finds and launches as XpsnrScorer does.
Words64 emulated_words(const BlockPlan& plan, bool second_order, const Inputs& inputs, bool descending) {
    test::EmulatedProgram emulation(kKernels);
    DeviceProgram& program = emulation;
    LoadedKernel<BlockArguments> kernel;
    EXPECT_TRUE(program.find(kernel_for(plan, second_order, inputs.geometry.sample), &kernel).ok());
    Words64 words(static_cast<size_t>(plan.blocks()) * static_cast<size_t>(plan.words_per_block()));
    test::EmulatedQueue queue(descending);
    const Dim3 grid{static_cast<unsigned>(plan.blocks()), 1, 1};
    EXPECT_TRUE(queue.launch(kernel, grid, BlockArguments{&inputs.device, words.data(), plan}).ok());
    return words;
}

void expect_emulation_equals_cpu(const BlockPlan& plan, bool second_order, const Inputs& inputs, bool descending,
                                 const std::string& what) {
    ASSERT_EQ(emulated_words(plan, second_order, inputs, descending), reference_words(plan, second_order, inputs))
        << what << (descending ? ", descending" : ", ascending");
}

void expect_both_orders(const BlockPlan& plan, bool second_order, const Inputs& inputs, const std::string& what) {
    for (const bool descending : {false, true})
        expect_emulation_equals_cpu(plan, second_order, inputs, descending, what);
}

/// There are many: one case in ascending order of the threads, the next in descending.
TEST(XpsnrEmulation, EverySmallSize) {
    bool descending = false;
    each_small_size([&](const BlockPlan& plan, bool second_order, const Inputs& inputs, const std::string& what) {
        expect_emulation_equals_cpu(plan, second_order, inputs, descending, what);
        descending = !descending;
    });
}

TEST(XpsnrEmulation, EveryLayout) {
    each_layout(expect_both_orders);
}

TEST(XpsnrEmulation, MixedLayouts) {
    each_mixture(expect_both_orders);
}

TEST(XpsnrEmulation, LargePictures) {
    each_large_picture(expect_both_orders);
}

TEST(XpsnrEmulation, FullSwingFits) {
    each_full_swing(expect_both_orders);
}

/// Through the scorer: which kernel it takes, and where the words of the pairs of a batch go.
TEST(XpsnrEmulation, BatchesThroughTheScorer) {
    for (const char* layout : {"yuv420p", "p010le"})
        for (const double fps : {25.0, 60.0}) {
            OptionValues options(descriptor().options);
            options.set(0, fps);
            const Inputs inputs[] = {make_inputs(layout, layout, 98, 66, test::Content::kNatural, 2, 0),
                                     make_inputs(layout, layout, 98, 66, test::Content::kNoise, 1, 0)};
            const auto scorer = create_scorer(descriptor(), inputs[0].geometry, options);
            test::EmulatedProgram program(kKernels);
            ASSERT_TRUE(scorer->prepare(program).ok());
            const size_t words = scorer->accumulator_words();
            Words64 expected(2 * words);
            std::vector<DevicePair> pairs(2);
            for (size_t i = 0; i < 2; ++i) {
                pairs[i] = inputs[i].device;
                pairs[i].output = static_cast<uint32_t>(1 - i); // rows in another order than the pairs
                scorer->score(inputs[i].host, std::span(expected).subspan((1 - i) * words, words));
            }
            for (const bool descending : {false, true}) {
                test::EmulatedQueue queue(descending);
                EXPECT_EQ(test::emulate_batch(*scorer, pairs, queue), expected) << layout << " " << fps;
            }
        }
}

} // namespace
} // namespace qc::xpsnr
