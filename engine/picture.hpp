// SPDX-License-Identifier: BSD-2-Clause-Patent
// Picture formats: checking them, and the geometry a session scores in.
#pragma once

#include "common/status.hpp"
#include "common/types.hpp"
#include "quality_cuda.h"

namespace qc {

/// Checks the formats of all inputs against each other and finds the geometry the metrics see: the reference's size,
/// the largest depth among them and config.bitdepth. chroma_agrees: whether every input has the reference's
/// subsampling.
Status session_geometry(const qc_config& config, FrameGeometry* geometry, bool* chroma_agrees);

/// Whether samples of this layout must be lifted to 16-bit words at the session's depth before metrics can read them.
bool needs_conversion(const qc_format& format, const FrameGeometry& geometry);

/// "1920x1080 4:2:0, 10 bits"
std::string describe(const qc_format& format);

} // namespace qc
