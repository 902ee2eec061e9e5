// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "run/plan/refusal.hpp"
#include "run/plan/shapes.hpp"
#include "run/text/text.hpp"

namespace qc::run {
namespace {

constexpr int kLongestSide = 32768;

/* ---- options ---- */

/// Numbers of digits alone: no signs, and none that an int does not hold.
bool has_only(std::string_view text, const char* characters) {
    return text.find_first_not_of(characters) == std::string_view::npos;
}

std::string read_scaling(const char* scale, qcr_geometry& geometry) {
    static constexpr std::array<std::string_view, 5> kNames = {"none", "bicubic", "lanczos", "bilinear", "area"};
    static_assert(QC_SCALING_NONE == 0 && QC_SCALING_BICUBIC == 1 && QC_SCALING_LANCZOS == 2 &&
                  QC_SCALING_BILINEAR == 3 && QC_SCALING_AREA == 4);
    if (scale == nullptr) return "";
    const auto name = std::find(kNames.begin(), kNames.end(), scale);
    if (name == kNames.end())
        return formatted("scale=%s is not known; accepted: none, bicubic, lanczos, bilinear, area", scale);
    geometry.scaling = static_cast<qc_scaling>(name - kNames.begin());
    return "";
}

std::string read_size(const char* scale_to, qcr_geometry& geometry) {
    const std::string_view to = scale_to != nullptr ? scale_to : "reference";
    char rest = 0;
    if (to == "reference") return "";
    geometry.size = to == "main" ? QCR_SIZE_OF_DISTORTED : QCR_SIZE_GIVEN;
    const bool is_size = has_only(to, "0123456789x") &&
                         std::sscanf(scale_to, "%5dx%5d%c", &geometry.width, &geometry.height, &rest) == 2 &&
                         geometry.width > 0 && geometry.height > 0 &&
                         std::max(geometry.width, geometry.height) <= kLongestSide;
    if (geometry.size == QCR_SIZE_GIVEN && !is_size)
        return formatted("scale_to=%s is not known; accepted: reference, main, or WIDTHxHEIGHT with sides of 1 to %d",
                         scale_to, kLongestSide);
    if (geometry.scaling != QC_SCALING_NONE) return "";
    return formatted("scale_to=%s: without scale, reference is accepted; add scale=bicubic, lanczos, bilinear or area",
                     scale_to);
}

std::string read_region(const char* roi, qcr_geometry& geometry) {
    char rest = 0;
    if (roi == nullptr || *roi == '\0') return "";
    if (has_only(roi, "0123456789:|") &&
        std::sscanf(roi, "%5d%*1[:|]%5d%*1[:|]%5d%*1[:|]%5d%c", &geometry.roi_x, &geometry.roi_y, &geometry.roi_width,
                    &geometry.roi_height, &rest) == 4 &&
        geometry.roi_width > 0 && geometry.roi_height > 0)
        return "";
    return formatted("roi=%s is not known; accepted: X:Y:WIDTH:HEIGHT in luma samples of the scored picture, the last "
                     "two at least 1 (or X|Y|WIDTH|HEIGHT, which needs no escapes)",
                     roi);
}

std::string read_options(const char* scale, const char* scale_to, const char* roi, qcr_geometry& geometry) {
    std::string refusal = read_scaling(scale, geometry);
    if (refusal.empty()) refusal = read_size(scale_to, geometry);
    if (refusal.empty()) refusal = read_region(roi, geometry);
    return refusal;
}

/* ---- shapes ---- */

std::string display_text(const Shape& shape) {
    return number(shape.display(), 4);
}

std::string refuse_shape(const qcr_names& names, int input, const Shape& shape, const Shape& reference) {
    if ((shape.width == reference.width && shape.height == reference.height) || is_alike(shape, reference)) return "";
    const std::string advice = shape_advice(input, shape, reference, true);
    return formatted(
               "Input %d (%s) is %dx%d with a display aspect ratio of %s, the reference %dx%d with %s: scaling would "
               "distort what is compared; ",
               input, names.role[input], shape.width, shape.height, display_text(shape).c_str(), reference.width,
               reference.height, display_text(reference).c_str()) +
           advice;
}

/// A size without a sample aspect ratio: square samples, or those of the reference.
std::string refuse_size(const qcr_geometry& geometry, const Shape& reference) {
    const Shape square = {geometry.width, geometry.height, 1}, same = {square.width, square.height, reference.aspect};
    if (is_alike(square, reference) || is_alike(same, reference)) return "";
    return formatted("scale_to=%dx%d would distort the reference, which is %dx%d with a display aspect ratio of %s; "
                     "accepted is a size of that ratio, e.g. %ldx%d",
                     square.width, square.height, reference.width, reference.height, display_text(reference).c_str(),
                     std::max(std::lrint(square.height * reference.display() / 2) * 2, 1L), square.height);
}

std::string refuse_shapes(const qcr_geometry& geometry, const qcr_names& names, const double* aspect,
                          const qc_config& config) {
    const Shape reference = {config.reference.width, config.reference.height, aspect[QCR_REFERENCE]};
    std::string refusal;
    if (geometry.scaling == QC_SCALING_NONE || geometry.is_cropped != 0) return "";
    if (geometry.size == QCR_SIZE_GIVEN) refusal = refuse_size(geometry, reference);
    for (int k = 0; refusal.empty() && k < config.renditions; k++) {
        const int input = qcr_input_of(k);
        const Shape shape = {config.distorted[k].width, config.distorted[k].height, aspect[input]};
        refusal = refuse_shape(names, input, shape, reference);
    }
    return refusal;
}

/// What was asked for, and is most likely not meant.
void warn_of_shapes(const qcr_names& names, const double* aspect, const qc_config& config, const qcr_sink& sink) {
    const Shape reference = {config.reference.width, config.reference.height, aspect[QCR_REFERENCE]};
    for (int k = 0; config.scaling != QC_SCALING_NONE && k < config.renditions; k++) {
        const int input = qcr_input_of(k);
        const Shape shape = {config.distorted[k].width, config.distorted[k].height, aspect[input]};
        if (is_likely_cut(shape, reference))
            say(sink, QCR_LEVEL_WARNING,
                formatted("Input %d (%s) is %dx%d, the reference %dx%d: sizes that are so near are mostly those of a "
                          "part, and scaling compares other places then; if a container cuts off borders, give "
                          "-apply_cropping codec before each -i",
                          input, names.role[input], shape.width, shape.height, reference.width, reference.height));
    }
}

} // namespace
} // namespace qc::run

