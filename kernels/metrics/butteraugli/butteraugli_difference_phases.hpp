// SPDX-License-Identifier: BSD-2-Clause-Patent
// Third kernel of Butteraugli: from planes without their lowest and middle bands to differences and activities, phase
// by phase. A block makes a tile of 64x32 places, first of Y, then of X:
//
//     stage     what is above the middle band, of both pictures, with a margin of 7 places (X: suppressed by Y)
//     across    its blur along rows
//     bands     the blur down columns separates high and ultra-high frequencies; what line detectors see of these two
//               and of the middle band goes to shared memory, with a margin of 4 places
//     lines     each thread adds up the lines through 4x2 places
//
// Before all that blue and the lowest bands are done with: their planes are read by one thread each, and then written
// over. Registers are what is short here, so loops over a thread's rows are not unrolled.
#pragma once

#include "metrics/butteraugli/butteraugli_lines_device.hpp"
#include "metrics/butteraugli/butteraugli_planes.hpp"

namespace qc::butteraugli {

constexpr int kPatchColumns = 64, kPatchRows = 32;
constexpr int kHighRadius = 3;
constexpr int kDifferenceThreads = kPatchColumns / 4 * kPatchRows / 2;
constexpr int kLineColumns = kPatchColumns + 2 * kLineReach, kLineRows = kPatchRows + 2 * kLineReach;
constexpr int kLineGroups = kLineColumns / 4;
/// Columns of the stage: a margin of 8, for alignment.
constexpr int kStageMargin = 8, kStageColumns = kPatchColumns + 2 * kStageMargin, kStageGroups = kStageColumns / 4;
constexpr int kStageRows = kLineRows + 2 * kHighRadius;
static_assert(kRadius[kHighest] == kHighRadius && kStageMargin == kLineReach + 4);

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
    float stage[2][kStageRows][kStageColumns]; ///< by picture
    float across[2][kStageRows][kLineColumns];
    float lines[3][kLineRows][kLineColumns]; ///< of ultra-high, high and middle frequencies
};

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
};

/// What a thread knows of its 4x2 places: differences of all bands but the lowest. Rows come and go in turn.
class Places {
public:
    QC_HD Places() {
        QC_UNROLL for (int r = 0; r < 2; ++r) {
            QC_UNROLL for (int k = 0; k < 4; ++k) difference_[r][k] = 0.0f;
        }
    }
    /// Adds to the row whose turn it is.
    QC_HD void add(const float (&difference)[4]) {
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            const float sum = difference_[0][k] + difference[k];
            difference_[0][k] = difference_[1][k];
            difference_[1][k] = sum;
        }
    }
    /// Of the upper row, if each had as many turns.
    QC_HD float at(int row, int place) const { return difference_[row][place]; }

private:
    float difference_[2][4];
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

template <bool kIsX>
QC_HD void stage_above(DifferenceShared& shared, int thread, const DifferenceArguments& arguments, const float* pair,
                       Corner corner) {
    using C = Channel<kIsX>;
    const ScalePlanes& planes = arguments.planes;
    for (int i = thread; i < kStageRows * kStageGroups; i += kDifferenceThreads) {
        const int row = i / kStageGroups, group = i % kStageGroups;
        const int x = corner.x - kStageMargin + 4 * group, y = corner.y - kLineReach - kHighRadius + row;
        Both4 above = load_both(pair + planes.above[C::kReference], pair + planes.above[C::kDelta], planes.shape, x, y);
        if constexpr (kIsX) {
            const Both4 of_y = load_both(pair + planes.above[kY], pair + planes.above[kDeltaY], planes.shape, x, y);
            QC_UNROLL for (int p = 0; p < 2; ++p) {
                QC_UNROLL for (int k = 0; k < 4; ++k) above.picture[p].value[k] =
                    suppressed_by_y(above.picture[p].value[k], of_y.picture[p].value[k]);
            }
        }
        QC_UNROLL for (int p = 0; p < 2; ++p) store_plane4(&shared.stage[p][row][4 * group], above.picture[p]);
    }
}

