// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which pictures of a session are scaled, and with which weights: what both backends go by.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "api/backend.hpp"
#include "contract/metric.hpp"
#include "contract/types.hpp"
#include "ingest/scale_axis.hpp"
#include "quality_cuda.h"

namespace qc {

/// How the pictures of one input are scaled.
struct InputScaling {
    struct PlaneTables {
        ScaleTable across, down;
    };
    ScaleMath math{};
    std::array<PlaneTables, 3> plane; ///< of those that are read
};

/// @param scaling not QC_SCALING_NONE; @param planes that are read, 1 or 3
InputScaling input_scaling(qc_scaling scaling, const qc_format& format, const FrameGeometry& geometry, int planes);

/// Per input of a session how it is scaled, where it is.
std::vector<std::optional<InputScaling>> input_scalings(const BackendSetup& setup);

/// What a reader of a rendition's scores has to know of the scaling; empty if neither it nor the reference is scaled.
std::vector<Convention> scaling_conventions(const qc_config& config, const FrameGeometry& geometry, int rendition);

/// "bicubic", "lanczos", ...
const char* scaling_name(qc_scaling scaling);

} // namespace qc
