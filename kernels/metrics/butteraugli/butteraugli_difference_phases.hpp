// SPDX-License-Identifier: BSD-2-Clause-Patent
// Third kernel of Butteraugli: from planes without their lowest and middle bands to differences and activities, phase
// by phase. A block makes a tile of 64x32 places:
//
//     stage     what is above the middle band, of Y and X of both pictures, with a margin of 3 places; X is suppressed
//               by Y
//     across    its blur along rows
//     bands     the blur down columns separates high and ultra-high frequencies; differences of these two and of the
//               middle band add up in the thread of a place, and what line detectors see of them is stored
//
// Before all that blue and the lowest bands are done with. The next kernel adds up the lines.
#pragma once

#include "metrics/butteraugli/butteraugli_planes.hpp"

namespace qc::butteraugli {

constexpr int kPatchColumns = 64, kPatchRows = 32;
constexpr int kHighRadius = 3;
constexpr int kOwnRows = 2; ///< of a thread, four places each
constexpr int kDifferenceThreads = kPatchColumns / 4 * kPatchRows / kOwnRows;
constexpr int kPatchGroups = kPatchColumns / 4;
/// Columns of the stage: a margin of 4, for alignment.
constexpr int kStageMargin = 4, kStageColumns = kPatchColumns + 2 * kStageMargin, kStageGroups = kStageColumns / 4;
constexpr int kStageRows = kPatchRows + 2 * kHighRadius;
static_assert(kRadius[kHighest] == kHighRadius && kStageMargin >= kHighRadius);

struct DifferenceArguments {
    float* scratch;
    uint64_t pair_floats;
    ScalePlanes planes;
    Taps<kHighRadius> taps;
    LineWeights<float> lines[kLineBands];
    Constants<float> constants;
    float high_weight[2], lost_weight[2]; ///< of X and Y
};

struct alignas(16) DifferenceShared {
    float stage[2][2][kStageRows][kStageColumns]; ///< by channel, by picture
    float across[2][2][kStageRows][kPatchColumns];
};

/// Norms beyond this are divided by before anything is compared: sizes of their bands, at most thousands and mostly
/// below 10, would add a thousandth to them at the very most.
constexpr double kFarNorm = 1e6;

/// Where a tile's first place lies.
struct Corner {
    int x, y;
};

/// X or Y.
template <bool kIsX>
struct Channel {
    static constexpr Signal kReference = kIsX ? kX : kY, kDelta = kIsX ? kDeltaX : kDeltaY;
    static constexpr int kIndex = kIsX ? 0 : 1;
    static constexpr LineBand kUltra = kIsX ? kUltraX : kUltraY, kHigh = kIsX ? kHighX : kHighY,
                              kMiddle = kIsX ? kMiddleX : kMiddleY;
    static constexpr LinePair kPair = kIsX ? kPairOfX : kPairOfY;
};

/// What a thread knows of its 4x2 places: differences of all bands but the lowest. Rows come and go in turn, so that
/// loops over them need not be unrolled, for which registers are short.
class Places {
public:
    QC_HD Places() {
        QC_UNROLL for (int r = 0; r < kOwnRows; ++r) {
            QC_UNROLL for (int k = 0; k < 4; ++k) difference_[r][k] = 0.0f;
        }
    }
    /// Adds to the row whose turn it is.
    QC_HD void add(const float (&difference)[4]) {
        static_assert(kOwnRows == 2);
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            const float sum = difference_[0][k] + difference[k];
            difference_[0][k] = difference_[1][k];
            difference_[1][k] = sum;
        }
    }
    /// The row whose turn it is.
    QC_HD Float4 next() const { return {{difference_[0][0], difference_[0][1], difference_[0][2], difference_[0][3]}}; }

private:
    float difference_[kOwnRows][4];
};

/// A channel's samples of both pictures.
struct Both4 {
    Float4 picture[2];
};

QC_HD Both4 load_both(const float* reference, const float* delta, const PlaneShape& shape, int x, int y) {
    Both4 both{{load_inside4(reference, shape, x, y), load_inside4(delta, shape, x, y)}};
    QC_UNROLL for (int i = 0; i < 4; ++i) both.picture[1].value[i] =
        both.picture[0].value[i] - both.picture[1].value[i];
    return both;
}

