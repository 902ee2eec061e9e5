// SPDX-License-Identifier: BSD-2-Clause-Patent
// A session's map: which instance draws it, and how its pictures are painted.
#pragma once

#include "contract/metric.hpp"
#include "ingest/map_paint.hpp"
#include "plan/score_plan.hpp"
#include "quality_cuda.h"

namespace qc {

/// What a backend has to know of the map that is drawn.
struct MapSetup {
    size_t instance = 0; ///< of the plan; computes by itself
    int rendition = 0;
    MapPaint paint{};
    qc_memory memory = QC_MEMORY_HOST; ///< of the pictures, on a GPU
};

/// Finds the instance that draws the map of a metric, or adds one, without columns, to the plan.
/// @return what the metric says of these pictures
Status plan_map(const MetricDescriptor& metric, const FrameGeometry& geometry, const qc_config& config, ScorePlan* plan,
                MapSetup* map);

/// Whether a picture can be painted on.
/// @param memory that it has to lie in
Status check_map_picture(const qc_picture& picture, const MapPaint& paint, qc_memory memory);

/// Where a picture is painted that lies in this memory. @param is_drawn else it becomes black
MapJob map_job(const qc_picture& picture, bool is_drawn);

/// Planes of a layout.
int planes_of(qc_map_layout layout);

/// Bytes of a row, and rows, of a plane of a map's picture.
struct MapPlaneExtent {
    int row_bytes, rows;
};
MapPlaneExtent map_plane_extent(const MapPaint& paint, int plane);

} // namespace qc