using namespace qc::run;

qc_status qcr_read_geometry(const char* scale, const char* scale_to, const char* roi, const char* crop,
                            qcr_geometry* geometry, qc_error* error) {
    *geometry = {};
    geometry->is_cropped = crop != nullptr && *crop != '\0' ? 1 : 0;
    return refusing(error, [&] { return read_options(scale, scale_to, roi, *geometry); });
}

qc_status qcr_configure_geometry(const qcr_geometry* geometry, const qcr_names* names,
                                 const double aspect[QCR_MAX_VIDEOS], qc_config* config, const qcr_sink* sink,
                                 qc_error* error) {
    config->scaling = geometry->scaling;
    config->roi_x = geometry->roi_x;
    config->roi_y = geometry->roi_y;
    config->roi_width = geometry->roi_width;
    config->roi_height = geometry->roi_height;
    if (geometry->scaling != QC_SCALING_NONE && geometry->size != QCR_SIZE_OF_REFERENCE) {
        const qcr_size scored = qcr_sizes_scored(geometry, &config->distorted[0], &config->reference).all;
        config->scoring_width = scored.width;
        config->scoring_height = scored.height;
    }
    return refusing(error, [&] {
        std::string refusal = refuse_shapes(*geometry, *names, aspect, *config);
        if (refusal.empty() && sink != nullptr && geometry->is_cropped == 0)
            warn_of_shapes(*names, aspect, *config, *sink);
        return refusal;
    });
}

qcr_scored qcr_sizes_scored(const qcr_geometry* geometry, const qc_format* distorted, const qc_format* reference) {
    const qc_format* whose = geometry->size == QCR_SIZE_OF_DISTORTED ? distorted : reference;
    const bool is_given = geometry->size == QCR_SIZE_GIVEN;
    const qcr_size all = {is_given ? geometry->width : whose->width, is_given ? geometry->height : whose->height};
    const qcr_size region = {geometry->roi_width, geometry->roi_height};
    return {all, region.width != 0 ? region : all};
}
