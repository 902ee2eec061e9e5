// SPDX-License-Identifier: BSD-2-Clause-Patent
// What reports tell of alignment.
#pragma once

#include <string>

#include "quality_cuda_run/alignment.h"
#include "quality_cuda_run/engine.h"

namespace qc::run {

/// A finding in a sentence; empty for a kind that is not known. @param time of its distorted frame, seconds, or NaN
std::string finding_sentence(const qcr_alignment_rules& rules, int rendition, const qc_finding& finding, double time);

/// What was found of a rendition, as an object.
std::string alignment_json(const qcr_alignment& alignment, const qcr_alignment_rules& rules, const qc_session* session,
                           int rendition);

} // namespace qc::run