QC_HD void stage_above(DifferenceShared& shared, int thread, const DifferenceArguments& arguments, const float* pair,
                       Corner corner) {
    constexpr int kRowsAtOnce = kDifferenceThreads / kStageGroups;
    constexpr int kTurns = (kStageRows + kRowsAtOnce - 1) / kRowsAtOnce;
    const ScalePlanes& planes = arguments.planes;
    const int group = thread % kStageGroups, x = corner.x - kStageMargin + 4 * group;
    const int first = thread / kStageGroups;
    if (first >= kRowsAtOnce) return;
    const auto above_at = [&](Signal reference, Signal delta, int y) {
        return load_both(pair + planes.above[reference], pair + planes.above[delta], planes.shape, x, y);
    };
    Both4 above[kTurns][2];
    QC_UNROLL for (int t = 0; t < kTurns; ++t) { // all of them on their way before the first is waited for
        const int row = first + t * kRowsAtOnce, y = row < kStageRows ? corner.y - kHighRadius + row : -1;
        above[t][0] = above_at(kX, kDeltaX, y);
        above[t][1] = above_at(kY, kDeltaY, y);
    }
    QC_UNROLL for (int t = 0; t < kTurns; ++t) {
        const int row = first + t * kRowsAtOnce;
        if (row >= kStageRows) return;
        QC_UNROLL for (int p = 0; p < 2; ++p) {
            Float4 &of_x = above[t][0].picture[p], &of_y = above[t][1].picture[p];
            QC_UNROLL for (int k = 0; k < 4; ++k) of_x.value[k] = suppressed_by_y(of_x.value[k], of_y.value[k]);
            store_plane4(&shared.stage[0][p][row][4 * group], of_x);
            store_plane4(&shared.stage[1][p][row][4 * group], of_y);
        }
    }
}

QC_HD void blur_stage_across(DifferenceShared& shared, int thread, const DifferenceArguments& arguments) {
    const auto& tap = arguments.taps.tap;
    const int group = thread % kPatchGroups;
    constexpr int kRowsAtOnce = kDifferenceThreads / kPatchGroups;
    const float* const stage = &shared.stage[0][0][0][4 * group];
    float* const across = &shared.across[0][0][0][4 * group];
    for (int i = thread / kPatchGroups; i < 4 * kStageRows; i += kRowsAtOnce) { // rows of both channels and pictures
        float sample[12];
        QC_UNROLL for (int w = 0; w < 3; ++w) {
            const Float4 four = load_shared4(stage + i * kStageColumns + 4 * w);
            QC_UNROLL for (int k = 0; k < 4; ++k) sample[4 * w + k] = four.value[k];
        }
        Float4 sum;
        QC_UNROLL for (int p = 0; p < 4; ++p) {
            sum.value[p] = tap[0] * sample[4 + p];
            QC_UNROLL for (int k = 1; k <= kHighRadius; ++k) sum.value[p] =
                fmaf(tap[k], sample[4 + p - k] + sample[4 + p + k], sum.value[p]);
        }
        store_plane4(across + i * kPatchColumns, sum);
    }
}

/// A thread's groups of four places in the tile: its column, counted in groups, and its upper row.
struct Own {
    int column, row;
    QC_HD explicit Own(int thread) : column(thread % kPatchGroups), row(kOwnRows * (thread / kPatchGroups)) {}
};

/// One of them in the picture.
struct Group {
    int x, y;
    int64_t at; ///< in planes
};

QC_HD Group group_of(const Own& own, int r, Corner corner, const PlaneShape& shape) {
    const int x = corner.x + 4 * own.column, y = corner.y + own.row + r;
    return {x, y, static_cast<int64_t>(y) * shape.pitch + x};
}

QC_HD bool is_inside(const Group& group, const PlaneShape& shape) {
    return group.x < shape.width && group.y < shape.height;
}

/// The highest bands of both pictures, 0 outside the picture, and what they are separated from.
struct HighGroup {
    float ultra[2][4], high[2][4];
    Float4 whole[2];
};

/// What a group's blur is multiplied by: where taps lie outside of the picture the others weigh more; what lies outside
/// itself is nothing, nor is what is separated from it.
QC_HD Float4 blur_scales(const DifferenceArguments& arguments, const Group& group) {
    const PlaneShape& shape = arguments.planes.shape;
    const auto& taps = arguments.taps;
    Float4 scale{{1.0f, 1.0f, 1.0f, 1.0f}};
    if (!Taps<kHighRadius>::is_near_border(group.x, group.x + 3, shape.width) &&
        !Taps<kHighRadius>::is_near_border(group.y, group.y, shape.height))
        return scale;
    const float of_row = group.y < shape.height ? taps.inverse_mass(group.y, shape.height) : 0.0f;
    QC_UNROLL for (int k = 0; k < 4; ++k) {
        const int x = group.x + k;
        scale.value[k] = x < shape.width ? of_row * taps.inverse_mass(x, shape.width) : 0.0f;
    }
    return scale;
}

