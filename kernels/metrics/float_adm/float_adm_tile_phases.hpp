// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a thread of a block does for a tile of floating-point ADM, in four phases with barriers between them:
//
//   1  filter down the columns of both pictures, into shared memory
//   2  filter along the rows, in registers: the a bands go to memory, the details are decoupled at once; masker terms
//      go to shared memory
//   3  sum the masking window; energies go to shared memory, where the filtered columns were
//   4  one thread for each running sum adds the energies of its row in order
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/plane_reader.hpp"
#include "families/detail_loss/detail_loss_tile.hpp"
#include "families/detail_loss/detail_loss_weight_kernels.hpp"
#include "metrics/float_adm/float_adm_math.hpp"
#include "metrics/float_adm/float_adm_plan.hpp"
#include "metrics/float_adm/float_adm_tuning.hpp"

namespace qc::float_adm {

/// What the phases have to know about a level.
struct LevelTask {
    LevelPlan plan;
    Rules rules;
    TileGrid grid;
    LevelPlace place;
    int32_t writes_low = 1; ///< whether another level follows
};

/// The argument of the level kernels. Level 0 reads the pictures, others the a bands of the level above.
struct LevelArguments {
    const DevicePair* pairs; ///< level 0 only
    const float* in;         ///< deep levels only: a bands of the level above, two pictures a pair
    float* low;              ///< a bands of this level; the last level has none
    float* row_sums;         ///< kWordsPerLevel a row
    LevelTask task;
    WeightPlace weights; ///< of the kernels that count by weights
    float whole;         ///< weight
};

// ---- shared memory and registers of a tile --------------------------------------------------------------------------

/// An odd pitch keeps the running sums, which neighbouring threads add up, in different banks. So that lanes, of two
/// columns each, write side by side, all even columns lie before the odd ones.
constexpr int kEnergyPitch = tuning::kTileColumns + 1;
QC_HD int energy_place(int column) {
    return column % 2 * (tuning::kTileColumns / 2) + column / 2;
}

constexpr int kSums = kWordsPerLevel; ///< of a row, in the order of the accumulators
constexpr int kMaskers = 2;           ///< 0: the additive part, masks detail; 1: the restored part, masks impairment

enum Filter { kLow = 0, kHigh = 1 };

struct SharedTile {
    union {
        alignas(16) float filtered[2][2][tuning::kTileRows][kFilteredPitch]; ///< [filter][picture][row][column]
        float energy[tuning::kUsefulRows * kSums][kEnergyPitch];             ///< [row, sum][column]
    };
    alignas(16) float neighbour[kMaskers][kBands][tuning::kTileRows][kWindowPitch]; ///< [..][row][pad + column]
};

/// What a thread keeps from phase 2 to phase 3, for its two columns.
struct ThreadTile {
    float restored[2][kBands], additive[2][kBands]; ///< weighted magnitudes
    float reference[2][kBands];                     ///< energies
};

// ---- phase 1: down the columns --------------------------------------------------------------------------------------

/// A thread filters two rows from six, four columns wide: every thread has work on one picture.
constexpr int kRowsPerItem = 2;
constexpr int kRowsRead = 2 * kRowsPerItem + 2;
constexpr int kColumnsPerItem = 4;
constexpr int kItemsPerRow = kInputColumns / kColumnsPerItem;
constexpr int kPictureItems = tuning::kTileRows / kRowsPerItem * kItemsPerRow;
static_assert(2 * kPictureItems == tuning::kThreads);

/// The picture that a thread filters.
QC_HD int picture_of_thread(int thread) {
    return thread / kPictureItems;
}

/// A sample of a picture or of an a band as a number.
template <typename T>
QC_HD float value_of(T sample, int shift, const CentredLuma& luma) {
    return luma(static_cast<uint32_t>(sample) >> shift);
}
QC_HD float value_of(float sample, int, const CentredLuma&) {
    return sample;
}

template <typename T>
QC_HD void read_wide(const T* at, int shift, const CentredLuma& luma, float (&values)[kColumnsPerItem]) {
    constexpr int kBytes = kColumnsPerItem * static_cast<int>(sizeof(T));
    const Words<kBytes> words = load_words<kBytes>(at);
    QC_UNROLL
    for (int k = 0; k < kColumnsPerItem; k++) {
        if constexpr (sizeof(T) == 4)
            values[k] = float_of(words.word[k]);
        else if constexpr (sizeof(T) == 2)
            values[k] = luma((words.word[k / 2] >> (16 * (k % 2)) & 0xffffu) >> shift);
        else
            values[k] = luma(words.word[0] >> (8 * k) & 0xffu);
    }
}

template <typename T>
QC_HD void read_rows(const Source<T>& source, const LevelPlan& plan, const CentredLuma& luma, int column, int first_row,
                     float (&rows)[kRowsRead][kColumnsPerItem]) {
    const bool wide = source.wide && column >= 0 && column + kColumnsPerItem <= plan.in_width;
    QC_UNROLL
    for (int j = 0; j < kRowsRead; j++) {
        const T* const row =
            source.data +
            static_cast<ptrdiff_t>(mirror_with_last_edge_inside(first_row + j, plan.in_height)) * source.pitch;
        if (wide) {
            read_wide(row + column, source.shift, luma, rows[j]);
        } else {
            QC_UNROLL
            for (int k = 0; k < kColumnsPerItem; k++) {
                rows[j][k] = value_of(row[mirror_with_last_edge_inside(column + k, plan.in_width)], source.shift, luma);
            }
        }
    }
}

/// `source` is the one of picture_of_thread().
template <bool kDetails, typename T>
QC_HD void filter_columns(const LevelTask& task, const Source<T>& source, int tile_x, int tile_y, int thread,
                          SharedTile& shared) {
    const int row = thread / kItemsPerRow * kRowsPerItem % tuning::kTileRows, picture = picture_of_thread(thread);
    const int column = thread % kItemsPerRow * kColumnsPerItem;
    // Coefficient i needs inputs 2i - 1 to 2i + 2; the tile starts one coefficient before its first useful one. In x,
    // one input more keeps the reads aligned.
    float rows[kRowsRead][kColumnsPerItem];
    read_rows(source, task.plan, task.rules.luma, 2 * (tile_x - 1) - 2 + column, 2 * (tile_y - 1 + row) - 1, rows);
    QC_UNROLL
    for (int i = 0; i < kRowsPerItem; i++) {
        Four<float> low, high;
        QC_UNROLL
        for (int k = 0; k < kColumnsPerItem; k++) {
            const float x0 = rows[2 * i][k], x1 = rows[2 * i + 1][k], x2 = rows[2 * i + 2][k], x3 = rows[2 * i + 3][k];
            low.at[k] = low_pass(x0, x1, x2, x3);
            if constexpr (kDetails) high.at[k] = high_pass(x0, x1, x2, x3);
        }
        store_as(&shared.filtered[kLow][picture][row + i][column], low);
        if constexpr (kDetails) store_as(&shared.filtered[kHigh][picture][row + i][column], high);
    }
}

// ---- phase 2: along the rows, decoupling, masker terms --------------------------------------------------------------

/// Coefficients of one picture in a lane's two columns.
struct LaneBands {
    float low[2];
    float detail[2][kBands];
};

template <bool kDetails>
QC_HD void filter_row(const SharedTile& shared, int picture, int row, int lane, LaneBands& bands) {
    float x[6];
    read_filtered(shared.filtered[kLow][picture][row], lane, x);
    QC_UNROLL
    for (int c = 0; c < 2; c++) {
        bands.low[c] = low_pass(x[2 * c], x[2 * c + 1], x[2 * c + 2], x[2 * c + 3]);
        if constexpr (kDetails) bands.detail[c][kBandV] = high_pass(x[2 * c], x[2 * c + 1], x[2 * c + 2], x[2 * c + 3]);
    }
    if constexpr (kDetails) {
        read_filtered(shared.filtered[kHigh][picture][row], lane, x);
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            bands.detail[c][kBandH] = low_pass(x[2 * c], x[2 * c + 1], x[2 * c + 2], x[2 * c + 3]);
            bands.detail[c][kBandD] = high_pass(x[2 * c], x[2 * c + 1], x[2 * c + 2], x[2 * c + 3]);
        }
    }
}

