// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed_temporal/speed_temporal_kernels.hpp"

namespace qc::speed_temporal {
QC_DEFINE_KERNELS(QC_SPEED_TEMPORAL_KERNELS)
}
