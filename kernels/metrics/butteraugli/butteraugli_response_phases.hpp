// SPDX-License-Identifier: BSD-2-Clause-Patent
// First kernel of Butteraugli: from the samples of both pictures to the eye's response. A block marches down a strip of
// 244 columns, two rows at a time. Half of its threads see to the reference, the others to the distorted picture, one
// step behind, each to two neighbouring columns; a step is, for the rows of
//
//     the next pair    codes are fetched, and chroma that has fewer rows than luma is brought to these two
//     this pair        chroma is brought to luma's columns; what cones see of the light goes to shared memory. The mean
//                      of a thread's four places is the light of half size, stored for the same kernel's second launch
//     the last pair    is blurred along rows, and added to the sums of a blur down columns: the light that the eye
//                      adapts to. That completes it for
//     the pair before  whose response is stored: the reference's, and how much more that is than the distorted
//     picture's
//
// One barrier a step is enough, since what is exchanged has two places that take turns. The blur sees the picture
// mirrored at its borders, so places outside are filled from where they are mirrored to; those of a pair, or of a
// thread's columns, share their chroma there, too.
#pragma once

#include "families/linear_light/linear_device.hpp"
#include "metrics/butteraugli/butteraugli_planes.hpp"

namespace qc::butteraugli {

constexpr int kAdaptationRadius = 2;
static_assert(kRadius[kAdaptation] == kAdaptationRadius);
constexpr int kResponseQuads = 128; ///< places of 2x2 side by side, a thread each
constexpr int kResponseThreads = 2 * kResponseQuads;
/// At both ends: chroma reaches two places of 2x2 beyond a quad, the blur one more.
constexpr int kQuadMargin = 3;
constexpr int kResponseColumns = 2 * (kResponseQuads - 2 * kQuadMargin), kResponsePairs = tuning::kResponseRows / 2;
static_assert(kResponseColumns % 4 == 0 && tuning::kResponseRows % 2 == 0);

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

/// Of the 2x2 places of every thread: both rows of the left column, then of the right, or as said.
using QuadRow = float[kResponseQuads][4];

struct alignas(16) ResponseShared {
    QuadRow chroma[2][2];     ///< by input, by turn: Cb and Cr in luma's rows
    QuadRow light[2][2][3];   ///< by input, by turn, by cone: the upper row, then the lower one
    QuadRow along[2][2][3];   ///< that, blurred along rows, by the thread that goes on with it
    QuadRow response[2][3];   ///< of the reference, by turn, of X, Y and blue: like light
    DevicePicture picture[2]; ///< by input: memory that a thread reads sooner than the batch's list
};

/// Where a place is mirrored to that lies up to the blur's radius outside; farther ones, which nobody asks for, go to
/// the last place, so that all are in or next to their strip.
QC_HD int mirrored_index(int i, int size) {
    if (i < 0) return -1 - i;
    return i < size ? i : i < size + kAdaptationRadius ? 2 * size - 1 - i : size - 1;
}

/// Two neighbouring rows or columns, the first of them even, and where they are mirrored to. Both come to lie in one
/// and the same couple of that kind.
struct Couple {
    int at[2];
    QC_HD Couple(int index, int size) : at{mirrored_index(2 * index, size), mirrored_index(2 * index + 1, size)} {}
    QC_HD int index() const { return at[0] >> 1; }
    QC_HD bool is_odd(int i) const { return (at[i] & 1) != 0; }
};

/// A thread's columns.
struct Quad {
    int input;  ///< 0: of the reference
    int thread; ///< within the input's
    int index;  ///< of the quad in the picture
    Couple columns;

    QC_HD Quad(int of_input, int block_thread, int tile_x, int width)
        : input(of_input), thread(block_thread % kResponseQuads),
          index(tile_x * (kResponseColumns / 2) - kQuadMargin + thread), columns(index, width) {}