template <bool kDetails, bool kCube>
QC_HD void filter_rows(const LevelTask& task, int tile_x, int tile_y, int thread, SharedTile& shared,
                       float* reference_low, float* distorted_low, ThreadTile& state) {
    const LevelPlan& plan = task.plan;
    const TileRow here(tile_y, thread);
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane;
    const bool wants_low = task.writes_low != 0 && here.useful && here.y >= 0 && here.y < plan.height;
    const bool wants_details = kDetails && masks_row(plan, here.y);
    if (!wants_low && !wants_details) return;
    LaneBands reference, distorted;
    filter_row<kDetails>(shared, 0, here.row, lane, reference);
    filter_row<kDetails>(shared, 1, here.row, lane, distorted);
    if (wants_low) {
        const ptrdiff_t offset = static_cast<ptrdiff_t>(here.y) * task.place.out_pitch + x;
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            if (!useful_place(2 * lane + c) || x + c < 0 || x + c >= plan.width) continue;
            reference_low[offset + c] = reference.low[c];
            distorted_low[offset + c] = distorted.low[c];
        }
    }
    if constexpr (kDetails) {
        if (!wants_details) return;
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            const bool enhanced = same_angle(reference.detail[c], distorted.detail[c]);
            QC_UNROLL
            for (int b = 0; b < kBands; b++) {
                const float o = reference.detail[c][b], t = distorted.detail[c][b];
                const float restored = restore(o, t, enhanced, task.rules.gain);
                state.restored[c][b] = magnitude(restored * plan.factor[b]);
                state.additive[c][b] = magnitude((t - restored) * plan.factor[b]);
                state.reference[c][b] = energy<kCube>(magnitude(plan.factor[b] * o), task.rules.power);
            }
        }
        QC_UNROLL
        for (int b = 0; b < kBands; b++) {
            store_neighbours(plan, shared.neighbour[0][b][here.row], x, lane, neighbour_term(state.additive[0][b]),
                             neighbour_term(state.additive[1][b]));
            store_neighbours(plan, shared.neighbour[1][b][here.row], x, lane, neighbour_term(state.restored[0][b]),
                             neighbour_term(state.restored[1][b]));
        }
    }
}

