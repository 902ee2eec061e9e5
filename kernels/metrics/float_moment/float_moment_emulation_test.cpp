// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of float_moment without a GPU.
#include "metrics/float_moment/float_moment.hpp"
#include "metrics/float_moment/float_moment_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::float_moment {

TEST(FloatMomentEmulation, EveryFormatEqualsTheCpu) {
    test::expect_luma_kernels_equal_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_MOMENT_KERNELS));
}

} // namespace qc::float_moment
