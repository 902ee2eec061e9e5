// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr/psnr_kernels.hpp"

namespace qc::psnr {
QC_DEFINE_KERNELS(QC_PSNR_KERNELS)
} // namespace qc::psnr
