// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of ANSNR without a GPU: every size, depth and layout against the CPU reference, bit for bit.
#include "metrics/float_ansnr/float_ansnr.hpp"
#include "metrics/float_ansnr/float_ansnr_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::float_ansnr {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_FLOAT_ANSNR_KERNELS);

struct EmulationCase {
    int width, height, depth, shift, padding, step, count;
};

std::ostream& operator<<(std::ostream& stream, const EmulationCase& c) {
    return stream << c.width << "x" << c.height << ", " << c.depth << " bits << " << c.shift << ", padding "
                  << c.padding << ", step " << c.step << ", " << c.count << " pairs";
}

void expect_emulation_equals_cpu(const EmulationCase& c, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
    const auto scorer = create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
    test::EmulatedProgram program(kKernels);
    ASSERT_TRUE(scorer->prepare(program).ok());

    const test::SurfaceLayout layout{
        .shift = c.shift, .padding = static_cast<size_t>(c.padding * c.step), .luma_step = c.step};
    std::vector<test::EmulatedPicture> lumas;
    for (int i = 0; i < c.count; ++i)
        for (const bool distorted : {false, true})
            lumas.push_back(test::emulated_luma(c.width, c.height, c.depth, layout, i, distorted));
    const test::EmulatedPairs pairs(lumas);
    for (const HostPair& pair : pairs.host) EXPECT_GT(score_cpu(geometry, pair).noise, 0.0f);
    test::expect_emulation_equals_cpu(*scorer, pairs, descending);
}

constexpr struct { int depth, shift; } kFormats[] = {{8, 0}, {10, 6}, {10, 0}, {12, 4}, {16, 0}};

/// Several bands and tiles, and what is left of them at the edges; rows that can and cannot be read as words.
TEST(FloatAnsnrEmulation, EveryFormatEqualsTheCpu) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{
             {3, 3}, {4, 5}, {7, 16}, {12, 17}, {13, 33}, {255, 9}, {256, 31}, {257, 32}, {640, 40}, {775, 50}})
        for (const int padding : {1, (16 - width % 16) % 16})
            for (const auto& [depth, shift] : kFormats)
                for (const bool descending : {false, true})
                    expect_emulation_equals_cpu({width, height, depth, shift, padding, 1, 1}, descending);
}

TEST(FloatAnsnrEmulation, BatchesAndStepsEqualTheCpu) {
    for (const bool descending : {false, true}) {
        expect_emulation_equals_cpu({300, 70, 8, 0, 4, 1, 3}, descending);
        expect_emulation_equals_cpu({300, 70, 8, 0, 0, 2, 2}, descending);
        expect_emulation_equals_cpu({261, 19, 12, 4, 3, 2, 2}, descending);
    }
}

TEST(FloatAnsnrEmulation, WeightsEqualTheCpu) {
    for (const EmulationCase& c : {EmulationCase{300, 70, 8, 0, 0, 1, 3},
                                   {775, 50, 8, 0, 0, 1, 1},
                                   {261, 19, 12, 4, 0, 1, 2},
                                   {3, 3, 16, 0, 0, 1, 1},
                                   {130, 45, 10, 6, 0, 1, 1}}) {
        SCOPED_TRACE(testing::Message() << c);
        const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
        test::expect_weighted_emulation_equals_cpu(descriptor(), kKernels, geometry, OptionValues(descriptor().options),
                                                   test::emulated_lumas(geometry, c.shift, 0, c.count));
    }
}

TEST(FloatAnsnrEmulation, SmallSizesEqualTheCpu) {
    for (int height = 3; height <= 20; ++height)
        for (int width = 3; width <= 20; ++width) {
            const auto& [depth, shift] = kFormats[(width + height) % std::size(kFormats)];
            expect_emulation_equals_cpu({width, height, depth, shift, width % 3, 1, 1}, width % 2 == 0);
            if (HasFailure()) return;
        }
}

} // namespace
} // namespace qc::float_ansnr