template <bool kIsX>
QC_HD HighGroup separate_high(const DifferenceShared& shared, const DifferenceArguments& arguments, const Own& own,
                              int r, const Group& group) {
    const auto& tap = arguments.taps.tap;
    const Float4 scale = blur_scales(arguments, group);
    HighGroup bands;
    QC_UNROLL for (int p = 0; p < 2; ++p) {
        Float4 row[2 * kHighRadius + 1];
        QC_UNROLL for (int d = 0; d <= 2 * kHighRadius; ++d) row[d] =
            load_shared4(&shared.across[Channel<kIsX>::kIndex][p][own.row + r + d][4 * own.column]);
        const Float4 whole = bands.whole[p] = load_shared4(
            &shared.stage[Channel<kIsX>::kIndex][p][own.row + r + kHighRadius][4 * own.column + kStageMargin]);
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            float low = tap[0] * row[kHighRadius].value[k];
            QC_UNROLL for (int d = 1; d <= kHighRadius; ++d) low =
                fmaf(tap[d], row[kHighRadius - d].value[k] + row[kHighRadius + d].value[k], low);
            low *= scale.value[k];
            HighBands<float> separated;
            if constexpr (kIsX)
                separated = high_bands_of_x(whole.value[k], low);
            else
                separated = high_bands_of_y(whole.value[k], low, arguments.constants.compression);
            bands.ultra[p][k] = separated.ultra;
            bands.high[p][k] = separated.high;
        }
    }
    return bands;
}

/// What a channel of a thread's places has without its lowest band, by row; 0 outside the picture. Asked for long
/// before it is needed. These planes are written over, by the thread that reads here.
struct WithoutLow {
    Both4 row[kOwnRows];
};

template <bool kIsX>
QC_HD WithoutLow load_without_low(const DifferenceArguments& arguments, const float* pair, const Own& own,
                                  Corner corner) {
    using C = Channel<kIsX>;
    const ScalePlanes& planes = arguments.planes;
    WithoutLow loaded{};
    QC_UNROLL for (int r = 0; r < kOwnRows; ++r) {
        const Group group = group_of(own, r, corner, planes.shape);
        if (!is_inside(group, planes.shape)) continue;
        loaded.row[r].picture[0] = load_shared4(pair + planes.without_low[C::kReference] + group.at);
        loaded.row[r].picture[1] = load_shared4(pair + planes.without_low[C::kDelta] + group.at);
    }
    return loaded;
}

/// The middle band of both pictures, 0 outside the picture. `whole`: what is above it, for X after suppression, so that
/// has to be read again.
template <bool kIsX>
QC_HD Both4 middle_group(const DifferenceArguments& arguments, const float* pair, const Group& group,
                         const Both4& without_low, const Float4 (&whole)[2]) {
    const ScalePlanes& planes = arguments.planes;
    Both4 above{{whole[0], whole[1]}};
    if constexpr (kIsX)
        above = load_both(pair + planes.above[kX], pair + planes.above[kDeltaX], planes.shape, group.x, group.y);
    Both4 middle;
    QC_UNROLL for (int k = 0; k < 4; ++k) {
        const float reference = without_low.picture[0].value[k];
        const float blurred[2] = {reference - above.picture[0].value[k],
                                  reference - without_low.picture[1].value[k] - above.picture[1].value[k]};
        QC_UNROLL for (int p = 0; p < 2; ++p) middle.picture[p].value[k] =
            kIsX ? middle_of_x(blurred[p]) : middle_of_y(blurred[p]);
    }
    return middle;
}

/// What line detectors see of a group. kDivided: by `norm` alone, before: what is added to it is nothing beside it
/// (kFarNorm).
template <bool kDivided>
QC_HD Float4 seen_by_lines(const float (&a)[4], const float (&b)[4], const LineWeights<float>& weights) {
    Float4 difference;
    QC_UNROLL for (int k = 0; k < 4; ++k) difference.value[k] =
        kDivided ? undivided_line_difference(a[k], b[k], weights) : line_difference(a[k], b[k], weights);
    return difference;
}

/// What Y leaves for X: sums of both highest bands, by picture, and what line detectors see of the highest.
struct OfY {
    float sum[2][4];
    Float4 ultra;
};

