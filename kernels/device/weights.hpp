// SPDX-License-Identifier: BSD-2-Clause-Patent
// What weights say of places that are not luma samples: of chroma samples, and of the values of decimated pictures.
// Whole numbers, so that sums of weights, and of whole values times weights, have no order.
#pragma once

#include <cstdint>

#include "contract/map.hpp"
#include "contract/types.hpp"
#include "device/borders.hpp"
#include "device/plane_reader.hpp"

namespace qc {

constexpr int kFullWeight = 255;

/// The bytes of weights, on either side.
class WeightReader {
public:
    QC_HD explicit WeightReader(const DevicePlane& weights) : plane_(weights) {}
    QC_HD explicit WeightReader(const HostPlane& weights)
        : plane_{weights.data, static_cast<uint32_t>(weights.pitch.bytes), 1, 0} {}

    /// Of a luma sample.
    QC_HD uint32_t at(int x, int y) const { return read_sample<uint8_t>(plane_, x, y); }

    /// Sum over the luma samples that a chroma sample lies among: 1, 2 or 4 of them.
    QC_HD uint32_t at_chroma(int x, int y, bool halved_x, bool halved_y) const {
        const int left = halved_x ? 2 * x : x, top = halved_y ? 2 * y : y;
        uint32_t sum = at(left, top);
        if (halved_x) sum += at(left + 1, top);
        if (!halved_y) return sum;
        sum += at(left, top + 1);
        return halved_x ? sum + at(left + 1, top + 1) : sum;
    }

    /// Sum over the luma samples of a value, with the nearest of the picture's for those beyond its border.
    QC_HD uint32_t over(const MapShape& shape, int i, int j, int width, int height) const {
        const int left = shape.left + i * shape.step, top = shape.top + j * shape.step;
        uint32_t sum = 0;
        for (int y = top; y < top + shape.step; ++y)
            for (int x = left; x < left + shape.step; ++x)
                sum += at(nearest_inside(x, width), nearest_inside(y, height));
        return sum;
    }

private:
    DevicePlane plane_;
};

} // namespace qc
