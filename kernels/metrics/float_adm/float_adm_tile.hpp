// SPDX-License-Identifier: BSD-2-Clause-Patent
// What one block of the CUDA backend does: a tile of a wavelet level, from the input picture to energies, in four
// phases with barriers between them. Plain functions of a thread's index, so that a test can run them on the host.
//
//   1  filter down the columns of both pictures, into shared memory
//   2  filter along the rows, in registers: the a bands go to memory, the details are decoupled at once; masker terms
//      go to shared memory
//   3  sum the masking window; energies go to shared memory, where the filtered columns were
//   4  one thread for each running sum adds the energies of its row in order
//
// Thread t is lane t % 32 of warp t / 32. In phases 2 and 3 a warp holds a row of the tile and a lane two columns. A
// block walks along all tiles of a row of tiles, since running sums do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contract/types.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "metrics/float_adm/float_adm_math.hpp"
#include "metrics/float_adm/float_adm_plan.hpp"
#include "metrics/float_adm/float_adm_tuning.hpp"

namespace qc::float_adm {

// ---- what the host tells the kernels --------------------------------------------------------------------------------

/// Tiles over the bands of a level, aligned to the scored region.
struct TileGrid {
    int32_t origin_x = 0, origin_y = 0; ///< first useful coefficient of tile (0, 0); may be negative; x is even
    int32_t columns = 0, rows = 0;      ///< number of tiles
};

struct LevelLaunch {
    LevelPlan plan;
    Rules rules;
    TileGrid grid;
    int32_t in_pitch = 0, out_pitch = 0; ///< of the a bands, in elements; level 0 reads pictures instead
    int32_t first_row = 0;               ///< of this level among the row sums of a pair, minus plan.top
    int32_t rows = 0;                    ///< row sums of a pair, all levels
    int32_t writes_low = 1;              ///< whether another level follows
};

/// Adds row sums up.
struct FinishLaunch {
    struct Level {
        int32_t first_row = 0, rows = 0;
    } level[kLevels];
    int32_t rows = 0; ///< row sums of a pair, all levels
};

/// Whether the block at a tile row and column has to compute details, or the a band only.
QC_HD bool has_details(const LevelPlan& plan, int tile_x, int tile_y) {
    return plan.scored() && tile_y < plan.bottom && tile_y + tuning::kUsefulRows > plan.top && tile_x < plan.right &&
           tile_x + tuning::kUsefulColumns > plan.left;
}

// ---- shared memory and registers of a tile --------------------------------------------------------------------------

struct alignas(8) Two {
    float at[2];
};
struct alignas(16) Four {
    float at[4];
};

constexpr int kInputColumns = 2 * tuning::kTileColumns;
/// Rows are padded so that the four-word reads of a warp's rows do not all start in the same bank.
constexpr int kFilteredPitch = kInputColumns + 4;
constexpr int kWindowPad = 2; ///< keeps two-word accesses aligned with one column to spare on the left
constexpr int kWindowPitch = tuning::kTileColumns + 2 * kWindowPad;
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

/// Input of a level. A wide source can be read several columns at a time.
template <typename T>
struct Source {
    const T* data = nullptr;
    ptrdiff_t pitch = 0; ///< in elements
    int shift = 0;       ///< right shift of the samples
    bool wide = true;
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
        const T* const row = source.data + static_cast<ptrdiff_t>(mirror(first_row + j, plan.in_height)) * source.pitch;
        if (wide) {
            read_wide(row + column, source.shift, luma, rows[j]);
        } else {
            QC_UNROLL
            for (int k = 0; k < kColumnsPerItem; k++) {
                rows[j][k] = value_of(row[mirror(column + k, plan.in_width)], source.shift, luma);
            }
        }
    }
}