// ---- phase 3: the masking window and the energies -------------------------------------------------------------------

/// A row of the window around a lane's two columns. Neighbouring lanes have the outer ones: shuffles leave shared
/// memory, the bottleneck here, in peace. What the first and the last lane get from beyond the tile is not used. All
/// lanes of a warp have to come here together.
template <class Block>
QC_HD void read_window(Block& block, const float* at, float (&values)[4]) {
    const auto middle = load_as<Two<float>>(at);
    values[1] = middle.at[0];
    values[2] = middle.at[1];
    values[0] = block.shuffle_up(middle.at[1], 1);
    values[3] = block.shuffle_down(middle.at[0], 1);
}

/// Adds the masking window of one band to the thresholds of a lane's two columns.
template <class Block>
QC_HD void add_window(Block& block, const float* above, const float* here, const float* below, float masker0,
                      float masker1, float (&threshold)[2]) {
    const float masker[2] = {masker0, masker1};
    float sum[2], row[4];
    read_window(block, above, row);
    QC_UNROLL
    for (int c = 0; c < 2; c++) sum[c] = (row[c] + row[c + 1]) + row[c + 2];
    read_window(block, here, row);
    QC_UNROLL
    for (int c = 0; c < 2; c++) sum[c] = add_centre(sum[c] + row[c], masker[c]) + row[c + 2];
    read_window(block, below, row);
    QC_UNROLL
    for (int c = 0; c < 2; c++) threshold[c] += ((sum[c] + row[c]) + row[c + 1]) + row[c + 2];
}

/// What energies count by: each once.
struct CountAll {
    static constexpr bool kHasWeights = false;

