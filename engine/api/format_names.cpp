// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/format_names.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
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
    std::array<NamedFormat, 200> formats{};
    size_t size = 0;

    constexpr void add(std::initializer_list<std::string_view> name, const qc_format& format) {
        NamedFormat& added = formats[size++];
        char* end = std::begin(added.name);
        for (const std::string_view part : name) end = std::copy(part.begin(), part.end(), end);
        added.format = format;
    }
    /// Words come in both orders of their bytes.
    constexpr void add_orders(std::string_view stem, std::string_view ending, qc_format format) {
        if (format.container_bits == 8) return add({stem, ending}, format);
        add({stem, ending, "le"}, format);
        format.big_endian = 1;
        add({stem, ending, "be"}, format);
    }
    const NamedFormat* begin() const { return formats.data(); }
    const NamedFormat* end() const { return formats.data() + size; }
};

/// Endings of planar formats.
constexpr struct Ending {
    const char* text;
    int depth, shift;
} kEndings[] = {{"", 8, 0},    {"9", 9, 0},   {"10", 10, 0},    {"12", 12, 0},
                {"14", 14, 0}, {"16", 16, 0}, {"10msb", 10, 6}, {"12msb", 12, 4}};

/// Sets of endings, a bit each.
constexpr unsigned k8 = 1, k9 = 2, k10 = 4, k12 = 8, k14 = 16, k16 = 32, kHighBits = 64 + 128;
constexpr unsigned kAllDepths = k8 | k9 | k10 | k12 | k14 | k16;

/// Planar formats: a stem, and an end for each depth.
struct Family {
    const char* stem;
    qc_chroma chroma;
    unsigned endings;
    int rgb = 0, range = 0;
};

constexpr Family kFamilies[] = {
    {"gray", QC_CHROMA_400, kAllDepths},
    {"yuv420p", QC_CHROMA_420, kAllDepths},
    {"yuv422p", QC_CHROMA_422, kAllDepths},
    {"yuv444p", QC_CHROMA_444, kAllDepths | kHighBits},
    {"yuv410p", QC_CHROMA_410, k8},
    {"yuv411p", QC_CHROMA_411, k8},
    {"yuv440p", QC_CHROMA_440, k8 | k10 | k12},
    {"gbrp", QC_CHROMA_444, kAllDepths | kHighBits, 1},
    // Further names of the same: full range, or with an alpha plane behind the others.
    {"yuvj420p", QC_CHROMA_420, k8, 0, kFullRange},
    {"yuvj422p", QC_CHROMA_422, k8, 0, kFullRange},
    {"yuvj444p", QC_CHROMA_444, k8, 0, kFullRange},
    {"yuvj411p", QC_CHROMA_411, k8, 0, kFullRange},
    {"yuvj440p", QC_CHROMA_440, k8, 0, kFullRange},
    {"yuva420p", QC_CHROMA_420, k8 | k9 | k10 | k16},
    {"yuva422p", QC_CHROMA_422, k8 | k9 | k10 | k12 | k16},
    {"yuva444p", QC_CHROMA_444, k8 | k9 | k10 | k12 | k16},
    {"gbrap", QC_CHROMA_444, k8 | k10 | k12 | k14 | k16, 1},
};

/// Luma in a plane, Cb and Cr side by side in another.
struct SemiPlanar {
    const char* stem;
    qc_chroma chroma;
    int depth, shift;
    int order = 1; ///< 2: Cr comes first
};

constexpr SemiPlanar kSemiPlanar[] = {
    {"nv12", QC_CHROMA_420, 8, 0},  {"nv16", QC_CHROMA_422, 8, 0},    {"nv24", QC_CHROMA_444, 8, 0},
    {"nv20", QC_CHROMA_422, 10, 0}, {"nv21", QC_CHROMA_420, 8, 0, 2}, {"nv42", QC_CHROMA_444, 8, 0, 2},
    {"p010", QC_CHROMA_420, 10, 6}, {"p012", QC_CHROMA_420, 12, 4},   {"p016", QC_CHROMA_420, 16, 0},
    {"p210", QC_CHROMA_422, 10, 6}, {"p212", QC_CHROMA_422, 12, 4},   {"p216", QC_CHROMA_422, 16, 0},
    {"p410", QC_CHROMA_444, 10, 6}, {"p412", QC_CHROMA_444, 12, 4},   {"p416", QC_CHROMA_444, 16, 0},
};

/// Several components in one plane. Positions are those of Y, Cb and Cr, or of G, B and R.
struct Packed {
    const char* stem;
    qc_chroma chroma;
    int rgb, depth, shift, step;
    int position[3];
};

