// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether a GPU computes what it should.
#pragma once

#include "contract/status.hpp"
#include "plan/request.hpp"
#include "quality_cuda.h"

namespace qc {

/// Scores three known pictures, small ones of the session's kind, with everything that is asked for: on the GPU of the
/// configuration, and on the CPU, which is the definition. All sums have to be the same; scores of metrics that are not
/// exact, as near as the metric declares.
/// @return QC_ERROR_DEVICE, naming the first metric that is not right; or why it could not be found out
Status self_test(const ScoreRequest& request, const qc_config& config);

} // namespace qc