    QC_HD CountAll(const LevelArguments& /*arguments*/, int /*pair*/) {}
    QC_HD float share(int /*x*/, int /*y*/) const { return 1.0f; }
};

/// By their coefficients' shares: exactly 1 of one that counts whole.
struct CountByWeights {
    static constexpr bool kHasWeights = true;
    WeightPlace weights;
    int pair;
    float whole;

    QC_HD CountByWeights(const LevelArguments& arguments, int pair_)
        : weights(arguments.weights), pair(pair_), whole(arguments.whole) {}
    QC_HD float share(int x, int y) const { return static_cast<float>(weight_at(weights, pair, x, y)) / whole; }
};

template <bool kCube, class Block, class Count>
QC_HD void measure_energies(Block& block, const LevelTask& task, int tile_x, int tile_y, int thread, SharedTile& shared,
                            const ThreadTile& state, const Count& count) {
    const LevelPlan& plan = task.plan;
    const TileRow here(tile_y, thread);
    if (!here.useful || !scores_row(plan, here.y)) return;
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane;
    float(*const energies)[kEnergyPitch] = shared.energy + (here.row - 1) * kSums;
    const WindowRows rows(plan, here);
    bool scored[2];
    float share[2] = {1.0f, 1.0f};
    QC_UNROLL
    for (int c = 0; c < 2; c++) {
        // What is not scored adds zeros.
        scored[c] = useful_place(2 * lane + c) && scores_column(plan, x + c);
        if (Count::kHasWeights && scored[c]) share[c] = count.share(x + c, here.y);
        QC_UNROLL
        for (int b = 0; b < kBands; b++) {
            const float energy_of_band = scored[c] ? state.reference[c][b] : 0.0f;
            energies[kReference * kBands + b][energy_place(2 * lane + c)] =
                Count::kHasWeights ? energy_of_band * share[c] : energy_of_band;
        }
    }
    QC_UNROLL
    for (int m = 0; m < kMaskers; m++) {
        const float(&masker)[2][kBands] = m == 0 ? state.additive : state.restored;
        const float(&measured)[2][kBands] = m == 0 ? state.restored : state.additive;
        float threshold[2] = {0.0f, 0.0f};
        if (task.rules.masking) {
            QC_UNROLL
            for (int b = 0; b < kBands; b++) {
                const int at = kWindowPad + 2 * lane;
                const auto& window = shared.neighbour[m][b];
                add_window(block, &window[rows.above][at], &window[here.row][at], &window[rows.below][at], masker[0][b],
                           masker[1][b], threshold);
            }
        }
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            QC_UNROLL
            for (int b = 0; b < kBands; b++) {
                const float excess = scored[c] ? larger(measured[c][b] - threshold[c], 0.0f) : 0.0f;
                const float masked_energy = energy<kCube>(excess, task.rules.power);
                energies[(m == 0 ? kDetail : kImpairment) * kBands + b][energy_place(2 * lane + c)] =
                    Count::kHasWeights ? masked_energy * share[c] : masked_energy;
            }
        }
    }
}

// ---- phase 4: running sums ------------------------------------------------------------------------------------------

/// The running sum that a thread continues from tile to tile: number `sum` of band row y.
struct RunningSum {
    int chain, sum, y;
    bool used;
};

QC_HD RunningSum running_sum(const LevelPlan& plan, int tile_y, int thread) {
    const int row = thread / kSums, y = tile_y + row;
    return {thread, thread % kSums, y, row < tuning::kUsefulRows && scores_row(plan, y)};
}

QC_HD float continue_sum(const SharedTile& shared, int chain, float sum) {
    const float *const even = shared.energy[chain], *const odd = even + energy_place(1);
    static_assert(tuning::kUsefulColumns % 2 == 0);
    QC_UNROLL_BY(10)
    for (int i = 0; i < tuning::kUsefulColumns / 2; i++) {
        sum = sum + odd[i];      // column 2i + 1
        sum = sum + even[i + 1]; // column 2i + 2
    }
    return sum;
}

} // namespace qc::float_adm
