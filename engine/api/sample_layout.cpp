// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/sample_layout.hpp"

#include <algorithm>
#include <iterator>

namespace qc {
namespace {

constexpr int kWordBits = 32; ///< of a container that holds all components of a pixel

int rounded_up(int length, int power) {
    return (length + (1 << power) - 1) >> power;
}

int container_bytes(const qc_format& format) {
    return format.container_bits / 8;
}

bool is_packed(const qc_format& format) {
    return format.pixel_step != 0;
}

/// Two pixels share the chroma of a packed group.
bool is_packed_in_pairs(const qc_format& format) {
    return is_packed(format) && format.chroma == QC_CHROMA_422;
}

/// Containers that a column of a stored plane takes: of chroma's columns where it has its own plane, of pairs of pixels
/// where these are packed together.
int containers_of_column(const qc_format& format, int plane) {
    if (is_packed(format)) return format.pixel_step;
    return plane > 0 && format.semi_planar != 0 ? 2 : 1;
}

/// Of a stored plane, whose columns may be pairs of pixels.
Subsampling plane_subsampling(const qc_format& format, int plane) {
    if (is_packed(format)) return {is_packed_in_pairs(format) ? 1 : 0, 0};
    return plane > 0 ? chroma_subsampling(format.chroma) : Subsampling{0, 0};
}

} // namespace

Subsampling chroma_subsampling(qc_chroma chroma) {
    switch (chroma) {
    case QC_CHROMA_420:
        return {1, 1};
    case QC_CHROMA_422:
        return {1, 0};
    case QC_CHROMA_410:
        return {2, 2};
    case QC_CHROMA_411:
        return {2, 0};
    case QC_CHROMA_440:
        return {0, 1};
    default:
        return {0, 0};
    }
}

PlaneSource plane_source(const qc_format& format, int component) {
    const auto bytes = static_cast<size_t>(container_bytes(format));
    if (format.container_bits == kWordBits) return {0, format.pixel_step, 0};
    if (is_packed(format)) {
        const int pixels = is_packed_in_pairs(format) && component == 0 ? 2 : 1; // in a group
        return {0, format.pixel_step / pixels, static_cast<size_t>(format.sample_offset[component]) * bytes};
    }
    if (component == 0 || format.semi_planar == 0) return {component, 1, 0};
    const bool is_second = (component == 2) == (format.semi_planar == 1);
    return {1, 2, is_second ? bytes : 0};
}

SampleSource sample_source(const qc_format& format, int component) {
    const bool is_word = format.container_bits == kWordBits;
    SampleSource source{};
    source.bytes = static_cast<uint8_t>(container_bytes(format));
    source.step_bytes = plane_source(format, component).step * source.bytes;
    source.largest = (1u << format.depth) - 1;
    source.mask = is_word ? source.largest : ~0u;
    source.swapped = static_cast<uint8_t>(format.big_endian);
    source.shift = static_cast<uint8_t>(is_word ? format.sample_offset[component] : format.shift);
    return source;
}

PlaneExtent stored_extent(const qc_format& format, int component) {
    const Subsampling shared = component > 0 ? chroma_subsampling(format.chroma) : Subsampling{0, 0};
    return {rounded_up(format.width, shared.across), rounded_up(format.height, shared.down)};
}

int stored_planes(const qc_format& format) {
    if (format.chroma == QC_CHROMA_400 || is_packed(format)) return 1;
    return format.semi_planar != 0 ? 2 : 3;
}

StoredPlane stored_plane(const qc_format& format, int plane) {
    const Subsampling shared = plane_subsampling(format, plane);
    return {ptrdiff_t{rounded_up(format.width, shared.across)} * containers_of_column(format, plane) *
                container_bytes(format),
            rounded_up(format.height, shared.down)};
}

Subsampling cut_raster(const qc_format& format) {
    Subsampling raster{0, 0};
    for (int p = 0; p < stored_planes(format); ++p) {
        const Subsampling shared = plane_subsampling(format, p);
        raster = {std::max(raster.across, shared.across), std::max(raster.down, shared.down)};
    }
    return raster;
}

ptrdiff_t offset_bytes(const qc_format& format, int plane, int x, int y, ptrdiff_t pitch_bytes) {
    const Subsampling shared = plane_subsampling(format, plane);
    return (y >> shared.down) * pitch_bytes +
           ptrdiff_t{x >> shared.across} * containers_of_column(format, plane) * container_bytes(format);
}

qc_chroma scored_chroma(qc_chroma chroma) {
    switch (chroma) {
    case QC_CHROMA_410:
        return QC_CHROMA_420;
    case QC_CHROMA_411:
        return QC_CHROMA_422;
    case QC_CHROMA_440:
        return QC_CHROMA_444;
    default:
        return chroma;
    }
}

Subsampling repetition(const qc_format& format, int component) {
    if (component == 0) return {0, 0};
    const Subsampling stored = chroma_subsampling(format.chroma),
                      scored = chroma_subsampling(scored_chroma(format.chroma));
    return {stored.across - scored.across, stored.down - scored.down};
}

bool is_read_in_place(const qc_format& format) {
    const bool packed_otherwise = is_packed(format) && format.rgb == 0;
    return !packed_otherwise && format.container_bits != kWordBits && format.big_endian == 0 &&
           format.semi_planar != 2 && scored_chroma(format.chroma) == format.chroma;
}

qc_format unpacked_format(qc_format format) {
    format.chroma = scored_chroma(format.chroma);
    format.container_bits = format.depth == 8 ? 8 : 16;
    format.shift = format.semi_planar = format.pixel_step = format.big_endian = 0;
    std::fill(std::begin(format.sample_offset), std::end(format.sample_offset), 0);
    return format;
}

} // namespace qc
