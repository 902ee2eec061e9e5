// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed_chroma/speed_chroma_kernels.hpp"

namespace qc::speed_chroma {
QC_DEFINE_KERNELS(QC_SPEED_CHROMA_KERNELS)
}
