// SPDX-License-Identifier: BSD-2-Clause-Patent
// The last step of Butteraugli with weights: the map of full size once more, whose places count by their weights.
#pragma once

#include "device/weights.hpp"
#include "metrics/butteraugli/butteraugli_map_phases.hpp"

namespace qc::butteraugli {

/// Of some places.
struct WeightedMapSums {
    MapSums map;
    uint32_t weights;

    /// Powers in shares of whole samples: of weights that are all whole with the bits that they have without them.
    QC_HD void add(float value, uint32_t weight) {
        if (weight == 0) return;
        const float share = static_cast<float>(weight) / static_cast<float>(kFullWeight);
        const float square = value * value, cube = square * value, sixth = cube * cube;
        map.power[0] += share * square;
        map.power[1] += share * cube;
        map.power[2] += share * sixth;
        map.twelfth = fma(static_cast<double>(share * sixth), static_cast<double>(sixth), map.twelfth);
        map.largest = larger(map.largest, value);
        weights += weight;
    }
};

/// Four neighbours of the map of both scales.
QC_HD Float4 whole_map_group(const MapArguments& arguments, const float* pair, int x, int y) {
    Float4 map = map_group(arguments, pair, x, y);
    if (arguments.half.width == 0) return map;
    const float* const half = pair + arguments.half_map + (static_cast<int64_t>(y / 2) * arguments.half.pitch + x / 2);
    QC_UNROLL for (int k = 0; k < 4; ++k) {
        const float of_half = x / 2 + k / 2 < arguments.half.width ? load_plane(half + k / 2) : 0.0f;
        map.value[k] = fmaf(static_cast<float>(kFullShare), map.value[k], static_cast<float>(kHalfShare) * of_half);
    }
    return map;
}

/// Adds up the map of both scales. @param drawn receives the map as well, unless its data is null
QC_HD void add_weighted_map(const MapArguments& arguments, const float* pair, int warp, int lane, int block_x,
                            int block_y, const DevicePlane& sample_weights, const MapPlane& drawn,
                            WeightedMapSums& sums) {
    const WeightReader reader(sample_weights);
    visit_groups(arguments.shape, warp, lane, block_x, block_y, [&](int x, int y) {
        const Float4 map = whole_map_group(arguments, pair, x, y);
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            if (x + k >= arguments.shape.width) continue;
            sums.add(map.value[k], reader.at(x + k, y));
            if (drawn.data != nullptr) drawn.put(x + k, y, map.value[k]);
        }
    });
}

} // namespace qc::butteraugli