QC_HD void blur_stage_across(DifferenceShared& shared, int thread, const DifferenceArguments& arguments) {
    const auto& tap = arguments.taps.tap;
    for (int i = thread; i < 2 * kStageRows * kLineGroups; i += kDifferenceThreads) {
        const int group = i % kLineGroups, row = i / kLineGroups % kStageRows, picture = i / (kLineGroups * kStageRows);
        const float* const from = &shared.stage[picture][row][4 * group];
        float sample[12];
        QC_UNROLL for (int w = 0; w < 3; ++w) {
            const Float4 four = load_shared4(from + 4 * w);
            QC_UNROLL for (int k = 0; k < 4; ++k) sample[4 * w + k] = four.value[k];
        }
        Float4 sum;
        QC_UNROLL for (int p = 0; p < 4; ++p) {
            sum.value[p] = tap[0] * sample[4 + p];
            QC_UNROLL for (int k = 1; k <= kHighRadius; ++k) sum.value[p] =
                fmaf(tap[k], sample[4 + p - k] + sample[4 + p + k], sum.value[p]);
        }
        store_plane4(&shared.across[picture][row][4 * group], sum);
    }
}

/// Four neighbours in a row of the lines' margin or of the tile.
struct Group {
    int group, row; ///< in the lines' buffers
    int x, y;       ///< in the picture
};

QC_HD Group group_at(int group, int row, Corner corner) {
    return {group, row, corner.x - kLineReach + 4 * group, corner.y - kLineReach + row};
}

/// The highest bands of both pictures, 0 outside the picture.
struct HighGroup {
    float ultra[2][4], high[2][4];
};

/// What a group's blur is multiplied by: where taps lie outside of the picture the others weigh more; what lies outside
/// itself is nothing, nor is what is separated from it.
QC_HD Float4 blur_scales(const DifferenceArguments& arguments, Group at) {
    const PlaneShape& shape = arguments.planes.shape;
    const auto& taps = arguments.taps;
    Float4 scale{{1.0f, 1.0f, 1.0f, 1.0f}};
    if (!Taps<kHighRadius>::is_near_border(at.x, at.x + 3, shape.width) &&
        !Taps<kHighRadius>::is_near_border(at.y, at.y, shape.height))
        return scale;
    const bool inside_y = at.y >= 0 && at.y < shape.height;
    const float of_row = inside_y ? taps.inverse_mass(at.y, shape.height) : 0.0f;
    QC_UNROLL for (int k = 0; k < 4; ++k) {
        const int x = at.x + k;
        scale.value[k] = x >= 0 && x < shape.width ? of_row * taps.inverse_mass(x, shape.width) : 0.0f;
    }
    return scale;
}

template <bool kIsX>
QC_HD HighGroup separate_high(const DifferenceShared& shared, const DifferenceArguments& arguments, Group at) {
    const auto& taps = arguments.taps;
    const Float4 scale = blur_scales(arguments, at);
    HighGroup bands;
    QC_UNROLL for (int p = 0; p < 2; ++p) {
        Float4 row[2 * kHighRadius + 1];
        QC_UNROLL for (int r = 0; r <= 2 * kHighRadius; ++r) row[r] =
            load_shared4(&shared.across[p][at.row + r][4 * at.group]);
        const Float4 whole = load_shared4(&shared.stage[p][at.row + kHighRadius][4 * at.group + kLineReach]);
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            float blurred = taps.tap[0] * row[kHighRadius].value[k];
            QC_UNROLL for (int r = 1; r <= kHighRadius; ++r) blurred =
                fmaf(taps.tap[r], row[kHighRadius - r].value[k] + row[kHighRadius + r].value[k], blurred);
            blurred *= scale.value[k];
            HighBands<float> separated;
            if constexpr (kIsX)
                separated = high_bands_of_x(whole.value[k], blurred);
            else
                separated = high_bands_of_y(whole.value[k], blurred, arguments.constants.compression);
            bands.ultra[p][k] = separated.ultra;
            bands.high[p][k] = separated.high;
        }
    }
    return bands;
}

