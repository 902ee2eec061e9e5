// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of integer ADM: one for each wavelet level, and one that rounds complete rows and adds them up. A block
// takes tiles of a level from the input picture to energies, in three phases with barriers between them:
//
//   1  filter down the columns of both pictures, into shared memory
//   2  filter along the rows, in registers: the a bands go to memory, the details are decoupled at once; masker terms
//      go to shared memory
//   3  sum the masking window, add up energies
#pragma once

#include "device/kernel_list.hpp"
#include "metrics/adm/adm_map_phases.hpp"
#include "metrics/adm/adm_masking_phases.hpp"

namespace qc::adm {
// ---- levels ---------------------------------------------------------------------------------------------------------

/// Sums kCount values over a warp, halving the number of values each lane carries. Lane l ends up with the sum of
/// value l / (32 / kCount) in values[0].
template <int kCount, int kOffset, class Block>
QC_HD void sum_over_warp(Block& block, uint64_t* values) {
    if constexpr (kCount > 1) {
        const bool upper = (block.lane() & kOffset) != 0;
        QC_UNROLL
        for (int i = 0; i < kCount / 2; i++) {
            const uint64_t sent = upper ? values[i] : values[i + kCount / 2];
            const uint64_t kept = upper ? values[i + kCount / 2] : values[i];
            values[i] = kept + block.shuffle_xor(sent, kOffset);
        }
        sum_over_warp<kCount / 2, kOffset / 2>(block, values);
    } else if constexpr (kOffset > 0) {
        values[0] += block.shuffle_xor(values[0], kOffset);
        sum_over_warp<1, kOffset / 2>(block, values);
    }
}

/// Adds a warp's share of a row to the row sums in memory; other blocks hold other parts of the row.
template <class Block, int kSums>
QC_HD void add_row(Block& block, const uint64_t (&sums)[kSums], uint64_t* row) {
    constexpr int kPadded = kSums <= 8 ? 8 : 16;
    uint64_t values[kPadded];
    QC_UNROLL
    for (int i = 0; i < kPadded; i++) values[i] = i < kSums ? sums[i] : 0;
    sum_over_warp<kPadded, 16>(block, values);
    constexpr int kLanesPerValue = 32 / kPadded;
    const int word = block.lane() / kLanesPerValue;
    if (block.lane() % kLanesPerValue == 0 && word < kSums) block.atomic_add(row + word, values[0]);
}

/// The same with weights.
template <class Block, int kSums>
QC_HD void add_row(Block& block, const WeightedSum (&sums)[kSums], uint64_t* row) {
    uint64_t low[kSums], high[kSums];
    QC_UNROLL
    for (int i = 0; i < kSums; i++) {
        low[i] = sums[i].low;
        high[i] = static_cast<uint64_t>(sums[i].high);
    }
    add_row(block, low, row);
    add_row(block, high, row + kWordsPerLevel);
}

/// Both pictures of a pair, as a thread needs them. At level 0 that is one: each thread keeps the one that it filters.
template <typename T>
struct Sources {
    Source<T> reference, distorted;
};

/// @param first_pair of the same reference
template <int kLevel, typename T>
QC_HD Sources<T> sources_of(const LevelArguments& arguments, int pair, int first_pair, int thread) {
    if constexpr (kLevel == 0) {
        const DevicePair& pictures = arguments.pairs[pair];
        const auto own = luma_of<T>(picture_of_thread<T>(thread) == 0 ? pictures.reference : pictures.distorted,
                                    kColumnsPerItem<T> * sizeof(T));
        return {own, own};
    } else {
        const size_t plane = static_cast<size_t>(arguments.place.in_pitch) * arguments.plan.in_height;
        Source<T> reference, distorted;
        reference.data = static_cast<const T*>(arguments.in) + 2 * static_cast<unsigned>(first_pair) * plane;
        distorted.data = static_cast<const T*>(arguments.in) + (2 * static_cast<unsigned>(pair) + 1) * plane;
        reference.pitch = distorted.pitch = arguments.place.in_pitch;
        return {reference, distorted};
    }
}

/// A block walks along a strip of tiles. grid: (strips across, tiles down, pairs)
/// @tparam kLadder pairs may have one reference
/// @tparam kDraws draws the level's map as well; then no level may be one of a ladder's
/// @tparam kWeighted coefficients count by the pair's weights; not of a ladder's either
template <int kLevel, bool kAim, typename T, bool kLadder = false, bool kDraws = false, bool kWeighted = false>
struct ScoreStrip
    : device::KernelOf<LevelArguments, tuning::kThreads,
                       kWeighted ? tuning::kWeightedBlocksPerMultiprocessor : tuning::kBlocksPerMultiprocessor> {
    template <class Block>
    QC_HD static void run(Block& block, const LevelArguments& arguments) {
        auto& shared = device::shared<SharedTile<kLevel, kAim>>(block);
        const int thread = block.thread();
        const int behind_first = kLadder ? static_cast<int>(arguments.pairs[block.z()].behind_first) : 0;
        const bool leads = behind_first == 0;
        const Sources<T> pictures = sources_of<kLevel, T>(arguments, block.z(), block.z() - behind_first, thread);
        LowBand<kLevel>*reference_low = nullptr, *distorted_low = nullptr;
        if constexpr (kLevel < kLevels - 1) {
            const size_t plane = static_cast<size_t>(arguments.place.out_pitch) * arguments.plan.height;
            reference_low = static_cast<LowBand<kLevel>*>(arguments.low) + 2 * static_cast<unsigned>(block.z()) * plane;
            distorted_low = reference_low + plane;
        }

        const TileGrid& grid = arguments.grid;
        const int tile_y = grid.origin_y + block.y() * tuning::kUsefulRows;
        const int first = block.x() * arguments.strip;
        const int end = first + arguments.strip < grid.columns ? first + arguments.strip : grid.columns;
        ThreadTile<kAim, kWeighted> state;
        start_undefined(state);
        state.start_sums();
        bool any = false;
        MapPlane map{};
        if constexpr (kDraws) map = arguments.map.of_output(arguments.pairs[block.z()].output, arguments.map_shape);
        QC_NO_UNROLL
        for (int tile = first; tile < end; tile++) {
            const int tile_x = grid.origin_x + tile * tuning::kUsefulColumns;
            if (has_details(arguments.plan, tile_x, tile_y)) {
                any = true;
                filter_columns<kLevel, true>(arguments, pictures.reference, pictures.distorted, tile_x, tile_y, thread,
                                             leads, shared);
                block.sync();
                filter_rows<kLevel, true, kDraws>(arguments, block.z(), tile_x, tile_y, thread, leads, shared,
                                                  reference_low, distorted_low, state);
                block.sync();
                sum_energies<kLevel>(arguments, tile_x, tile_y, thread, shared, state);
                if constexpr (kDraws) draw_losses<kLevel>(arguments, tile_x, tile_y, thread, true, shared, state, map);
            } else if constexpr (kLevel < kLevels - 1) {
                filter_columns<kLevel, false>(arguments, pictures.reference, pictures.distorted, tile_x, tile_y, thread,
                                              leads, shared);
                block.sync();
                filter_rows<kLevel, false>(arguments, block.z(), tile_x, tile_y, thread, leads, shared, reference_low,
                                           distorted_low, state);
                block.sync();
                if constexpr (kDraws) draw_losses<kLevel>(arguments, tile_x, tile_y, thread, false, shared, state, map);
            }
        }
        const TileRow here(tile_y, thread);
        if (!any || !here.useful || !scores_row(arguments.plan, here.y)) return;
        const size_t row = static_cast<size_t>(block.z()) * arguments.place.rows + (arguments.place.first_row + here.y);
        add_row(block, state.sum, arguments.row_sums + row * (kWeighted ? kWeightedRowWords : kWordsPerLevel));
    }
};

// ---- the last kernel ------------------------------------------------------------------------------------------------

/// Rounds row sums and adds them up.
struct FinishArguments {
    const DevicePair* pairs;
    const uint64_t* row_sums;
    uint64_t* accumulators;
    RowSums rows;
    bool is_ladder;
    struct Shifts {
        int32_t row, reference_row;
    } shifts[kLevels];
};

/// One accumulator's share of one complete row.
QC_HD uint64_t round_row(const FinishArguments::Shifts& shifts, int word, uint64_t sum) {
    if (word / kBands == kReference) return round_shift(sum, shifts.reference_row);
    return static_cast<uint64_t>(round_shift(static_cast<int64_t>(sum), shifts.row));
}

/// A warp for each accumulator word of a level. What is summed of the reference, its first pair has. grid: (levels, 1,
/// pairs)
struct Finish : device::KernelOf<FinishArguments, tuning::kFinishThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const FinishArguments& arguments) {
        const int index = block.x(), word = block.warp();
        const RowSums::Level level = arguments.rows.level[index];
        const FinishArguments::Shifts shifts = arguments.shifts[index];
        const DevicePair& pictures = arguments.pairs[block.z()];
        const bool looks_back = arguments.is_ladder && word / kBands == kReference;
        const size_t pair = static_cast<size_t>(block.z()) - (looks_back ? pictures.behind_first : 0);
        const size_t first = pair * arguments.rows.count + level.first;
        const uint64_t* const at = arguments.row_sums + first * kWordsPerLevel + word;
        uint64_t sum = 0;
        QC_UNROLL_BY(4)
        for (int row = block.lane(); row < level.count; row += 32) {
            sum += round_row(shifts, word, at[static_cast<size_t>(row) * kWordsPerLevel]);
        }
        sum = block.warp_sum(sum);
        if (block.lane() != 0) return;
        arguments.accumulators[size_t{pictures.output} * kWords + index * kWordsPerLevel + word] = sum;
    }
};

