// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/motion/motion_kernels.hpp"

namespace qc::motion {
QC_DEFINE_KERNELS(QC_MOTION_KERNELS)
}