    QC_HD bool is_stored() const { return thread >= kQuadMargin && thread < kResponseQuads - kQuadMargin; }
    /// A thread of the same input.
    QC_HD static int neighbour(int of) { return of < 0 ? 0 : of < kResponseQuads ? of : kResponseQuads - 1; }
    /// That whose quad the columns are mirrored to.
    QC_HD int source() const { return thread + columns.index() - index; }
};

// ---- light, from codes ----------------------------------------------------------------------------------------------

constexpr int kChromaRows = 5; ///< that two rows of luma are interpolated from, if chroma has half as many

/// Of a thread's 2x2 places, as fetched: luma by row and column. Chroma, by component: of kChromaRows rows, of two
/// rows, or of the four places in the order of luma.
struct QuadCodes {
    uint32_t luma[2][2], chroma[kChromaRows][2];
};

/// `sample`: five neighbours, of which the middle one lies at luma sample 2 j.
QC_HD float interpolated(const AxisTaps& taps, bool odd, const float (&sample)[kChromaRows]) {
    return odd ? four_taps(taps.odd, sample[1], sample[2], sample[3], sample[4])
               : four_taps(taps.even, sample[0], sample[1], sample[2], sample[3]);
}

/// Of both luma samples of a couple.
QC_HD void interpolate(const AxisTaps& taps, const Couple& couple, const float (&sample)[kChromaRows],
                       float (&result)[2]) {
    const float even = taps.even_is_sample ? sample[2] : interpolated(taps, false, sample);
    const float odd = interpolated(taps, true, sample);
    QC_UNROLL for (int i = 0; i < 2; ++i) result[i] = couple.is_odd(i) ? odd : even;
}

/// kGeneral: for conversions of all kinds, which may differ.
template <typename T, bool kGeneral>
struct FromCodes {
    static constexpr bool kHasHalf = true;
    using Fetched = QuadCodes;

    /// Operands that an instruction reads in place, if both inputs have the same.
    QC_HD static const DeviceConversion& conversion_of(const ResponseArguments& arguments, const Quad& quad) {
        return arguments.conversion[kGeneral ? quad.input : 0];
    }
    QC_HD static uint32_t code_at(const DevicePlane& plane, int x, int y) {
        const auto offset = row_offset(plane, y) + static_cast<uint32_t>(x * plane.step) * sizeof(T);
        return load_code<T>(plane.data, offset);
    }
    QC_HD static float value_of(const DeviceConversion& conversion, const DevicePicture& picture, int plane,
                                uint32_t code) {
        return plane_value<kGeneral>(conversion, plane, sizeof(T) == 1 ? code : code >> picture.plane[plane].shift);
    }

    QC_HD static void fetch(const ResponseArguments& arguments, const DevicePicture& picture, const float*,
                            const Quad& quad, const Couple& rows, QuadCodes& codes) {
        QC_UNROLL for (int r = 0; r < 2; ++r) {
            QC_UNROLL for (int c = 0; c < 2; ++c) codes.luma[r][c] =
                code_at(picture.plane[0], quad.columns.at[c], rows.at[r]);
        }
        if (arguments.planes == 1) return;
        if (!arguments.halved_x) {
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                QC_UNROLL for (int p = 0; p < 2; ++p) codes.chroma[i][p] =
                    code_at(picture.plane[p + 1], quad.columns.at[i % 2], rows.at[i / 2]);
            }
            return;
        }
        const int x = clamp_index(quad.index, arguments.chroma_width);
        if (!arguments.halved_y) {
            QC_UNROLL for (int r = 0; r < 2; ++r) {
                QC_UNROLL for (int p = 0; p < 2; ++p) codes.chroma[r][p] = code_at(picture.plane[p + 1], x, rows.at[r]);
            }
            return;
        }
        QC_UNROLL for (int i = 0; i < kChromaRows; ++i) {
            const int y = clamp_index(rows.index() - kChromaRows / 2 + i, arguments.chroma_height);
            QC_UNROLL for (int p = 0; p < 2; ++p) codes.chroma[i][p] = code_at(picture.plane[p + 1], x, y);
        }
    }

