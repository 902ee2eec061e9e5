// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssim/ssim_kernels.hpp"

namespace qc::ssim {
QC_DEFINE_KERNELS(QC_SSIM_KERNELS)
}
