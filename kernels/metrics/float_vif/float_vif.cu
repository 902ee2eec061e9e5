// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_vif/float_vif_kernels.hpp"

namespace qc::float_vif {
QC_DEFINE_KERNELS(QC_FLOAT_VIF_KERNELS)
}
