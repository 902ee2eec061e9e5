// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ansnr/float_ansnr_kernels.hpp"

namespace qc::float_ansnr {
QC_DEFINE_KERNELS(QC_FLOAT_ANSNR_KERNELS)
}
