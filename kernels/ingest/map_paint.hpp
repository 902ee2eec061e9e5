// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of maps: from a plane of values (contract/map.hpp) to samples of 8 bits, gray or in colours. What both
// backends do to four samples is written once, so that they agree in every bit.
#pragma once

#include "contract/map.hpp"
#include "device/unroll.hpp"
#include "quality_cuda.h"

namespace qc {

/// How the pictures of a session's maps are painted.
struct MapPaint {
    MapShape shape;
    uint32_t reciprocal; ///< of the shape's step, see reciprocal_of()
    int width, height;   ///< of the picture
    float scale;         ///< brings the value that is white to 255
    qc_map_layout layout;
    qc_map_colours colours;

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

/// One picture that is painted.
struct MapJob {
    uint8_t* plane[3]; ///< [0] null: nobody wants this one
    uint32_t pitch_bytes[3];
    int32_t is_drawn; ///< 0: there are no values, the picture is black
};

/// Luma and chroma of limited range, BT.709.
struct MapColour {
    int y, cb, cr;
};

/// 0: nothing is wrong; 255: white. NaN counts for nothing.
QC_HD int map_level(float value, float scale) {
    const float level = value * scale;
    if (!(level > 0.0f)) return 0;
    const float rounded = level + 0.5f;
    return rounded < 255.0f ? static_cast<int>(rounded) : 255;
}

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

/// Paints the two by two samples from (x, y) on, and their chroma. x and y are even; beyond the picture's edges nothing
/// is written, and the chroma is that of the samples inside.
QC_HD void paint_quad(const MapPaint& paint, const MapJob& job, const Plane<const float>& values, int x, int y) {
    int cb = 0, cr = 0;
    QC_UNROLL for (int i = 0; i < 4; ++i) {
        const int u = x + i % 2 < paint.width ? x + i % 2 : x, v = y + i / 2 < paint.height ? y + i / 2 : y;
        const float value = job.is_drawn != 0 ? values.at(paint.column_of(u), paint.row_of(v)) : 0.0f;
        const MapColour colour = map_colour(paint, map_level(value, paint.scale));
        job.plane[0][static_cast<size_t>(v) * job.pitch_bytes[0] + static_cast<size_t>(u)] =
            static_cast<uint8_t>(colour.y);
        cb += colour.cb;
        cr += colour.cr;
    }
    if (paint.layout == QC_MAP_LAYOUT_GRAY) return;
    const auto mean_cb = static_cast<uint8_t>((cb + 2) / 4), mean_cr = static_cast<uint8_t>((cr + 2) / 4);
    const auto row = static_cast<size_t>(y / 2), column = static_cast<size_t>(x / 2);
    if (paint.layout == QC_MAP_LAYOUT_NV12) {
        uint8_t* const both = job.plane[1] + row * job.pitch_bytes[1] + 2 * column;
        both[0] = mean_cb;
        both[1] = mean_cr;
    } else {
        job.plane[1][row * job.pitch_bytes[1] + column] = mean_cb;
        job.plane[2][row * job.pitch_bytes[2] + column] = mean_cr;
    }
}

} // namespace qc
