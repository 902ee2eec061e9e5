// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the scores of a run are good for.
#pragma once

#include <cstdint>

#include "quality_cuda_run/verdict.h"

namespace qc::run {

inline constexpr const char* kTakenDown = "the filter graph was taken down before its inputs ended";

/// A rendition is as complete as the run, if it has a score wherever the reference has a frame.
/// @param failed frames without scores because the scoring failed @param refusal why it was refused, or is over
bool is_complete(qcr_end end, const qcr_counts& counts, int64_t failed, const char* refusal);

} // namespace qc::run
