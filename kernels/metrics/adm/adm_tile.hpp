// SPDX-License-Identifier: BSD-2-Clause-Patent
// What one block of the CUDA backend does: a tile of a wavelet level, from the input picture to energies, in three
// phases with barriers between them. Plain functions of a thread's index, so that a test can run them on the host.
//
//   1  filter down the columns of both pictures, into shared memory
//   2  filter along the rows, in registers: the a bands go to memory, the details are decoupled at once; masker terms
//      go to shared memory
//   3  sum the masking window, add up energies
//
// Thread t is lane t % 32 of warp t / 32. In phases 2 and 3 a warp holds a row of the tile and a lane two columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "contract/types.hpp"
#include "device/unroll.hpp"
#include "metrics/adm/adm_math.hpp"
#include "metrics/adm/adm_plan.hpp"
#include "metrics/adm/adm_tuning.hpp"

namespace qc::adm {

// ---- what the host tells the kernels --------------------------------------------------------------------------------

/// Tiles over the bands of a level, aligned to the scored region.
struct TileGrid {
    int32_t origin_x = 0, origin_y = 0; ///< first useful coefficient of tile (0, 0); may be negative; x is even
    int32_t columns = 0, rows = 0;      ///< number of tiles
    int32_t strip = 1;                  ///< tiles that one block handles, along x
};

struct LevelLaunch {
    LevelPlan plan;
    Gain gain;
    TileGrid grid;
    int32_t depth = 8;
    int32_t in_pitch = 0, out_pitch = 0; ///< of the a bands, in elements; level 0 reads pictures instead
    int32_t first_row = 0;               ///< of this level among the row sums of a pair, minus plan.top
    int32_t rows = 0;                    ///< row sums of a pair, all levels
};

/// Rounds row sums and adds them up.
struct FinishLaunch {
    struct Level {
        int32_t first_row = 0, rows = 0, row_shift = 0, reference_row_shift = 0;
    } level[kLevels];
    int32_t rows = 0; ///< row sums of a pair, all levels
};

/// Whether the block at a tile row and column has to compute details, or the a band only.
QC_HD bool has_details(const LevelPlan& plan, int tile_x, int tile_y) {
    return plan.scored() && tile_y < plan.bottom && tile_y + tuning::kUsefulRows > plan.top && tile_x < plan.right &&
           tile_x + tuning::kUsefulColumns > plan.left;
}

// ---- memory access in words -----------------------------------------------------------------------------------------

struct alignas(8) Word2 {
    uint32_t x, y;
};
struct alignas(16) Word4 {
    uint32_t x, y, z, w;
};

/// Loads and stores of a type at an address that is aligned for it.
template <typename Word>
QC_HD Word load_as(const void* address) {
#if defined(__CUDA_ARCH__)
    return *static_cast<const Word*>(address);
#else
    Word word;
    std::memcpy(&word, address, sizeof word);
    return word;
#endif
}
template <typename Word>
QC_HD void store_as(void* address, Word word) {
#if defined(__CUDA_ARCH__)
    *static_cast<Word*>(address) = word;
#else
    std::memcpy(address, &word, sizeof word);
#endif
}

/// Bytes of a (0 to 3) and b (4 to 7), picked by the selector's digits, lowest first.
template <uint32_t kSelector>
QC_HD uint32_t pick_bytes(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
    return __byte_perm(a, b, kSelector);
#else
    const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
    uint32_t picked = 0;
    for (int i = 0; i < 4; i++)
        picked |= static_cast<uint32_t>(both >> (8 * (kSelector >> (4 * i) & 7)) & 255) << (8 * i);
    return picked;
#endif
}

/// Two signed 16-bit taps times two unsigned bytes of `bytes` (the lower or the upper two), plus sum.
template <bool kUpper>
QC_HD int32_t dot_bytes(uint32_t taps, uint32_t bytes, int32_t sum) {
#if defined(__CUDA_ARCH__)
    int32_t result;
    if constexpr (kUpper)
        asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(taps), "r"(bytes), "r"(sum));
    else
        asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(taps), "r"(bytes), "r"(sum));
    return result;
#else
    const uint32_t two = kUpper ? bytes >> 16 : bytes;
    return sum + static_cast<int16_t>(taps) * static_cast<int32_t>(two & 255) +
           static_cast<int16_t>(taps >> 16) * static_cast<int32_t>(two >> 8 & 255);
#endif
}

