// SPDX-License-Identifier: BSD-2-Clause-Patent
// First kernel of SSIMULACRA 2: from the samples of a picture to the XYB planes of all levels, phase by phase: what one
// thread does between two barriers. Compiles for the host too, where a test runs the phases.
//
// A tile of 32x32 pixels determines its part of all six levels, without a margin (32 = 2^5). One block per tile:
//
//     chroma phases  halved chroma with a margin of 2 goes to shared memory, and is interpolated horizontally there
//                    (nothing to do for 4:4:4 and RGB)
//     block phase    each thread converts 4x2 pixels to linear RGB, stores their XYB, and makes two pixels of level 1
//     level phases   two warps make level 2, then one warp makes levels 3 to 5, linear RGB passing through shared
//     memory
//
// What is read of pictures is asked for before anything is done with it.
//
// At odd sizes the last column or row counts twice at its own level, so every level clamps to its own size.
#pragma once

#include <type_traits>

#include "device/plane_reader.hpp"
#include "metrics/ssimulacra2/ssimulacra2_device_math.hpp"
#include "metrics/ssimulacra2/ssimulacra2_tuning.hpp"

namespace qc::ssimulacra2 {

constexpr int kTileSize = 32;
constexpr int kCells = kTileSize / 2; ///< of 2x2 pixels, per row and column of a tile
constexpr int kBlocksAcross = kCells / 2;
constexpr int kPyramidThreads = kBlocksAcross * kCells; ///< a thread takes a block of two cells, 4x2 pixels
constexpr int kWarpLanes = 32;
constexpr int kPyramidWarps = kPyramidThreads / kWarpLanes;

struct PyramidArguments {
    const DevicePair* pairs;
    float* planes;
    PlaneLayout layout;
    int32_t chroma_width, chroma_height;
    int32_t inputs;      ///< 2: blockIdx.z counts references and distorted pictures in turn; 1: pictures of first_input
    int32_t first_input; ///< 0 reference, 1 distorted
    DeviceConversion conversion;
};

/// Which picture a block works on.
struct PictureTask {
    int pair, input;
};
QC_HD PictureTask picture_task(const PyramidArguments& arguments, int z) {
    if (arguments.inputs == 2) return {z / 2, z % 2};
    return {z, arguments.first_input};
}

template <Chroma kChroma>
struct ChromaTile {
    static constexpr bool kShared = kChroma == Chroma::kHalved || kChroma == Chroma::kHalvedAcross;
    static constexpr bool kMarginDown = kChroma == Chroma::kHalved;
    static constexpr int kColumns = kShared ? kCells + 4 : 1;
    /// Even cells, a gap that keeps the shared memory's banks apart, odd cells.
    static constexpr int kOddCells = kBlocksAcross + 4;
    static constexpr int kCellColumns = kShared ? kOddCells + kBlocksAcross : 1;
    static constexpr int kRows = kMarginDown ? kCells + 4 : kShared ? kTileSize : 1;
    static constexpr int kRounds = kRows / kPyramidWarps; ///< rows of a warp
    static_assert(!kShared || kRows % kPyramidWarps == 0);
};

template <Chroma kChroma>
struct PyramidShared {
    Float2 chroma[ChromaTile<kChroma>::kRows][ChromaTile<kChroma>::kColumns];      ///< Cb and Cr, origins subtracted
    Float4 columns[ChromaTile<kChroma>::kRows][ChromaTile<kChroma>::kCellColumns]; ///< Cb, Cr of both luma columns
    alignas(8) float level1[3][kCells][kCells + 2];                                ///< linear R, G, B
    float level2[3][kCells / 2][kCells / 2 + 2];
    float level3[3][kCells / 4][kCells / 4 + 2];
    float level4[3][kCells / 8][kCells / 8 + 2];
};

// ---- samples --------------------------------------------------------------------------------------------------------

/// Codes of 4x2 pixels as they lie in memory, packed.
template <typename T>
struct CodeBlock {
    Words<4 * sizeof(T)> row[2];
    int shift;

