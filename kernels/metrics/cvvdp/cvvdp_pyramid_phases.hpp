// SPDX-License-Identifier: BSD-2-Clause-Patent
// From a level to the next smaller one.
#pragma once

#include "device/block.hpp"
#include "device/borders.hpp"
#include "device/kernel_list.hpp"
#include "metrics/cvvdp/cvvdp_device.hpp"

namespace qc::cvvdp {
struct ReduceArguments {
    const Group* group;
    float* planes;
    DeviceLevels levels;
    int32_t from;       ///< level
    int32_t rows;       ///< of a thread
    float last, before; ///< see LastColumn
};

/// grid: (tiles across, tiles down, planes of a group). A thread goes down a column of the smaller level: each row of
/// the larger one is filtered across once, and five of these values make a sample. The outermost columns are written
/// twice.
struct ReduceLevel : device::KernelOf<ReduceArguments, tuning::kReduceThreads> {
    static constexpr int kWidth = device::kWarpSize; ///< of a tile
    /// Of a tile, whose threads have so many rows.
    static constexpr int height(int rows) { return kThreads / kWidth * rows; }

    /// The larger level's sample 2x and its neighbours, weighed; `row` has `width` samples.
    QC_HD static float across(const Arguments& a, const float* row, int x, int width) {
        const int centre = 2 * x, last = width - 1;
        if (x > 0 && centre + 2 <= last) {
            const Two left = *reinterpret_cast<const Two*>(row + centre - 2),
                      here = *reinterpret_cast<const Two*>(row + centre);
            const float outer = left.first + row[centre + 2], inner = left.second + here.second;
            return fmaf(0.4f, here.first, fmaf(0.25f, inner, 0.05f * outer));
        }
        const float before = row[x > 0 ? centre - 1 : 0], before_that = row[x > 0 ? centre - 2 : 1];
        float sum = fmaf(0.4f, row[centre], fmaf(0.25f, before, 0.05f * before_that));
        if (centre + 2 <= last) return fmaf(0.25f, row[centre + 1], fmaf(0.05f, row[centre + 2], sum));
        if (centre < last) sum = fmaf(0.25f, row[last], sum);
        return fmaf(a.last, row[last], fmaf(a.before, row[last - 1], sum));
    }

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        constexpr int kPlanes = 2 * kDeviceChannels;
        const int member = block.z() / kPlanes, side = block.z() % kPlanes / kDeviceChannels;
        const int channel = block.z() % kDeviceChannels;
        const int x = block.x() * kWidth + block.lane();
        const int top = (block.y() * (kThreads / kWidth) + block.warp()) * a.rows;
        if (!is_active(*a.group, member) || x >= a.levels.width[a.from + 1]) return;
        const int width = a.levels.width[a.from], height = a.levels.height[a.from], pitch = a.levels.pitch[a.from];
        const float* const from = a.planes + plane_offset(a.levels, member, side, channel, a.from);
        const int to_pitch = a.levels.pitch[a.from + 1], bottom = smaller_of(top + a.rows, a.levels.height[a.from + 1]);
        float* to = a.planes + plane_offset(a.levels, member, side, channel, a.from + 1) +
                    static_cast<size_t>(top) * to_pitch + x;
        const auto row = [&](int y) {
            return across(a, from + static_cast<size_t>(mirror_with_edges(y, height)) * pitch, x, width);
        };
        const bool is_last = x == a.levels.width[a.from + 1] - 1;
        if (top >= bottom) return;
        float above = row(2 * top - 2), before = row(2 * top - 1), here = row(2 * top);
        for (int y = top; y < bottom; ++y) {
            const float after = row(2 * y + 1), below = row(2 * y + 2);
            *to = fmaf(0.4f, here, fmaf(0.25f, before + after, 0.05f * (above + below)));
            if (x == 0) to[-1] = *to;
            if (is_last) to[1] = *to;
            to += to_pitch;
            above = here;
            before = after;
            here = below;
        }
    }
};

} // namespace qc::cvvdp
