// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/skeleton/skeleton_kernels.hpp"

namespace qc::skeleton {
QC_DEFINE_KERNELS(QC_SKELETON_KERNELS)
} // namespace qc::skeleton
