// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "picture.hpp"

#include <algorithm>
#include <array>

namespace qc {
namespace {

constexpr int kMaxSide = 32768;

const char* chroma_name(qc_chroma chroma) {
    constexpr std::array<const char*, 4> names{"4:0:0", "4:2:0", "4:2:2", "4:4:4"};
    return chroma >= QC_CHROMA_400 && chroma <= QC_CHROMA_444 ? names[chroma] : "?";
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
    return {};
}

} // namespace

std::string describe(const qc_format& picture) {
    return format("%dx%d %s, %d bits", picture.width, picture.height, chroma_name(picture.chroma), picture.depth);
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
    return {};
}

bool needs_conversion(const qc_format& format, const FrameGeometry& geometry) {
    return geometry.sample == SampleType::kU16 && format.depth != geometry.depth;
}

} // namespace qc