    QC_HD uint32_t code(int r, int i) const {
        if constexpr (sizeof(T) == 1) return row[r].word[0] >> 8 * i & 0xffu;
        return (row[r].word[i / 2] >> 16 * (i % 2) & 0xffffu) >> shift;
    }
};

/// The first lies inside the picture, its column is a multiple of 4 and its row even. What lies beyond the picture
/// repeats its last column and row.
template <typename T>
QC_HD void read_block(const DevicePlane& plane, int x, int y, int width, int height, CodeBlock<T>& block) {
    constexpr int kBytes = 4 * sizeof(T), kCodesOfWord = 4 / sizeof(T);
    block.shift = plane.shift;
    const uint32_t upper = row_offset(plane, y), lower = y + 1 < height ? upper + plane.pitch_bytes : upper;
    if (plane.step == 1 && x + 3 < width && rows_aligned(plane, kBytes)) {
        const unsigned char* const at = static_cast<const unsigned char*>(plane.data) + x * sizeof(T);
        block.row[0] = load_words<kBytes>(at + upper);
        block.row[1] = load_words<kBytes>(at + lower);
        return;
    }
    const uint32_t row[2] = {upper, lower};
    QC_UNROLL for (int r = 0; r < 2; ++r) {
        block.row[r] = {};
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            const int column = x + i < width ? x + i : width - 1;
            const uint32_t at = static_cast<uint32_t>(column * plane.step) * sizeof(T);
            block.row[r].word[i / kCodesOfWord] |= load_code<T>(plane.data, row[r] + at)
                                                   << 8 * sizeof(T) * (i % kCodesOfWord);
        }
    }
}

/// A thread's block of pixels: where it is, whether it begins inside the picture, and its codes.
template <typename T, Chroma kChroma>
struct PixelBlock {
    static constexpr int kPlanesOfBlock = kChroma == Chroma::kFull ? 3 : 1;
    int x, y;
    bool inside;
    CodeBlock<T> plane[kPlanesOfBlock];

    QC_HD PixelBlock(const DevicePicture& picture, const PlaneLayout& layout, int thread, int tile_x, int tile_y)
        : x(tile_x * kTileSize + 4 * (thread % kBlocksAcross)), y(tile_y * kTileSize + 2 * (thread / kBlocksAcross)) {
        const int width = layout.width[0], height = layout.height[0];
        inside = x < width && y < height;
        if (!inside) return;
        QC_UNROLL for (int p = 0; p < kPlanesOfBlock; ++p)
            read_block<T>(picture.plane[p], x, y, width, height, plane[p]);
    }
};

/// First chroma phase. Warp w loads rows w, w + kPyramidWarps, ...
template <typename T, Chroma kChroma, bool kGeneral>
QC_HD void load_chroma(PyramidShared<kChroma>& shared, int thread, const PyramidArguments& arguments,
                       const DevicePicture& picture, int tile_x, int tile_y) {
    using Tile = ChromaTile<kChroma>;
    const int column = thread % kWarpLanes;
    if (column >= Tile::kColumns) return;
    const DevicePlane cb = picture.plane[1], cr = picture.plane[2];
    const int x = clamp_index(tile_x * kCells + column - 2, arguments.chroma_width);
    const uint32_t cb_x = static_cast<uint32_t>(x * cb.step) * sizeof(T);
    const uint32_t cr_x = static_cast<uint32_t>(x * cr.step) * sizeof(T);
    const int first_row = (Tile::kMarginDown ? tile_y * kCells - 2 : tile_y * kTileSize) + thread / kWarpLanes;
    uint32_t cb_code[Tile::kRounds], cr_code[Tile::kRounds]; // all on their way before the first is used
    QC_UNROLL for (int round = 0; round < Tile::kRounds; ++round) {
        const int y = clamp_index(first_row + round * kPyramidWarps, arguments.chroma_height);
        cb_code[round] = load_code<T>(cb.data, row_offset(cb, y) + cb_x);
        cr_code[round] = load_code<T>(cr.data, row_offset(cr, y) + cr_x);
    }
    QC_UNROLL for (int round = 0; round < Tile::kRounds; ++round) {
        const int row = thread / kWarpLanes + round * kPyramidWarps;
        shared.chroma[row][column] = {
            plane_value<kGeneral>(arguments.conversion, 1,
                                  sizeof(T) == 1 ? cb_code[round] : cb_code[round] >> cb.shift),
            plane_value<kGeneral>(arguments.conversion, 2,
                                  sizeof(T) == 1 ? cr_code[round] : cr_code[round] >> cr.shift)};
    }
}

