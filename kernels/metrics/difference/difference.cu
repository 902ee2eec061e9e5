// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/difference/difference_kernels.hpp"

namespace qc::difference {
QC_DEFINE_KERNELS(QC_DIFFERENCE_KERNELS)
}
