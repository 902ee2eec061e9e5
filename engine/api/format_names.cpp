// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/format_names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace qc {
namespace {

constexpr int kFullRange = 2;

struct NamedFormat {
    char name[16]{};
    qc_format format{};
};

/// All of them, in memory of its own: who asks for a name while memory lacks is not told that there is none.
struct List {
    std::array<NamedFormat, 80> formats{};
    size_t size = 0;

    constexpr qc_format& add(std::string_view stem, std::string_view end, const qc_format& format) {
        NamedFormat& added = formats[size++];
        std::copy(end.begin(), end.end(), std::copy(stem.begin(), stem.end(), std::begin(added.name)));
        added.format = format;
        return added.format;
    }
    const NamedFormat* begin() const { return formats.data(); }
    const NamedFormat* end() const { return formats.data() + size; }
};

/// Planar formats: a stem, and an end for each depth.
struct Family {
    const char* stem;
    qc_chroma chroma;
    size_t endings; ///< so many of kEndings
    int rgb = 0, range = 0;
};

constexpr struct Ending {
    const char* text;
    int depth, shift;
} kEndings[] = {{"", 8, 0}, {"10le", 10, 0}, {"12le", 12, 0}, {"16le", 16, 0}, {"10msble", 10, 6}, {"12msble", 12, 4}};

constexpr size_t kBytes = 1, kWords = 4, kHighBits = 6;

constexpr Family kFamilies[] = {
    {"gray", QC_CHROMA_400, kWords},
    {"yuv420p", QC_CHROMA_420, kWords},
    {"yuv422p", QC_CHROMA_422, kWords},
    {"yuv444p", QC_CHROMA_444, kHighBits},
    {"gbrp", QC_CHROMA_444, kHighBits, 1},
    // Further names of the same: full range, or with an alpha plane behind the others.
    {"yuvj420p", QC_CHROMA_420, kBytes, 0, kFullRange},
    {"yuvj422p", QC_CHROMA_422, kBytes, 0, kFullRange},
    {"yuvj444p", QC_CHROMA_444, kBytes, 0, kFullRange},
    {"yuva420p", QC_CHROMA_420, kWords},
    {"yuva422p", QC_CHROMA_422, kWords},
    {"yuva444p", QC_CHROMA_444, kWords},
    {"gbrap", QC_CHROMA_444, kWords, 1},
};

/// Luma in a plane, Cb and Cr side by side in another.
struct SemiPlanar {
    const char* name;
    qc_chroma chroma;
    int depth, shift;
};

constexpr SemiPlanar kSemiPlanar[] = {
    {"nv12", QC_CHROMA_420, 8, 0},    {"nv16", QC_CHROMA_422, 8, 0},    {"nv24", QC_CHROMA_444, 8, 0},
    {"nv20le", QC_CHROMA_422, 10, 0}, {"p010le", QC_CHROMA_420, 10, 6}, {"p012le", QC_CHROMA_420, 12, 4},
    {"p016le", QC_CHROMA_420, 16, 0}, {"p210le", QC_CHROMA_422, 10, 6}, {"p212le", QC_CHROMA_422, 12, 4},
    {"p216le", QC_CHROMA_422, 16, 0}, {"p410le", QC_CHROMA_444, 10, 6}, {"p412le", QC_CHROMA_444, 12, 4},
    {"p416le", QC_CHROMA_444, 16, 0},
};

/// Positions of G, B and R.
struct Packed {
    const char* name;
    int depth, step, green, blue, red;
};

constexpr Packed kPacked[] = {
    {"rgb24", 8, 3, 1, 2, 0},     {"bgr24", 8, 3, 1, 0, 2},     {"rgb48le", 16, 3, 1, 2, 0},
    {"bgr48le", 16, 3, 1, 0, 2},  {"rgb0", 8, 4, 1, 2, 0},      {"bgr0", 8, 4, 1, 0, 2},
    {"0rgb", 8, 4, 2, 3, 1},      {"0bgr", 8, 4, 2, 1, 3},      {"rgba", 8, 4, 1, 2, 0},
    {"bgra", 8, 4, 1, 0, 2},      {"argb", 8, 4, 2, 3, 1},      {"abgr", 8, 4, 2, 1, 3},
    {"rgba64le", 16, 4, 1, 2, 0}, {"bgra64le", 16, 4, 1, 0, 2},
};

constexpr qc_format layout_of(qc_chroma chroma, int depth, int shift) {
    qc_format format{};
    format.chroma = chroma;
    format.depth = depth;
    format.shift = shift;
    format.container_bits = depth == 8 ? 8 : 16;
    return format;
}

constexpr List make_list() {
    List list;
    for (const Family& family : kFamilies)
        for (size_t i = 0; i < family.endings; ++i) {
            const Ending& ending = kEndings[i];
            qc_format& format =
                list.add(family.stem, ending.text, layout_of(family.chroma, ending.depth, ending.shift));
            format.rgb = family.rgb;
            format.colour.range = family.range;
        }
    for (const SemiPlanar& entry : kSemiPlanar)
        list.add(entry.name, "", layout_of(entry.chroma, entry.depth, entry.shift)).semi_planar = 1;
    for (const Packed& entry : kPacked) {
        qc_format& format = list.add(entry.name, "", layout_of(QC_CHROMA_444, entry.depth, 0));
        format.rgb = 1;
        format.pixel_step = entry.step;
        format.sample_offset[0] = entry.green;
        format.sample_offset[1] = entry.blue;
        format.sample_offset[2] = entry.red;
    }
    return list;
}

constexpr List kFormats = make_list();

/// FFmpeg reads "yuv420p10" as the byte order of the machine, which is little-endian wherever this library runs.
bool is_name(std::string_view full, std::string_view name) {
    return name == full || (full.ends_with("le") && name == full.substr(0, full.size() - 2));
}

bool is_same_layout(const qc_format& a, const qc_format& b) {
    const bool packed = a.pixel_step != 0;
    return a.chroma == b.chroma && a.depth == b.depth && a.shift == b.shift && a.container_bits == b.container_bits &&
           a.semi_planar == b.semi_planar && a.rgb == b.rgb && a.pixel_step == b.pixel_step &&
           (!packed || std::equal(std::begin(a.sample_offset), std::end(a.sample_offset), b.sample_offset));
}

} // namespace

bool find_format(std::string_view name, qc_format* format) {
    for (const NamedFormat& known : kFormats)
        if (is_name(known.name, name)) {
            *format = known.format;
            return true;
        }
    return false;
}

const char* name_of_format(const qc_format& format) {
    for (const NamedFormat& known : kFormats)
        if (is_same_layout(known.format, format)) return known.name;
    return nullptr;
}

} // namespace qc
