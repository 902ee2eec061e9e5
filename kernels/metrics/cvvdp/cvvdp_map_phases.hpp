// SPDX-License-Identifier: BSD-2-Clause-Patent
// The map: differences of a band's channels in one, all bands at the size of the finest, and what of a JOD that costs.
#pragma once

#include "contract/map.hpp"
#include "device/block.hpp"
#include "device/borders.hpp"
#include "device/kernel_list.hpp"
#include "metrics/cvvdp/cvvdp_device.hpp"

namespace qc::cvvdp {
/// Where the joined differences of a band go, and how they are joined.
struct JoinArguments {
    float* map;                          ///< [member]: a plane as DeviceLevels says; null: nobody wants a map
    float weight[kDeviceChannels];       ///< of the baseband's channels
    float inner_weight[kDeviceChannels]; ///< of those of all other bands
};

QC_HD float fourth_root_of_offset(float sum) {
    return sqrtf(sqrtf(sum + 1e-5f)) - sqrtf(sqrtf(1e-5f));
}

/// P(sum of P(D, 4), 1/4) at one place of a band.
QC_HD float join(const float (&difference)[kDeviceChannels], const float (&weight)[kDeviceChannels]) {
    float sum = 0.0f;
    QC_UNROLL for (int c = 0; c < kDeviceChannels; ++c) {
        const float offset = fmaf(difference[c], weight[c], 1e-5f), square = offset * offset;
        sum += fmaxf(fmaf(square, square, -1e-20f), 0.0f);
    }
    return fourth_root_of_offset(sum);
}

QC_HD size_t map_offset(const DeviceLevels& levels, int member, int level) {
    return static_cast<size_t>(member) * levels.plane + levels.offset[level];
}

struct AddArguments {
    const Group* group;
    float* map;
    DeviceLevels levels;
    int32_t level;
    DeviceMap drawn;               ///< of the finest level
    float factor, power, straight; ///< of the JOD that is lost: a power, and a line below kStraightUpTo
};

/// A level's sample with that of the coarser one, expanded. grid: (columns, rows, members)
struct AddLevel : device::KernelOf<AddArguments, tuning::kMapThreads> {
    QC_HD static float across(const float* row, int x, int width) {
        const int left = x / 2, right = nearest_inside(left + 1, width);
        if (x % 2 != 0) return 0.5f * (row[left] + row[right]);
        return 0.1f * fmaf(8.0f, row[left], row[nearest_inside(left - 1, width)] + row[right]);
    }

    QC_HD static float expanded(const Arguments& a, int member, int x, int y) {
        const int coarse = a.level + 1, width = a.levels.width[coarse], height = a.levels.height[coarse];
        const float* const plane = a.map + map_offset(a.levels, member, coarse);
        const auto row = [&](int j) {
            return across(plane + static_cast<size_t>(nearest_inside(j, height)) * a.levels.pitch[coarse], x, width);
        };
        if (y % 2 != 0) return 0.5f * (row(y / 2) + row(y / 2 + 1));
        return 0.1f * fmaf(8.0f, row(y / 2), row(y / 2 - 1) + row(y / 2 + 1));
    }

    /// The sum of this level and all coarser ones at a place; `own` is where this level's sample lies.
    QC_HD static float sum_at(const Arguments& a, int member, int x, int y, const float* own) {
        return a.level + 1 < a.levels.bands ? *own + expanded(a, member, x, y) : *own;
    }

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        const int x = block.x() * kThreads + block.thread(), y = block.y(), member = block.z();
        if (!is_active(*a.group, member) || x >= a.levels.width[a.level]) return;
        float* const own =
            a.map + map_offset(a.levels, member, a.level) + static_cast<size_t>(y) * a.levels.pitch[a.level] + x;
        *own = sum_at(a, member, x, y, own);
    }
};

/// The finest level, painted: 1 - JOD / 10. 0 everywhere in members whose frame waits for others. grid: as AddLevel
struct PaintMap : device::KernelOf<AddArguments, tuning::kMapThreads> {
    static constexpr float kStraightUpTo = 0.1f;

    QC_HD static float lost(const Arguments& a, float quality) {
        if (quality <= kStraightUpTo) return a.straight * quality;
        return a.factor * device::fast_exp2(a.power * device::fast_log2(quality));
    }

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        const int x = block.x() * kThreads + block.thread(), y = block.y(), member = block.z();
        const int width = a.levels.width[0];
        if (member >= a.group->members || x >= width) return;
        const MapPlane to = a.drawn.of_output(a.group->row[member], {.width = width, .height = a.levels.height[0]});
        if (to.data == nullptr) return;
        float value = 0.0f;
        if (is_active(*a.group, member)) {
            const float* const own =
                a.map + map_offset(a.levels, member, 0) + static_cast<size_t>(y) * a.levels.pitch[0] + x;
            value = lost(a, AddLevel::sum_at(a, member, x, y, own));
        }
        to.put(x, y, value);
    }
};

} // namespace qc::cvvdp
