// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_motion/float_motion_kernels.hpp"

namespace qc::float_motion {
QC_DEFINE_KERNELS(QC_FLOAT_MOTION_KERNELS)
}
