// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/picture.hpp"

#include <algorithm>
#include <array>

namespace qc {
namespace {

constexpr int kMaxSide = 32768;

const char* chroma_name(qc_chroma chroma) {
    constexpr std::array<const char*, 4> names{"4:0:0", "4:2:0", "4:2:2", "4:4:4"};
    return chroma >= QC_CHROMA_400 && chroma <= QC_CHROMA_444 ? names[chroma] : "?";
}

Status check_components(const qc_format& picture, const std::string& input) {
    if (picture.rgb == 0) {
        if (picture.pixel_step == 0) return {};
        return unsupported(
            format("%s is packed, but not RGB: packed pictures are accepted as RGB only", input.c_str()));
    }
    if (picture.chroma != QC_CHROMA_444 || picture.semi_planar != 0)
        return unsupported(
            format("%s is RGB with chroma layout %d, semi_planar %d: RGB has 4:4:4 and is planar or packed",
                   input.c_str(), static_cast<int>(picture.chroma), picture.semi_planar));
    if (picture.pixel_step == 0) return {};
    if (picture.pixel_step != 3 && picture.pixel_step != 4)
        return unsupported(
            format("%s has %d samples a pixel: 3 and 4 are accepted", input.c_str(), picture.pixel_step));
    for (const int offset : picture.sample_offset)
        if (offset < 0 || offset >= picture.pixel_step)
            return invalid(format("%s has a colour at sample %d of its pixels, which have %d", input.c_str(), offset,
                                  picture.pixel_step));
    return {};
}

Status check_format(const qc_format& picture, const std::string& input) {
    if (picture.width < 1 || picture.height < 1 || picture.width > kMaxSide || picture.height > kMaxSide)
        return invalid(format("%s is %dx%d: sizes from 1x1 to %dx%d are accepted", input.c_str(), picture.width,
                              picture.height, kMaxSide, kMaxSide));
    if (picture.chroma < QC_CHROMA_400 || picture.chroma > QC_CHROMA_444)
        return unsupported(format("%s has chroma layout %d: 4:0:0, 4:2:0, 4:2:2 and 4:4:4 are accepted", input.c_str(),
                                  static_cast<int>(picture.chroma)));
    constexpr std::array<int, 4> depths{8, 10, 12, 16};
    if (std::find(depths.begin(), depths.end(), picture.depth) == depths.end())
        return unsupported(
            format("%s has %d bits a sample: 8, 10, 12 and 16 are accepted", input.c_str(), picture.depth));
    const int container = picture.depth == 8 ? 8 : 16;
    if (picture.container_bits != container || picture.shift < 0 || picture.shift + picture.depth > container)
        return unsupported(
            format("%s keeps %d bits in containers of %d bits, shifted by %d: %d-bit containers that hold "
                   "the sample are accepted",
                   input.c_str(), picture.depth, picture.container_bits, picture.shift, container));
    return check_components(picture, input);
}

/// A code point with H.273's "unspecified" as 0.
int code_point(int value) {
    constexpr int kUnspecified = 2;
    return value == kUnspecified ? 0 : value;
}

ColourTags tags_of(const qc_colour& colour) {
    return {code_point(colour.matrix), colour.range, code_point(colour.primaries), code_point(colour.transfer),
            colour.chroma_location};
}

} // namespace

std::string describe(const qc_format& picture) {
    return format("%dx%d %s, %d bits", picture.width, picture.height,
                  picture.rgb != 0 ? "RGB" : chroma_name(picture.chroma), picture.depth);
}

PlaneSource plane_source(const qc_format& picture, int plane) {
    const size_t sample_bytes = static_cast<size_t>(picture.container_bits) / 8;
    if (picture.pixel_step != 0)
        return {0, picture.pixel_step, static_cast<size_t>(picture.sample_offset[plane]) * sample_bytes};
    if (plane > 0 && picture.semi_planar != 0) return {1, 2, plane == 2 ? sample_bytes : 0};
    return {plane, 1, 0};
}

int stored_planes(const qc_format& picture) {
    if (picture.chroma == QC_CHROMA_400 || picture.pixel_step != 0) return 1;
    return picture.semi_planar != 0 ? 2 : 3;
}

bool colours_agree(const qc_config& config) {
    return std::all_of(config.distorted, config.distorted + config.renditions, [&](const qc_format& picture) {
        return tags_of(picture.colour) == tags_of(config.distorted[0].colour);
    });
}

Status session_geometry(const qc_config& config, FrameGeometry* geometry, bool* chroma_agrees) {
    const qc_format& reference = config.reference;
    QC_RETURN_IF_ERROR(check_format(reference, "the reference"));
    int depth = std::max(reference.depth, config.bitdepth);
    *chroma_agrees = true;
    for (int r = 0; r < config.renditions; ++r) {
        const qc_format& distorted = config.distorted[r];
        const std::string input = config.renditions == 1 ? "the distorted input" : format("distorted input %d", r);
        QC_RETURN_IF_ERROR(check_format(distorted, input));
        if (distorted.width != reference.width || distorted.height != reference.height)
            return invalid(format("%s is %dx%d, the reference %dx%d: scale one of them first", input.c_str(),
                                  distorted.width, distorted.height, reference.width, reference.height));
        if ((distorted.rgb != 0) != (reference.rgb != 0))
            return invalid(format("%s is %s, the reference %s: convert one of them first", input.c_str(),
                                  distorted.rgb != 0 ? "RGB" : "YUV", reference.rgb != 0 ? "RGB" : "YUV"));
        depth = std::max(depth, distorted.depth);
        *chroma_agrees = *chroma_agrees && distorted.chroma == reference.chroma;
    }
    geometry->width = reference.width;
    geometry->height = reference.height;
    geometry->depth = depth;
    geometry->sample = depth == 8 ? SampleType::kU8 : SampleType::kU16;
    const bool halved_x = reference.chroma == QC_CHROMA_420 || reference.chroma == QC_CHROMA_422;
    const bool halved_y = reference.chroma == QC_CHROMA_420;
    const bool chroma = reference.chroma != QC_CHROMA_400 && *chroma_agrees;
    geometry->chroma_width = chroma ? (halved_x ? reference.width / 2 : reference.width) : 0;
    geometry->chroma_height = chroma ? (halved_y ? reference.height / 2 : reference.height) : 0;
    geometry->stored_chroma_width = chroma ? (halved_x ? (reference.width + 1) / 2 : reference.width) : 0;
    geometry->stored_chroma_height = chroma ? (halved_y ? (reference.height + 1) / 2 : reference.height) : 0;
    geometry->rgb = reference.rgb != 0;
    geometry->frame_rate = config.frame_rate;
    geometry->reference_colour = tags_of(reference.colour);
    geometry->distorted_colour = tags_of(config.distorted[0].colour);
    return {};
}

bool needs_conversion(const qc_format& format, const FrameGeometry& geometry) {
    return geometry.sample == SampleType::kU16 && format.depth != geometry.depth;
}

} // namespace qc
