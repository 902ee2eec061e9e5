// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of floating-point ADM: one for level 0 and one for all deeper levels, each for the power 3 and for any,
// and one that adds up the rows. A block walks along all tiles of a row of tiles, since running sums do.
#pragma once

#include "device/kernel_list.hpp"
#include "device/ordered_sum.hpp"
#include "metrics/float_adm/float_adm_tile_phases.hpp"

namespace qc::float_adm {
// ---- levels ---------------------------------------------------------------------------------------------------------

/// Hides from the compiler that a value is the same for all tiles of a row. What follows from it, such as addresses of
/// rows, is then computed for each tile anew instead of taking registers, which would spill, all the way.
QC_HD int computed_anew(int value) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(value));
#endif
    return value;
}

/// The picture that a thread filters: luma, read in place, or what the level above has left (T: float).
template <typename T>
QC_HD Source<T> source_of(const LevelArguments& arguments, int pair, int thread) {
    if constexpr (std::is_same_v<T, float>) {
        const size_t plane = static_cast<size_t>(arguments.task.place.in_pitch) * arguments.task.plan.in_height;
        Source<T> source;
        source.data = arguments.in + (2 * static_cast<unsigned>(pair) + picture_of_thread(thread)) * plane;
        source.pitch = arguments.task.place.in_pitch;
        return source;
    } else {
        const DevicePair& pictures = arguments.pairs[pair];
        return luma_of<T>(picture_of_thread(thread) == 0 ? pictures.reference : pictures.distorted,
                          kColumnsPerItem * sizeof(T));
    }
}

/// grid: (rows of tiles, 1, pairs)
template <bool kCube, typename T, class Count = CountAll>
struct ScoreRow : device::KernelOf<LevelArguments, tuning::kThreads, tuning::kBlocksPerMultiprocessor> {
    static constexpr size_t kSharedBytes = sizeof(SharedTile);

    template <class Block>
    QC_HD static void run(Block& block, const LevelArguments& arguments) {
        // A copy, so that the compiler reads the parameter once instead of again for each tile, which takes registers.
        const LevelTask task = arguments.task;
        auto& shared = *device::dynamic_shared<SharedTile>(block);
        const Source<T> source = source_of<T>(arguments, block.z(), block.thread());
        const size_t plane = static_cast<size_t>(task.place.out_pitch) * task.plan.height;
        float* const reference_low = arguments.low + 2 * static_cast<unsigned>(block.z()) * plane;
        float* const distorted_low = reference_low + plane;

        const TileGrid& grid = task.grid;
        const int tile_y = grid.origin_y + block.x() * tuning::kUsefulRows;
        const RunningSum own = running_sum(task.plan, tile_y, block.thread());
        float sum = 0.0f;
        QC_NO_UNROLL
        for (int tile = 0; tile < grid.columns; tile++) {
            const int thread = computed_anew(block.thread());
            const int tile_x = grid.origin_x + tile * tuning::kUsefulColumns;
            if (has_details(task.plan, tile_x, tile_y)) {
                ThreadTile state;
                start_undefined(state);
                filter_columns<true>(task, source, tile_x, tile_y, thread, shared);
                block.sync();
                filter_rows<true, kCube>(task, tile_x, tile_y, thread, shared, reference_low, distorted_low, state);
                block.sync();
                measure_energies<kCube>(block, task, tile_x, tile_y, thread, shared, state,
                                        Count(arguments, block.z()));
                block.sync();
                if (own.used) sum = continue_sum(shared, own.chain, sum);
                block.sync();
            } else if (task.writes_low != 0) {
                ThreadTile state;
                start_undefined(state);
                filter_columns<false>(task, source, tile_x, tile_y, thread, shared);
                block.sync();
                filter_rows<false, kCube>(task, tile_x, tile_y, thread, shared, reference_low, distorted_low, state);
                block.sync();
            }
        }
        if (!own.used) return;
        const size_t row = static_cast<size_t>(block.z()) * task.place.rows + (task.place.first_row + own.y);
        arguments.row_sums[row * kWordsPerLevel + own.sum] = sum;
    }
};

// ---- the last kernel ------------------------------------------------------------------------------------------------

/// Adds row sums up.
struct FinishArguments {
    const DevicePair* pairs;
    const float* row_sums;
    uint64_t* accumulators;
    RowSums rows;
    int32_t words; ///< of a pair
};

/// A warp for each accumulator word of a level. grid: (levels, 1, pairs)
struct Finish : device::KernelOf<FinishArguments, 32 * kWordsPerLevel> {
    template <class Block>
    QC_HD static void run(Block& block, const FinishArguments& arguments) {
        const int index = block.x(), word = block.warp();
        const RowSums::Level level = arguments.rows.level[index];
        const size_t first = static_cast<size_t>(block.z()) * arguments.rows.count + level.first;
        const float sum =
            device::ordered_sum(block, arguments.row_sums + first * kWordsPerLevel + word, level.count, kWordsPerLevel);
        if (block.lane() != 0) return;
        const size_t output = arguments.pairs[block.z()].output;
        arguments.accumulators[output * arguments.words + index * kWordsPerLevel + word] =
            bits_of(static_cast<double>(sum));
    }
};

#define QC_FLOAT_ADM_KERNELS(KERNEL)                                                                                   \
    KERNEL(float_adm_level0_u8, ScoreRow<true, uint8_t>)                                                               \
    KERNEL(float_adm_level0_u8_power, ScoreRow<false, uint8_t>)                                                        \
    KERNEL(float_adm_level0_u16, ScoreRow<true, uint16_t>)                                                             \
    KERNEL(float_adm_level0_u16_power, ScoreRow<false, uint16_t>)                                                      \
    KERNEL(float_adm_deep, ScoreRow<true, float>)                                                                      \
    KERNEL(float_adm_deep_power, ScoreRow<false, float>)                                                               \
    KERNEL(float_adm_finish, Finish)                                                                                   \
    KERNEL(float_adm_weights, WeighBands)                                                                              \
    KERNEL(float_adm_level0_u8_weighted, ScoreRow<true, uint8_t, CountByWeights>)                                      \
    KERNEL(float_adm_level0_u8_power_weighted, ScoreRow<false, uint8_t, CountByWeights>)                               \
    KERNEL(float_adm_level0_u16_weighted, ScoreRow<true, uint16_t, CountByWeights>)                                    \
    KERNEL(float_adm_level0_u16_power_weighted, ScoreRow<false, uint16_t, CountByWeights>)                             \
    KERNEL(float_adm_deep_weighted, ScoreRow<true, float, CountByWeights>)                                             \
    KERNEL(float_adm_deep_power_weighted, ScoreRow<false, float, CountByWeights>)
QC_DECLARE_KERNELS(QC_FLOAT_ADM_KERNELS)

} // namespace qc::float_adm
