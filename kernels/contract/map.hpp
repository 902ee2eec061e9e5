// SPDX-License-Identifier: BSD-2-Clause-Patent
// Maps: where in a picture a metric finds something wrong. A metric fills a plane of values, 0 where nothing is wrong
// and more where more is, at the scale that it works at; the engine paints pictures of them (ingest/map_paint.hpp).
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc {

/// How the values of a map lie over the picture: value (i, j) is that of the luma samples from (left + step * i, top +
/// step * j) on, step across and step down. Samples beyond the outermost values show the nearest one.
struct MapShape {
    int width = 0, height = 0; ///< values
    int left = 0, top = 0;
    int step = 1;
};

/// Where the kernels of a metric put the maps of a batch. Only one rendition has maps.
struct DeviceMap {
    float* values = nullptr; ///< device address; null: nobody wants a map
    uint64_t plane = 0;      ///< values from frame to frame
    int pitch = 0;           ///< values from row to row
    uint32_t renditions = 1, rendition = 0;

    QC_HD Plane<float> of_frame(uint32_t frame, const MapShape& shape) const {
        return {values + frame * plane, {pitch}, shape.width, shape.height};
    }
    /// The map that belongs to a row of the accumulators (DevicePair::output); data null if it has none.
    QC_HD Plane<float> of_output(uint32_t output, const MapShape& shape) const {
        if (values == nullptr || output % renditions != rendition) return {};
        return of_frame(output / renditions, shape);
    }
};

} // namespace qc
