// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of maps: from a plane of levels (contract/map.hpp) to samples of 8 bits, gray or in colours. What both
// backends do to a few samples is written once, so that they agree in every bit.
#pragma once

#include "contract/map.hpp"
#include "device/unroll.hpp"
#include "quality_cuda/types.h"

namespace qc {

/// How the pictures of a session's maps are painted.
struct MapPaint {
    MapShape shape;
    uint32_t reciprocal; ///< of the shape's step, see reciprocal_of()
    int width, height;   ///< of the picture
    float scale;         ///< see map_level()
    qc_map_layout layout;
    qc_map_colours colours;

    /// Whether every sample of the picture has a level of its own.
    QC_HD bool is_one_for_one() const {
        return shape.step == 1 && shape.left == 0 && shape.top == 0 && shape.width == width && shape.height == height;
    }
    /// Whether the picture's samples are the levels.
    QC_HD bool shows_levels() const { return layout == QC_MAP_LAYOUT_GRAY && colours == QC_MAP_COLOURS_GRAY; }
    QC_HD int column_of(int x) const { return inside(x - shape.left, shape.width); }
    QC_HD int row_of(int y) const { return inside(y - shape.top, shape.height); }

    /// A division by multiplying: with 31 bits behind the point, rounded up, the quotient of i is right for i * step <
    /// 2^31. Sides of pictures have 16 bits, steps 8.
    static constexpr uint32_t reciprocal_of(int step) {
        return static_cast<uint32_t>(((uint64_t{1} << 31) + static_cast<uint64_t>(step) - 1) /
                                     static_cast<uint64_t>(step));
    }

private:
    QC_HD int inside(int distance, int count) const {
        if (distance <= 0) return 0;
        const auto i = static_cast<int>(static_cast<uint64_t>(distance) * reciprocal >> 31);
        return i < count ? i : count - 1;
    }
};

/// Luma and chroma of limited range, BT.709.
struct MapColour {
    int y, cb, cr;
};

/// The colours of heat: black, blue, red, orange, and a white that is a little yellow. Their luma grows steadily, so a
/// print in gray still tells more from less.
constexpr int kHeatColours = 5, kHeatStep = 64; ///< levels from colour to colour

QC_HD constexpr int heat_component(int colour, int component) {
    // Red, green and blue of full range {0,0,0}, {24,40,160}, {190,30,120}, {250,130,20}, {255,255,230} by BT.709:
    // Y' = 0.2126 R + 0.7152 G + 0.0722 B on 16..235, (B - Y') / 1.8556 and (R - Y') / 1.5748 on 16..240.
    constexpr int kComponents[kHeatColours][3] = {
        {16, 128, 128}, {55, 182, 116}, {77, 151, 195}, {143, 68, 185}, {233, 117, 129}};
    return kComponents[colour][component];
}

QC_HD MapColour heat_of(int level) {
    const int colour = level / kHeatStep, part = level % kHeatStep;
    int mixed[3] = {};
    QC_UNROLL for (int i = 0; i < 3; ++i) {
        mixed[i] =
            (heat_component(colour, i) * (kHeatStep - part) + heat_component(colour + 1, i) * part + kHeatStep / 2) /
            kHeatStep;
    }
    return {mixed[0], mixed[1], mixed[2]};
}

/// Gray pictures have samples of full range, those with chroma of limited range.
QC_HD MapColour map_colour(const MapPaint& paint, int level) {
    if (paint.colours == QC_MAP_COLOURS_HEAT) return heat_of(level);
    return {paint.layout == QC_MAP_LAYOUT_GRAY ? level : 16 + (level * 219 + 127) / 255, 128, 128};
}

/// What is painted at once: two rows of so many columns, the first of them a multiple of that, and their chroma.
constexpr int kPaintColumns = 8;

/// Levels of kPaintColumns neighbours; beyond the picture those of its last column.
QC_HD void read_levels(const MapPaint& paint, const Plane<const uint8_t>& levels, int x, int y,
                       uint8_t (&run)[kPaintColumns]) {
    const uint8_t* const row = levels.row(paint.row_of(y));
#if defined(__CUDA_ARCH__)
    if (paint.is_one_for_one() && x + kPaintColumns <= paint.shape.width &&
        reinterpret_cast<uintptr_t>(row + x) % kPaintColumns == 0) {
        const uint2 words = *reinterpret_cast<const uint2*>(row + x);
        QC_UNROLL for (int i = 0; i < kPaintColumns; ++i) {
            run[i] = static_cast<uint8_t>((i < 4 ? words.x : words.y) >> (8 * (i % 4)));
        }
        return;
    }
#endif
    QC_UNROLL for (int i = 0; i < kPaintColumns; ++i) {
        run[i] = row[paint.column_of(x + i < paint.width ? x + i : paint.width - 1)];
    }
}

/// The first `count` of kCount bytes, in one piece where all of them are wanted and the address lets them.
template <int kCount>
QC_HD void store_bytes(uint8_t* to, const uint8_t (&bytes)[kCount], int count) {
#if defined(__CUDA_ARCH__)
    if (count >= kCount && reinterpret_cast<uintptr_t>(to) % kCount == 0) {
        uint32_t words[kCount / 4];
        QC_UNROLL for (int i = 0; i < kCount / 4; ++i) {
            words[i] = bytes[4 * i] | bytes[4 * i + 1] << 8 | bytes[4 * i + 2] << 16 |
                       static_cast<uint32_t>(bytes[4 * i + 3]) << 24;
        }
        if constexpr (kCount == 8)
            *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
        else
            *reinterpret_cast<uint32_t*>(to) = words[0];
        return;
    }
#endif
    for (int i = 0; i < kCount; ++i)
        if (i < count) to[i] = bytes[i];
}

/// @param cb, cr sums of four samples; @param count of them that lie in the picture
QC_HD void paint_chroma(const MapPaint& paint, const MapJob& job, const int (&cb)[kPaintColumns / 2],
                        const int (&cr)[kPaintColumns / 2], int x, int y, int count) {
    const auto row = static_cast<size_t>(y / 2), column = static_cast<size_t>(x / 2);
    uint8_t pairs[kPaintColumns], blue[kPaintColumns / 2], red[kPaintColumns / 2];
    QC_UNROLL for (int i = 0; i < kPaintColumns / 2; ++i) {
        pairs[2 * i] = blue[i] = static_cast<uint8_t>((cb[i] + 2) / 4);
        pairs[2 * i + 1] = red[i] = static_cast<uint8_t>((cr[i] + 2) / 4);
    }
    if (paint.layout == QC_MAP_LAYOUT_NV12) {
        store_bytes(job.plane[1] + row * job.pitch_bytes[1] + 2 * column, pairs, 2 * count);
    } else {
        store_bytes(job.plane[1] + row * job.pitch_bytes[1] + column, blue, count);
        store_bytes(job.plane[2] + row * job.pitch_bytes[2] + column, red, count);
    }
}

/// Paints kPaintColumns columns of two rows from (x, y) on, and their chroma. x is a multiple of that, y even; beyond
/// the picture's edges nothing is written, and the chroma is that of the samples inside.
/// @param is_blank there are no levels, or all are 0
QC_HD void paint_run(const MapPaint& paint, const MapJob& job, const Plane<const uint8_t>& levels, int x, int y,
                     bool is_blank) {
    const int columns = paint.width - x < kPaintColumns ? paint.width - x : kPaintColumns;
    int cb[kPaintColumns / 2] = {}, cr[kPaintColumns / 2] = {};
    QC_UNROLL for (int row = 0; row < 2; ++row) {
        const int v = y + row < paint.height ? y + row : y;
        uint8_t run[kPaintColumns] = {};
        if (!is_blank) read_levels(paint, levels, x, v, run);
        if (!paint.shows_levels()) {
            QC_UNROLL for (int i = 0; i < kPaintColumns; ++i) {
                const MapColour colour = map_colour(paint, run[i]);
                run[i] = static_cast<uint8_t>(colour.y);
                cb[i / 2] += colour.cb;
                cr[i / 2] += colour.cr;
            }
        }
        if (row == 0 || v != y)
            store_bytes(job.plane[0] + static_cast<size_t>(v) * job.pitch_bytes[0] + static_cast<size_t>(x), run,
                        columns);
    }
    if (paint.layout != QC_MAP_LAYOUT_GRAY) paint_chroma(paint, job, cb, cr, x, y, (columns + 1) / 2);
}

} // namespace qc