/// Second chroma phase: the rows that the same warp has loaded, two at a time, a lane per cell. A cell's Float4 is
/// Cb and Cr of its left luma column, Cb and Cr of its right one.
template <Chroma kChroma>
QC_HD void interpolate_across(PyramidShared<kChroma>& shared, int thread, const AxisTaps& taps) {
    using Tile = ChromaTile<kChroma>;
    constexpr int kRowsAtOnce = kWarpLanes / kCells;
    const int lane = thread % kWarpLanes, cell = lane % kCells;
    QC_UNROLL for (int round = 0; round < Tile::kRounds; round += kRowsAtOnce) {
        const int row = thread / kWarpLanes + (round + lane / kCells) * kPyramidWarps;
        if (round + kRowsAtOnce > Tile::kRounds && row >= Tile::kRows) return;
        const Float2* const sample = &shared.chroma[row][cell];
        const Float2 b = sample[1], c = sample[2], d = sample[3], e = sample[4];
        Float4 columns{{c.x, c.y, four_taps(taps.odd, b.x, c.x, d.x, e.x), four_taps(taps.odd, b.y, c.y, d.y, e.y)}};
        if (!taps.even_is_sample) {
            const Float2 a = sample[0];
            columns.value[0] = four_taps(taps.even, a.x, b.x, c.x, d.x);
            columns.value[1] = four_taps(taps.even, a.y, b.y, c.y, d.y);
        }
        shared.columns[row][cell / 2 + cell % 2 * Tile::kOddCells] = columns;
    }
}

/// Chroma of the four pixels of a cell: upper left, upper right, lower left, lower right. `column` is its place in
/// shared memory, `row` its row in the tile.
template <Chroma kChroma>
QC_HD void interpolate_down(const PyramidShared<kChroma>& shared, const AxisTaps& taps, int column, int row,
                            float (&cb)[4], float (&cr)[4]) {
    if constexpr (kChroma == Chroma::kHalvedAcross) {
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const Float4 line = load_shared4(shared.columns[2 * row + i][column].value);
            cb[2 * i] = line.value[0];
            cr[2 * i] = line.value[1];
            cb[2 * i + 1] = line.value[2];
            cr[2 * i + 1] = line.value[3];
        }
    } else {
        Float4 line[5];
        QC_UNROLL for (int r = 0; r < 5; ++r) line[r] = load_shared4(shared.columns[row + r][column].value);
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const float(&tap)[4] = i == 0 ? taps.even : taps.odd;
            const auto filtered = [&](int value) {
                return four_taps(tap, line[i].value[value], line[i + 1].value[value], line[i + 2].value[value],
                                 line[i + 3].value[value]);
            };
            cb[2 * i] = filtered(0);
            cr[2 * i] = filtered(1);
            cb[2 * i + 1] = filtered(2);
            cr[2 * i + 1] = filtered(3);
        }
    }
}

// ---- colours --------------------------------------------------------------------------------------------------------

/// Cube root of the response of cone kIndex. Cones cannot respond negatively to colours inside the gamut.
template <bool kGeneral, int kIndex>
QC_HD float cone_root(const Rgb& rgb, float blue) {
    constexpr auto kRed = static_cast<float>(kMixing[kIndex][0]), kGreen = static_cast<float>(kMixing[kIndex][1]);
    const float response = fmaf(kRed, rgb.red, fmaf(kGreen, rgb.green, blue));
    return fast_cube_root(kGeneral ? fmaxf(response, 0.0f) : response);
}

