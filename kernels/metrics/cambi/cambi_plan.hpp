// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a batch of pictures is laid out in scratch memory and cut into tiles. Pure functions of the settings and the size
// of the batch.
#pragma once

#include <algorithm>

#include "contract/device.hpp"
#include "metrics/cambi/cambi_kernels.hpp"
#include "metrics/cambi/cambi_settings.hpp"

namespace qc::cambi {

constexpr int divided_up(int value, int divisor) {
    return (value + divisor - 1) / divisor;
}

template <typename T>
constexpr T rounded_up(T value, T multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// Rows of the tiles in which the samples of a scale after the first are made.
constexpr int pyramid_walk(int scale) {
    return scale == 1 ? tuning::kPyramidWalk : tuning::kDeepPyramidWalk;
}

inline int image_walk(int count) {
    return count >= tuning::kLongWalkFrom ? tuning::kLongWalk : tuning::kShortWalk;
}

/// Everything but the addresses.
inline Pyramid plan_pyramid(const Settings& settings, const Analysis& analysis, int count) {
    constexpr int kPitchSamples = 32, kPlaneSamples = 64, kTileWords = 64;
    Pyramid pyramid{};
    for (int s = 0; s < kScales; ++s) {
        ScalePlane& plane = pyramid.scale[s];
        plane.width = settings.scale_width(analysis, s);
        plane.height = settings.scale_height(analysis, s);
        plane.pitch = rounded_up(plane.width, kPitchSamples);
        // Scale 0 comes from tiles of the analysis, which may be twice the size.
        const int halving = s == 0 && settings.half_size ? 2 : 1;
        plane.tile_width = kUsefulColumns / halving;
        plane.tile_height = s == 0 ? image_walk(count) / halving : pyramid_walk(s);
        plane.tiles_across = divided_up(plane.width, plane.tile_width);
        plane.first_sample = static_cast<uint32_t>(pyramid.samples_per_picture);
        plane.first_tile = static_cast<uint32_t>(pyramid.tiles_per_picture);
        pyramid.samples_per_picture +=
            rounded_up(static_cast<size_t>(plane.pitch) * static_cast<size_t>(plane.height), size_t{kPlaneSamples});
        pyramid.tiles_per_picture +=
            static_cast<size_t>(plane.tiles_across) * static_cast<size_t>(divided_up(plane.height, plane.tile_height));
    }
    pyramid.tiles_per_picture = rounded_up(pyramid.tiles_per_picture, size_t{kTileWords});
    return pyramid;
}

/// Whether there can be more c-values than are pooled.
inline bool may_select(const Settings& settings, const Analysis& analysis) {
    for (int s = 0; s < kScales; ++s)
        if (settings.pooled_pixels(analysis, s) < static_cast<uint64_t>(settings.scale_width(analysis, s)) *
                                                      static_cast<uint64_t>(settings.scale_height(analysis, s)))
            return true;
    return false;
}

/// Scratch memory of a batch of pictures: parts in this order, by byte offset.
struct ScratchLayout {
    size_t samples = 0, occupied = 0, selections = 0, bytes = 0;
};

inline ScratchLayout plan_scratch(const Settings& settings, const Analysis& analysis, int count) {
    constexpr size_t kAlignment = 256;
    const Pyramid pyramid = plan_pyramid(settings, analysis, count);
    const auto pictures = static_cast<size_t>(count);
    ScratchLayout layout;
    layout.occupied = rounded_up(pictures * pyramid.samples_per_picture * sizeof(uint16_t), kAlignment);
    layout.selections =
        rounded_up(layout.occupied + pictures * pyramid.tiles_per_picture * sizeof(uint32_t), kAlignment);
    layout.bytes = layout.selections;
    if (may_select(settings, analysis)) layout.bytes += pictures * kScales * sizeof(Selection);
    return layout;
}

/// A kernel that counts, and how its blocks are made.
struct CountKernel {
    KernelIdentifier<CountTask> identifier;
    int columns, width_multiple, target_blocks;
    size_t (*shared_bytes)(int groups_per_pass);
};

template <class Plan>
constexpr CountKernel count_kernel(const KernelIdentifier<CountTask>& identifier) {
    return {identifier, Plan::kColumns, Plan::kWidthMultiple, Plan::kTargetBlocks, Plan::shared_bytes};
}

inline CountKernel choose_count_kernel(int differences, int window) {
    switch (differences) {
    case 1:
        return count_kernel<CountUpTo1>(kernels::cambi_count_up_to_1);
    case 2:
        return count_kernel<CountUpTo2>(kernels::cambi_count_up_to_2);
    case 8:
        return count_kernel<CountUpTo8>(kernels::cambi_count_up_to_8);
    case 16:
        return count_kernel<CountUpTo16>(kernels::cambi_count_up_to_16);
    case 32:
        return count_kernel<CountUpTo32>(kernels::cambi_count_up_to_32);
    default:
        break;
    }
    if (window == 17) return count_kernel<StripReach8>(kernels::cambi_count_17);
    if (window == 33) return count_kernel<StripReach16>(kernels::cambi_count_33);
    if (window == kMaxWindow) return count_kernel<CountReach32>(kernels::cambi_count_65);
    return count_kernel<CountAnyReach>(kernels::cambi_count);
}

/// Cuts all scales into tiles of equal size. @return the number of tiles
inline unsigned plan_tiles(const CountKernel& kernel, int reach, int count, CountTask* task) {
    // Whole warps score best, unless much of the width would be given away.
    constexpr int kWholeWarps = 4;
    int width = (kernel.columns - 2 * reach) / kernel.width_multiple * kernel.width_multiple;
    const int warp_width = kLanes * kernel.width_multiple;
    if (width > warp_width && width % warp_width < warp_width / kWholeWarps) width -= width % warp_width;

    unsigned tiles = 0;
    for (const int rows : tuning::kTileRows) {
        tiles = 0;
        for (int s = 0; s < kScales; ++s) {
            const ScalePlane& plane = task->pyramid.scale[s];
            ScaleTiles& scale = task->tiles[s];
            scale.across = divided_up(plane.width, width);
            scale.width = rounded_up(divided_up(plane.width, scale.across), kernel.width_multiple);
            const int down = divided_up(plane.height, rows);
            scale.height = divided_up(plane.height, down);
            scale.first = tiles;
            tiles += static_cast<unsigned>(scale.across * down);
        }
        // Shorter tiles would mostly count the rows above them.
        if (rows <= 2 * reach || tiles * static_cast<unsigned>(count) >= static_cast<unsigned>(kernel.target_blocks))
            break;
    }
    return tiles;
}

} // namespace qc::cambi