constexpr Packed kPacked[] = {
    {"rgb24", QC_CHROMA_444, 1, 8, 0, 3, {1, 2, 0}},   {"bgr24", QC_CHROMA_444, 1, 8, 0, 3, {1, 0, 2}},
    {"rgb48", QC_CHROMA_444, 1, 16, 0, 3, {1, 2, 0}},  {"bgr48", QC_CHROMA_444, 1, 16, 0, 3, {1, 0, 2}},
    {"rgb0", QC_CHROMA_444, 1, 8, 0, 4, {1, 2, 0}},    {"bgr0", QC_CHROMA_444, 1, 8, 0, 4, {1, 0, 2}},
    {"0rgb", QC_CHROMA_444, 1, 8, 0, 4, {2, 3, 1}},    {"0bgr", QC_CHROMA_444, 1, 8, 0, 4, {2, 1, 3}},
    {"rgba", QC_CHROMA_444, 1, 8, 0, 4, {1, 2, 0}},    {"bgra", QC_CHROMA_444, 1, 8, 0, 4, {1, 0, 2}},
    {"argb", QC_CHROMA_444, 1, 8, 0, 4, {2, 3, 1}},    {"abgr", QC_CHROMA_444, 1, 8, 0, 4, {2, 1, 3}},
    {"rgba64", QC_CHROMA_444, 1, 16, 0, 4, {1, 2, 0}}, {"bgra64", QC_CHROMA_444, 1, 16, 0, 4, {1, 0, 2}},
    {"yuyv422", QC_CHROMA_422, 0, 8, 0, 4, {0, 1, 3}}, {"yvyu422", QC_CHROMA_422, 0, 8, 0, 4, {0, 3, 1}},
    {"uyvy422", QC_CHROMA_422, 0, 8, 0, 4, {1, 0, 2}}, {"y210", QC_CHROMA_422, 0, 10, 6, 4, {0, 1, 3}},
    {"y212", QC_CHROMA_422, 0, 12, 4, 4, {0, 1, 3}},   {"y216", QC_CHROMA_422, 0, 16, 0, 4, {0, 1, 3}},
    {"vyu444", QC_CHROMA_444, 0, 8, 0, 3, {1, 2, 0}},  {"vuyx", QC_CHROMA_444, 0, 8, 0, 4, {2, 1, 0}},
    {"vuya", QC_CHROMA_444, 0, 8, 0, 4, {2, 1, 0}},    {"ayuv", QC_CHROMA_444, 0, 8, 0, 4, {1, 2, 3}},
    {"uyva", QC_CHROMA_444, 0, 8, 0, 4, {1, 0, 2}},    {"xv36", QC_CHROMA_444, 0, 12, 4, 4, {1, 0, 2}},
    {"xv48", QC_CHROMA_444, 0, 16, 0, 4, {1, 0, 2}},   {"ayuv64", QC_CHROMA_444, 0, 16, 0, 4, {1, 2, 3}},
    {"ya8", QC_CHROMA_400, 0, 8, 0, 2, {0, 0, 0}},     {"ya16", QC_CHROMA_400, 0, 16, 0, 2, {0, 0, 0}},
};

/// A pixel in a little-endian word of 32 bits: the lowest bits of its samples.
constexpr Packed kWords[] = {
    {"x2rgb10le", QC_CHROMA_444, 1, 10, 0, 1, {10, 0, 20}},
    {"x2bgr10le", QC_CHROMA_444, 1, 10, 0, 1, {10, 20, 0}},
    {"xv30le", QC_CHROMA_444, 0, 10, 0, 1, {10, 0, 20}},
    {"v30xle", QC_CHROMA_444, 0, 10, 0, 1, {12, 2, 22}},
};

constexpr qc_format layout_of(qc_chroma chroma, int depth, int shift) {
    qc_format format{};
    format.chroma = chroma;
    format.depth = depth;
    format.shift = shift;
    format.container_bits = depth == 8 ? 8 : 16;
    return format;
}

constexpr qc_format layout_of(const Packed& entry) {
    qc_format format = layout_of(entry.chroma, entry.depth, entry.shift);
    format.rgb = entry.rgb;
    format.pixel_step = entry.step;
    if (entry.step == 1) format.container_bits = 32;
    std::copy(std::begin(entry.position), std::end(entry.position), format.sample_offset);
    return format;
}

constexpr List make_list() {
    List list;
    for (const Family& family : kFamilies)
        for (size_t i = 0; i < std::size(kEndings); ++i) {
            if ((family.endings >> i & 1) == 0) continue;
            qc_format format = layout_of(family.chroma, kEndings[i].depth, kEndings[i].shift);
            format.rgb = family.rgb;
            format.colour.range = family.range;
            list.add_orders(family.stem, kEndings[i].text, format);
        }
    for (const SemiPlanar& entry : kSemiPlanar) {
        qc_format format = layout_of(entry.chroma, entry.depth, entry.shift);
        format.semi_planar = entry.order;
        list.add_orders(entry.stem, "", format);
    }
    for (const Packed& entry : kPacked) list.add_orders(entry.stem, "", layout_of(entry));
    for (const Packed& entry : kWords) list.add({entry.stem}, layout_of(entry));
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
           a.big_endian == b.big_endian &&
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
