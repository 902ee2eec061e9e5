// SPDX-License-Identifier: BSD-2-Clause-Patent
#pragma once

#include "quality_cuda_run/files.h"

namespace qc::run {

/// Lines of statistics end here, which is said once. @param error errno below 0
void fail_stats(qcr_files* files, int error, const qcr_sink& sink);

} // namespace qc::run
