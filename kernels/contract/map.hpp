// SPDX-License-Identifier: BSD-2-Clause-Patent
// Maps: where in a picture a metric finds something wrong. A metric fills a plane of values, 0 where nothing is wrong
// and more where more is, at the scale that it works at; the engine paints pictures of them (ingest/map_paint.hpp).
// What is shown has 8 bits, so a kernel keeps no more of a value.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc {

/// How the values of a map lie over the picture: value (i, j) is that of the luma samples from (left + step * i, top +
/// step * j) on, step across and step down. Samples beyond the outermost values show the nearest one.
struct MapShape {
    int width = 0, height = 0; ///< values
    int left = 0, top = 0;
    int step = 1;
};

/// One picture that is painted.
struct MapJob {
    uint8_t* plane[3]; ///< [0] null: nobody wants this one
    uint32_t pitch_bytes[3];
    int32_t is_drawn; ///< 0: there are no values, the picture is black
};

/// What is shown of a value: 0 where nothing is wrong, 255 is white. NaN counts for nothing.
/// @param scale brings the value that is white to 255
QC_HD int map_level(float value, float scale) {
    const float level = value * scale;
#if defined(__CUDA_ARCH__)
    return static_cast<int>(fminf(fmaxf(level, 0.0f) + 0.5f, 255.0f));
#else
    if (!(level > 0.0f)) return 0;
    const float rounded = level + 0.5f;
    return rounded < 255.0f ? static_cast<int>(rounded) : 255;
#endif
}

/// Where a kernel puts the values of one picture, which are kept as the levels that are shown of them.
struct MapPlane {
    static constexpr int kRun = 8; ///< neighbours that put_run() takes

    uint8_t* data = nullptr; ///< null: nobody wants the map of this one
    uint32_t pitch_bytes = 0;
    int width = 0, height = 0;
    float scale = 0.0f;

    QC_HD uint8_t* row(int y) const { return data + static_cast<size_t>(y) * pitch_bytes; }
    QC_HD void put(int x, int y, float value) const { row(y)[x] = static_cast<uint8_t>(map_level(value, scale)); }

    /// So many neighbours of a row, the first in a column that is a multiple of so many; what lies behind the row is
    /// left out.
    QC_HD void put_run(int x, int y, const float (&value)[kRun]) const {
        uint8_t* const to = row(y) + x;
#if defined(__CUDA_ARCH__)
        if (x + kRun <= width && reinterpret_cast<uintptr_t>(to) % kRun == 0) {
            uint32_t words[2] = {};
#pragma unroll
            for (int i = 0; i < kRun; ++i) words[i / 4] |= map_level(value[i], scale) << (8 * (i % 4));
            *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
            return;
        }
#pragma unroll
#endif
        for (int i = 0; i < kRun; ++i) {
            if (x + i < width) to[i] = static_cast<uint8_t>(map_level(value[i], scale));
        }
    }
};

/// A map by tiles. Kernels of a metric that marks blank tiles (MapSpec::marks_blanks) say of each tile of a picture
/// that they draw whether all its values are 0; those of a blank one need not be written.
constexpr int kMapTileColumns = 256, kMapTileRows = 16;

/// Where the kernels of a metric put the maps of a batch: pictures themselves, where their samples are the map's
/// levels, or memory of the engine's, from which it paints them. Only one rendition has maps.
struct DeviceMap {
    static constexpr int kRowStep = 128; ///< `pitch` is a multiple of it

    uint8_t* levels = nullptr;        ///< device address
    const MapJob* pictures = nullptr; ///< device address, by frame; null: not into pictures
    uint8_t* blank = nullptr; ///< device address, by frame and tile, row after row: not 0 if it is; null: none is
    uint64_t plane = 0;       ///< levels from frame to frame
    int pitch = 0;            ///< levels from row to row
    uint32_t renditions = 1, rendition = 0;
    float scale = 0.0f; ///< see map_level()

    QC_HD MapPlane of_frame(uint32_t frame, const MapShape& shape) const {
        if (pictures != nullptr)
            return {pictures[frame].plane[0], pictures[frame].pitch_bytes[0], shape.width, shape.height, scale};
        uint8_t* const first = levels != nullptr ? levels + frame * plane : nullptr;
        return {first, static_cast<uint32_t>(pitch), shape.width, shape.height, scale};
    }
    /// The map that belongs to a row of the accumulators (DevicePair::output); data null if it has none.
    QC_HD MapPlane of_output(uint32_t output, const MapShape& shape) const {
        if (output % renditions != rendition) return {};
        return of_frame(output / renditions, shape);
    }
    /// The pitch for a map of so many columns.
    static constexpr int pitch_of(int width) { return (width + kRowStep - 1) / kRowStep * kRowStep; }

    /// The mark of a tile. Precondition: there are marks.
    QC_HD uint8_t* mark(uint32_t frame, const MapShape& shape, int tile_x, int tile_y) const {
        return blank + (static_cast<size_t>(frame) * tiles_down(shape) + tile_y) * tiles_across(shape) + tile_x;
    }
    QC_HD static int tiles_across(const MapShape& shape) {
        return (shape.width + kMapTileColumns - 1) / kMapTileColumns;
    }
    QC_HD static int tiles_down(const MapShape& shape) { return (shape.height + kMapTileRows - 1) / kMapTileRows; }
};

} // namespace qc