/// The middle band of both pictures, 0 outside the picture.
template <bool kIsX>
QC_HD Both4 middle_group(const DifferenceArguments& arguments, const float* pair, Group at) {
    using C = Channel<kIsX>;
    const ScalePlanes& planes = arguments.planes;
    Both4 middle = load_both(pair + planes.without_low[C::kReference], pair + planes.without_low[C::kDelta],
                             planes.shape, at.x, at.y);
    const Both4 above =
        load_both(pair + planes.above[C::kReference], pair + planes.above[C::kDelta], planes.shape, at.x, at.y);
    QC_UNROLL for (int p = 0; p < 2; ++p) {
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            const float blurred = middle.picture[p].value[k] - above.picture[p].value[k];
            middle.picture[p].value[k] = kIsX ? middle_of_x(blurred) : middle_of_y(blurred);
        }
    }
    return middle;
}

QC_HD void store_lines(float* to, const float* a, const float* b, const LineWeights<float>& weights) {
    Float4 difference;
    QC_UNROLL for (int k = 0; k < 4; ++k) difference.value[k] = line_difference(a[k], b[k], weights);
    store_plane4(to, difference);
}

/// The bands of a group.
struct Bands {
    HighGroup high;
    Both4 middle;
};

/// Separates the bands of a group and stores what line detectors see of them.
template <bool kIsX>
QC_HD Bands separate(DifferenceShared& shared, const DifferenceArguments& arguments, const float* pair, Group at) {
    using C = Channel<kIsX>;
    const Bands bands{separate_high<kIsX>(shared, arguments, at), middle_group<kIsX>(arguments, pair, at)};
    const int column = 4 * at.group;
    store_lines(&shared.lines[0][at.row][column], bands.high.ultra[0], bands.high.ultra[1], arguments.lines[C::kUltra]);
    store_lines(&shared.lines[1][at.row][column], bands.high.high[0], bands.high.high[1], arguments.lines[C::kHigh]);
    store_lines(&shared.lines[2][at.row][column], bands.middle.picture[0].value, bands.middle.picture[1].value,
                arguments.lines[C::kMiddle]);
    return bands;
}

/// What a group of the tile adds to its differences by itself; and to the activities, of which those of Y wait in the
/// activities' planes for those of X.
template <bool kIsX>
QC_HD void add_bands(const DifferenceArguments& arguments, float* pair, Group at, const Bands& bands, Places& places) {
    using C = Channel<kIsX>;
    constexpr auto kWeight = static_cast<float>(kMiddleWeight[C::kIndex]);
    float difference[4];
    QC_UNROLL for (int k = 0; k < 4; ++k) {
        const float of_middle = bands.middle.picture[0].value[k] - bands.middle.picture[1].value[k];
        const float squares = squared_difference(bands.high.high[0][k], bands.high.high[1][k],
                                                 arguments.high_weight[C::kIndex], arguments.lost_weight[C::kIndex]);
        difference[k] = fmaf(kWeight * of_middle, of_middle, squares);
    }
    places.add(difference);
    const ScalePlanes& planes = arguments.planes;
    if (at.x >= planes.shape.width || at.y >= planes.shape.height) return;
    QC_UNROLL for (int p = 0; p < 2; ++p) {
        float* const to = pair + planes.activity[p] + (static_cast<int64_t>(at.y) * planes.shape.pitch + at.x);
        Float4 sums;
        QC_UNROLL for (int k = 0; k < 4; ++k) sums.value[k] = bands.high.ultra[p][k] + bands.high.high[p][k];
        if constexpr (kIsX) {
            const Float4 of_y = load_shared4(to);
            QC_UNROLL for (int k = 0; k < 4; ++k) sums.value[k] = activity(sums.value[k], of_y.value[k]);
        }
        store_plane4(to, sums);
    }
}

/// The margin around the tile: 208 groups, one for each of the first threads.
constexpr int kMarginGroups = 2 * kLineReach * kLineGroups + 2 * kPatchRows;
static_assert(kMarginGroups <= kDifferenceThreads);

