// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where the kernels of both ADM metrics keep what they leave to each other. Host only. Plans are the metrics' own; they
// have LevelPlan level[kLevels].
#pragma once

#include <cstddef>

#include "contract/device.hpp"
#include "families/detail_loss/detail_loss_tile.hpp"
#include "families/detail_loss/detail_loss_weight_kernels.hpp"

namespace qc::detail_loss {

constexpr size_t align_up(size_t size, size_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

template <typename Plan>
RowSums sum_rows_of(const Plan& plan) {
    RowSums rows;
    for (int i = 0; i < kLevels; i++) {
        rows.level[i] = {rows.count, plan.level[i].bottom - plan.level[i].top};
        rows.count += rows.level[i].count;
    }
    return rows;
}

/// What an element of the a bands and of the row sums takes.
struct ScratchElements {
    size_t row_sum, low[kLevels - 1];
    int pitch_alignment; ///< of the a bands, in elements: what the kernels read at once
    int row_words = kWordsPerLevel;
    bool weights = false; ///< of coefficients: they take some, too

    /// From row to row of an a band, in elements.
    int pitch(int width) const { return (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment; }
};

/// Scratch memory of a batch: row sums of all pairs, then the a bands of levels 0 to 2, two pictures for each pair,
/// then with weights the weights of all levels.
struct Scratch {
    size_t row_bytes, low_offset[kLevels - 1], weight_offset[kLevels], bytes;

    template <typename Plan>
    Scratch(const Plan& plan, int count, const ScratchElements& elements) {
        constexpr size_t kAlignment = 256;
        const auto pairs = static_cast<size_t>(count);
        row_bytes = pairs * sum_rows_of(plan).count * elements.row_words * elements.row_sum;
        bytes = align_up(row_bytes, kAlignment);
        for (int i = 0; i < kLevels - 1; i++) {
            low_offset[i] = bytes;
            const auto samples = static_cast<size_t>(elements.pitch(plan.level[i].width)) * plan.level[i].height;
            bytes += align_up(pairs * 2 * samples * elements.low[i], kAlignment);
        }
        for (int i = 0; i < kLevels; i++) {
            weight_offset[i] = bytes;
            const size_t weights = static_cast<size_t>(plan.level[i].width) * plan.level[i].height;
            if (elements.weights) bytes += align_up(pairs * weights * sizeof(Weight), kAlignment);
        }
    }

    template <typename LevelPlan>
    WeightPlace weights(void* scratch, int index, const LevelPlan& level) const {
        void* const data = static_cast<unsigned char*>(scratch) + weight_offset[index];
        return {static_cast<Weight*>(data), level.width,
                static_cast<uint32_t>(level.width) * static_cast<uint32_t>(level.height)};
    }

    /// The a bands of a level in the batch's scratch memory. The last level has none: kernels compute with the address
    /// that it gets, and never use it.
    void* low(void* scratch, int level) const {
        return static_cast<unsigned char*>(scratch) + (level < kLevels - 1 ? low_offset[level] : 0);
    }
};

/// Weighs the coefficients of a batch.
template <typename Plan>
Status launch_weights(DeviceQueue& queue, const LoadedKernel<WeightArguments>& kernel, const Plan& plan,
                      const Scratch& scratch, const DeviceBatch& batch) {
    WeightArguments arguments{};
    arguments.pairs = batch.pairs;
    arguments.accumulators = batch.accumulators;
    for (int i = 0; i < kLevels; i++) {
        const auto& level = plan.level[i];
        arguments.level[i] = {level.in_width, level.in_height, level.width,
                              level.height,   level.left,      level.top,
                              level.right,    level.bottom,    scratch.weights(batch.scratch, i, level)};
    }
    const auto& first = plan.level[0];
    return queue.launch(kernel,
                        {blocks_for(first.in_width, kWeightTile), blocks_for(first.in_height, kWeightTile),
                         static_cast<unsigned>(batch.count)},
                        arguments);
}

/// Where a level's kernel finds things. Plans are the metrics' own.
template <typename Plan>
LevelPlace place_level(const Plan& plan, int index, const ScratchElements& elements) {
    const RowSums rows = sum_rows_of(plan);
    LevelPlace place;
    place.in_pitch = elements.pitch(plan.level[index].in_width);
    place.out_pitch = elements.pitch(plan.level[index].width);
    place.first_row = rows.level[index].first - plan.level[index].top;
    place.rows = rows.count;
    return place;
}

} // namespace qc::detail_loss
