// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/signature/signature_kernels.hpp"

namespace qc::signature {
QC_DEFINE_KERNELS(QC_SIGNATURE_KERNELS)
}
