// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/maps.hpp"

#include <cstring>

#include "cuda/carver.hpp"

namespace qc::cuda {

Maps::Maps(const BackendSetup& setup, int frames) : setup_(setup), frames_(frames) {
    if (!exist()) return;
    const MapPaint& paint = setup_.map->paint;
    pitch_ = DeviceMap::pitch_of(paint.shape.width);
    if (setup_.map->memory != QC_MEMORY_HOST) return;
    Carver carver;
    for (int p = 0; p < planes_of(paint.layout); ++p) {
        const MapPlaneExtent extent = map_plane_extent(paint, p);
        plane_pitch_[p] = align_up(static_cast<size_t>(extent.row_bytes));
        plane_offset_[p] = carver.take(plane_pitch_[p] * static_cast<size_t>(extent.rows));
    }
    picture_bytes_ = carver.used();
}

Status Maps::find_kernel(DeviceProgram& ingest) {
    if (!exist()) return {};
    return ingest.find(is_direct() ? kernels::qc_paint_black : kernels::qc_paint_maps, &kernel_);
}

Status Maps::allocate(Context& context) {
    if (!exist() || is_direct()) return {};
    const MapShape& shape = setup_.map->paint.shape;
    const auto rows = static_cast<size_t>(shape.height) * static_cast<size_t>(frames_);
    const auto tiles = static_cast<size_t>(DeviceMap::tiles_across(shape)) * DeviceMap::tiles_down(shape);
    if (marks_blanks()) QC_RETURN_IF_ERROR(blank_.allocate(context, tiles * frames_, "marks of maps' tiles"));
    return levels_.allocate(context, static_cast<size_t>(pitch_) * rows, "maps");
}

bool Maps::marks_blanks() const {
    return setup_.plan->instances[setup_.map->instance].descriptor->map->marks_blanks;
}

bool Maps::is_direct() const {
    const MapPaint& paint = setup_.map->paint;
    return paint.is_one_for_one() && paint.shows_levels();
}

DeviceMap Maps::device(const Slot& slot) const {
    const MapPaint& paint = setup_.map->paint;
    DeviceMap map;
    map.renditions = static_cast<uint32_t>(setup_.config->renditions);
    map.rendition = static_cast<uint32_t>(setup_.map->rendition);
    map.scale = paint.scale;
    if (is_direct()) {
        map.pictures = slot.description.device(&DescriptionLayout::map_jobs);
        return map;
    }
    map.levels = levels_.as<uint8_t>();
    if (marks_blanks()) map.blank = blank_.as<uint8_t>();
    map.plane = static_cast<uint64_t>(pitch_) * static_cast<uint64_t>(paint.shape.height);
    map.pitch = pitch_;
    return map;
}

/// Where a frame's picture lies in the slot's memory.
qc_picture Maps::picture_at(uint8_t* memory, int frame) const {
    qc_picture picture{};
    for (int p = 0; p < planes_of(setup_.map->paint.layout); ++p) {
        picture.plane[p] = memory + picture_bytes_ * static_cast<size_t>(frame) + plane_offset_[p];
        picture.pitch_bytes[p] = static_cast<ptrdiff_t>(plane_pitch_[p]);
    }
    return picture;
}

void Maps::add(const FrameInput& input, int frame, const Slot& slot) const {
    if (!exist()) return;
    MapJob job{};
    if (input.map.plane[0] != nullptr) {
        const bool is_staged = setup_.map->memory == QC_MEMORY_HOST;
        job =
            map_job(is_staged ? picture_at(slot.map_pictures.as<uint8_t>(), frame) : input.map, has_map(setup_, input));
    }
    slot.description.host(&DescriptionLayout::map_jobs)[frame] = job;
}

Status Maps::clear(const Slot& slot, DeviceQueue& queue) const {
    return exist() ? queue.zero(slot.map_pictures.as<void>(), bytes_down(slot)) : Status();
}

Status Maps::enqueue(const Slot& slot, DeviceQueue& queue) const {
    if (!exist()) return {};
    const MapPaint& paint = setup_.map->paint;
    const auto frames = static_cast<unsigned>(slot.shape.references);
    Dim3 grid{blocks_for(paint.width, kMapTileColumns), blocks_for(paint.height, kMapTileRows), frames};
    if (is_direct()) grid = {PaintBlack::kBlocks, 1, frames};
    return queue.launch(
        kernel_, grid,
        PaintMaps::Arguments{slot.description.device(&DescriptionLayout::map_jobs), device(slot), paint});
}

size_t Maps::bytes_down(const Slot& slot) const {
    return picture_bytes_ * static_cast<size_t>(slot.shape.references);
}

Status Maps::copy_down(const Slot& slot, Lane& lane) const {
    if (picture_bytes_ == 0) return {};
    return lane.copy_to_host(slot.map_pictures_host.as<void>(), slot.map_pictures.address(), bytes_down(slot));
}

void Maps::deliver(const Slot& slot) const {
    if (picture_bytes_ == 0) return;
    const MapPaint& paint = setup_.map->paint;
    for (size_t f = 0; f < slot.frames.size(); ++f) {
        const qc_picture& to = slot.frames[f].map;
        if (to.plane[0] == nullptr) continue;
        for (int p = 0; p < planes_of(paint.layout); ++p) {
            const MapPlaneExtent extent = map_plane_extent(paint, p);
            const auto* const from = slot.map_pictures_host.as<const uint8_t>(picture_bytes_ * f + plane_offset_[p]);
            auto* const target = static_cast<uint8_t*>(const_cast<void*>(to.plane[p]));
            for (int y = 0; y < extent.rows; ++y)
                std::memcpy(target + y * to.pitch_bytes[p], from + static_cast<size_t>(y) * plane_pitch_[p],
                            static_cast<size_t>(extent.row_bytes));
        }
    }
}

} // namespace qc::cuda
