// SPDX-License-Identifier: BSD-2-Clause-Patent
// From a level to the next smaller one.
#pragma once

#include "device/block.hpp"
#include "device/borders.hpp"
#include "metrics/cvvdp/cvvdp_device.hpp"

namespace qc::cvvdp {

struct ReduceArguments {
    const Group* group;
    float* planes;
    DeviceLevels levels;
    int32_t from;       ///< level
    float last, before; ///< see LastColumn
};

/// grid: (tiles across, tiles down, planes of a group)
struct ReduceLevel {
    using Arguments = ReduceArguments;
    static constexpr int kThreads = tuning::kReduceThreads;
    static constexpr int kWidth = tuning::kReduceWidth, kHeight = tuning::kReduceHeight;
    static constexpr int kColumns = 2 * kWidth + 3; ///< of the larger level, under a tile's kernels

    struct Columns {
        float of[kHeight][kColumns];
    };

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        const int planes = 2 * kDeviceChannels, member = block.z() / planes, plane = block.z() % planes;
        if (!is_active(*a.group, member)) return;
        const int width = a.levels.width[a.from], height = a.levels.height[a.from], pitch = a.levels.pitch[a.from];
        const int to_width = a.levels.width[a.from + 1], to_height = a.levels.height[a.from + 1];
        const int left = block.x() * kWidth, top = block.y() * kHeight;
        const int side = plane / kDeviceChannels, channel = plane % kDeviceChannels;
        const float* const from = a.planes + plane_offset(a.levels, member, side, channel, a.from);
        float* const to = a.planes + plane_offset(a.levels, member, side, channel, a.from + 1);
        auto& columns = device::shared<Columns>(block);

        for (int i = block.thread(); i < kHeight * kColumns; i += kThreads) {
            const int row = i / kColumns, column = i % kColumns, y = 2 * (top + row), at = 2 * left - 2 + column;
            if (top + row >= to_height || at >= width) continue;
            const int x = at < 0 ? -1 - at : at;
            const auto sample = [&](int d) {
                return from[static_cast<size_t>(mirror_with_edges(y + d, height)) * pitch + x];
            };
            columns.of[row][column] =
                fmaf(0.4f, sample(0), fmaf(0.25f, sample(-1) + sample(1), 0.05f * (sample(-2) + sample(2))));
        }
        block.sync();
        for (int i = block.thread(); i < kHeight * kWidth; i += kThreads) {
            const int row = i / kWidth, x = left + i % kWidth, y = top + row;
            if (x >= to_width || y >= to_height) continue;
            const float* const line = &columns.of[row][2 * (i % kWidth)]; // two to the left of the kernel's centre
            const int inside = width - 1 - 2 * x;                         // samples to the right of the centre
            float sum = fmaf(0.4f, line[2], fmaf(0.25f, line[1], 0.05f * line[0]));
            if (x < to_width - 1) {
                sum = fmaf(0.25f, line[3], fmaf(0.05f, line[4], sum));
            } else {
                if (inside > 0) sum = fmaf(0.25f, line[3], sum);
                sum = fmaf(a.last, line[2 + inside], fmaf(a.before, line[1 + inside], sum));
            }
            to[static_cast<size_t>(y) * a.levels.pitch[a.from + 1] + x] = sum;
        }
    }
};

} // namespace qc::cvvdp
