// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/picture.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <span>

#include "api/int_field.hpp"

namespace qc {
namespace {

const char* chroma_name(qc_chroma chroma) {
    constexpr std::array<const char*, 7> names{"4:0:0", "4:2:0", "4:2:2", "4:4:4", "4:1:0", "4:1:1", "4:4:0"};
    return chroma >= QC_CHROMA_400 && chroma <= QC_CHROMA_440 ? names[chroma] : "?";
}

constexpr int kDepths[] = {8, 9, 10, 12, 14, 16}, kContainers[] = {8, 16, 32};

constexpr IntField kFields[] = {
    {"width", offsetof(qc_format, width), 1, kMaxSide},
    {"height", offsetof(qc_format, height), 1, kMaxSide},
    {"chroma", offsetof(qc_format, chroma), QC_CHROMA_400, QC_CHROMA_440, {}, QC_ERROR_UNSUPPORTED},
    {"depth", offsetof(qc_format, depth), 0, 0, kDepths, QC_ERROR_UNSUPPORTED},
    {"container_bits", offsetof(qc_format, container_bits), 0, 0, kContainers, QC_ERROR_UNSUPPORTED},
    {"semi_planar", offsetof(qc_format, semi_planar), 0, 2},
    {"rgb", offsetof(qc_format, rgb), 0, 1},
    {"pixel_step", offsetof(qc_format, pixel_step), 0, 4, {}, QC_ERROR_UNSUPPORTED},
    {"big_endian", offsetof(qc_format, big_endian), 0, 1},
};

std::string at(const std::string& name, size_t index) {
    return name + "[" + std::to_string(index) + "]";
}

Status unsupported(const std::string& name, int value, const std::string& accepted) {
    return not_accepted(name, value, accepted, QC_ERROR_UNSUPPORTED);
}

/// How pixels of this subsampling may be packed.
struct PixelSteps {
    std::span<const int> accepted;
    const char* text;
};
PixelSteps pixel_steps(qc_chroma chroma) {
    static constexpr int kPlanar[] = {0}, kWithAlpha[] = {0, 2}, kPairs[] = {0, 4}, kPixels[] = {0, 1, 3, 4};
    switch (chroma) {
    case QC_CHROMA_400:
        return {kWithAlpha, "0 or 2"};
    case QC_CHROMA_422:
        return {kPairs, "0 or 4"};
    case QC_CHROMA_444:
        return {kPixels, "0, 1, 3 or 4"};
    default:
        return {kPlanar, "0"};
    }
}

Status check_packing(const qc_format& picture, const std::string& prefix) {
    const auto [steps, text] = pixel_steps(picture.chroma);
    const int step = picture.pixel_step;
    if (std::find(steps.begin(), steps.end(), step) == steps.end())
        return unsupported(prefix + "pixel_step", step, format("%s with %s", text, chroma_name(picture.chroma)));
    if (step == 0) return {};
    if (picture.semi_planar != 0)
        return unsupported(prefix + "semi_planar", picture.semi_planar, format("0 with pixel_step=%d", step));
    const int components = picture.chroma == QC_CHROMA_400 ? 1 : 3;
    for (int i = 0; i < components; ++i) {
        const int last =
            step - (picture.chroma == QC_CHROMA_422 && i == 0 ? 3 : 1); // a pair's second Y lies two behind
        const int most = step == 1 ? picture.container_bits - picture.depth : last;
        if (const int offset = picture.sample_offset[i]; offset < 0 || offset > most)
            return not_accepted(at(prefix + "sample_offset", static_cast<size_t>(i)), offset,
                                format("0..%d with pixel_step=%d", most, step));
    }
    return {};
}

Status check_components(const qc_format& picture, const std::string& prefix) {
    if (picture.rgb != 0 && picture.chroma != QC_CHROMA_444)
        return unsupported(prefix + "chroma", picture.chroma, format("%d with rgb", static_cast<int>(QC_CHROMA_444)));
    if (picture.rgb != 0 && picture.semi_planar != 0)
        return unsupported(prefix + "semi_planar", picture.semi_planar, "0 with rgb");
    return check_packing(picture, prefix);
}

} // namespace

Status check_format(const qc_format& picture, const std::string& prefix) {
    QC_RETURN_IF_ERROR(check_fields(&picture, kFields, prefix));
    for (size_t i = 0; i < std::size(picture.reserved); ++i)
        if (picture.reserved[i] != 0) return not_accepted(at(prefix + "reserved", i), picture.reserved[i], "0");
    const bool is_word = picture.pixel_step == 1;
    const int container = is_word ? 32 : picture.depth == 8 ? 8 : 16;
    const std::string with = is_word ? " with pixel_step=1" : format(" with depth=%d", picture.depth);
    if (picture.container_bits != container)
        return unsupported(prefix + "container_bits", picture.container_bits, std::to_string(container) + with);
    if (const int most = is_word ? 0 : container - picture.depth; picture.shift < 0 || picture.shift > most)
        return unsupported(prefix + "shift", picture.shift, (most > 0 ? format("0..%d", most) : "0") + with);
    if (container == 8 && picture.big_endian != 0)
        return not_accepted(prefix + "big_endian", picture.big_endian, "0 with container_bits=8");
    return check_components(picture, prefix);
}

namespace {

/// A code point with H.273's "unspecified" as 0.
int code_point(int value) {
    constexpr int kUnspecified = 2;
    return value == kUnspecified ? 0 : value;
}

ColourTags tags_of(const qc_colour& colour) {
    return {code_point(colour.matrix), colour.range, code_point(colour.primaries), code_point(colour.transfer),
            colour.chroma_location};
}

/// What a picture's tags leave open, metrics take from the reference.
ColourTags completed_tags(const qc_colour& colour, const qc_colour& reference) {
    ColourTags tags = tags_of(colour);
    const ColourTags known = tags_of(reference);
    for (int ColourTags::*tag : {&ColourTags::matrix, &ColourTags::range, &ColourTags::primaries, &ColourTags::transfer,
                                 &ColourTags::chroma_location})
        if (tags.*tag == 0) tags.*tag = known.*tag;
    return tags;
}

} // namespace

namespace {

constexpr int kMemories[] = {QC_MEMORY_HOST, QC_MEMORY_CUDA};
constexpr IntField kPictureFields[] = {{"memory", offsetof(qc_picture, memory), 0, 0, kMemories}};

/// Whether a plane can be read: where it begins, and how far its rows are apart.
Status check_plane(const qc_picture& picture, const qc_format& picture_format, int p, const char* input) {
    const ptrdiff_t sample_bytes = picture_format.container_bits / 8, pitch = picture.pitch_bytes[p];
    if (picture.plane[p] == nullptr) return invalid(format("%s lacks plane %d", input, p));
    if (reinterpret_cast<uintptr_t>(picture.plane[p]) % static_cast<size_t>(sample_bytes) != 0 ||
        pitch % sample_bytes != 0)
        return invalid(format("%s: plane %d does not begin, or its rows do not, at multiples of %d bytes", input, p,
                              static_cast<int>(sample_bytes)));
    const ptrdiff_t row = stored_plane(picture_format, p).row_bytes;
    const bool upwards = pitch < 0 && picture.memory == QC_MEMORY_HOST;
    if (upwards ? pitch >= -ptrdiff_t{INT_MAX} && pitch <= -row : pitch >= row && pitch <= INT_MAX) return {};
    return invalid(format("%s: pitch_bytes[%d]=%lld: %lld..%d is accepted%s", input, p, static_cast<long long>(pitch),
                          static_cast<long long>(row), INT_MAX,
                          picture.memory == QC_MEMORY_HOST ? ", and the same below zero" : " for CUDA memory"));
}

} // namespace

Status check_picture(const qc_picture& picture, const qc_format& picture_format, bool needs_chroma, const char* input) {
    QC_RETURN_IF_ERROR(check_fields(&picture, kPictureFields, std::string(input) + ": "));
    for (const int64_t word : picture.reserved)
        if (word != 0) return invalid(format("%s: reserved=%lld: 0 is accepted", input, static_cast<long long>(word)));
    const int planes = needs_chroma ? stored_planes(picture_format) : 1;
    for (int p = 0; p < planes; ++p) QC_RETURN_IF_ERROR(check_plane(picture, picture_format, p, input));
    return {};
}

qc_format weights_format(const FrameGeometry& geometry) {
    qc_format format{};
    format.width = geometry.width;
    format.height = geometry.height;
    format.depth = format.container_bits = 8;
    return format;
}

Status check_weights(const qc_picture& weights, const FrameGeometry& geometry, bool only_watches) {
    const bool is_there = weights.plane[0] != nullptr;
    if (is_there == geometry.has_weights)
        return is_there ? check_picture(weights, weights_format(geometry), false, "the weights") : Status();
    if (only_watches) return {};
    return is_there ? invalid("weights were submitted, but the configuration has weights=0")
                    : invalid("a frame was submitted without its weights, which weights=1 asks for");
}

bool colours_agree(const qc_config& config) {
    const auto tags_of_rendition = [&](const qc_format& picture) {
        return completed_tags(picture.colour, config.reference.colour);
    };
    return std::all_of(config.distorted, config.distorted + config.renditions, [&](const qc_format& picture) {
        return tags_of_rendition(picture) == tags_of_rendition(config.distorted[0]);
    });
}

namespace {

/// Of pictures like the reference's, as they are scored, at the size that is.
qc_format scored_format(const qc_config& config) {
    qc_format scored = unpacked_format(config.reference);
    if (config.scoring_width != 0) {
        scored.width = config.scoring_width;
        scored.height = config.scoring_height;
    }
    return scored;
}

/// Whether pictures of this size can be scored: as they are, or scaled.
Status check_size(const qc_format& picture, const std::string& input, const qc_config& config) {
    constexpr int kLargestFactor = 16; // beyond it no scores mean anything, and tables and tiles stay small
    const qc_format scored = scored_format(config);
    if (picture.width == scored.width && picture.height == scored.height) return {};
    if (config.scaling == QC_SCALING_NONE)
        return invalid(format("%s is %dx%d, the reference %dx%d: choose a scaling, or scale one of them first",
                              input.c_str(), picture.width, picture.height, scored.width, scored.height));
    const auto near = [](int one, int other) { return one <= kLargestFactor * other && other <= kLargestFactor * one; };
    if (near(picture.width, scored.width) && near(picture.height, scored.height)) return {};
    return invalid(format("%s is %dx%d and would be scaled to %dx%d: a factor of at most %d is accepted", input.c_str(),
                          picture.width, picture.height, scored.width, scored.height, kLargestFactor));
}

} // namespace

Status check_formats(const qc_config& config) {
    QC_RETURN_IF_ERROR(check_format(config.reference, "reference."));
    for (int r = 0; r < config.renditions; ++r)
        QC_RETURN_IF_ERROR(check_format(config.distorted[r], at("distorted", static_cast<size_t>(r)) + "."));
    return {};
}

Status session_geometry(const qc_config& config, FrameGeometry* geometry, std::string* chroma_conflict) {
    const qc_format& reference = config.reference;
    QC_RETURN_IF_ERROR(check_size(reference, "the reference", config));
    int depth = std::max(reference.depth, config.bitdepth);
    chroma_conflict->clear();
    for (int r = 0; r < config.renditions; ++r) {
        const qc_format& distorted = config.distorted[r];
        const std::string input = config.renditions == 1 ? "the distorted input" : format("distorted input %d", r);
        QC_RETURN_IF_ERROR(check_size(distorted, input, config));
        depth = std::max(depth, distorted.depth);
        if (scored_chroma(distorted.chroma) != scored_chroma(reference.chroma) && chroma_conflict->empty())
            *chroma_conflict =
                format("the reference is %s and %s %s: convert the reference first, or ask for metrics of "
                       "luma alone",
                       chroma_name(reference.chroma), input.c_str(), chroma_name(distorted.chroma));
    }
    const qc_format scored = scored_format(config);
    geometry->width = scored.width;
    geometry->height = scored.height;
    geometry->depth = depth;
    geometry->sample = depth == 8 ? SampleType::kU8 : SampleType::kU16;
    const bool chroma = reference.chroma != QC_CHROMA_400 && chroma_conflict->empty();
    const PlaneExtent stored = chroma ? stored_extent(scored, 1) : PlaneExtent{};
    const Subsampling shared = chroma_subsampling(scored.chroma);
    geometry->chroma_width = chroma ? scored.width >> shared.across : 0;
    geometry->chroma_height = chroma ? scored.height >> shared.down : 0;
    geometry->stored_chroma_width = stored.columns;
    geometry->stored_chroma_height = stored.rows;
    geometry->rgb = reference.rgb != 0;
    geometry->frame_rate = config.frame_rate;
    geometry->reference_colour = tags_of(reference.colour);
    geometry->distorted_colour = tags_of(config.distorted[0].colour);
    return {};
}

bool is_scaled(const qc_format& format, const FrameGeometry& geometry) {
    return format.width != geometry.width || format.height != geometry.height;
}

} // namespace qc
