// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel on the host against the CPU reference, in both orders of the threads; kernels/metrics/skeleton tells how.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "metrics/signature/signature.hpp"
#include "metrics/signature/signature_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/geometry.hpp"

namespace qc::signature {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_SIGNATURE_KERNELS);

void expect_agreement(const FrameGeometry& geometry, const std::vector<test::EmulatedPicture>& lumas) {
    const OptionValues options(descriptor().options);
    ASSERT_TRUE(validate(descriptor(), geometry, options).ok());
    const std::unique_ptr<Scorer> scorer = create_scorer(descriptor(), geometry, options);
    test::EmulatedProgram program(kKernels);
    ASSERT_TRUE(scorer->prepare(program).ok());
    for (const bool descending : {false, true}) test::expect_emulation_equals_cpu(*scorer, lumas, descending);
}

/// Blocks of one sample, of unequal widths, of more samples than threads; rows that are left out.
TEST(SignatureEmulation, SizesAndLayouts) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{8, 8}, {9, 15}, {67, 130}, {300, 17}, {281, 263}, {1100, 400}})
        for (const auto& [depth, shift] : std::vector<std::pair<int, int>>{{8, 0}, {10, 6}, {16, 0}}) {
            SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", " + std::to_string(depth) + " bits");
            std::vector<test::EmulatedPicture> lumas;
            for (const int pair : {0, 1})
                for (const bool distorted : {false, true})
                    lumas.push_back(test::emulated_luma(width, height, depth,
                                                        pair == 0 ? test::SurfaceLayout{.shift = shift, .padding = 3}
                                                                  : test::SurfaceLayout{},
                                                        pair, distorted));
            expect_agreement(test::luma_geometry(width, height, depth), lumas);
        }
}

TEST(SignatureEmulation, LargestSums) {
    const FrameGeometry geometry = test::luma_geometry(520, 270, 16);
    std::vector<test::EmulatedPicture> lumas;
    for (const uint32_t code : {65535u, 65535u, 0u, 65535u})
        lumas.emplace_back(test::SamplePicture(geometry, [=](int, int) { return code; }), test::SurfaceLayout{});
    expect_agreement(geometry, lumas);
}

} // namespace
} // namespace qc::signature
