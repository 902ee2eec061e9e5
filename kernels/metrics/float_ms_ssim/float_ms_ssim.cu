// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ms_ssim/float_ms_ssim_kernels.hpp"

namespace qc::float_ms_ssim {
QC_DEFINE_KERNELS(QC_FLOAT_MS_SSIM_KERNELS)
}
