// SPDX-License-Identifier: BSD-2-Clause-Patent
// What reports tell of warnings.
#pragma once

#include <string>
#include <vector>

#include "quality_cuda_run/doubts.h"

namespace qc::run {

/// An array of the warnings, each once and in an order that does not depend on when they came. @param doubts may be
/// null @param more that are still to be said
std::string warnings_json(const qcr_doubts* doubts, const std::vector<std::string>& more = {});

} // namespace qc::run
