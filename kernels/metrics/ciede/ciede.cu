// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ciede/ciede_kernels.hpp"

namespace qc::ciede {
QC_DEFINE_KERNELS(QC_CIEDE_KERNELS)
}
