// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ssim/float_ssim_kernels.hpp"

namespace qc::float_ssim {
QC_DEFINE_KERNELS(QC_FLOAT_SSIM_KERNELS)
}
