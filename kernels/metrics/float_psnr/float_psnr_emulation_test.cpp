// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of float_psnr without a GPU.
#include "metrics/float_psnr/float_psnr.hpp"
#include "metrics/float_psnr/float_psnr_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::float_psnr {

TEST(FloatPsnrEmulation, EveryFormatEqualsTheCpu) {
    test::expect_luma_kernels_equal_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_PSNR_KERNELS));
}

TEST(FloatPsnrEmulation, WeightsEqualTheCpu) {
    for (const auto& [width, height, depth] :
         std::vector<std::array<int, 3>>{{1, 1, 8}, {317, 83, 8}, {157, 145, 10}, {131, 67, 16}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits");
        const FrameGeometry geometry = test::luma_geometry(width, height, depth);
        test::expect_weighted_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_PSNR_KERNELS), geometry,
                                                   OptionValues(descriptor().options),
                                                   test::emulated_lumas(geometry, 0, 0, 2));
    }
}

} // namespace qc::float_psnr