    /// Chroma in luma's rows, for other threads; `to`: Cb of both rows, then Cr.
    QC_HD static void share(const ResponseArguments& arguments, const DevicePicture& picture, const Quad& quad,
                            const Couple& rows, const QuadCodes& codes, float (&to)[4]) {
        if (arguments.planes == 1 || !arguments.halved_x) return;
        const DeviceConversion& conversion = conversion_of(arguments, quad);
        Float4 chroma;
        QC_UNROLL for (int p = 0; p < 2; ++p) {
            float row[2];
            if (arguments.halved_y) {
                float sample[kChromaRows];
                QC_UNROLL for (int i = 0; i < kChromaRows; ++i) sample[i] =
                    value_of(conversion, picture, p + 1, codes.chroma[i][p]);
                interpolate(conversion.down, rows, sample, row);
            } else {
                QC_UNROLL for (int r = 0; r < 2; ++r) row[r] = value_of(conversion, picture, p + 1, codes.chroma[r][p]);
            }
            chroma.value[2 * p] = row[0];
            chroma.value[2 * p + 1] = row[1];
        }
        store_plane4(to, chroma);
    }

    /// Cb and Cr of a thread's places, by row and column.
    QC_HD static void chroma_of(const ResponseArguments& arguments, const DevicePicture& picture, const Quad& quad,
                                const QuadCodes& codes, const QuadRow& shared, float (&chroma)[2][2][2]) {
        const DeviceConversion& conversion = conversion_of(arguments, quad);
        if (arguments.planes == 1) {
            QC_UNROLL for (int i = 0; i < 4; ++i) chroma[0][i / 2][i % 2] = chroma[1][i / 2][i % 2] = 0.0f;
        } else if (!arguments.halved_x) {
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                QC_UNROLL for (int p = 0; p < 2; ++p) chroma[p][i / 2][i % 2] =
                    value_of(conversion, picture, p + 1, codes.chroma[i][p]);
            }
        } else {
            Float4 near[kChromaRows];
            QC_UNROLL for (int i = 0; i < kChromaRows; ++i) near[i] =
                load_shared4(shared[Quad::neighbour(quad.source() - kChromaRows / 2 + i)]);
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                const float sample[kChromaRows] = {near[0].value[i], near[1].value[i], near[2].value[i],
                                                   near[3].value[i], near[4].value[i]};
                interpolate(conversion.across, quad.columns, sample, chroma[i / 2][i % 2]);
            }
        }
    }

    /// What the cones see of a thread's places.
    QC_HD static void light_of(const ResponseArguments& arguments, const DevicePicture& picture, const Quad& quad,
                               const QuadCodes& codes, const QuadRow& shared, Float4 (&light)[3]) {
        const DeviceConversion& conversion = conversion_of(arguments, quad);
        float chroma[2][2][2];
        chroma_of(arguments, picture, quad, codes, shared, chroma);
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            const int r = i / 2, c = i % 2;
            const float luma = value_of(conversion, picture, 0, codes.luma[r][c]);
            const Rgb rgb = linear_rgb<kGeneral>(conversion, luma, chroma[0][r][c], chroma[1][r][c]);
            QC_UNROLL for (int k = 0; k < 3; ++k) {
                const float(&mixing)[3] = arguments.mixing[k];
                light[k].value[i] = fmaf(mixing[2], rgb.blue, fmaf(mixing[1], rgb.green, mixing[0] * rgb.red));
            }
        }
    }
};

/// The second scale: from what the first launch stored.
struct FromHalf {
    static constexpr bool kHasHalf = false;
    struct Fetched {
        Float4 light[3];
    };

