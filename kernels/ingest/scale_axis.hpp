// SPDX-License-Identifier: BSD-2-Clause-Patent
// Weights of one axis of a plane that is scaled, made on the host, for both backends.
#pragma once

#include <vector>

#include "ingest/scaling.hpp"
#include "quality_cuda/types.h"

namespace qc {

/// How samples of a plane and of its scaled copy lie along one axis. A sample i of a plane that has one for `step` luma
/// samples lies at (i + 1/2) * step + offset, counted in luma samples from the picture's edge.
struct AxisGeometry {
    int source = 1, target = 1;           ///< samples
    int luma_source = 1, luma_target = 1; ///< luma samples: their ratio is that of the axis
    int step = 1;                         ///< 2 along halved axes of chroma
    double offset = 0.0;                  ///< luma samples
};

/// Owns the arrays of a ScaleAxis.
struct ScaleTable {
    std::vector<int32_t> first;
    std::vector<int16_t> weight; ///< [target][taps]
    int taps = 1;

    ScaleAxis view() const { return {first.data(), weight.data(), taps}; }
};

/// @param scaling not QC_SCALING_NONE
ScaleTable make_scale_table(qc_scaling scaling, const AxisGeometry& axis);

} // namespace qc
