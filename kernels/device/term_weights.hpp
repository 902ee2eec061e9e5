// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-precision terms with weights: each is multiplied by its place's share before it is added up. The share of a
// place that counts whole is exactly 1, so that weights that are all whole change no bit.
#pragma once

#include <cstdint>

#include "contract/types.hpp"
#include "device/borders.hpp"
#include "device/weights.hpp"

namespace qc::device {

/// How the places of a plane lie over the weights: over so many luma samples each, of those beyond the border the
/// nearest.
struct WeightFootprint {
    int across = 1, down = 1;  ///< samples
    int width = 0, height = 0; ///< of the weights

    /// The sum under a place.
    QC_HD uint32_t weight(const WeightReader& weights, int x, int y) const {
        uint32_t sum = 0;
        for (int row = y * down; row < (y + 1) * down; ++row)
            for (int column = x * across; column < (x + 1) * across; ++column)
                sum += weights.at(nearest_inside(column, width), nearest_inside(row, height));
        return sum;
    }
    QC_HD uint32_t full_weight() const { return static_cast<uint32_t>(kFullWeight * across * down); }
    QC_HD float share(uint32_t weight) const { return static_cast<float>(weight) / static_cast<float>(full_weight()); }

    /// Places that count, in units of those that count whole.
    double places(uint64_t sum_of_weights) const { return static_cast<double>(sum_of_weights) / full_weight(); }

    /// On the host: the shares of a row. @return the sum of its weights
    uint64_t share_row(const HostPlane& weights, int y, int count, float* shares) const {
        const WeightReader reader(weights);
        const uint8_t* const samples = weights.as<uint8_t>().row(across == 1 && down == 1 ? y : 0);
        uint64_t sum = 0;
        for (int x = 0; x < count; ++x) {
            const uint32_t of_place = across == 1 && down == 1 ? samples[x] : weight(reader, x, y);
            shares[x] = share(of_place);
            sum += of_place;
        }
        return sum;
    }
    /// Multiplies both terms of each place of a row by its share. @return the sum of the row's weights
    uint64_t weigh_row(const HostPlane& weights, int y, int count, float* shares, float* first, float* second) const {
        const uint64_t sum = share_row(weights, y, count, shares);
        for (int x = 0; x < count; ++x) {
            first[x] = first[x] * shares[x];
            second[x] = second[x] * shares[x];
        }
        return sum;
    }
};

/// Of luma.
inline WeightFootprint luma_footprint(const FrameGeometry& geometry, int step = 1) {
    return {step, step, geometry.width, geometry.height};
}
inline WeightFootprint plane_footprint(const FrameGeometry& geometry, int plane, int step = 1) {
    const bool halved_x = plane > 0 && geometry.stored_chroma_width < geometry.width;
    const bool halved_y = plane > 0 && geometry.stored_chroma_height < geometry.height;
    return {halved_x ? 2 * step : step, halved_y ? 2 * step : step, geometry.width, geometry.height};
}

} // namespace qc::device
