// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_moment/float_moment_kernels.hpp"

namespace qc::float_moment {
QC_DEFINE_KERNELS(QC_FLOAT_MOMENT_KERNELS)
} // namespace qc::float_moment
