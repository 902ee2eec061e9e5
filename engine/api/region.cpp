// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/region.hpp"

#include <algorithm>

#include "api/picture.hpp"

namespace qc {
namespace {

/// What the coordinates of a corner must be multiples of, so that samples of all pictures that are cut begin there.
struct Raster {
    int across, down;
};
Raster raster_of(const qc_config& config, const FrameGeometry& picture) {
    Subsampling raster{0, 0};
    for (int input = 0; input <= config.renditions; ++input) {
        const qc_format& format = input == 0 ? config.reference : config.distorted[input - 1];
        const qc_format cut = is_scaled(format, picture) ? unpacked_format(format) : format;
        if (picture.plane_count() == 1 && cut.pixel_step == 0) continue; // nobody reads planes of chroma
        const Subsampling of_input = cut_raster(cut);
        raster = {std::max(raster.across, of_input.across), std::max(raster.down, of_input.down)};
    }
    return {1 << raster.across, 1 << raster.down};
}

} // namespace

std::string region_text(const Region& region) {
    return format("%dx%d at %d,%d", region.width, region.height, region.x, region.y);
}

Status find_region(const qc_config& config, const FrameGeometry& picture, Region* region) {
    const Region asked{config.roi_x, config.roi_y, config.roi_width, config.roi_height};
    if (asked.x == 0 && asked.y == 0 && asked.width == 0 && asked.height == 0) return {};
    const std::string text = format("roi=%d:%d:%d:%d: ", asked.x, asked.y, asked.width, asked.height);
    if (asked.width == 0 || asked.height == 0) return invalid(text + "a width and a height of at least 1 are accepted");
    if (asked.width > picture.width - asked.x || asked.height > picture.height - asked.y)
        return invalid(text +
                       format("what lies in the scored picture of %dx%d is accepted", picture.width, picture.height));
    const Raster raster = raster_of(config, picture);
    if (asked.x % raster.across != 0 || asked.y % raster.down != 0)
        return invalid(text + format("a corner at multiples of %d across and %d down is accepted, where chroma samples "
                                     "of these pictures are",
                                     raster.across, raster.down));
    *region = asked;
    return {};
}

qc_format cut_out(const Region& region, qc_format format) {
    format.width = region.width;
    format.height = region.height;
    return format;
}

qc_picture cut_out(const Region& region, const qc_format& format, qc_picture picture) {
    for (int p = 0; p < stored_planes(format); ++p) {
        if (picture.plane[p] == nullptr) continue;
        picture.plane[p] = static_cast<const char*>(picture.plane[p]) +
                           offset_bytes(format, p, region.x, region.y, picture.pitch_bytes[p]);
    }
    return picture;
}

FrameGeometry cut_out(const Region& region, FrameGeometry picture) {
    const bool halved_across = picture.stored_chroma_width != picture.width,
               halved_down = picture.stored_chroma_height != picture.height;
    picture.width = region.width;
    picture.height = region.height;
    if (picture.plane_count() == 1) return picture;
    picture.chroma_width = halved_across ? region.width / 2 : region.width;
    picture.chroma_height = halved_down ? region.height / 2 : region.height;
    picture.stored_chroma_width = halved_across ? (region.width + 1) / 2 : region.width;
    picture.stored_chroma_height = halved_down ? (region.height + 1) / 2 : region.height;
    return picture;
}

Corner corner_of(const Region& region, const FrameGeometry& picture, int plane) {
    return {picture.stored_width(plane) == picture.width ? region.x : region.x / 2,
            picture.stored_height(plane) == picture.height ? region.y : region.y / 2};
}

} // namespace qc