/// Separates the bands of a group of the tile, and stores and adds what comes of them; first of Y.
template <bool kIsX>
QC_HD void compare_group(const DifferenceShared& shared, const DifferenceArguments& arguments, float* pair,
                         const Own& own, int r, const Group& group, const Both4& without_low, OfY& of_y,
                         float (&difference)[4]) {
    using C = Channel<kIsX>;
    constexpr auto kWeight = static_cast<float>(kMiddleWeight[C::kIndex]);
    const ScalePlanes& planes = arguments.planes;
    const HighGroup high = separate_high<kIsX>(shared, arguments, own, r, group);
    const Both4 middle = middle_group<kIsX>(arguments, pair, group, without_low, high.whole);
    QC_UNROLL for (int k = 0; k < 4; ++k) {
        const float of_middle = middle.picture[0].value[k] - middle.picture[1].value[k];
        const float squares = squared_difference(high.high[0][k], high.high[1][k], arguments.high_weight[C::kIndex],
                                                 arguments.lost_weight[C::kIndex]);
        difference[k] += fmaf(kWeight * of_middle, of_middle, squares);
    }
    const Float4 of_ultra = seen_by_lines<false>(high.ultra[0], high.ultra[1], arguments.lines[C::kUltra]);
    const Float4 of_high = seen_by_lines<!kIsX>(high.high[0], high.high[1], arguments.lines[C::kHigh]);
    const Float4 of_middle =
        seen_by_lines<true>(middle.picture[0].value, middle.picture[1].value, arguments.lines[C::kMiddle]);
    const bool inside = is_inside(group, planes.shape);
    if (inside) store_pair4(pair + planes.lines[C::kPair] + group.at, pairs_of(of_high, of_middle));
    if constexpr (kIsX) {
        Float4 reference, more;
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            reference.value[k] = activity(high.ultra[0][k] + high.high[0][k], of_y.sum[0][k]);
            more.value[k] = reference.value[k] - activity(high.ultra[1][k] + high.high[1][k], of_y.sum[1][k]);
        }
        if (!inside) return;
        store_pair4(pair + planes.lines[kUltraPair] + group.at, pairs_of(of_y.ultra, of_ultra));
        store_pair4(pair + planes.activity + group.at, pairs_of(reference, more));
    } else {
        of_y.ultra = of_ultra;
        QC_UNROLL for (int p = 0; p < 2; ++p) {
            QC_UNROLL for (int k = 0; k < 4; ++k) of_y.sum[p][k] = high.ultra[p][k] + high.high[p][k];
        }
    }
}

/// Blue and the lowest bands: first of all. Stores the lowest bands' differences.
QC_HD void begin_places(const DifferenceArguments& arguments, float* pair, const Own& own, Corner corner,
                        Places& places) {
    constexpr auto kWeightX = static_cast<float>(kLowWeight[0]), kWeightY = static_cast<float>(kLowWeight[1]),
                   kWeightBlue = static_cast<float>(kLowWeight[2]), kMiddleBlue = static_cast<float>(kMiddleWeight[2]);
    const ScalePlanes& planes = arguments.planes;
    const Constants<float>& constants = arguments.constants;
    QC_UNROLL for (int r = 0; r < kOwnRows; ++r) {
        const Group group = group_of(own, r, corner, planes.shape);
        float difference[4] = {};
        if (is_inside(group, planes.shape)) {
            // Not load_plane4(): most of these planes are written over.
            const auto load = [&](uint64_t plane) { return load_shared4(pair + plane + group.at); };
            const Float4 response[3] = {load(planes.response[kDeltaX]), load(planes.response[kDeltaY]),
                                        load(planes.response[kDeltaBlue])};
            const Float4 without_low[3] = {load(planes.without_low[kDeltaX]), load(planes.without_low[kDeltaY]),
                                           load(planes.without_low[kDeltaBlue])};
            const Float4 above = load(planes.above[kDeltaBlue]);
            Float4 low;
            QC_UNROLL for (int k = 0; k < 4; ++k) {
                float lowest[3];
                QC_UNROLL for (int c = 0; c < 3; ++c) lowest[c] = response[c].value[k] - without_low[c].value[k];
                const float of_x = constants.low_x * lowest[0], of_y = constants.low_y * lowest[1];
                const float blue = constants.low_blue * fmaf(static_cast<float>(-kLowBlueOfY), lowest[1], lowest[2]);
                low.value[k] = fmaf(kWeightX * of_x, of_x, fmaf(kWeightY * of_y, of_y, kWeightBlue * blue * blue));
                const float middle = without_low[2].value[k] - above.value[k];
                difference[k] = kMiddleBlue * middle * middle;
            }
            store_plane4(pair + planes.low + group.at, low);
        }
        places.add(difference);
    }
}

QC_HD void store_high(const DifferenceArguments& arguments, float* pair, const Own& own, Corner corner,
                      Places& places) {
    const ScalePlanes& planes = arguments.planes;
    QC_UNROLL for (int r = 0; r < kOwnRows; ++r) {
        const Group group = group_of(own, r, corner, planes.shape);
        if (!is_inside(group, planes.shape)) return;
        store_plane4(pair + planes.high + group.at, places.next());
        places.add({0.0f, 0.0f, 0.0f, 0.0f});
    }
}

} // namespace qc::butteraugli