/// Two 16-bit values in a word.
QC_HD uint32_t pack_16(int32_t low, int32_t high) {
    return pick_bytes<0x5410>(static_cast<uint32_t>(low), static_cast<uint32_t>(high));
}
QC_HD int32_t low_16(uint32_t word) {
    return static_cast<int16_t>(word);
}
QC_HD int32_t high_16(uint32_t word) {
    return static_cast<int32_t>(word) >> 16;
}

// ---- shared memory and registers of a tile --------------------------------------------------------------------------

constexpr int kInputColumns = 2 * tuning::kTileColumns;
/// Rows are padded so that the four-word reads of a warp's rows do not all start in the same bank.
constexpr int kFilteredPitch = kInputColumns + 4;
constexpr int kWindowPad = 2; ///< keeps two-word accesses aligned with one column to spare on the left
constexpr int kWindowPitch = tuning::kTileColumns + 2 * kWindowPad;

/// Level 0 packs the low- and high-pass value of a column into one word, deep levels keep a plane for each.
template <int kLevel, bool kAim>
struct SharedTile {
    static constexpr int kFilters = kLevel == 0 ? 1 : 2;
    alignas(16) uint32_t filtered[kFilters][2][tuning::kTileRows][kFilteredPitch]; ///< [filter][picture][row][column]
    alignas(16) int32_t neighbour[kAim ? 2 : 1][tuning::kTileRows][kWindowPitch];  ///< [masker][row][pad + column]
};

/// What a thread keeps from phase 2 to phase 3, and its share of the row sums of a strip.
template <bool kAim>
struct ThreadTile {
    static constexpr int kMaskers = kAim ? 2 : 1; ///< 0: for detail loss, 1: for additive impairment
    static constexpr int kSums = kAim ? 9 : 6;    ///< in the order of the accumulators
    int32_t centre[kMaskers][2];                  ///< [masker][column]
    uint32_t size[kMaskers][2][kBands];           ///< weighted magnitudes of what is measured
    uint64_t sum[kSums];
};

