// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the kernels share out the work, and where they keep the terms. Compiles on the host, where a test runs the same
// phases.
//
// The blocks of a plane, in raster order, form groups of 32: one lane per block. Terms are stored so that a warp's
// accesses are contiguous: term i of the group's block l at [i * 32 + l]. The last group is filled up with zero terms.
#pragma once

#include "device/plane_reader.hpp"
#include "metrics/psnr_hvs/psnr_hvs_math.hpp"
#include "metrics/psnr_hvs/psnr_hvs_sum.hpp"
#include "metrics/psnr_hvs/psnr_hvs_tuning.hpp"

namespace qc::psnr_hvs {

constexpr int kLanes = 32; ///< blocks of a group
constexpr int kTermsPerGroup = kLanes * kBlockSize;

struct PlaneTask {
    int blocks_x = 0;
    int blocks = 0;
    int first_group = 0; ///< of the plane among those of all planes
    int groups = 0;
};

/// Arguments of all launches that are the same for every pair.
struct Task {
    PlaneTask plane[kPlanes];
    int groups = 0; ///< of all planes of a pair
};

inline Task make_task(const FrameGeometry& geometry) {
    Task task;
    for (int p = 0; p < kPlanes; ++p) {
        PlaneTask& plane = task.plane[p];
        plane.blocks_x = (geometry.plane_width(p) - 1) / kBlockStep;
        plane.blocks = plane.blocks_x * ((geometry.plane_height(p) - 1) / kBlockStep);
        plane.first_group = task.groups;
        plane.groups = (plane.blocks + kLanes - 1) / kLanes;
        task.groups += plane.groups;
    }
    return task;
}

/// Device memory of a batch: per pair the terms, and per group a rough sum, the binade to expect before it, its map.
struct Scratch {
    float* terms;
    float* group_sums;
    uint32_t* binades;
    SumMap* maps;
};

inline size_t scratch_bytes_of(const Task& task, int count) {
    const size_t per_group = kTermsPerGroup * sizeof(float) + sizeof(float) + sizeof(uint32_t) + sizeof(SumMap);
    return per_group * static_cast<size_t>(task.groups) * static_cast<size_t>(count);
}

/// Carves `memory`, of scratch_bytes_of(task, count) bytes. The parts lie in the order of decreasing alignment.
inline Scratch make_scratch(void* memory, const Task& task, int count) {
    const size_t groups = static_cast<size_t>(task.groups) * static_cast<size_t>(count);
    Scratch scratch;
    scratch.terms = static_cast<float*>(memory);
    scratch.maps = reinterpret_cast<SumMap*>(scratch.terms + groups * kTermsPerGroup);
    scratch.group_sums = reinterpret_cast<float*>(scratch.maps + groups);
    scratch.binades = reinterpret_cast<uint32_t*>(scratch.group_sums + groups);
    return scratch;
}

QC_HD int plane_of_group(const Task& task, int group) {
    return group < task.plane[1].first_group ? 0 : group < task.plane[2].first_group ? 1 : 2;
}

template <typename T>
QC_HD void load_block(const DevicePlane& plane, int x, int y, Block& block) {
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) {
        block.at[i] = static_cast<int32_t>(read_sample<T>(plane, x + i % kBlockSide, y + i / kBlockSide));
    }
}

/// Writes the terms of block number `index` of a plane to terms[0], terms[kLanes], ... @return their sum, roughly
template <typename T>
QC_HD float score_block(const DevicePlane& reference, const DevicePlane& distorted, const PlaneTask& plane, int index,
                        const PlaneTables& tables, float* terms) {
    if (index >= plane.blocks) {
        for (int i = 0; i < kBlockSize; ++i) terms[i * kLanes] = 0.0f;
        return 0.0f;
    }
    const int x = index % plane.blocks_x * kBlockStep, y = index / plane.blocks_x * kBlockStep;
    Block block, reference_block{};
    float strength = 0.0f;
    // One copy of the code serves both pictures: it fills much of an instruction cache.
#if defined(__CUDACC__)
#pragma unroll 1
#endif
    for (int picture = 0; picture < 2; ++picture) {
        load_block<T>(picture == 0 ? reference : distorted, x, y, block);
        const float ratio = masking_ratio(block);
        transform(block);
        const float own = mask_strength(block, ratio, tables);
        strength = own > strength ? own : strength;
        if (picture == 0) reference_block = block;
    }
    float sum = 0.0f;
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) {
        const float term = error_term(i, reference_block.at[i] - block.at[i], strength, tables);
        terms[i * kLanes] = term;
        sum = sum + term;
    }
    return sum;
}

/// Map of one block's terms.
QC_HD SumMap block_map(const float* terms, uint32_t binade) {
    MapBuilder builder(binade);
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) builder.add(terms[i * kLanes]);
    return builder.map();
}

/// Term by term.
QC_HD float add_block(float sum, const float* terms) {
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) sum = sum + terms[i * kLanes];
    return sum;
}

} // namespace qc::psnr_hvs