QC_HD Group margin_group(int thread, Corner corner) {
    constexpr int kAbove = kLineReach * kLineGroups;
    if (thread < kAbove) return group_at(thread % kLineGroups, thread / kLineGroups, corner);
    if (thread < 2 * kAbove) return group_at(thread % kLineGroups, kPatchRows + thread / kLineGroups, corner);
    const int rest = thread - 2 * kAbove;
    return group_at(rest % 2 == 0 ? 0 : kLineGroups - 1, kLineReach + rest / 2, corner);
}

/// A thread's first group in the tile: its column, counted in groups, and its upper row.
struct Own {
    static constexpr int kAcross = kPatchColumns / 4;
    int column, row;
    QC_HD explicit Own(int thread) : column(thread % kAcross), row(2 * (thread / kAcross)) {}
    QC_HD Group group(int r, Corner corner) const { return group_at(column + 1, kLineReach + row + r, corner); }
};

/// The lines of a band through a thread's places.
template <bool kDense>
QC_HD void add_lines(const float* corner, Places& places) {
    LineWindow window(corner, kLineColumns);
    QC_UNROLL for (int r = 0; r < 2; ++r) {
        if (r == 1) window.load_last();
        float sum[4];
        QC_UNROLL for (int k = 0; k < 4; ++k) sum[k] = kDense ? dense_lines(window, r, k) : sparse_lines(window, r, k);
        places.add(sum);
    }
}

QC_HD void lines_phase(const DifferenceShared& shared, const Own& own, Places& places) {
    add_lines<true>(&shared.lines[0][own.row][4 * own.column], places);
    QC_NO_UNROLL
    for (int band = 1; band < 3; ++band) add_lines<false>(&shared.lines[band][own.row][4 * own.column], places);
}

/// Blue and the lowest bands: first of all, and both rows once. Stores the lowest bands' differences.
QC_HD void begin_places(const DifferenceArguments& arguments, float* pair, const Own& own, Corner corner,
                        Places& places) {
    constexpr auto kWeightX = static_cast<float>(kLowWeight[0]), kWeightY = static_cast<float>(kLowWeight[1]),
                   kWeightBlue = static_cast<float>(kLowWeight[2]), kMiddleBlue = static_cast<float>(kMiddleWeight[2]);
    const ScalePlanes& planes = arguments.planes;
    const Constants<float>& constants = arguments.constants;
    QC_NO_UNROLL
    for (int r = 0; r < 2; ++r) {
        const Group group = own.group(r, corner);
        float difference[4] = {};
        if (group.x < planes.shape.width && group.y < planes.shape.height) {
            const int64_t at = static_cast<int64_t>(group.y) * planes.shape.pitch + group.x;
            // Not load_plane4(): these planes are written over.
            const auto load = [&](const uint64_t(&plane)[kSignals], Signal signal) {
                return load_shared4(pair + plane[signal] + at);
            };
            const Float4 response[3] = {load(planes.response, kDeltaX), load(planes.response, kDeltaY),
                                        load(planes.response, kDeltaBlue)};
            const Float4 without_low[3] = {load(planes.without_low, kDeltaX), load(planes.without_low, kDeltaY),
                                           load(planes.without_low, kDeltaBlue)};
            const Float4 above = load(planes.above, kDeltaBlue);
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
            store_plane4(pair + planes.low + at, low);
        }
        places.add(difference);
    }
}

QC_HD void store_high(const DifferenceArguments& arguments, float* pair, const Own& own, Corner corner,
                      const Places& places) {
    const ScalePlanes& planes = arguments.planes;
    QC_UNROLL for (int r = 0; r < 2; ++r) {
        const Group group = own.group(r, corner);
        if (group.x >= planes.shape.width || group.y >= planes.shape.height) return;
        store_plane4(pair + planes.high + (static_cast<int64_t>(group.y) * planes.shape.pitch + group.x),
                     {{places.at(r, 0), places.at(r, 1), places.at(r, 2), places.at(r, 3)}});
    }
}

} // namespace qc::butteraugli
