// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/map.hpp"

#include <climits>
#include <optional>
#include <vector>

#include "api/int_field.hpp"

namespace qc {
namespace {

MapPaint paint_for(const MetricInstance& instance, const FrameGeometry& geometry, const qc_config& config) {
    const MapSpec& spec = *instance.descriptor->map;
    MapPaint paint{};
    paint.shape = spec.shape(geometry, instance.options);
    paint.reciprocal = MapPaint::reciprocal_of(paint.shape.step);
    paint.width = geometry.width;
    paint.height = geometry.height;
    paint.scale = static_cast<float>(255.0 / (config.map_white > 0.0 ? config.map_white : spec.white));
    paint.layout = config.map_layout;
    paint.colours = config.map_colours;
    return paint;
}

/// The instance whose scorer does the work for the metric's first instance, if that is one of the same metric.
std::optional<size_t> find_instance(const MetricDescriptor& metric, const ScorePlan& plan) {
    for (size_t i = 0; i < plan.instances.size(); ++i) {
        if (plan.instances[i].descriptor != &metric) continue;
        const size_t worker = plan.computed_by(i);
        if (plan.instances[worker].descriptor == &metric) return worker;
    }
    return std::nullopt;
}

} // namespace

Status plan_map(const MetricDescriptor& metric, const FrameGeometry& geometry, const qc_config& config, ScorePlan* plan,
                MapSetup* map) {
    if (config.backend == QC_BACKEND_RECORDED)
        return invalid("maps: the backend that is called recorded sees no pictures, and draws no maps");
    std::optional<size_t> instance = find_instance(metric, *plan);
    if (!instance) {
        const OptionValues options(metric.options);
        if (Status fits = validate(metric, geometry, options); !fits.ok()) return {fits.code(), "maps: " + fits.text()};
        instance = plan->instances.size();
        plan->instances.push_back({&metric, options, std::vector<int>(metric.outputs.size(), -1), {}});
    }
    *map = {*instance, config.map_rendition, paint_for(plan->instances[*instance], geometry, config),
            config.map_memory};
    return {};
}

int planes_of(qc_map_layout layout) {
    return layout == QC_MAP_LAYOUT_GRAY ? 1 : layout == QC_MAP_LAYOUT_NV12 ? 2 : 3;
}

MapPlaneExtent map_plane_extent(const MapPaint& paint, int plane) {
    if (plane == 0) return {paint.width, paint.height};
    const int columns = (paint.width + 1) / 2;
    return {paint.layout == QC_MAP_LAYOUT_NV12 ? 2 * columns : columns, (paint.height + 1) / 2};
}

Status check_map_picture(const qc_picture& picture, const MapPaint& paint, qc_memory memory) {
    if (picture.memory != memory)
        return not_accepted("the map's memory", picture.memory, format("%d", static_cast<int>(memory)));
    for (int p = 0; p < planes_of(paint.layout); ++p) {
        const int least = map_plane_extent(paint, p).row_bytes;
        if (picture.plane[p] == nullptr) return invalid(format("the map's picture has no plane %d", p));
        if (picture.pitch_bytes[p] < least || picture.pitch_bytes[p] > INT_MAX)
            return invalid(
                format("the map's pitch_bytes[%d]=%td: %d..%d is accepted", p, picture.pitch_bytes[p], least, INT_MAX));
    }
    return {};
}

MapJob map_job(const qc_picture& picture, bool is_drawn) {
    MapJob job{};
    for (int p = 0; p < 3; ++p) {
        job.plane[p] = static_cast<uint8_t*>(const_cast<void*>(picture.plane[p]));
        job.pitch_bytes[p] = static_cast<uint32_t>(picture.pitch_bytes[p]);
    }
    job.is_drawn = is_drawn ? 1 : 0;
    return job;
}

} // namespace qc
