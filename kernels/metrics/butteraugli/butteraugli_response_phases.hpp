// SPDX-License-Identifier: BSD-2-Clause-Patent
// First kernel of Butteraugli: from the samples of both pictures to the eye's response, phase by phase. A block makes a
// tile of it, one picture after the other:
//
//     source phase   the cones' responses to light in the tile and two places around it go to shared memory; chroma
//                    that is smaller than luma is brought to its size on the way
//     halving        means of 2x2 places are the light of half size, stored for the same kernel's second launch
//     across, down   the blur that the eye adapts to; then each thread makes three places of the response
//
// The blur sees the picture mirrored at its borders, so places outside are filled from where they are mirrored to.
#pragma once

#include "families/linear_light/linear_device.hpp"
#include "metrics/butteraugli/butteraugli_planes.hpp"

namespace qc::butteraugli {

constexpr int kTileColumns = 32, kTileRows = 24, kAdaptationRadius = 2;
constexpr int kTileMargin = kAdaptationRadius;
constexpr int kSourceColumns = kTileColumns + 2 * kTileMargin, kSourceRows = kTileRows + 2 * kTileMargin;
constexpr int kResponseThreads = 256;
constexpr int kThreadRows = kTileColumns * kTileRows / kResponseThreads; ///< places of a column that a thread makes
static_assert(kRadius[kAdaptation] == kAdaptationRadius && kThreadRows == 3);

/// Chroma samples around a tile where there are half as many as of luma: two more than the tile's on both sides of its
/// margin.
constexpr int kChromaMargin = kTileMargin / 2 + 2;
constexpr int kChromaColumns = kTileColumns / 2 + 2 * kChromaMargin;

struct ResponseArguments {
    const DevicePair* pairs;
    float* scratch;
    uint64_t pair_floats;
    PlaneShape shape;
    uint64_t response[kSignals];
    PlaneShape half;           ///< width 0: there is none
    uint64_t half_light[2][3]; ///< cones' responses at half size, by input; read where kFromHalf
    float tap[kAdaptationRadius + 1];
    float mixing[3][3]; ///< times the intensity target
    int32_t planes, halved_x, halved_y, chroma_width, chroma_height;
    DeviceConversion conversion[2];
};

struct ChromaTile {
    float samples[2][kSourceRows][kChromaColumns];
    float columns[2][kSourceRows][kSourceColumns]; ///< brought to luma's columns
};

struct alignas(16) ResponseShared {
    float light[3][kSourceRows][kSourceColumns]; ///< by cone
    union {
        ChromaTile chroma;
        float along[3][kSourceRows][kTileColumns]; ///< blurred along rows
    };
};

/// Where a place is mirrored to that lies up to the blur's radius outside; farther ones, which nobody asks for, go to
/// the last place, so that all are in or next to their tile.
QC_HD int mirrored_index(int i, int size) {
    if (i < 0) return -1 - i;
    return i < size ? i : i < size + kAdaptationRadius ? 2 * size - 1 - i : size - 1;
}

// ---- source phase: from codes ---------------------------------------------------------------------------------------

/// The tile's chroma rows: of the plane, from the returned first one on.
QC_HD int first_chroma_row(const ResponseArguments& arguments, int tile_y) {
    return arguments.halved_y ? tile_y * kTileRows / 2 - kChromaMargin : tile_y * kTileRows - kTileMargin;
}
QC_HD int chroma_rows(const ResponseArguments& arguments) {
    return arguments.halved_y ? kTileRows / 2 + 2 * kChromaMargin : kSourceRows;
}

template <typename T, bool kGeneral>
QC_HD void load_chroma_tile(ResponseShared& shared, int thread, const ResponseArguments& arguments,
                            const DeviceConversion& conversion, const DevicePicture& picture, int tile_x, int tile_y) {
    const int rows = chroma_rows(arguments), first = first_chroma_row(arguments, tile_y);
    for (int i = thread; i < rows * kChromaColumns; i += kResponseThreads) {
        const int row = i / kChromaColumns, column = i % kChromaColumns;
        const int x = clamp_index(tile_x * (kTileColumns / 2) - kChromaMargin + column, arguments.chroma_width);
        const int y = arguments.halved_y ? clamp_index(first + row, arguments.chroma_height)
                                         : mirrored_index(first + row, arguments.chroma_height);
        QC_UNROLL for (int c = 0; c < 2; ++c) {
            const DevicePlane& plane = picture.plane[c + 1];
            const uint32_t code =
                load_code<T>(plane.data, row_offset(plane, y) + static_cast<uint32_t>(x * plane.step) * sizeof(T));
            shared.chroma.samples[c][row][column] =
                plane_value<kGeneral>(conversion, c + 1, sizeof(T) == 1 ? code : code >> plane.shift);
        }
    }
}

/// `sample`: with the chroma sample at its middle place, of luma sample 2 j where `odd` is 0 and of 2 j + 1 elsewise.
QC_HD float interpolated(const AxisTaps& taps, int odd, const float* sample, int step) {
    if (odd) return four_taps(taps.odd, sample[-step], sample[0], sample[step], sample[2 * step]);
    return four_taps(taps.even, sample[-2 * step], sample[-step], sample[0], sample[step]);
}

QC_HD void widen_chroma(ResponseShared& shared, int thread, const ResponseArguments& arguments,
                        const DeviceConversion& conversion, int tile_x) {
    const int rows = chroma_rows(arguments), first = tile_x * (kTileColumns / 2) - kChromaMargin;
    for (int i = thread; i < rows * kSourceColumns; i += kResponseThreads) {
        const int row = i / kSourceColumns, column = i % kSourceColumns;
        const int x = mirrored_index(tile_x * kTileColumns - kTileMargin + column, arguments.shape.width);
        QC_UNROLL for (int c = 0; c < 2; ++c) shared.chroma.columns[c][row][column] =
            interpolated(conversion.across, x & 1, &shared.chroma.samples[c][row][x / 2 - first], 1);
    }
}

/// Cb and Cr of a place of the tile and its margin; x and y: of luma, inside the picture.
template <typename T, bool kGeneral>
QC_HD void chroma_at(const ResponseShared& shared, const ResponseArguments& arguments,
                     const DeviceConversion& conversion, const DevicePicture& picture, int x, int y, int column,
                     int row, int first_row, float (&value)[2]) {
    QC_UNROLL for (int c = 0; c < 2; ++c) {
        if (arguments.planes == 1) {
            value[c] = 0.0f;
        } else if (!arguments.halved_x) {
            const DevicePlane& plane = picture.plane[c + 1];
            const uint32_t code =
                load_code<T>(plane.data, row_offset(plane, y) + static_cast<uint32_t>(x * plane.step) * sizeof(T));
            value[c] = plane_value<kGeneral>(conversion, c + 1, sizeof(T) == 1 ? code : code >> plane.shift);
        } else if (!arguments.halved_y) {
            value[c] = shared.chroma.columns[c][row][column];
        } else {
            value[c] = interpolated(conversion.down, y & 1, &shared.chroma.columns[c][y / 2 - first_row][column],
                                    kSourceColumns);
        }
    }
}

template <typename T, bool kGeneral>
struct FromCodes {
    static constexpr bool kHasHalf = true;

