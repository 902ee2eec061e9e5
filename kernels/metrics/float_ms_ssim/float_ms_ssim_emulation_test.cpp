// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/structural/structural_emulation.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_kernels.hpp"

namespace qc::float_ms_ssim {
namespace {

using structural::Content;
using structural::EmulationCase;

void expect_equal(const EmulationCase& c, bool with_terms) {
    OptionValues options(descriptor().options);
    options.set(0, with_terms);
    for (const bool descending : {false, true})
        structural::expect_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_MS_SSIM_KERNELS), c, options,
                                                descending);
}

TEST(FloatMsSsimEmulation, EveryFormatEqualsTheCpu) {
    expect_equal({317, 183, 8, 0, 2}, false);
    expect_equal({352, 288, 8, 0, 1, Content::kTexture, 4}, true);
    expect_equal({257, 345, 10, 0, 1, Content::kNoise}, false);
    expect_equal({257, 191, 10, 6, 2}, true);
    expect_equal({232, 260, 12, 4, 1, Content::kEdges, 4}, false);
    expect_equal({201, 333, 16, 0, 2, Content::kTexture, 4}, false);
    expect_equal({199, 211, 16, 0, 1, Content::kNoise}, true);
}

TEST(FloatMsSsimEmulation, OvershootBelowZeroEqualsTheCpu) {
    expect_equal({209, 177, 8, 0, 2, Content::kEdges}, true);
    expect_equal({209, 177, 16, 0, 1, Content::kEdges}, false);
    expect_equal({180, 180, 8, 0, 1, Content::kBlack}, true);
    expect_equal({180, 180, 10, 0, 1, Content::kFlat}, true);
}

TEST(FloatMsSsimEmulation, SmallSizesEqualTheCpu) {
    for (int i = 0; i < 12; ++i) {
        expect_equal({176 + i, 192 - i, 8, 0, 1, Content::kNoise}, false);
        if (testing::Test::HasFailure()) return;
    }
}

} // namespace
} // namespace qc::float_ms_ssim
