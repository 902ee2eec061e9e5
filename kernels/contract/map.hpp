// SPDX-License-Identifier: BSD-2-Clause-Patent
// Maps: where in a picture a metric finds something wrong. A metric fills a plane of values, 0 where nothing is wrong
// and more where more is, at the scale that it works at; the engine paints pictures of them (ingest/map_paint.hpp).
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

/// A map's values by tiles. Kernels of a metric that marks blank tiles (MapSpec::marks_blanks) say of each tile of a
/// picture that they draw whether all its values are 0; those of a blank one need not be written.
constexpr int kMapTileColumns = 256, kMapTileRows = 16;

/// Where the kernels of a metric put the maps of a batch. Only one rendition has maps. Rows start at multiples of 128
/// bytes; what lies between the last value of one and the first of the next may be written, and nobody reads it.
struct DeviceMap {
    static constexpr int kRowStep = 32; ///< `pitch` is a multiple of it

    float* values = nullptr;  ///< device address; null: nobody wants a map
    uint8_t* blank = nullptr; ///< device address, by frame and tile, row after row: not 0 if it is; null: none is
    uint64_t plane = 0;       ///< values from frame to frame
    int pitch = 0;            ///< values from row to row
    uint32_t renditions = 1, rendition = 0;

    QC_HD Plane<float> of_frame(uint32_t frame, const MapShape& shape) const {
        return {values + frame * plane, {pitch}, shape.width, shape.height};
    }
    /// The map that belongs to a row of the accumulators (DevicePair::output); data null if it has none.
    QC_HD Plane<float> of_output(uint32_t output, const MapShape& shape) const {
        if (values == nullptr || output % renditions != rendition) return {};
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

/// Eight neighbouring values of a row of a DeviceMap, the first in a column that is a multiple of eight. Of the last
/// ones of a row some may lie behind it.
QC_HD void store_values(float* to, const float (&value)[8]) {
#if defined(__CUDA_ARCH__)
    reinterpret_cast<float4*>(to)[0] = make_float4(value[0], value[1], value[2], value[3]);
    reinterpret_cast<float4*>(to)[1] = make_float4(value[4], value[5], value[6], value[7]);
#else
    for (int i = 0; i < 8; ++i) to[i] = value[i];
#endif
}

} // namespace qc
