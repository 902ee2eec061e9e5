// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_psnr/float_psnr_kernels.hpp"

namespace qc::float_psnr {
QC_DEFINE_KERNELS(QC_FLOAT_PSNR_KERNELS)
} // namespace qc::float_psnr