    QC_HD static void fetch(const ResponseArguments& arguments, const DevicePicture&, const float* pair,
                            const Quad& quad, const Couple& rows, Fetched& fetched) {
        QC_UNROLL for (int k = 0; k < 3; ++k) {
            const float* const plane = pair + arguments.half_light[quad.input][k];
            QC_UNROLL for (int i = 0; i < 4; ++i) fetched.light[k].value[i] = load_plane(
                plane + static_cast<int64_t>(rows.at[i / 2]) * arguments.shape.pitch + quad.columns.at[i % 2]);
        }
    }
    QC_HD static void share(const ResponseArguments&, const DevicePicture&, const Quad&, const Couple&, const Fetched&,
                            float (&)[4]) {}
    QC_HD static void light_of(const ResponseArguments&, const DevicePicture&, const Quad&, const Fetched& fetched,
                               const QuadRow&, Float4 (&light)[3]) {
        QC_UNROLL for (int k = 0; k < 3; ++k) light[k] = fetched.light[k];
    }
};

/// The last row and column of odd sizes count twice, for they are mirrored.
QC_HD void store_half(const ResponseArguments& arguments, float* pair, const Quad& quad, int row_pair,
                      const Float4 (&light)[3]) {
    if (!quad.is_stored() || quad.index >= arguments.half.width || row_pair >= arguments.half.height) return;
    const int64_t at = static_cast<int64_t>(row_pair) * arguments.half.pitch + quad.index;
    QC_UNROLL for (int k = 0; k < 3; ++k) {
        const float(&value)[4] = light[k].value;
        pair[arguments.half_light[quad.input][k] + at] = mean_of_four(value[0], value[1], value[2], value[3]);
    }
}

// ---- response -------------------------------------------------------------------------------------------------------

QC_HD float adapted(const float (&tap)[kAdaptationRadius + 1], float a, float b, float centre, float c, float d) {
    return fmaf(tap[2], a + d, fmaf(tap[1], b + c, tap[0] * centre));
}

/// A pair of rows of light, blurred along rows.
QC_HD Float4 adapt_along(const float (&tap)[kAdaptationRadius + 1], const QuadRow& light, int thread) {
    const Float4 left = load_shared4(light[Quad::neighbour(thread - 1)]), own = load_shared4(light[thread]),
                 right = load_shared4(light[Quad::neighbour(thread + 1)]);
    Float4 along;
    QC_UNROLL for (int i = 0; i < 4; i += 2) {
        const float(&l)[4] = left.value, (&o)[4] = own.value, (&r)[4] = right.value;
        along.value[i] = adapted(tap, l[i], l[i + 1], o[i], o[i + 1], r[i]);
        along.value[i + 1] = adapted(tap, l[i + 1], o[i], o[i + 1], r[i], r[i + 1]);
    }
    return along;
}

/// The middle one of three pairs of rows, blurred down columns too. No sums in progress: the blur of what is flat has
/// to be as precise as can be.
QC_HD Float4 adapt_down(const float (&tap)[kAdaptationRadius + 1], const Float4& above, const Float4& own,
                        const Float4& below) {
    Float4 around;
    QC_UNROLL for (int c = 0; c < 2; ++c) {
        const float(&a)[4] = above.value, (&o)[4] = own.value, (&b)[4] = below.value;
        around.value[c] = adapted(tap, a[c], a[c + 2], o[c], o[c + 2], b[c]);
        around.value[c + 2] = adapted(tap, a[c + 2], o[c], o[c + 2], b[c], b[c + 2]);
    }
    return around;
}

/// X, Y and blue of a thread's places.
QC_HD void respond(const Float4 (&light)[3], const Float4 (&around)[3], Float4 (&response)[3]) {
    constexpr auto kDarknessOfLong = static_cast<float>(kDarkness[0]),
                   kDarknessOfShort = static_cast<float>(kDarkness[2]);
    static_assert(kDarkness[0] == kDarkness[1]);
    QC_UNROLL for (int i = 0; i < 4; ++i) {
        float cone[3];
        QC_UNROLL for (int k = 0; k < 3; ++k) cone[k] =
            adapted_response(light[k].value[i], around[k].value[i], k < 2 ? kDarknessOfLong : kDarknessOfShort);
        response[0].value[i] = cone[0] - cone[1];
        response[1].value[i] = cone[0] + cone[1];
        response[2].value[i] = cone[2];
    }
}

