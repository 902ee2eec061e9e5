// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_hvs/psnr_hvs_kernels.hpp"

namespace qc::psnr_hvs {
QC_DEFINE_KERNELS(QC_PSNR_HVS_KERNELS)
}
