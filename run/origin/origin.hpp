// SPDX-License-Identifier: BSD-2-Clause-Patent
// Who a log's scores come from: versions, commit, device, driver; as an object of JSON.
#pragma once

#include <span>
#include <string>

#include "quality_cuda_run/engine.h"

namespace qc::run {

/// Of a session that scores.
std::string origin_json(const qc_session* session);

/// Of a run of parts: the first one's, and all that differ from it, as a list under "others".
/// @param origins of the parts, each as origin_json() made it
std::string joined_origin(std::span<const std::string> origins);

/// {"vmaf": "6f1c..."}: the SHA-256 of each model of a session; empty: it has none.
std::string model_checksums_json(const qc_session* session);

} // namespace qc::run