/// X and Y of a pixel, and what B needs of them.
struct Opponents {
    float x, y, root_sum;
};

template <bool kGeneral>
QC_HD Opponents opponents_of(const Rgb& rgb) {
    constexpr auto kLuminousShift = static_cast<float>(0.01 - kAbsorbanceRoot);
    static_assert(kMixing[0][2] == kMixing[1][2]);
    const float shared_part = fmaf(static_cast<float>(kMixing[0][2]), rgb.blue, static_cast<float>(kAbsorbance));
    const float long_root = cone_root<kGeneral, 0>(rgb, shared_part);
    const float middle_root = cone_root<kGeneral, 1>(rgb, shared_part);
    const float sum = long_root + middle_root;
    return {fmaf(7.0f, long_root - middle_root, 0.42f), fmaf(0.5f, sum, kLuminousShift), sum};
}

template <bool kGeneral>
QC_HD float blue_of(const Rgb& rgb, const Opponents& opponents) {
    const float own_part = fmaf(static_cast<float>(kMixing[2][2]), rgb.blue, static_cast<float>(kAbsorbance));
    return fmaf(-0.5f, opponents.root_sum, cone_root<kGeneral, 2>(rgb, own_part) + 0.55f);
}

QC_HD constexpr uint32_t channel_bit(int channel) {
    return 1u << channel;
}

QC_HD void store_neighbours(float* to, const float (&value)[4]) {
    store_plane4(to, {{value[0], value[1], value[2], value[3]}});
}
QC_HD void store_neighbours(float* to, const float (&value)[2]) {
    store_plane2(to, value[0], value[1]);
}
QC_HD void store_neighbours(float* to, const float (&value)[1]) {
    *to = value[0];
}

/// Stores XYB of one, two or four neighbours, beginning at a multiple of their number: panels have room for all. `at`
/// points to the first one's X; `stored` tells which channels their level has.
template <bool kGeneral, int kCount>
QC_HD void store_pixels(uint32_t stored, float* at, const Rgb (&rgb)[kCount]) {
    Opponents opponents[kCount];
    float value[kCount];
    QC_UNROLL for (int i = 0; i < kCount; ++i) opponents[i] = opponents_of<kGeneral>(rgb[i]);
    if (stored & channel_bit(kX)) {
        QC_UNROLL for (int i = 0; i < kCount; ++i) value[i] = opponents[i].x;
        store_neighbours(at + kX * kPanelColumns, value);
    }
    if (stored & channel_bit(kY)) {
        QC_UNROLL for (int i = 0; i < kCount; ++i) value[i] = opponents[i].y;
        store_neighbours(at + kY * kPanelColumns, value);
    }
    if (stored & channel_bit(kB)) {
        QC_UNROLL for (int i = 0; i < kCount; ++i) value[i] = blue_of<kGeneral>(rgb[i], opponents[i]);
        store_neighbours(at + kB * kPanelColumns, value);
    }
}

// ---- phases ---------------------------------------------------------------------------------------------------------

