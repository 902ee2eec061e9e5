// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a room refuses what cannot be done: one sentence for the user.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <quality_cuda.h>

#include "run/text/guard.hpp"

namespace qc::run {

/// Runs a body that returns what is wrong, or nothing. @param error filled with it; "" after a success
template <typename Body>
qc_status refusing(qc_error* error, Body&& body) noexcept {
    std::snprintf(error->text, sizeof(error->text), "out of memory");
    std::string refusal;
    const qc_status status = guarded([&] { refusal = std::forward<Body>(body)(); });
    if (status != QC_OK) return status;
    std::snprintf(error->text, sizeof(error->text), "%s", refusal.c_str());
    return refusal.empty() ? QC_OK : QC_ERROR_INVALID;
}

} // namespace qc::run
