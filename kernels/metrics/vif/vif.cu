// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/vif/vif_kernels.hpp"

namespace qc::vif {
QC_DEFINE_KERNELS(QC_VIF_KERNELS)
}
