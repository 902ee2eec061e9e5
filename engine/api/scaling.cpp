// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/scaling.hpp"

#include "api/picture.hpp"
#include "contract/status.hpp"

namespace qc {
namespace {

/// Where chroma samples lie between the luma samples of a pair: half a luma sample before the middle, in it, behind it.
constexpr double kFirst = -0.5, kMiddle = 0.0, kSecond = 0.5;

struct ChromaSite {
    const char* name;
    double across, down;
};

/// By H.273's numbers, as in qc_colour. Not known: left, as H.264 and HEVC have it.
constexpr ChromaSite kSites[] = {
    {"left (assumed)", kFirst, kMiddle}, {"left", kFirst, kMiddle}, {"center", kMiddle, kMiddle},
    {"topleft", kFirst, kFirst},         {"top", kMiddle, kFirst},  {"bottomleft", kFirst, kSecond},
    {"bottom", kMiddle, kSecond}};

const ChromaSite& site_of(const qc_format& format) {
    const auto location = static_cast<size_t>(format.colour.chroma_location);
    return kSites[location < std::size(kSites) ? location : 0];
}

AxisGeometry axis_geometry(int source, int target, int luma_source, int luma_target, bool halved, double offset) {
    return {source, target, luma_source, luma_target, halved ? 2 : 1, halved ? offset : 0.0};
}

std::string size_text(int width, int height) {
    return format("%dx%d", width, height);
}

std::string scaled_text(const qc_format& picture, const FrameGeometry& geometry) {
    if (!is_scaled(picture, geometry)) return size_text(picture.width, picture.height);
    return size_text(picture.width, picture.height) + " to " + size_text(geometry.width, geometry.height);
}

/// Of the pictures that are scaled.
Subsampling scaled_subsampling(const qc_format& format) {
    return chroma_subsampling(scored_chroma(format.chroma));
}

/// Leaves of a table what makes some neighbouring target samples.
void keep(int first, int count, ScaleTable* table) {
    const auto taps = static_cast<size_t>(table->taps), begin = static_cast<size_t>(first),
               size = static_cast<size_t>(count);
    table->first = std::vector(table->first.begin() + first, table->first.begin() + first + count);
    table->weight = std::vector(table->weight.data() + begin * taps, table->weight.data() + (begin + size) * taps);
}

const char* kernel_text(qc_scaling scaling) {
    switch (scaling) {
    case QC_SCALING_BICUBIC:
        return "bicubic, B=0, C=0.6, widened by the ratio where it shrinks";
    case QC_SCALING_LANCZOS:
        return "lanczos, 3 lobes, widened by the ratio where it shrinks";
    case QC_SCALING_BILINEAR:
        return "bilinear, widened by the ratio where it shrinks";
    case QC_SCALING_AREA:
        return "area, mean over the covered samples; bilinear where it grows";
    default:
        return "none";
    }
}

} // namespace

InputScaling input_scaling(qc_scaling scaling, const qc_format& format, const FrameGeometry& geometry, int planes) {
    InputScaling input;
    input.math = scale_math(format.depth, format.shift, geometry.depth);
    const ChromaSite& site = site_of(format);
    const Subsampling shared = scaled_subsampling(format);
    for (int p = 0; p < planes; ++p) {
        const PlaneExtent source = stored_extent(format, p);
        const bool halved_across = p > 0 && shared.across > 0, halved_down = p > 0 && shared.down > 0;
        InputScaling::PlaneTables& tables = input.plane[static_cast<size_t>(p)];
        tables.across = make_scale_table(scaling, axis_geometry(source.columns, geometry.stored_width(p), format.width,
                                                                geometry.width, halved_across, site.across));
        tables.down = make_scale_table(scaling, axis_geometry(source.rows, geometry.stored_height(p), format.height,
                                                              geometry.height, halved_down, site.down));
    }
    return input;
}

std::vector<std::optional<InputScaling>> input_scalings(const BackendSetup& setup) {
    std::vector<std::optional<InputScaling>> scalings(static_cast<size_t>(setup.inputs()));
    for (int input = 0; input < setup.inputs(); ++input) {
        if (!setup.is_scaled(input)) continue;
        auto& scaling = scalings[static_cast<size_t>(input)];
        scaling =
            input_scaling(setup.config->scaling, setup.scaled_format(input), setup.picture(), setup.planes_read());
        for (int p = 0; p < setup.planes_read() && setup.cut; ++p) {
            InputScaling::PlaneTables& tables = scaling->plane[static_cast<size_t>(p)];
            const Corner corner = corner_of(setup.cut->region, setup.picture(), p);
            keep(corner.column, setup.geometry.stored_width(p), &tables.across);
            keep(corner.row, setup.geometry.stored_height(p), &tables.down);
        }
    }
    return scalings;
}

std::vector<Convention> scaling_conventions(const qc_config& config, const FrameGeometry& geometry, int rendition) {
    const qc_format& distorted = config.distorted[rendition];
    const bool reference_too = is_scaled(config.reference, geometry);
    if (!reference_too && !is_scaled(distorted, geometry)) return {};
    std::vector<Convention> list{{"kernel", kernel_text(config.scaling)},
                                 {"distorted", scaled_text(distorted, geometry)},
                                 {"reference", scaled_text(config.reference, geometry)},
                                 {"phase",
                                  "centres of pictures coincide, sample i at (i + 1/2) * source / target - 1/2; "
                                  "borders repeat the outermost sample"}};
    const qc_format& scaled = is_scaled(distorted, geometry) ? distorted : config.reference;
    if (geometry.plane_count() > 1 && scaled_subsampling(scaled).across > 0) {
        std::string sites = site_of(scaled).name;
        if (reference_too && &site_of(scaled) != &site_of(config.reference))
            sites += std::string(", of the reference ") + site_of(config.reference).name;
        list.push_back({"chroma_location", sites + "; as before the scaling"});
    }
    list.push_back(
        {"rounding",
         format("rows, then columns; weights of %d bits, half up to %d bits between them, then half up to %d",
                kWeightBits, has_short_middles(scaled.depth) ? 14 : 16, geometry.depth)});
    return list;
}

const char* scaling_name(qc_scaling scaling) {
    constexpr const char* kNames[] = {"none", "bicubic", "lanczos", "bilinear", "area"};
    return kNames[scaling];
}

} // namespace qc
