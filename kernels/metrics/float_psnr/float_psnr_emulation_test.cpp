// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of float_psnr without a GPU.
#include "metrics/float_psnr/float_psnr.hpp"
#include "metrics/float_psnr/float_psnr_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::float_psnr {

TEST(FloatPsnrEmulation, EveryFormatEqualsTheCpu) {
    test::expect_luma_kernels_equal_cpu(descriptor(), QC_EMULATED_KERNELS(QC_FLOAT_PSNR_KERNELS));
}

} // namespace qc::float_psnr
