// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of float_moment without a GPU.
#include <array>

#include "metrics/float_moment/float_moment.hpp"
#include "metrics/float_moment/float_moment_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::float_moment {

TEST(FloatMomentEmulation, EveryFormatEqualsTheCpu) {
    test::expect_luma_kernels_equal_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_MOMENT_KERNELS));
}

TEST(FloatMomentEmulation, WeightsEqualTheCpu) {
    for (const auto& [width, height, depth] :
         std::vector<std::array<int, 3>>{{1, 1, 8}, {97, 65, 8}, {131, 40, 10}, {64, 33, 16}}) {
        const FrameGeometry geometry = test::luma_geometry(width, height, depth);
        test::expect_weighted_emulation_equals_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_MOMENT_KERNELS), geometry,
                                                   OptionValues(descriptor().options),
                                                   test::emulated_lumas(geometry, depth == 10 ? 6 : 0, 0, 3));
    }
}

} // namespace qc::float_moment
