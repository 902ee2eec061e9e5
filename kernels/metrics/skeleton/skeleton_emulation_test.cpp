// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels, run on the host by threads that are fibers, against the CPU reference: the launch as skeleton.cpp makes
// it, the block's code as skeleton_kernels.hpp tells it. Both orders of the threads have to give the same bits, so a
// missing barrier shows without a GPU.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "metrics/skeleton/skeleton.hpp"
#include "metrics/skeleton/skeleton_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/geometry.hpp"

namespace qc::skeleton {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_SKELETON_KERNELS);

/// How a surface holds samples: of `depth` bits, shifted left in 16-bit containers, every step-th one of a row.
struct Layout {
    int depth, shift, padding, step;
    test::SurfaceLayout surface() const {
        return {.shift = shift, .padding = static_cast<size_t>(padding * step), .luma_step = step};
    }
};

std::vector<Layout> layouts() {
    std::vector<Layout> all;
    for (const auto& [depth, shift] :
         std::vector<std::pair<int, int>>{{8, 0}, {10, 0}, {10, 6}, {12, 0}, {12, 4}, {16, 0}})
        for (const int padding : {0, 1, 6})
            for (const int step : {1, 2}) all.push_back({depth, shift, padding, step});
    return all;
}

/// A batch of two pairs, the second one's pictures in another layout than the first one's.
void expect_both_backends_agree(int width, int height, const Layout& layout) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", " + std::to_string(layout.depth) +
                 " bits, shift " + std::to_string(layout.shift) + ", padding " + std::to_string(layout.padding) +
                 ", step " + std::to_string(layout.step));
    const FrameGeometry geometry = test::luma_geometry(width, height, layout.depth);
    const OptionValues options(descriptor().options);
    ASSERT_TRUE(validate(descriptor(), geometry, options).ok());
    const std::unique_ptr<Scorer> scorer = create_scorer(descriptor(), geometry, options);
    test::EmulatedProgram program(kKernels);
    ASSERT_TRUE(scorer->prepare(program).ok());
    std::vector<test::EmulatedPicture> lumas;
    for (const int pair : {0, 1})
        for (const bool distorted : {false, true}) {
            const Layout own = pair == 0 ? layout : Layout{layout.depth, 0, 2, 1};
            lumas.push_back(test::emulated_luma(width, height, own.depth, own.surface(), pair, distorted));
        }
    for (const bool descending : {false, true}) test::expect_emulation_equals_cpu(*scorer, lumas, descending);
}

TEST(SkeletonEmulation, SmallSizes) {
    for (const Layout& layout : layouts())
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {2, 3}, {5, 1}, {1, 17}, {31, 9}})
            expect_both_backends_agree(width, height, layout);
}

/// Around the width of a block and the height of a band.
TEST(SkeletonEmulation, SizesAroundABlock) {
    for (const int width : {kTuning.threads - 1, kTuning.threads, kTuning.threads + 1, 2 * kTuning.threads + 5})
        for (const int height : {kTuning.rows_per_block - 1, kTuning.rows_per_block, 2 * kTuning.rows_per_block + 1})
            for (const Layout& layout : {Layout{8, 0, 0, 1}, Layout{10, 6, 3, 2}, Layout{16, 0, 1, 1}})
                expect_both_backends_agree(width, height, layout);
}

/// The largest differences in all samples of a batch: no sum on the way is too narrow.
TEST(SkeletonEmulation, LargestDifferences) {
    constexpr int kWidth = 300, kHeight = 40;
    for (const int depth : {8, 16}) {
        const auto peak = static_cast<uint32_t>((1 << depth) - 1);
        const FrameGeometry geometry = test::luma_geometry(kWidth, kHeight, depth);
        std::vector<test::EmulatedPicture> lumas;
        for (const uint32_t code : {0u, peak, peak, 0u})
            lumas.emplace_back(test::SamplePicture(geometry, [=](int, int) { return code; }),
                               test::SurfaceLayout{.padding = 1});
        const std::unique_ptr<Scorer> scorer =
            create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
        test::EmulatedProgram program(kKernels);
        ASSERT_TRUE(scorer->prepare(program).ok());
        for (const bool descending : {false, true}) test::expect_emulation_equals_cpu(*scorer, lumas, descending);
    }
}

} // namespace
} // namespace qc::skeleton
