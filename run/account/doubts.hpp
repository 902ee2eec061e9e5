// SPDX-License-Identifier: BSD-2-Clause-Patent
// What reports tell of warnings.
#pragma once

#include <string>

#include "quality_cuda_run/doubts.h"

namespace qc::run {

/// An array of the warnings, each once and in an order that does not depend on when they came. @param doubts may be
/// null
std::string warnings_json(const qcr_doubts* doubts);

} // namespace qc::run