template <typename T, Chroma kChroma, bool kGeneral>
QC_HD void block_phase(PyramidShared<kChroma>& shared, int thread, const PyramidArguments& arguments,
                       const PixelBlock<T, kChroma>& pixels, float* planes) {
    if (!pixels.inside) return;
    const PlaneLayout& layout = arguments.layout;
    const int block = thread % kBlocksAcross, cell_y = thread / kBlocksAcross;
    const int x = pixels.x, y = pixels.y;
    const int width = layout.width[0], height = layout.height[0];

    const DeviceConversion& conversion = arguments.conversion;
    Rgb rgb[2][4];
    QC_UNROLL for (int cell = 0; cell < 2; ++cell) {
        float cb[4] = {}, cr[4] = {};
        if constexpr (kChroma == Chroma::kHalved || kChroma == Chroma::kHalvedAcross)
            interpolate_down<kChroma>(shared, conversion.down, block + cell * ChromaTile<kChroma>::kOddCells, cell_y,
                                      cb, cr);
        QC_UNROLL for (int p = 0; p < 4; ++p) {
            const int row = p / 2, column = 2 * cell + p % 2;
            if constexpr (kChroma == Chroma::kFull) {
                cb[p] = plane_value<kGeneral>(conversion, 1, pixels.plane[1].code(row, column));
                cr[p] = plane_value<kGeneral>(conversion, 2, pixels.plane[2].code(row, column));
            }
            const float luma = plane_value<kGeneral>(conversion, 0, pixels.plane[0].code(row, column));
            rgb[row][column] = linear_rgb<kGeneral>(conversion, luma, cb[p], cr[p]);
        }
    }
    const uint32_t stored = layout.stored[0];
    if (stored != 0) {
        float* const at = planes + (layout.offset[0] + static_cast<uint32_t>(sample_index(x, y, height)));
        store_pixels<kGeneral>(stored, at, rgb[0]);
        if (y + 1 < height) store_pixels<kGeneral>(stored, at + kRowFloats, rgb[1]);
    }
    if (layout.levels == 1) return;
    if (x + 3 >= width) {
        QC_UNROLL for (int row = 0; row < 2; ++row) {
            if (x + 1 >= width) rgb[row][1] = rgb[row][0];
            rgb[row][3] = rgb[row][2];
        }
    }
    if (y + 1 >= height) {
        QC_UNROLL for (int column = 0; column < 4; ++column) rgb[1][column] = rgb[0][column];
    }
    Rgb mean[2];
    QC_UNROLL for (int cell = 0; cell < 2; ++cell) {
        const Rgb &a = rgb[0][2 * cell], &b = rgb[0][2 * cell + 1], &c = rgb[1][2 * cell], &d = rgb[1][2 * cell + 1];
        mean[cell] = {mean_of_four(a.red, b.red, c.red, d.red), mean_of_four(a.green, b.green, c.green, d.green),
                      mean_of_four(a.blue, b.blue, c.blue, d.blue)};
    }
    store_plane2(&shared.level1[0][cell_y][2 * block], mean[0].red, mean[1].red);
    store_plane2(&shared.level1[1][cell_y][2 * block], mean[0].green, mean[1].green);
    store_plane2(&shared.level1[2][cell_y][2 * block], mean[0].blue, mean[1].blue);
    const uint32_t stored_next = layout.stored[1];
    if (stored_next == 0) return;
    const auto index = static_cast<uint32_t>(sample_index(x / 2, y / 2, layout.height[1]));
    store_pixels<kGeneral>(stored_next, planes + (layout.offset[1] + index), mean);
}

/// Where a tile's pixel of one of the levels 2 to 5 lies, and whether it lies in the picture.
struct TilePixel {
    int level, x, y;

    QC_HD bool inside(const PlaneLayout& layout, int tile_x, int tile_y) const {
        const int size = kTileSize >> level;
        return x < size && y < size && tile_x * size + x < layout.width[level] &&
               tile_y * size + y < layout.height[level];
    }
};

/// Makes a pixel of the tile's level kLevel from those of the level before.
template <int kLevel, int kFrom>
QC_HD Rgb halved(const float (&from)[3][kFrom][kFrom + 2], const TilePixel& pixel, const PlaneLayout& layout,
                 int tile_x, int tile_y) {
    static_assert(kFrom == kTileSize >> (kLevel - 1));
    const int last_x = layout.width[kLevel - 1] - 1 - tile_x * kFrom;
    const int last_y = layout.height[kLevel - 1] - 1 - tile_y * kFrom;
    const int left = 2 * pixel.x, above = 2 * pixel.y;
    const int right = left + 1 < last_x ? left + 1 : last_x, below = above + 1 < last_y ? above + 1 : last_y;
    float mean[3];
    QC_UNROLL for (int c = 0; c < 3; ++c) mean[c] =
        mean_of_four(from[c][above][left], from[c][above][right], from[c][below][left], from[c][below][right]);
    return {mean[0], mean[1], mean[2]};
}