/// Input of a level. A wide source can be read several columns at a time.
template <typename T>
struct Source {
    const T* data = nullptr;
    ptrdiff_t pitch = 0; ///< in elements
    int shift = 0;       ///< right shift of the samples
    bool wide = true;
};

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
        piece.word[0] = words.x;
        piece.word[1] = words.y;
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
            const T value = row[mirror(column + i * kPerWord + k, width)];
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
            const T* row = source.data + static_cast<ptrdiff_t>(mirror(first_row + j, plan.in_height)) * source.pitch;
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
    const uint32_t r0 = rows[2 * output].word[0], r1 = rows[2 * output + 1].word[0];
    const uint32_t r2 = rows[2 * output + 2].word[0], r3 = rows[2 * output + 3].word[0];
    // Columns 0 and 1, then 2 and 3, each with the bytes of two rows side by side.
    const uint32_t upper[2] = {pick_bytes<0x5140>(r0, r1), pick_bytes<0x7362>(r0, r1)};
    const uint32_t lower[2] = {pick_bytes<0x5140>(r2, r3), pick_bytes<0x7362>(r2, r3)};
    int32_t low[4], high[4] = {0, 0, 0, 0};
    QC_UNROLL
    for (int k = 0; k < 2; k++) {
        low[2 * k] = dot_bytes<false>(kLow23, lower[k], dot_bytes<false>(kLow01, upper[k], kLowOffset));
        low[2 * k + 1] = dot_bytes<true>(kLow23, lower[k], dot_bytes<true>(kLow01, upper[k], kLowOffset));
        if constexpr (kDetails) {
            high[2 * k] = dot_bytes<false>(kHigh23, lower[k], dot_bytes<false>(kHigh01, upper[k], kHighOffset));
            high[2 * k + 1] = dot_bytes<true>(kHigh23, lower[k], dot_bytes<true>(kHigh01, upper[k], kHighOffset));
        }
    }
    QC_UNROLL
    for (int k = 0; k < 4; k++) {
        packed[k] = pick_bytes<0x6521>(static_cast<uint32_t>(low[k]), static_cast<uint32_t>(high[k]));
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

/// `reference` and `distorted`: at level 0, only the one of picture_of_thread() is read.
template <int kLevel, bool kDetails, bool kAim, typename T>
QC_HD void filter_columns(const LevelLaunch& launch, const Source<T>& reference, const Source<T>& distorted, int tile_x,
                          int tile_y, int thread, SharedTile<kLevel, kAim>& shared) {
    constexpr int kItems = 2 * kPictureItems<T>;
    static_assert(kItems % tuning::kThreads == 0);
    QC_UNROLL
    for (int first = 0; first < kItems; first += tuning::kThreads) {
        const int item = first + thread;
        const int group = item / kItemsPerRow<T>, picture = item / kPictureItems<T>;
        const int row = group * kRowsPerItem % tuning::kTileRows;
        const int column = item % kItemsPerRow<T> * kColumnsPerItem<T>;
        RowPiece<T> rows[kRowsRead];
        // Coefficient i needs inputs 2i - 1 to 2i + 2; the tile starts one coefficient before its first useful one.
        // In x, one input more keeps the reads aligned.
        const int first_row = 2 * (tile_y - 1 + row) - 1;
        const Source<T> source = picture == 0 ? reference : distorted;
        read_rows(source, launch.plan, 2 * (tile_x - 1) - 2 + column, first_row, rows);
        QC_UNROLL
        for (int i = 0; i < kRowsPerItem; i++) {
            if constexpr (kLevel == 0) {
                uint32_t packed[4];
                if constexpr (std::is_same_v<T, uint8_t>)
                    filter_bytes<kDetails>(rows, i, packed);
                else
                    filter_words<kDetails>(rows, i, source.shift, launch.depth, packed);
                store_as(&shared.filtered[0][picture][row + i][column],
                         Word4{packed[0], packed[1], packed[2], packed[3]});
            } else {
                int32_t low[2], high[2] = {0, 0};
                filter_deep<kLevel, kDetails>(rows, i, low, high);
                store_as(&shared.filtered[0][picture][row + i][column],
                         Word2{static_cast<uint32_t>(low[0]), static_cast<uint32_t>(low[1])});
                if constexpr (kDetails) {
                    store_as(&shared.filtered[1][picture][row + i][column],
                             Word2{static_cast<uint32_t>(high[0]), static_cast<uint32_t>(high[1])});
                }
            }
        }
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

/// Six filtered words around a lane's two columns.
QC_HD void read_filtered(const uint32_t* row, int lane, uint32_t (&words)[6]) {
    const Word4 first = load_as<Word4>(row + 4 * lane);
    // The last lane's second column is not used: it may read anything inside.
    const Word4 second = load_as<Word4>(row + 4 * lane + (lane < 31 ? 4 : 0));
    words[0] = first.y;
    words[1] = first.z;
    words[2] = first.w;
    words[3] = second.x;
    words[4] = second.y;
    words[5] = second.z;
}

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

template <int kLevel>
QC_HD bool lane_same_angle(const int32_t* o, const int32_t* t) {
    using Sum = std::conditional_t<kLevel == 0, int32_t, int64_t>;
    const Sum dot = static_cast<Sum>(o[kBandH]) * t[kBandH] + static_cast<Sum>(o[kBandV]) * t[kBandV];
    const Sum reference_norm = static_cast<Sum>(o[kBandH]) * o[kBandH] + static_cast<Sum>(o[kBandV]) * o[kBandV];
    const Sum distorted_norm = static_cast<Sum>(t[kBandH]) * t[kBandH] + static_cast<Sum>(t[kBandV]) * t[kBandV];
    return same_angle(static_cast<float>(dot), static_cast<float>(reference_norm), static_cast<float>(distorted_norm));
}

/// Weighted magnitude of a coefficient and its masker terms: both backends of a measure need the same product.
template <int kLevel, int kBand>
QC_HD uint32_t weighted_size(uint32_t factor, int32_t x) {
    if constexpr (kLevel == 0)
        return magnitude(weigh_level0(factor, x));
    else
        return magnitude(weigh_deep(factor, x));
}
template <int kLevel, int kBand>
QC_HD MaskerTerms weighted_terms(uint32_t factor, int32_t x, uint32_t& size) {
    if constexpr (kLevel == 0) {
        const int32_t weighted = weigh_level0(factor, x);
        size = magnitude(weighted);
        return masker_level0<kBand>(weighted);
    } else {
        size = magnitude(weigh_deep(factor, x));
        return masker_deep(size);
    }
}

/// Adds one band of a column to the masker sums. With impairment, each part masks the other and is measured.
template <int kLevel, int kBand, bool kAim>
QC_HD void add_band(uint32_t factor, Decoupled parts, MaskerTerms (&terms)[2], int column, ThreadTile<kAim>& state) {
    uint32_t additive_size;
    const MaskerTerms additive = weighted_terms<kLevel, kBand>(factor, parts.additive, additive_size);
    terms[0].neighbour += additive.neighbour;
    terms[0].centre += additive.centre;
    if constexpr (kAim) {
        const MaskerTerms restored =
            weighted_terms<kLevel, kBand>(factor, parts.restored, state.size[0][column][kBand]);
        terms[1].neighbour += restored.neighbour;
        terms[1].centre += restored.centre;
        state.size[1][column][kBand] = additive_size;
    } else {
        state.size[0][column][kBand] = weighted_size<kLevel, kBand>(factor, parts.restored);
    }
}

template <int kLevel, int kBand>
QC_HD uint64_t reference_energy(int32_t o, Rounding rounding) {
    if constexpr (kLevel == 0)
        return reference_energy_level0(o);
    else
        return reference_energy_deep<kLevel>(o, rounding);
}

template <int kLevel>
QC_HD Decoupled decouple_at(int32_t o, int32_t t, bool enhanced, const Gain& gain) {
    return gain.whole != 0 ? decouple<(kLevel > 0), true>(o, t, enhanced, gain)
                           : decouple<(kLevel > 0), false>(o, t, enhanced, gain);
}

/// Decouples one column: leaves sizes and centre terms in the state, returns the neighbour terms of each masker.
template <int kLevel, bool kAim>
QC_HD void mask_column(const LevelLaunch& launch, const int32_t* o, const int32_t* t, int column,
                       ThreadTile<kAim>& state, int32_t (&neighbour)[2]) {
    const bool enhanced = lane_same_angle<kLevel>(o, t);
    MaskerTerms terms[2] = {{0, 0}, {0, 0}};
    const uint32_t* factor = launch.plan.factor;
    add_band<kLevel, kBandH>(factor[kBandH], decouple_at<kLevel>(o[kBandH], t[kBandH], enhanced, launch.gain), terms,
                             column, state);
    add_band<kLevel, kBandV>(factor[kBandV], decouple_at<kLevel>(o[kBandV], t[kBandV], enhanced, launch.gain), terms,
                             column, state);
    add_band<kLevel, kBandD>(factor[kBandD], decouple_at<kLevel>(o[kBandD], t[kBandD], enhanced, launch.gain), terms,
                             column, state);
    QC_UNROLL
    for (int m = 0; m < ThreadTile<kAim>::kMaskers; m++) {
        neighbour[m] = terms[m].neighbour;
        state.centre[m][column] = terms[m].centre - terms[m].neighbour;
    }
}

/// Puts the neighbour terms of a lane's two columns into the window. `x` is the first column, at place 2 * lane.
QC_HD void store_neighbours(const LevelPlan& plan, int32_t* window, int x, int lane, int32_t first, int32_t second) {
    int32_t* at = window + kWindowPad + 2 * lane;
    if (plan.left > 0) {
        store_as(at, Word2{static_cast<uint32_t>(first), static_cast<uint32_t>(second)});
        return;
    }
    // A narrow band is scored to its borders, where the window mirrors: -1 is 1, and the width is the last column.
    const int32_t terms[2] = {first, second};
    QC_UNROLL
    for (int c = 0; c < 2; c++) {
        if (x + c < 0 || x + c >= plan.width) continue;
        at[c] = terms[c];
        if (x + c == 1) at[c - 2] = terms[c];
        if (x + c == plan.width - 1) at[c + 1] = terms[c];
    }
}

template <int kLevel, bool kDetails, bool kAim>
QC_HD void filter_rows(const LevelLaunch& launch, int tile_x, int tile_y, int thread, SharedTile<kLevel, kAim>& shared,
                       LowBand<kLevel>* reference_low, LowBand<kLevel>* distorted_low, ThreadTile<kAim>& state) {
    const LevelPlan& plan = launch.plan;
    const TileRow here(tile_y, thread);
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane;
    const bool wants_low = kLevel < kLevels - 1 && here.useful && here.y >= 0 && here.y < plan.height;
    const bool wants_details = kDetails && plan.masks_row(here.y);
    LaneBands reference{}, distorted{};
    if (wants_low || wants_details) {
        filter_row<kLevel, kDetails>(shared, 0, here.row, lane, wants_low, wants_details, reference);
        filter_row<kLevel, kDetails>(shared, 1, here.row, lane, wants_low, wants_details, distorted);
    }
    if (wants_low) {
        const ptrdiff_t offset = static_cast<ptrdiff_t>(here.y) * launch.out_pitch + x;
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            const int place = 2 * lane + c;
            if (place < 1 || place > tuning::kUsefulColumns || x + c < 0 || x + c >= plan.width) continue;
            reference_low[offset + c] = static_cast<LowBand<kLevel>>(reference.low[c]);
            distorted_low[offset + c] = static_cast<LowBand<kLevel>>(distorted.low[c]);
        }
    }
    if constexpr (kDetails) {
        int32_t neighbour[2][2] = {{0, 0}, {0, 0}}; // [column][masker]
        if (wants_details) {
            const bool scored_row = here.useful && plan.scores_row(here.y);
            QC_UNROLL
            for (int c = 0; c < 2; c++) {
                const int place = 2 * lane + c;
                if (place > tuning::kUsefulColumns + 1 || !plan.masks_column(x + c)) continue;
                mask_column<kLevel>(launch, reference.detail[c], distorted.detail[c], c, state, neighbour[c]);
                if (!scored_row || place < 1 || place > tuning::kUsefulColumns || !plan.scores_column(x + c)) continue;
                const int32_t* o = reference.detail[c];
                const Rounding rounding = plan.reference_energy;
                uint64_t* sum = state.sum + kReference * kBands;
                sum[kBandH] += reference_energy<kLevel, kBandH>(o[kBandH], rounding);
                sum[kBandV] += reference_energy<kLevel, kBandV>(o[kBandV], rounding);
                sum[kBandD] += reference_energy<kLevel, kBandD>(o[kBandD], rounding);
            }
        }
        QC_UNROLL
        for (int m = 0; m < ThreadTile<kAim>::kMaskers; m++) {
            store_neighbours(plan, shared.neighbour[m][here.row], x, lane, neighbour[0][m], neighbour[1][m]);
        }
    }
}

// ---- phase 3: the masking window and the energies -------------------------------------------------------------------

template <int kLevel, int kBand>
QC_HD uint64_t masked_energy(const LevelPlan& plan, uint32_t size, int32_t threshold) {
    if constexpr (kLevel == 0)
        return static_cast<uint64_t>(energy_level0<kBand>(size, threshold, plan.energy[kBand]));
    else
        return static_cast<uint64_t>(energy_deep(size, threshold, plan.energy[kBand]));
}

/// Sums over three rows of the window for four columns: one before a lane's two, and one behind.
QC_HD void sum_columns(const int32_t* above, const int32_t* here, const int32_t* below, uint32_t (&columns)[4]) {
    QC_UNROLL
    for (int k = 0; k < 4; k++) columns[k] = 0;
    const int32_t* const rows[3] = {above, here, below};
    QC_UNROLL
    for (int j = 0; j < 3; j++) {
        const Word2 middle = load_as<Word2>(rows[j]);
        columns[0] += static_cast<uint32_t>(rows[j][-1]);
        columns[1] += middle.x;
        columns[2] += middle.y;
        columns[3] += static_cast<uint32_t>(rows[j][2]);
    }
}

template <int kLevel, bool kAim>
QC_HD void sum_energies(const LevelLaunch& launch, int tile_x, int tile_y, int thread,
                        const SharedTile<kLevel, kAim>& shared, ThreadTile<kAim>& state) {
    const LevelPlan& plan = launch.plan;
    const TileRow here(tile_y, thread);
    if (!here.useful || !plan.scores_row(here.y)) return;
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane;
    // The band's borders mirror: above row 0 lies row 1, below the last row the last row.
    const int above = here.y > 0 ? here.row - 1 : here.row + 1;
    const int below = here.y + 1 < plan.height ? here.row + 1 : here.row;
    QC_UNROLL
    for (int m = 0; m < ThreadTile<kAim>::kMaskers; m++) {
        uint32_t columns[4];
        const int at = kWindowPad + 2 * lane;
        sum_columns(&shared.neighbour[m][above][at], &shared.neighbour[m][here.row][at],
                    &shared.neighbour[m][below][at], columns);
        uint64_t* sum = state.sum + (m == 0 ? kDetail : kImpairment) * kBands;
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            const int place = 2 * lane + c;
            if (place < 1 || place > tuning::kUsefulColumns || !plan.scores_column(x + c)) continue;
            const int32_t threshold = static_cast<int32_t>(static_cast<uint32_t>(state.centre[m][c]) + columns[c] +
                                                           columns[c + 1] + columns[c + 2]);
            const uint32_t* size = state.size[m][c];
            sum[kBandH] += masked_energy<kLevel, kBandH>(plan, size[kBandH], threshold);
            sum[kBandV] += masked_energy<kLevel, kBandV>(plan, size[kBandV], threshold);
            sum[kBandD] += masked_energy<kLevel, kBandD>(plan, size[kBandD], threshold);
        }
    }
}

// ---- the last kernel ------------------------------------------------------------------------------------------------

/// One accumulator's share of one complete row.
QC_HD uint64_t round_row(const FinishLaunch::Level& level, int word, uint64_t sum) {
    if (word / kBands == kReference) return round_shift(sum, level.reference_row_shift);
    return static_cast<uint64_t>(round_shift(static_cast<int64_t>(sum), level.row_shift));
}

} // namespace qc::adm
