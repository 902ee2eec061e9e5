// SPDX-License-Identifier: BSD-2-Clause-Patent
// Last kernels of Butteraugli: from differences and blurred activities to the map, of which that of half size is stored
// and that of full size only adds up, and to the sums of all blocks.
#pragma once

#include "contract/map.hpp"
#include "device/bits.hpp"
#include "metrics/butteraugli/butteraugli_planes.hpp"

namespace qc::butteraugli {

constexpr int kMapThreads = 256;
constexpr int kMapColumns = 128, kMapRows = 32; ///< of a block; a warp takes a row, a thread four neighbours
constexpr int kMapWarps = kMapThreads / 32;

struct MapArguments {
    float* scratch;
    uint64_t pair_floats;
    PlaneShape shape, half; ///< half.width 0: there is no half size
    uint64_t masking[2], high, low, half_map;
    double* sums; ///< kAccumulatorWords of each block of each pair
    int32_t blocks;
    float masking_gain;
    const DevicePair* pairs; ///< of the kernel that draws, and so is
    DeviceMap drawn;
    uint64_t* accumulators; ///< of the kernel with weights, which draws too
};

/// Of some places.
struct MapSums {
    float power[kPowers - 1]; ///< 2, 3 and 6
    double twelfth;           ///< beyond the range of single precision
    float largest;

    QC_HD void add(float value) {
        const float square = value * value, cube = square * value, sixth = cube * cube;
        power[0] += square;
        power[1] += cube;
        power[2] += sixth;
        twelfth = fma(static_cast<double>(sixth), static_cast<double>(sixth), twelfth);
        largest = larger(largest, value);
    }
};

/// Four neighbours of the map.
QC_HD Float4 map_group(const MapArguments& arguments, const float* pair, int x, int y) {
    constexpr float kNowhere = 1e30f;
    const PlaneShape& shape = arguments.shape;
    const Half* const masking = halves(pair, arguments.masking[0]);
    float neighbour[3][12];
    QC_UNROLL for (int r = 0; r < 3; ++r) {
        const int row = y + (r - 1) * kErosionStep;
        const bool row_inside = row >= 0 && row < shape.height;
        QC_UNROLL for (int w = 0; w < 3; ++w) {
            const int column = x - 4 + 4 * w;
            const bool inside = row_inside && column >= 0 && column < shape.width;
            const Half* const from = masking + (static_cast<int64_t>(row) * shape.pitch + column);
            const Float4 four = inside ? load_half4(from) : Float4{};
            QC_UNROLL for (int k = 0; k < 4; ++k) neighbour[r][4 * w + k] =
                inside && column + k < shape.width ? four.value[k] : kNowhere;
        }
    }
    const int64_t at = static_cast<int64_t>(y) * shape.pitch + x;
    const Float4 more = load_half4(halves(pair, arguments.masking[1]) + at),
                 high = load_plane4(pair + arguments.high + at), low = load_plane4(pair + arguments.low + at);
    Float4 map;
    QC_UNROLL for (int k = 0; k < 4; ++k) {
        const float own = neighbour[1][4 + k];
        Erosion<float> smallest(own);
        QC_UNROLL for (int r = 0; r < 3; ++r) {
            QC_UNROLL for (int side = -1; side <= 1; ++side) {
                if (r != 1 || side != 0) smallest.take(neighbour[r][4 + k + side * kErosionStep]);
            }
        }
        const float difference = more.value[k];
        const float sum = fmaf(static_cast<float>(kActivityWeight) * difference, difference, high.value[k]);
        map.value[k] = distance(sum, low.value[k], smallest.value(), arguments.masking_gain);
    }
    return map;
}

/// A block's rows of its column of groups, one warp below the other. @param visit of a group inside: (x, y)
template <class Visit>
QC_HD void visit_groups(const PlaneShape& shape, int warp, int lane, int block_x, int block_y, const Visit& visit) {
    const int x = block_x * kMapColumns + 4 * lane;
    if (x >= shape.width) return;
    QC_NO_UNROLL
    for (int row = warp; row < kMapRows; row += kMapWarps) {
        const int y = block_y * kMapRows + row;
        if (y >= shape.height) return;
        visit(x, y);
    }
}

/// Adds up the map of both scales.
/// @tparam kDraws puts the map into `drawn` as well, unless its data is null
template <bool kDraws>
QC_HD void add_map(const MapArguments& arguments, const float* pair, int warp, int lane, int block_x, int block_y,
                   const MapPlane& drawn, MapSums& sums) {
    visit_groups(arguments.shape, warp, lane, block_x, block_y, [&](int x, int y) {
        const Float4 map = map_group(arguments, pair, x, y);
        float half[2] = {};
        if (arguments.half.width != 0) {
            const int64_t at = static_cast<int64_t>(y / 2) * arguments.half.pitch + x / 2;
            QC_UNROLL for (int k = 0; k < 2; ++k) {
                if (x / 2 + k < arguments.half.width) half[k] = load_plane(pair + arguments.half_map + at + k);
            }
        }
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            if (x + k >= arguments.shape.width) continue;
            const float own = map.value[k];
            const float whole = arguments.half.width == 0 ? own
                                                          : fmaf(static_cast<float>(kFullShare), own,
                                                                 static_cast<float>(kHalfShare) * half[k / 2]);
            sums.add(whole);
            if constexpr (kDraws) {
                if (drawn.data != nullptr) drawn.put(x + k, y, whole);
            }
        }
    });
}

/// The map of half size, to half_map.
QC_HD void store_map(const MapArguments& arguments, float* pair, int warp, int lane, int block_x, int block_y) {
    visit_groups(arguments.shape, warp, lane, block_x, block_y, [&](int x, int y) {
        store_plane4(pair + arguments.half_map + (static_cast<int64_t>(y) * arguments.shape.pitch + x),
                     map_group(arguments, pair, x, y));
    });
}

struct FinishArguments {
    const DevicePair* pairs;
    const double* sums;
    uint64_t* accumulators;
    int32_t blocks;
};

} // namespace qc::butteraugli