    template <class Block>
    QC_HD static void fill(Block& block, ResponseShared& shared, const ResponseArguments& arguments, int input) {
        const DevicePair& pair = arguments.pairs[block.z()];
        const DevicePicture& picture = input == 0 ? pair.reference : pair.distorted;
        const DeviceConversion& conversion = arguments.conversion[input];
        const int thread = block.thread(), tile_x = block.x(), tile_y = block.y();
        if (arguments.halved_x) {
            load_chroma_tile<T, kGeneral>(shared, thread, arguments, conversion, picture, tile_x, tile_y);
            block.sync();
            widen_chroma(shared, thread, arguments, conversion, tile_x);
            block.sync();
        }
        const int first_row = first_chroma_row(arguments, tile_y);
        const DevicePlane luma_plane = picture.plane[0];
        for (int i = thread; i < kSourceRows * kSourceColumns; i += kResponseThreads) {
            const int row = i / kSourceColumns, column = i % kSourceColumns;
            const int x = mirrored_index(tile_x * kTileColumns - kTileMargin + column, arguments.shape.width);
            const int y = mirrored_index(tile_y * kTileRows - kTileMargin + row, arguments.shape.height);
            const uint32_t code = load_code<T>(
                luma_plane.data, row_offset(luma_plane, y) + static_cast<uint32_t>(x * luma_plane.step) * sizeof(T));
            const float luma = plane_value<kGeneral>(conversion, 0, sizeof(T) == 1 ? code : code >> luma_plane.shift);
            float chroma[2];
            chroma_at<T, kGeneral>(shared, arguments, conversion, picture, x, y, column, row, first_row, chroma);
            const Rgb rgb = linear_rgb<kGeneral>(conversion, luma, chroma[0], chroma[1]);
            QC_UNROLL for (int k = 0; k < 3; ++k) {
                const float(&mixing)[3] = arguments.mixing[k];
                shared.light[k][row][column] =
                    fmaf(mixing[2], rgb.blue, fmaf(mixing[1], rgb.green, mixing[0] * rgb.red));
            }
        }
    }
};

/// The second scale: from what the first launch stored.
struct FromHalf {
    static constexpr bool kHasHalf = false;

