// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/butteraugli_kernels.hpp"

namespace qc::butteraugli {
QC_DEFINE_KERNELS(QC_BUTTERAUGLI_KERNELS)
}
