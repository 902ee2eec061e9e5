// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/adm_kernels.hpp"

namespace qc::adm {
QC_DEFINE_KERNELS(QC_ADM_KERNELS)
}
