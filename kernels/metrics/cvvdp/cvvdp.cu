// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_kernels.hpp"

namespace qc::cvvdp {
QC_DEFINE_KERNELS(QC_CVVDP_KERNELS)
} // namespace qc::cvvdp
