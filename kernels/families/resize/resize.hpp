// SPDX-License-Identifier: BSD-2-Clause-Patent
// Resizing of float planes as libvmaf's metrics with a prescale option do it. Positions and weights come from tables
// (resize_axis.hpp), so that what is left for a sample are multiplications and additions in a fixed order.
#pragma once

#include <cstdint>

#include "contract/types.hpp"
#include "device/borders.hpp"

namespace qc {

enum class Resize : int { kNone = -1, kNearest = 0, kBilinear = 1, kBicubic = 2, kLanczos4 = 3 };

constexpr int kMaxResizeTaps = 9;

/// Where one column or row of the resized plane comes from.
struct ResizeEntry {
    int32_t first;  ///< sample of the first weight; for weighted kernels it may lie outside: mirror it
    int32_t second; ///< kBilinear: sample of the second weight, mirrored already
    float weight[kMaxResizeTaps];
};

QC_HD constexpr int resize_taps(Resize method) {
    return method == Resize::kBicubic ? 4 : method == Resize::kLanczos4 ? 9 : 0;
}

/// One sample of the resized plane. at(x, y) is a sample of the source.
template <Resize kMethod, class At>
QC_HD float resized(const At& at, const ResizeEntry& column, const ResizeEntry& row, int width, int height) {
    if constexpr (kMethod == Resize::kNearest) {
        return at(column.first, row.first);
    } else if constexpr (kMethod == Resize::kBilinear) {
        float value = (row.weight[0] * column.weight[0]) * at(column.first, row.first);
        value = value + (row.weight[0] * column.weight[1]) * at(column.second, row.first);
        value = value + (row.weight[1] * column.weight[0]) * at(column.first, row.second);
        return value + (row.weight[1] * column.weight[1]) * at(column.second, row.second);
    } else {
        constexpr int kTaps = resize_taps(kMethod);
        float sum = 0.0f, weights = 0.0f;
        for (int j = 0; j < kTaps; ++j) {
            const int y = mirror_without_edges(row.first + j, height);
            for (int i = 0; i < kTaps; ++i) {
                const float weight = column.weight[i] * row.weight[j];
                sum += at(mirror_without_edges(column.first + i, width), y) * weight;
                weights += weight;
            }
        }
        return kMethod == Resize::kLanczos4 ? sum / weights : sum;
    }
}

} // namespace qc
