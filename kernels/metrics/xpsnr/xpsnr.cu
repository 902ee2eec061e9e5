// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/xpsnr/xpsnr_kernels.hpp"

namespace qc::xpsnr {
QC_DEFINE_KERNELS(QC_XPSNR_KERNELS)
}