/// `source` is the one of picture_of_thread().
template <bool kDetails, typename T>
QC_HD void filter_columns(const LevelLaunch& launch, const Source<T>& source, int tile_x, int tile_y, int thread,
                          SharedTile& shared) {
    const int row = thread / kItemsPerRow * kRowsPerItem % tuning::kTileRows, picture = picture_of_thread(thread);
    const int column = thread % kItemsPerRow * kColumnsPerItem;
    // Coefficient i needs inputs 2i - 1 to 2i + 2; the tile starts one coefficient before its first useful one. In x,
    // one input more keeps the reads aligned.
    float rows[kRowsRead][kColumnsPerItem];
    read_rows(source, launch.plan, launch.rules.luma, 2 * (tile_x - 1) - 2 + column, 2 * (tile_y - 1 + row) - 1, rows);
    QC_UNROLL
    for (int i = 0; i < kRowsPerItem; i++) {
        Four low, high;
        QC_UNROLL
        for (int k = 0; k < kColumnsPerItem; k++) {
            const float x0 = rows[2 * i][k], x1 = rows[2 * i + 1][k], x2 = rows[2 * i + 2][k], x3 = rows[2 * i + 3][k];
            low.at[k] = low_pass(x0, x1, x2, x3);
            if constexpr (kDetails) high.at[k] = high_pass(x0, x1, x2, x3);
        }
        *reinterpret_cast<Four*>(&shared.filtered[kLow][picture][row + i][column]) = low;
        if constexpr (kDetails) *reinterpret_cast<Four*>(&shared.filtered[kHigh][picture][row + i][column]) = high;
    }
}

// ---- phase 2: along the rows, decoupling, masker terms --------------------------------------------------------------

/// A row of the tile, as its warp sees it.
struct TileRow {
    int row; ///< of the tile
    int y;   ///< of the band
    bool useful;

    QC_HD TileRow(int tile_y, int thread)
        : row(thread / 32), y(tile_y - 1 + row), useful(row >= 1 && row <= tuning::kUsefulRows) {}
};

/// Whether a lane's column, counted from the tile's first one, is one of the useful ones.
QC_HD bool useful_place(int place) {
    return place >= 1 && place <= tuning::kUsefulColumns;
}

/// Six filtered values around a lane's two columns.
QC_HD void read_filtered(const float* row, int lane, float (&values)[6]) {
    const Four first = *reinterpret_cast<const Four*>(row + 4 * lane);
    // The last lane's second column is not used: it may read anything inside.
    const Four second = *reinterpret_cast<const Four*>(row + 4 * lane + (lane < 31 ? 4 : 0));
    values[0] = first.at[1];
    values[1] = first.at[2];
    values[2] = first.at[3];
    values[3] = second.at[0];
    values[4] = second.at[1];
    values[5] = second.at[2];
}

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

/// Puts the neighbour terms of a lane's two columns into the window. `x` is the first column, at place 2 * lane.
QC_HD void store_neighbours(const LevelPlan& plan, float* window, int x, int lane, float first, float second) {
    float* const at = window + kWindowPad + 2 * lane;
    if (plan.left > 0) {
        *reinterpret_cast<Two*>(at) = Two{{first, second}};
        return;
    }
    // A narrow band is scored to its borders, where the window mirrors: -1 is 1, and the width is the last column.
    const float terms[2] = {first, second};
    QC_UNROLL
    for (int c = 0; c < 2; c++) {
        if (x + c < 0 || x + c >= plan.width) continue;
        at[c] = terms[c];
        if (x + c == 1) at[c - 2] = terms[c];
        if (x + c == plan.width - 1) at[c + 1] = terms[c];
    }
}

