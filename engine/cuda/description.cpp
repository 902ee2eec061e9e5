// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/description.hpp"

#include <cstring>

#include "cuda/carver.hpp"

namespace qc::cuda {
namespace {

template <typename T>
DescriptionArray<T> take(Carver& carver, size_t count) {
    return {carver.take(count * sizeof(T))};
}

} // namespace

DescriptionLayout::DescriptionLayout(int frames, int renditions, int rings, int lifted, int scaled, int earlier_pairs,
                                     int maps, int recoded) {
    constexpr size_t kPlanes = 3;
    const auto count = static_cast<size_t>(frames);
    Carver carver;
    references = take<DeviceReference>(carver, count);
    evaluated_references = take<DeviceReference>(carver, count);
    pairs = take<DevicePair>(carver, count * static_cast<size_t>(renditions));
    evaluated_pairs = take<DevicePair>(carver, count * static_cast<size_t>(renditions));
    first_pairs = take<uint32_t>(carver, count + 1);
    evaluated_first_pairs = take<uint32_t>(carver, count + 1);
    kept_planes = take<DevicePlane>(carver, count * static_cast<size_t>(rings));
    if (earlier_pairs > 0) {
        const auto inputs = static_cast<size_t>(renditions) + 1;
        timeline = take<DevicePicture>(carver, inputs * (static_cast<size_t>(earlier_pairs) + count));
        pasts = take<uint32_t>(carver, static_cast<size_t>(renditions) * count);
        keep_jobs = take<KeepJob>(carver, count * inputs * kPlanes);
    }
    jobs = take<ConvertJob>(carver, count * static_cast<size_t>(lifted) * kPlanes);
    scale_jobs = take<ScaleJob>(carver, count * static_cast<size_t>(scaled));
    recode_jobs = take<RecodeJob>(carver, count * static_cast<size_t>(recoded));
    map_jobs = take<MapJob>(carver, count * static_cast<size_t>(maps));
    bytes = carver.used();
}

Status Description::allocate(Context& context, const DescriptionLayout& layout) {
    layout_ = layout;
    QC_RETURN_IF_ERROR(host_.allocate(context, layout.bytes, "batch descriptions"));
    std::memset(host_.as<void>(), 0, layout.bytes);
    return device_.allocate(context, layout.bytes, "batch descriptions");
}

} // namespace qc::cuda