/// The same with weights: a warp for each word. grid: (levels, 1, pairs)
struct FinishWeighted : device::KernelOf<FinishArguments, tuning::kFinishThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const FinishArguments& arguments) {
        const int index = block.x(), word = block.warp();
        const RowSums::Level level = arguments.rows.level[index];
        const FinishArguments::Shifts shifts = arguments.shifts[index];
        const int shift = word / kBands == kReference ? shifts.reference_row : shifts.row;
        const size_t first = static_cast<size_t>(block.z()) * arguments.rows.count + level.first;
        const uint64_t* at = arguments.row_sums + (first + block.lane()) * kWeightedRowWords;
        uint64_t sum = 0;
        for (int row = block.lane(); row < level.count; row += 32, at += 32 * kWeightedRowWords) {
            const WeightedSum of_row{at[word], static_cast<int64_t>(at[kWordsPerLevel + word])};
            sum += of_row.rounded(full_weight(index), shift);
        }
        sum = block.warp_sum(sum);
        if (block.lane() != 0) return;
        const size_t output = arguments.pairs[block.z()].output;
        arguments.accumulators[output * kWeightedWords + index * kWordsPerLevel + word] = sum;
    }
};

#define QC_ADM_KERNELS(KERNEL)                                                                                         \
    KERNEL(adm_level0_u8, ScoreStrip<0, false, uint8_t>)                                                               \
    KERNEL(adm_level0_u8_aim, ScoreStrip<0, true, uint8_t>)                                                            \
    KERNEL(adm_level0_u16, ScoreStrip<0, false, uint16_t>)                                                             \
    KERNEL(adm_level0_u16_aim, ScoreStrip<0, true, uint16_t>)                                                          \
    KERNEL(adm_level1, ScoreStrip<1, false, int16_t>)                                                                  \
    KERNEL(adm_level1_aim, ScoreStrip<1, true, int16_t>)                                                               \
    KERNEL(adm_level2, ScoreStrip<2, false, int32_t>)                                                                  \
    KERNEL(adm_level2_aim, ScoreStrip<2, true, int32_t>)                                                               \
    KERNEL(adm_level3, ScoreStrip<3, false, int32_t>)                                                                  \
    KERNEL(adm_level3_aim, ScoreStrip<3, true, int32_t>)                                                               \
    KERNEL(adm_level0_u8_ladder, ScoreStrip<0, false, uint8_t, true>)                                                  \
    KERNEL(adm_level0_u8_aim_ladder, ScoreStrip<0, true, uint8_t, true>)                                               \
    KERNEL(adm_level0_u16_ladder, ScoreStrip<0, false, uint16_t, true>)                                                \
    KERNEL(adm_level0_u16_aim_ladder, ScoreStrip<0, true, uint16_t, true>)                                             \
    KERNEL(adm_level1_ladder, ScoreStrip<1, false, int16_t, true>)                                                     \
    KERNEL(adm_level1_aim_ladder, ScoreStrip<1, true, int16_t, true>)                                                  \
    KERNEL(adm_level2_ladder, ScoreStrip<2, false, int32_t, true>)                                                     \
    KERNEL(adm_level2_aim_ladder, ScoreStrip<2, true, int32_t, true>)                                                  \
    KERNEL(adm_level0_u8_map, ScoreStrip<0, false, uint8_t, false, true>)                                              \
    KERNEL(adm_level0_u8_aim_map, ScoreStrip<0, true, uint8_t, false, true>)                                           \
    KERNEL(adm_level0_u16_map, ScoreStrip<0, false, uint16_t, false, true>)                                            \
    KERNEL(adm_level0_u16_aim_map, ScoreStrip<0, true, uint16_t, false, true>)                                         \
    KERNEL(adm_level1_map, ScoreStrip<1, false, int16_t, false, true>)                                                 \
    KERNEL(adm_level1_aim_map, ScoreStrip<1, true, int16_t, false, true>)                                              \
    KERNEL(adm_finish, Finish)                                                                                         \
    KERNEL(adm_weights, WeighBands)                                                                                    \
    KERNEL(adm_level0_u8_weighted, ScoreStrip<0, false, uint8_t, false, true, true>)                                   \
    KERNEL(adm_level0_u8_aim_weighted, ScoreStrip<0, true, uint8_t, false, true, true>)                                \
    KERNEL(adm_level0_u16_weighted, ScoreStrip<0, false, uint16_t, false, true, true>)                                 \
    KERNEL(adm_level0_u16_aim_weighted, ScoreStrip<0, true, uint16_t, false, true, true>)                              \
    KERNEL(adm_level1_weighted, ScoreStrip<1, false, int16_t, false, true, true>)                                      \
    KERNEL(adm_level1_aim_weighted, ScoreStrip<1, true, int16_t, false, true, true>)                                   \
    KERNEL(adm_level2_weighted, ScoreStrip<2, false, int32_t, false, false, true>)                                     \
    KERNEL(adm_level2_aim_weighted, ScoreStrip<2, true, int32_t, false, false, true>)                                  \
    KERNEL(adm_level3_weighted, ScoreStrip<3, false, int32_t, false, false, true>)                                     \
    KERNEL(adm_level3_aim_weighted, ScoreStrip<3, true, int32_t, false, false, true>)                                  \
    KERNEL(adm_finish_weighted, FinishWeighted)
QC_DECLARE_KERNELS(QC_ADM_KERNELS)

} // namespace qc::adm