template <bool kDetails, bool kCube>
QC_HD void filter_rows(const LevelLaunch& launch, int tile_x, int tile_y, int thread, SharedTile& shared,
                       float* reference_low, float* distorted_low, ThreadTile& state) {
    const LevelPlan& plan = launch.plan;
    const TileRow here(tile_y, thread);
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane;
    const bool wants_low = launch.writes_low != 0 && here.useful && here.y >= 0 && here.y < plan.height;
    const bool wants_details = kDetails && plan.masks_row(here.y);
    if (!wants_low && !wants_details) return;
    LaneBands reference, distorted;
    filter_row<kDetails>(shared, 0, here.row, lane, reference);
    filter_row<kDetails>(shared, 1, here.row, lane, distorted);
    if (wants_low) {
        const ptrdiff_t offset = static_cast<ptrdiff_t>(here.y) * launch.out_pitch + x;
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
                const float restored = restore(o, t, enhanced, launch.rules.gain);
                state.restored[c][b] = magnitude(restored * plan.factor[b]);
                state.additive[c][b] = magnitude((t - restored) * plan.factor[b]);
                state.reference[c][b] = energy<kCube>(magnitude(plan.factor[b] * o), launch.rules.power);
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
QC_HD void read_window(const float* at, float (&values)[4]) {
    const Two middle = *reinterpret_cast<const Two*>(at);
    values[1] = middle.at[0];
    values[2] = middle.at[1];
#if defined(__CUDA_ARCH__)
    values[0] = __shfl_up_sync(0xffffffffu, middle.at[1], 1);
    values[3] = __shfl_down_sync(0xffffffffu, middle.at[0], 1);
#else
    values[0] = at[-1];
    values[3] = at[2];
#endif
}

/// Adds the masking window of one band to the thresholds of a lane's two columns.
QC_HD void add_window(const float* above, const float* here, const float* below, float masker0, float masker1,
                      float (&threshold)[2]) {
    const float masker[2] = {masker0, masker1};
    float sum[2], row[4];
    read_window(above, row);
    QC_UNROLL
    for (int c = 0; c < 2; c++) sum[c] = (row[c] + row[c + 1]) + row[c + 2];
    read_window(here, row);
    QC_UNROLL
    for (int c = 0; c < 2; c++) sum[c] = add_centre(sum[c] + row[c], masker[c]) + row[c + 2];
    read_window(below, row);
    QC_UNROLL
    for (int c = 0; c < 2; c++) threshold[c] += ((sum[c] + row[c]) + row[c + 1]) + row[c + 2];
}

template <bool kCube>
QC_HD void measure_energies(const LevelLaunch& launch, int tile_x, int tile_y, int thread, SharedTile& shared,
                            const ThreadTile& state) {
    const LevelPlan& plan = launch.plan;
    const TileRow here(tile_y, thread);
    if (!here.useful || !plan.scores_row(here.y)) return;
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane;
    float(*const energies)[kEnergyPitch] = shared.energy + (here.row - 1) * kSums;
    // The band's borders mirror: above row 0 lies row 1, below the last row the last row.
    const int above = here.y > 0 ? here.row - 1 : here.row + 1;
    const int below = here.y + 1 < plan.height ? here.row + 1 : here.row;
    bool scored[2];
    QC_UNROLL
    for (int c = 0; c < 2; c++) {
        // What is not scored adds zeros.
        scored[c] = useful_place(2 * lane + c) && plan.scores_column(x + c);
        QC_UNROLL
        for (int b = 0; b < kBands; b++) {
            energies[kReference * kBands + b][energy_place(2 * lane + c)] = scored[c] ? state.reference[c][b] : 0.0f;
        }
    }
    QC_UNROLL
    for (int m = 0; m < kMaskers; m++) {
        const float(&masker)[2][kBands] = m == 0 ? state.additive : state.restored;
        const float(&measured)[2][kBands] = m == 0 ? state.restored : state.additive;
        float threshold[2] = {0.0f, 0.0f};
        if (launch.rules.masking) {
            QC_UNROLL
            for (int b = 0; b < kBands; b++) {
                const int at = kWindowPad + 2 * lane;
                const auto& window = shared.neighbour[m][b];
                add_window(&window[above][at], &window[here.row][at], &window[below][at], masker[0][b], masker[1][b],
                           threshold);
            }
        }
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            QC_UNROLL
            for (int b = 0; b < kBands; b++) {
                const float excess = scored[c] ? larger(measured[c][b] - threshold[c], 0.0f) : 0.0f;
                energies[(m == 0 ? kDetail : kImpairment) * kBands + b][energy_place(2 * lane + c)] =
                    energy<kCube>(excess, launch.rules.power);
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
    return {thread, thread % kSums, y, row < tuning::kUsefulRows && plan.scores_row(y)};
}

QC_HD float continue_sum(const SharedTile& shared, int chain, float sum) {
    const float *const even = shared.energy[chain], *const odd = even + energy_place(1);
    static_assert(tuning::kUsefulColumns % 2 == 0);
#if defined(__CUDACC__)
#pragma unroll 10
#endif
    for (int i = 0; i < tuning::kUsefulColumns / 2; i++) {
        sum = sum + odd[i];      // column 2i + 1
        sum = sum + even[i + 1]; // column 2i + 2
    }
    return sum;
}

} // namespace qc::float_adm
