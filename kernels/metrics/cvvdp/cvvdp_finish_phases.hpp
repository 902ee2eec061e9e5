// SPDX-License-Identifier: BSD-2-Clause-Patent
// From sums of tiles to those of bands; the baseband, whose levels are small.
#pragma once

#include "device/bits.hpp"
#include "device/kernel_list.hpp"
#include "metrics/cvvdp/cvvdp_band_phases.hpp"

namespace qc::cvvdp {
struct FinishArguments {
    const Group* group;
    const float* planes;
    const SensitivityTable* sensitivity;
    const double* sums;
    uint64_t* accumulators;
    DeviceLevels levels;
    int32_t first_tile[kDeviceBands];
    int32_t tiles, words, slot; ///< words of a pair
    float luminance_scale, luminance_offset;
    JoinArguments join;
    const float* weights; ///< of the kernel with weights
};

/// grid: (bands, members)
struct FinishBands : device::KernelOf<FinishArguments, tuning::kFinishThreads> {
    static constexpr int kWarps = kThreads / device::kWarpSize;

    /// The block's sum, for all threads.
    template <class Block>
    QC_HD static double sum_of(Block& block, double value) {
        auto& partial = device::shared<double[kWarps]>(block);
        const double of_warp = device::warp_tree_sum(block, value);
        if (block.lane() == 0) partial[block.warp()] = of_warp;
        block.sync();
        double all = 0.0;
        for (int w = 0; w < kWarps; ++w) all += partial[w];
        block.sync();
        return all;
    }

    /// Calls f with the place of every sample of the baseband that is this thread's.
    template <class Block, class F>
    QC_HD static void each_sample(Block& block, const Arguments& a, const F& f) {
        const int level = a.levels.bands - 1, width = a.levels.width[level];
        for (int i = block.thread(); i < width * a.levels.height[level]; i += kThreads)
            f(static_cast<size_t>(i / width) * a.levels.pitch[level] + i % width);
    }

    template <class Block>
    QC_HD static double mean_light(Block& block, const Arguments& a, const float* plane) {
        double sum = 0.0;
        each_sample(block, a, [&](size_t at) { sum += static_cast<double>(fmaxf(plane[at], 0.01f)); });
        const int level = a.levels.bands - 1;
        return sum_of(block, sum) / (static_cast<double>(a.levels.width[level]) * a.levels.height[level]);
    }

    template <bool kDraws, bool kWeighted, class Block>
    QC_HD static void score_baseband(Block& block, const Arguments& a, int member, uint64_t* words) {
        const int level = a.levels.bands - 1;
        const auto plane = [&](int side, int channel) {
            return a.planes + plane_offset(a.levels, member, side, channel, level);
        };
        const auto light_r = static_cast<float>(mean_light(block, a, plane(0, 0)));
        const auto light_t = static_cast<float>(mean_light(block, a, plane(1, 0)));
        const float at = fmaf(device::fast_log2(light_r), a.luminance_scale, a.luminance_offset);
        const float inside = fminf(fmaxf(at, 0.0f), static_cast<float>(kLuminances - 1));
        const int index = smaller_of(static_cast<int>(inside), kLuminances - 2);
        const auto difference = [&](int c, size_t place) {
            const SensitivityNode& node = a.sensitivity[level].node[c][index];
            const float weight = device::fast_exp2(fmaf(inside - static_cast<float>(index), node.slope, node.value));
            const float r = fminf(plane(0, c)[place] / light_r, 1000.0f);
            const float t = fminf(plane(1, c)[place] / light_t, 1000.0f);
            return fabsf(t - r) * weight;
        };
        const float* const weights = kWeighted ? a.weights + map_offset(a.levels, member, level) : nullptr;
        for (int c = 0; c < (kWeighted ? kWeightedSums : kDeviceChannels); ++c) {
            double sum = 0.0;
            each_sample(block, a, [&](size_t place) {
                const float part = c < kDeviceChannels ? squared(difference(c, place)) : 1.0f;
                sum += static_cast<double>(kWeighted ? weights[place] * part : part);
            });
            const double all = sum_of(block, sum);
            if (block.thread() == 0) words[c * a.levels.bands + level] = device::bits_of(all);
        }
        if (!kDraws && !(kWeighted && a.join.map != nullptr)) return;
        float* const map = a.join.map + map_offset(a.levels, member, level);
        each_sample(block, a, [&](size_t place) {
            float of_channel[kDeviceChannels];
            for (int c = 0; c < kDeviceChannels; ++c) of_channel[c] = difference(c, place);
            map[place] = join(of_channel, a.join.weight);
        });
    }

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        finish<false>(block, a);
    }

    /// @tparam kWeighted draws as well, where a map is wanted
    template <bool kDraws, bool kWeighted = false, class Block>
    QC_HD static void finish(Block& block, const Arguments& a) {
        constexpr int kSums = kWeighted ? kWeightedSums : kDeviceChannels;
        const int band = block.x(), member = block.y(), bands = a.levels.bands;
        const Group& group = *a.group;
        if (!is_active(group, member)) return;
        uint64_t* const words = a.accumulators + static_cast<size_t>(group.row[member]) * a.words +
                                static_cast<size_t>(a.slot) * kSums * bands;
        if (band == bands - 1) return score_baseband<kDraws, kWeighted>(block, a, member, words);
        const int first = a.first_tile[band], end = band + 2 < bands ? a.first_tile[band + 1] : a.tiles;
        for (int c = 0; c < kSums; ++c) {
            double sum = 0.0;
            for (int i = first + block.thread(); i < end; i += kThreads)
                sum += a.sums[(static_cast<size_t>(member) * a.tiles + i) * kSums + c];
            const double all = sum_of(block, sum);
            if (block.thread() == 0) words[c * bands + band] = device::bits_of(all);
        }
    }
};

/// Likewise, for a map.
struct FinishAndDrawBands : FinishBands {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        finish<true>(block, a);
    }
};

/// Likewise, with weights.
struct FinishWeightedBands : FinishBands {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        finish<false, true>(block, a);
    }
};

} // namespace qc::cvvdp