    template <class Block>
    QC_HD static void fill(Block& block, ResponseShared& shared, const ResponseArguments& arguments, int input) {
        const float* const pair = arguments.scratch + static_cast<uint64_t>(block.z()) * arguments.pair_floats;
        for (int i = block.thread(); i < kSourceRows * kSourceColumns; i += kResponseThreads) {
            const int row = i / kSourceColumns, column = i % kSourceColumns;
            const int x = mirrored_index(block.x() * kTileColumns - kTileMargin + column, arguments.shape.width);
            const int y = mirrored_index(block.y() * kTileRows - kTileMargin + row, arguments.shape.height);
            QC_UNROLL for (int k = 0; k < 3; ++k) shared.light[k][row][column] = load_plane(
                pair + arguments.half_light[input][k] + (static_cast<int64_t>(y) * arguments.shape.pitch + x));
        }
    }
};

// ---- the other phases -----------------------------------------------------------------------------------------------

/// The last row and column of odd sizes count twice.
QC_HD void store_half(const ResponseShared& shared, int thread, const ResponseArguments& arguments, float* pair,
                      int input, int tile_x, int tile_y) {
    constexpr int kColumns = kTileColumns / 2, kRows = kTileRows / 2;
    const int column = thread % kColumns, row = thread / kColumns;
    const int x = tile_x * kColumns + column, y = tile_y * kRows + row;
    if (row >= kRows || x >= arguments.half.width || y >= arguments.half.height) return;
    const int left = 2 * column + kTileMargin, upper = 2 * row + kTileMargin;
    const int right = 2 * x + 1 < arguments.shape.width ? left + 1 : left;
    const int lower = 2 * y + 1 < arguments.shape.height ? upper + 1 : upper;
    QC_UNROLL for (int k = 0; k < 3; ++k) {
        const auto& light = shared.light[k];
        pair[arguments.half_light[input][k] + static_cast<uint64_t>(y) * arguments.half.pitch + x] =
            mean_of_four(light[upper][left], light[upper][right], light[lower][left], light[lower][right]);
    }
}

/// Four neighbours of a row of a cone at a time.
QC_HD void adapt_across(ResponseShared& shared, int thread, const ResponseArguments& arguments) {
    constexpr int kGroups = kTileColumns / 4;
    for (int i = thread; i < 3 * kSourceRows * kGroups; i += kResponseThreads) {
        const int group = i % kGroups, row = i / kGroups % kSourceRows, cone = i / (kGroups * kSourceRows);
        const float* const from = &shared.light[cone][row][4 * group];
        const Float4 a = load_shared4(from), b = load_shared4(from + 4);
        const float sample[8] = {a.value[0], a.value[1], a.value[2], a.value[3],
                                 b.value[0], b.value[1], b.value[2], b.value[3]};
        Float4 sum;
        QC_UNROLL for (int p = 0; p < 4; ++p) sum.value[p] =
            fmaf(arguments.tap[2], sample[p] + sample[p + 4],
                 fmaf(arguments.tap[1], sample[p + 1] + sample[p + 3], arguments.tap[0] * sample[p + 2]));
        store_plane4(&shared.along[cone][row][4 * group], sum);
    }
}

/// X, Y and blue of a thread's places.
QC_HD void respond(const ResponseShared& shared, int thread, const ResponseArguments& arguments,
                   float (&response)[kThreadRows][3]) {
    const int column = thread % kTileColumns, first = thread / kTileColumns * kThreadRows;
    constexpr auto kDarknessOfLong = static_cast<float>(kDarkness[0]),
                   kDarknessOfShort = static_cast<float>(kDarkness[2]);
    static_assert(kDarkness[0] == kDarkness[1]);
    float cone[3][kThreadRows];
    QC_UNROLL for (int k = 0; k < 3; ++k) {
        float along[kThreadRows + 2 * kTileMargin];
        QC_UNROLL for (int r = 0; r < kThreadRows + 2 * kTileMargin; ++r) along[r] = shared.along[k][first + r][column];
        QC_UNROLL for (int r = 0; r < kThreadRows; ++r) {
            const float around =
                fmaf(arguments.tap[2], along[r] + along[r + 4],
                     fmaf(arguments.tap[1], along[r + 1] + along[r + 3], arguments.tap[0] * along[r + 2]));
            const float light = shared.light[k][first + r + kTileMargin][column + kTileMargin];
            cone[k][r] = adapted_response(light, around, k < 2 ? kDarknessOfLong : kDarknessOfShort);
        }
    }
    QC_UNROLL for (int r = 0; r < kThreadRows; ++r) {
        response[r][0] = cone[0][r] - cone[1][r];
        response[r][1] = cone[0][r] + cone[1][r];
        response[r][2] = cone[2][r];
    }
}

/// Up to a multiple of four columns, for rows are read four columns at a time; what lies outside is never used.
QC_HD void store_response(const ResponseArguments& arguments, float* pair, int thread, int tile_x, int tile_y,
                          const float (&reference)[kThreadRows][3], const float (&distorted)[kThreadRows][3]) {
    const int x = tile_x * kTileColumns + thread % kTileColumns;
    if (x >= (arguments.shape.width + 3) / 4 * 4) return;
    QC_UNROLL for (int r = 0; r < kThreadRows; ++r) {
        const int y = tile_y * kTileRows + thread / kTileColumns * kThreadRows + r;
        if (y >= arguments.shape.height) return;
        const uint64_t at = static_cast<uint64_t>(y) * arguments.shape.pitch + x;
        pair[arguments.response[kX] + at] = reference[r][0];
        pair[arguments.response[kDeltaX] + at] = reference[r][0] - distorted[r][0];
        pair[arguments.response[kY] + at] = reference[r][1];
        pair[arguments.response[kDeltaY] + at] = reference[r][1] - distorted[r][1];
        pair[arguments.response[kDeltaBlue] + at] = reference[r][2] - distorted[r][2];
    }
}

} // namespace qc::butteraugli
