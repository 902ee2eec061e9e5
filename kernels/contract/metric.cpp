// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "contract/metric.hpp"

namespace qc {

Status validate(const MetricDescriptor& metric, const FrameGeometry& geometry, const OptionValues& options) {
    const std::string name(metric.name);
    if (geometry.rgb && !metric.accepts_rgb)
        return unsupported(name + " takes YUV pictures, but these are RGB: convert them first (format=yuv444p), or "
                                  "leave it out");
    if (geometry.has_weights && !metric.accepts_weights) return unsupported(name + " has no score under a mask");
    if (metric.requires_chroma && geometry.plane_count() == 1)
        return unsupported(format("%s needs chroma planes, these pictures of %dx%d have none", name.c_str(),
                                  geometry.width, geometry.height));
    if (geometry.depth > metric.largest_depth)
        return unsupported(format("%s takes pictures of at most %d bits per sample, these have %d", name.c_str(),
                                  metric.largest_depth, geometry.depth));
    const PictureSize smallest = smallest_picture(metric, geometry, options);
    if (geometry.width < smallest.width || geometry.height < smallest.height)
        return invalid(format("%s needs pictures of at least %dx%d, these are %dx%d", name.c_str(), smallest.width,
                              smallest.height, geometry.width, geometry.height));
    return metric.validate != nullptr ? metric.validate(geometry, options) : Status();
}

} // namespace qc
