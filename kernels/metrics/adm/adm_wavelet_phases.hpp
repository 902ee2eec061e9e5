// SPDX-License-Identifier: BSD-2-Clause-Patent
// The wavelet in the kernels of integer ADM, as a thread of a block sees it: down the columns of a tile's input, from
// pictures or a bands into shared memory (phase 1), then along the rows, in registers (part of phase 2).
#pragma once

#include <type_traits>

#include "device/bytes.hpp"
#include "families/detail_loss/detail_loss_tile.hpp"
#include "families/detail_loss/detail_loss_weight_kernels.hpp"
#include "metrics/adm/adm_math.hpp"
#include "metrics/adm/adm_plan.hpp"
#include "metrics/adm/adm_tuning.hpp"

namespace qc::adm {

// ---- what the host tells the kernels --------------------------------------------------------------------------------

/// The argument of the level kernels. Level 0 reads the pictures, others the a bands of the level above.
struct LevelArguments {
    const DevicePair* pairs;
    const void* in;     ///< deep levels only: LowBand of the level above, two pictures a pair
    void* low;          ///< a bands of this level, LowBand; the last level has none
    uint64_t* row_sums; ///< kWordsPerLevel a row, with weights kWeightedRowWords
    LevelPlan plan;
    Gain gain;
    TileGrid grid;
    int32_t strip = 1; ///< tiles that one block handles, along x
    int32_t depth = 8;
    LevelPlace place;
    DeviceMap map; ///< of the kernels that draw
    MapShape map_shape;
    WeightPlace weights; ///< of the kernels that count by weights
};

/// Of a row with weights: the lower words of its sums, then the upper ones.
constexpr int kWeightedRowWords = 2 * kWordsPerLevel;

// ---- memory access in words -----------------------------------------------------------------------------------------

using Word2 = Two<uint32_t>;
using Word4 = Four<uint32_t>;

/// Two 16-bit values in a word.
QC_HD uint32_t pack_16(int32_t low, int32_t high) {
    return device::select_bytes(static_cast<uint32_t>(low), static_cast<uint32_t>(high), 0x5410);
}
QC_HD int32_t low_16(uint32_t word) {
    return static_cast<int16_t>(word);
}
QC_HD int32_t high_16(uint32_t word) {
    return static_cast<int32_t>(word) >> 16;
}

// ---- shared memory and registers of a tile --------------------------------------------------------------------------

/// Level 0 packs the low- and high-pass value of a column into one word, deep levels keep a plane for each.
template <int kLevel, bool kAim>
struct SharedTile {
    static constexpr int kFilters = kLevel == 0 ? 1 : 2;
    alignas(16) uint32_t filtered[kFilters][2][tuning::kTileRows][kFilteredPitch]; ///< [filter][picture][row][column]
    alignas(16) int32_t neighbour[kAim ? 2 : 1][tuning::kTileRows][kWindowPitch];  ///< [masker][row][pad + column]
};

/// What a thread has beside, with weights.
template <bool kWeighted>
struct ThreadWeights {};
template <>
struct ThreadWeights<true> {
    uint32_t weight[2]; ///< [column]
};

/// What a thread keeps from phase 2 to phase 3, and its share of the row sums of a strip.
template <bool kAim, bool kWeighted = false>
struct ThreadTile : ThreadWeights<kWeighted> {
    static constexpr int kMaskers = kAim ? 2 : 1; ///< 0: for detail loss, 1: for additive impairment
    static constexpr int kSums = kAim ? 9 : 6;    ///< in the order of the accumulators
    int32_t centre[kMaskers][2];                  ///< [masker][column]
    uint32_t size[kMaskers][2][kBands];           ///< weighted magnitudes of what is measured
    uint32_t reference_size[2][kBands];           ///< those of the reference, in kernels that draw
    std::conditional_t<kWeighted, WeightedSum, uint64_t> sum[kSums];

