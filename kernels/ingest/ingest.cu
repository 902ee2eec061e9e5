// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ingest/ingest_kernels.hpp"

namespace qc {
QC_DEFINE_KERNELS(QC_INGEST_KERNELS)
}