template <int kSize>
QC_HD void keep_pixel(float (&to)[3][kSize][kSize + 2], const TilePixel& pixel, const Rgb& rgb) {
    to[0][pixel.y][pixel.x] = rgb.red;
    to[1][pixel.y][pixel.x] = rgb.green;
    to[2][pixel.y][pixel.x] = rgb.blue;
}

template <bool kGeneral>
QC_HD void store_pixel(const PlaneLayout& layout, float* planes, const TilePixel& pixel, const Rgb& rgb, int tile_x,
                       int tile_y) {
    const int level = pixel.level, size = kTileSize >> level;
    const uint32_t stored = layout.stored[level];
    if (stored == 0) return;
    const int index = sample_index(tile_x * size + pixel.x, tile_y * size + pixel.y, layout.height[level]);
    const Rgb one[1] = {rgb};
    store_pixels<kGeneral>(stored, planes + (layout.offset[level] + static_cast<uint32_t>(index)), one);
}

/// Levels 3 to 5, by one warp. Their pixels are those of different lanes, so that all are stored at once.
template <bool kGeneral, Chroma kChroma, class Block>
QC_HD void deeper_levels(Block& block, PyramidShared<kChroma>& shared, const PlaneLayout& layout, float* planes,
                         int tile_x, int tile_y) {
    constexpr int kSize3 = kCells / 4, kSize4 = kCells / 8, kLanes3 = kSize3 * kSize3, kLanes4 = kSize4 * kSize4;
    static_assert(kLanes3 + kLanes4 + 1 <= kWarpLanes);
    const int lane = block.lane(), lane4 = lane - kLanes3, lane5 = lane4 - kLanes4;
    const TilePixel pixel = lane4 < 0   ? TilePixel{3, lane % kSize3, lane / kSize3}
                            : lane5 < 0 ? TilePixel{4, lane4 % kSize4, lane4 / kSize4}
                                        : TilePixel{5, lane5, 0};
    const bool inside = pixel.level < layout.levels && pixel.inside(layout, tile_x, tile_y);
    Rgb rgb{};
    if (inside && pixel.level == 3) {
        rgb = halved<3>(shared.level2, pixel, layout, tile_x, tile_y);
        keep_pixel(shared.level3, pixel, rgb);
    }
    block.sync_warp();
    if (inside && pixel.level == 4) {
        rgb = halved<4>(shared.level3, pixel, layout, tile_x, tile_y);
        keep_pixel(shared.level4, pixel, rgb);
    }
    block.sync_warp();
    if (inside && pixel.level == 5) rgb = halved<5>(shared.level4, pixel, layout, tile_x, tile_y);
    if (inside) store_pixel<kGeneral>(layout, planes, pixel, rgb, tile_x, tile_y);
}

/// Level 2 by two warps, which then store it while the first warp makes the deeper levels.
template <bool kGeneral, Chroma kChroma, class Block>
QC_HD void level_phases(Block& block, PyramidShared<kChroma>& shared, const PlaneLayout& layout, float* planes,
                        int tile_x, int tile_y) {
    constexpr int kSize = kCells / 2;
    static_assert(kPyramidThreads >= kWarpLanes + kSize * kSize);
    const int cell = block.thread() - kWarpLanes;
    const TilePixel pixel{2, cell % kSize, cell / kSize};
    const bool makes_pixel = cell >= 0 && pixel.inside(layout, tile_x, tile_y);
    Rgb rgb{};
    if (makes_pixel) {
        rgb = halved<2>(shared.level1, pixel, layout, tile_x, tile_y);
        keep_pixel(shared.level2, pixel, rgb);
    }
    block.sync();
    if (makes_pixel) store_pixel<kGeneral>(layout, planes, pixel, rgb, tile_x, tile_y);
    if (block.warp() == 0 && layout.levels > 3) deeper_levels<kGeneral>(block, shared, layout, planes, tile_x, tile_y);
}

} // namespace qc::ssimulacra2