    QC_HD void start_sums() {
        QC_UNROLL
        for (auto& of_word : sum) of_word = {};
    }
    QC_HD void add(int word, int column, uint64_t energy) {
        if constexpr (kWeighted)
            sum[word].add(energy, this->weight[column]);
        else
            sum[word] += energy;
    }
};

/// In a ladder the first pair of a reference leads: it alone leaves the reference's a band, and what is summed of the
/// reference. The last level is small, and its kernel would have to spill registers for that.
constexpr int kLadderLevels = kLevels - 1;

/// Whether a pair leaves the reference's a band for the next level.
template <int kLevel>
QC_HD bool leaves_low(bool leads) {
    return leads || kLevel + 1 >= kLadderLevels;
}

/// Level 0: one word holds two filtered values; the output has 16 bits. Deeper: 32 bits.
template <int kLevel>
using LowBand = std::conditional_t<kLevel == 0, int16_t, int32_t>;

// ---- phase 1: down the columns --------------------------------------------------------------------------------------

/// A thread filters two rows from six.
constexpr int kRowsPerItem = 2;
constexpr int kRowsRead = 2 * kRowsPerItem + 2;

template <typename T>
constexpr int kColumnsPerItem = sizeof(T) == 1 || std::is_same_v<T, uint16_t> ? 4 : 2;

/// Neighbouring columns of one row, packed as in memory.
template <typename T>
struct RowPiece {
    static constexpr int kWords = kColumnsPerItem<T> * sizeof(T) / sizeof(uint32_t);
    uint32_t word[kWords];
};

/// One of the columns.
template <typename T>
QC_HD int32_t column_of(const RowPiece<T>& piece, int k) {
    if constexpr (sizeof(T) == 4)
        return static_cast<int32_t>(piece.word[k]);
    else if constexpr (std::is_same_v<T, int16_t>)
        return k == 0 ? low_16(piece.word[0]) : high_16(piece.word[0]);
    else
        return static_cast<int32_t>(k % 2 == 0 ? piece.word[k / 2] & 0xffffu : piece.word[k / 2] >> 16);
}

template <typename T>
QC_HD void read_wide(const T* at, RowPiece<T>& piece) {
    if constexpr (RowPiece<T>::kWords == 1) {
        piece.word[0] = load_as<uint32_t>(at);
    } else {
        const Word2 words = load_as<Word2>(at);
        piece.word[0] = words.at[0];
        piece.word[1] = words.at[1];
    }
}

/// Column by column, mirrored at the borders.
template <typename T>
QC_HD void read_mirrored(const T* row, int column, int width, RowPiece<T>& piece) {
    using Bits = std::make_unsigned_t<T>;
    constexpr int kPerWord = sizeof(uint32_t) / sizeof(T);
    QC_UNROLL
    for (int i = 0; i < RowPiece<T>::kWords; i++) {
        piece.word[i] = 0;
        QC_UNROLL
        for (int k = 0; k < kPerWord; k++) {
            const T value = row[mirror_with_last_edge_inside(column + i * kPerWord + k, width)];
            piece.word[i] |= static_cast<uint32_t>(static_cast<Bits>(value)) << (8 * static_cast<int>(sizeof(T)) * k);
        }
    }
}

template <typename T>
QC_HD void read_rows(const Source<T>& source, const LevelPlan& plan, int column, int first_row,
                     RowPiece<T> (&pieces)[kRowsRead]) {
    const bool wide = source.wide && column >= 0 && column + kColumnsPerItem<T> <= plan.in_width;
    const bool inside = first_row >= 0 && first_row + kRowsRead <= plan.in_height;
    if (wide && inside) {
        const T* at = source.data + static_cast<ptrdiff_t>(first_row) * source.pitch + column;
        QC_UNROLL
        for (int j = 0; j < kRowsRead; j++) read_wide(at + j * source.pitch, pieces[j]);
    } else {
        QC_UNROLL
        for (int j = 0; j < kRowsRead; j++) {
            const T* row =
                source.data +
                static_cast<ptrdiff_t>(mirror_with_last_edge_inside(first_row + j, plan.in_height)) * source.pitch;
            if (wide)
                read_wide(row + column, pieces[j]);
            else
                read_mirrored(row, column, plan.in_width, pieces[j]);
        }
    }
}

/// Level 0, bytes: taps and samples in pairs of rows. The result is the middle 16 bits of the sum, since depth is 8.
template <bool kDetails>
QC_HD void filter_bytes(const RowPiece<uint8_t> (&rows)[kRowsRead], int output, uint32_t (&packed)[4]) {
    constexpr uint32_t kLow01 = static_cast<uint16_t>(kTap0) | static_cast<uint32_t>(kTap1) << 16;
    constexpr uint32_t kLow23 = static_cast<uint16_t>(kTap2) | static_cast<uint32_t>(kTap3) << 16;
    constexpr uint32_t kHigh01 = static_cast<uint16_t>(kTap3) | static_cast<uint32_t>(-kTap2) << 16;
    constexpr uint32_t kHigh23 = static_cast<uint16_t>(kTap1) | static_cast<uint32_t>(-kTap0) << 16;
    constexpr int32_t kLowOffset = -(kTapSum - 1) * 128, kHighOffset = 128;
    using device::add_two_products;
    const uint32_t r0 = rows[2 * output].word[0], r1 = rows[2 * output + 1].word[0];
    const uint32_t r2 = rows[2 * output + 2].word[0], r3 = rows[2 * output + 3].word[0];
    // Columns 0 and 1, then 2 and 3, each with the bytes of two rows side by side.
    const uint32_t upper[2] = {device::select_bytes(r0, r1, 0x5140), device::select_bytes(r0, r1, 0x7362)};
    const uint32_t lower[2] = {device::select_bytes(r2, r3, 0x5140), device::select_bytes(r2, r3, 0x7362)};
    int32_t low[4], high[4] = {0, 0, 0, 0};
    QC_UNROLL
    for (int k = 0; k < 2; k++) {
        low[2 * k] = add_two_products<false>(kLow23, lower[k], add_two_products<false>(kLow01, upper[k], kLowOffset));
        low[2 * k + 1] = add_two_products<true>(kLow23, lower[k], add_two_products<true>(kLow01, upper[k], kLowOffset));
        if constexpr (kDetails) {
            high[2 * k] =
                add_two_products<false>(kHigh23, lower[k], add_two_products<false>(kHigh01, upper[k], kHighOffset));
            high[2 * k + 1] =
                add_two_products<true>(kHigh23, lower[k], add_two_products<true>(kHigh01, upper[k], kHighOffset));
        }
    }
    QC_UNROLL
    for (int k = 0; k < 4; k++) {
        packed[k] = device::select_bytes(static_cast<uint32_t>(low[k]), static_cast<uint32_t>(high[k]), 0x6521);
    }
}

template <bool kDetails>
QC_HD void filter_words(const RowPiece<uint16_t> (&rows)[kRowsRead], int output, int shift, int depth,
                        uint32_t (&packed)[4]) {
    QC_UNROLL
    for (int k = 0; k < 4; k++) {
        const int32_t x0 = column_of(rows[2 * output], k) >> shift, x1 = column_of(rows[2 * output + 1], k) >> shift;
        const int32_t x2 = column_of(rows[2 * output + 2], k) >> shift,
                      x3 = column_of(rows[2 * output + 3], k) >> shift;
        packed[k] = pack_16(level0_vertical_low(x0, x1, x2, x3, depth),
                            kDetails ? level0_vertical_high(x0, x1, x2, x3, depth) : 0);
    }
}

template <int kLevel, bool kDetails, typename T>
QC_HD void filter_deep(const RowPiece<T> (&rows)[kRowsRead], int output, int32_t (&low)[2], int32_t (&high)[2]) {
    QC_UNROLL
    for (int k = 0; k < 2; k++) {
        const int32_t x0 = column_of(rows[2 * output], k), x1 = column_of(rows[2 * output + 1], k);
        const int32_t x2 = column_of(rows[2 * output + 2], k), x3 = column_of(rows[2 * output + 3], k);
        if constexpr (kLevel == 1) {
            low[k] = low_pass(x0, x1, x2, x3);
            if constexpr (kDetails) high[k] = high_pass(x0, x1, x2, x3);
        } else {
            const Halves halves = split(x0, x1, x2, x3);
            low[k] = low_pass_wide<16>(halves);
            if constexpr (kDetails) high[k] = high_pass_wide<16>(halves);
        }
    }
}

/// Six rows of one column group make an item; a picture has kPictureItems of them. At level 0 that is half the threads,
/// so that a thread works on one picture only; deeper, every thread works on both in turn.
template <typename T>
constexpr int kItemsPerRow = kInputColumns / kColumnsPerItem<T>;
template <typename T>
constexpr int kPictureItems = tuning::kTileRows / kRowsPerItem* kItemsPerRow<T>;

/// The picture that a thread filters at level 0.
template <typename T>
QC_HD int picture_of_thread(int thread) {
    static_assert(2 * kPictureItems<T> == tuning::kThreads);
    return thread / kPictureItems<T>;
}

/// `reference` and `distorted`: at level 0, only the one of picture_of_thread() is read. `leads`: see leaves_low().
template <int kLevel, bool kDetails, bool kAim, typename T>
QC_HD void filter_columns(const LevelArguments& arguments, const Source<T>& reference, const Source<T>& distorted,
                          int tile_x, int tile_y, int thread, bool leads, SharedTile<kLevel, kAim>& shared) {
    constexpr int kItems = 2 * kPictureItems<T>;
    static_assert(kItems % tuning::kThreads == 0);
    QC_UNROLL
    for (int first = 0; first < kItems; first += tuning::kThreads) {
        const int item = first + thread;
        const int group = item / kItemsPerRow<T>, picture = item / kPictureItems<T>;
        const int row = group * kRowsPerItem % tuning::kTileRows;
        const int column = item % kItemsPerRow<T> * kColumnsPerItem<T>;
        if (!kDetails && picture == 0 && !leaves_low<kLevel>(leads)) continue;
        RowPiece<T> rows[kRowsRead];
        // Coefficient i needs inputs 2i - 1 to 2i + 2; the tile starts one coefficient before its first useful one.
        // In x, one input more keeps the reads aligned.
        const int first_row = 2 * (tile_y - 1 + row) - 1;
        const Source<T> source = picture == 0 ? reference : distorted;
        read_rows(source, arguments.plan, 2 * (tile_x - 1) - 2 + column, first_row, rows);
        QC_UNROLL
        for (int i = 0; i < kRowsPerItem; i++) {
            if constexpr (kLevel == 0) {
                uint32_t packed[4];
                if constexpr (std::is_same_v<T, uint8_t>)
                    filter_bytes<kDetails>(rows, i, packed);
                else
                    filter_words<kDetails>(rows, i, source.shift, arguments.depth, packed);
                store_as(&shared.filtered[0][picture][row + i][column],
                         Word4{{packed[0], packed[1], packed[2], packed[3]}});
            } else {
                int32_t low[2], high[2] = {0, 0};
                filter_deep<kLevel, kDetails>(rows, i, low, high);
                store_as(&shared.filtered[0][picture][row + i][column],
                         Word2{{static_cast<uint32_t>(low[0]), static_cast<uint32_t>(low[1])}});
                if constexpr (kDetails) {
                    store_as(&shared.filtered[1][picture][row + i][column],
                             Word2{{static_cast<uint32_t>(high[0]), static_cast<uint32_t>(high[1])}});
                }
            }
        }
    }
}

// ---- phase 2: along the rows ----------------------------------------------------------------------------------------

template <int kLevel>
QC_HD int32_t along_low(const int32_t* x) {
    if constexpr (kLevel == 0)
        return round_shift<16>(low_pass(x[0], x[1], x[2], x[3]));
    else
        return low_pass_wide<kHorizontalShift<kLevel>>(split(x[0], x[1], x[2], x[3]));
}
template <int kLevel>
QC_HD int32_t along_high(const int32_t* x) {
    if constexpr (kLevel == 0)
        return round_shift<16>(high_pass(x[0], x[1], x[2], x[3]));
    else
        return high_pass_wide<kHorizontalShift<kLevel>>(split(x[0], x[1], x[2], x[3]));
}

/// Coefficients of one picture in a lane's two columns.
struct LaneBands {
    int32_t low[2];
    int32_t detail[2][kBands];
};

template <int kLevel, bool kDetails, bool kAim>
QC_HD void filter_row(const SharedTile<kLevel, kAim>& shared, int picture, int row, int lane, bool wants_low,
                      bool wants_details, LaneBands& bands) {
    uint32_t words[6];
    int32_t low[6], high[6];
    read_filtered(shared.filtered[0][picture][row], lane, words);
    QC_UNROLL
    for (int k = 0; k < 6; k++) low[k] = kLevel == 0 ? low_16(words[k]) : static_cast<int32_t>(words[k]);
    if (wants_low) {
        QC_UNROLL
        for (int c = 0; c < 2; c++) bands.low[c] = along_low<kLevel>(low + 2 * c);
    }
    if constexpr (kDetails) {
        if (!wants_details) return;
        if constexpr (kLevel > 0) read_filtered(shared.filtered[1][picture][row], lane, words);
        QC_UNROLL
        for (int k = 0; k < 6; k++) high[k] = kLevel == 0 ? high_16(words[k]) : static_cast<int32_t>(words[k]);
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            bands.detail[c][kBandH] = along_low<kLevel>(high + 2 * c);
            bands.detail[c][kBandV] = along_high<kLevel>(low + 2 * c);
            bands.detail[c][kBandD] = along_high<kLevel>(high + 2 * c);
        }
    }
}

} // namespace qc::adm