/// Planes are 0 beyond the right border.
QC_HD void clear_outside(const Quad& quad, int width, Float4 (&response)[3]) {
    if (2 * quad.index + 1 < width) return;
    QC_UNROLL for (int k = 0; k < 3; ++k) {
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            if (2 * quad.index + i % 2 >= width) response[k].value[i] = 0.0f;
        }
    }
}

/// Where a thread stores its places of a pair of rows.
struct StoredPair {
    int64_t at;
    int rows, pitch;

    /// Up to a multiple of four columns.
    QC_HD StoredPair(const PlaneShape& shape, const Quad& quad, int row_pair)
        : at(static_cast<int64_t>(2 * row_pair) * shape.pitch + 2 * quad.index),
          rows(quad.is_stored() && 2 * quad.index < (shape.width + 3) / 4 * 4 ? shape.height - 2 * row_pair : 0),
          pitch(shape.pitch) {}

    QC_HD void store(float* plane, const Float4& value) const {
        if (rows > 0) device::store_plane2(plane + at, value.value[0], value.value[1]);
        if (rows > 1) device::store_plane2(plane + at + pitch, value.value[2], value.value[3]);
    }
};

/// The reference's response is stored and left for the thread that sees to the same places of the distorted picture.
QC_HD void store_reference(const ResponseArguments& arguments, float* pair, const Quad& quad, int row_pair,
                           const Float4 (&response)[3], QuadRow (&shared)[3]) {
    QC_UNROLL for (int k = 0; k < 3; ++k) store_plane4(shared[k][quad.thread], response[k]);
    const StoredPair to(arguments.shape, quad, row_pair);
    to.store(pair + arguments.response[kX], response[0]);
    to.store(pair + arguments.response[kY], response[1]);
}

QC_HD void store_differences(const ResponseArguments& arguments, float* pair, const Quad& quad, int row_pair,
                             const Float4 (&response)[3], const QuadRow (&shared)[3]) {
    constexpr Signal kDeltas[3] = {kDeltaX, kDeltaY, kDeltaBlue};
    const StoredPair to(arguments.shape, quad, row_pair);
    QC_UNROLL for (int k = 0; k < 3; ++k) {
        Float4 difference = load_shared4(shared[k][quad.thread]);
        QC_UNROLL for (int i = 0; i < 4; ++i) difference.value[i] -= response[k].value[i];
        to.store(pair + arguments.response[kDeltas[k]], difference);
    }
}

/// Which of two places a pair of rows has.
QC_HD int turn(int row_pair) {
    return row_pair & 1;
}

/// What the eye adapts to at the pair of rows before the last one whose light is there.
QC_HD void adapt(ResponseShared& shared, const ResponseArguments& arguments, const Quad& quad, int last,
                 Float4 (&around)[3]) {
    QC_UNROLL for (int k = 0; k < 3; ++k) {
        const Float4 along = adapt_along(arguments.tap, shared.light[quad.input][turn(last)][k], quad.thread);
        float(&oldest)[4] = shared.along[quad.input][turn(last)][k][quad.thread];
        const float* const middle = shared.along[quad.input][turn(last - 1)][k][quad.thread];
        around[k] = adapt_down(arguments.tap, load_shared4(oldest), load_shared4(middle), along);
        store_plane4(oldest, along);
    }
}

QC_HD void store_response(ResponseShared& shared, const ResponseArguments& arguments, float* pair, const Quad& quad,
                          int row_pair, const Float4 (&around)[3]) {
    Float4 light[3], response[3];
    QC_UNROLL for (int k = 0; k < 3; ++k) light[k] =
        load_shared4(shared.light[quad.input][turn(row_pair)][k][quad.thread]);
    respond(light, around, response);
    clear_outside(quad, arguments.shape.width, response);
    if (quad.input == 0)
        store_reference(arguments, pair, quad, row_pair, response, shared.response[turn(row_pair)]);
    else
        store_differences(arguments, pair, quad, row_pair, response, shared.response[turn(row_pair)]);
}

} // namespace qc::butteraugli
