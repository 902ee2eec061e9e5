// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/cambi_kernels.hpp"

namespace qc::cambi {
QC_DEFINE_KERNELS(QC_CAMBI_KERNELS)
}
