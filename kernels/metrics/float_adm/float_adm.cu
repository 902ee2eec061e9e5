// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_adm/float_adm_kernels.hpp"

namespace qc::float_adm {
QC_DEFINE_KERNELS(QC_FLOAT_ADM_KERNELS)
}
