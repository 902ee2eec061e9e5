// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/ssimulacra2_kernels.hpp"

namespace qc::ssimulacra2 {
QC_DEFINE_KERNELS(QC_SSIMULACRA2_KERNELS)
}
