// SPDX-License-Identifier: BSD-2-Clause-Patent
// Filters of integer VIF as products of matrices of bytes, on the tensor cores (device/matrix.hpp): the matrices of
// weights, and values of several bytes in the order that a product takes and leaves them.
//
// Down the columns and along the rows the filter is the same matrix, of which row m holds the window's weights from
// column m on. Weights have two bytes, values up to four; so each sum is put together of several products' sums.
#pragma once

#include "device/bytes.hpp"
#include "device/matrix.hpp"
#include "metrics/vif/vif_tile.hpp"

namespace qc::vif {

using device::MatrixBytes;
using device::MatrixSums;
using device::MatrixWeights;
using device::product;
using device::select_bytes;

constexpr int kBandRows = 16, kStepColumns = 16; ///< the filters reach kRadius samples beyond them on either side

struct BandArguments {
    ScaleArguments scale;     ///< `logarithms` is LogCorrections' table, 16-byte aligned
    const uint32_t* weights;  ///< kBandWeightWords
    int strip_width;          ///< columns that a warp walks along; a multiple of kStepColumns
    int strips, bands, tasks; ///< in a picture, in a picture, in all pairs
};

// ---- weights --------------------------------------------------------------------------------------------------------

/// The matrices of one direction. The two directions count the 32 samples that are summed over in different orders.
struct BandWeights {
    MatrixWeights low, high; ///< bytes of the scale's weights: row m is the window of sample m
    MatrixWeights next;      ///< the next one's, for its decimated pictures: rows 0 to 7 low bytes, 8 to 15 high bytes
};

enum BandMatrix { kLowBytes, kHighBytes, kNextScale, kBandMatrices };
enum BandDirection { kDown, kAlong, kBandDirections };
constexpr int kBandWeightWords =
    static_cast<int>(kBandDirections) * static_cast<int>(kBandMatrices) * device::kWarpSize * 4;

/// In which order the bytes of an operand's word, and those of the four groups of lanes, count 16 neighbouring samples.
enum class SampleOrder {
    kNeighbours, ///< four neighbours a word
    kRowPairs,   ///< of both halves two neighbours, as read_byte_pairs() finds them
    kHalves      ///< of both halves in turn
};

QC_HD constexpr int sample_of(SampleOrder order, int index) {
    const int in_half = index % 16, group = in_half / 4, byte = in_half % 4, first = index - in_half;
    if (order == SampleOrder::kRowPairs) return first + 2 * group + byte % 2 + 8 * (byte / 2);
    if (order == SampleOrder::kHalves) return first + 2 * group + byte / 2 + 8 * (byte % 2);
    return index;
}

/// Weight of a sample of 32 in a row of a matrix. Down a column the first sample is the window's of row 0; along a row
/// the last one is the window's of row 15.
template <int kScale>
QC_HD constexpr uint32_t band_weight(BandDirection direction, BandMatrix matrix, int row, int sample) {
    const auto byte_of = [](uint32_t weight, bool high) { return high ? weight >> 8 : weight & 0xff; };
    const int centre = direction == kDown ? kRadius<kScale> : kStepColumns - kRadius<kScale>; // of row 0's window
    if (matrix != kNextScale) {
        const int k = sample - centre + kRadius<kScale> - row;
        return k < 0 || k > 2 * kRadius<kScale> ? 0 : byte_of(tap<kScale>(k), matrix == kHighBytes);
    }
    constexpr int kNext = kScale + 1;
    const int k = sample - centre + kRadius<kNext> - 2 * (row % 8);
    return k < 0 || k > 2 * kRadius<kNext> ? 0 : byte_of(tap<kNext>(k), row >= 8);
}

QC_HD MatrixWeights read_weights(const uint32_t* weights, BandDirection direction, BandMatrix matrix, int lane) {
    MatrixWeights read;
    read_row(weights +
                 ((static_cast<int>(direction) * kBandMatrices + static_cast<int>(matrix)) * device::kWarpSize + lane) *
                     4,
             read.words);
    return read;
}

QC_HD BandWeights read_weights(const uint32_t* weights, BandDirection direction, int lane) {
    return {read_weights(weights, direction, kLowBytes, lane), read_weights(weights, direction, kHighBytes, lane),
            read_weights(weights, direction, kNextScale, lane)};
}

// ---- values of several bytes ----------------------------------------------------------------------------------------

/// Some bytes of filtered values, operands of the pass along the rows: for rows 0 to 7 and 8 to 15 of the band, the
/// columns of the step before and of this one.
template <int kBytes, int kHalves>
struct Filtered {
    MatrixBytes bytes[kBytes][kHalves];

    QC_HD void step_on() {
        QC_UNROLL for (int i = 0; i < kBytes; ++i) QC_UNROLL for (int half = 0; half < kHalves; ++half) bytes[i][half]
            .words[0] = bytes[i][half].words[1];
    }
};

using FilteredMeans = Filtered<2, 2>;    ///< 8.8
using FilteredProducts = Filtered<4, 2>; ///< 16.16
using FilteredRows = Filtered<2, 1>;     ///< of the next scale's picture, 8.8

/// Values of 16 rows in the 16 columns of a step, as two products leave them: by product, by half of the rows.
using StepValues = uint32_t[2][2][2];

/// Bytes kFirst and kFirst + 1 of four values: the first one of both pairs, then the second one.
template <int kFirst>
QC_HD void take_two_bytes(const uint32_t (&a)[2], const uint32_t (&b)[2], uint32_t& lower, uint32_t& upper) {
    constexpr uint32_t kSelector = kFirst == 0 ? 0x5140 : kFirst == 1 ? 0x6251 : 0x7362;
    const uint32_t left = select_bytes(a[0], b[0], kSelector), right = select_bytes(a[1], b[1], kSelector);
    lower = select_bytes(left, right, 0x5410);
    upper = select_bytes(left, right, 0x7632);
}

/// Keeps bytes kFirst and kFirst + 1.
template <int kFirst>
QC_HD void keep_means(const StepValues& values, FilteredMeans& means) {
    QC_UNROLL for (int half = 0; half < 2; ++half) take_two_bytes<kFirst>(
        values[0][half], values[1][half], means.bytes[0][half].words[1], means.bytes[1][half].words[1]);
}

QC_HD void keep_products(const StepValues& values, FilteredProducts& means) {
    QC_UNROLL for (int half = 0; half < 2; ++half) {
        take_two_bytes<0>(values[0][half], values[1][half], means.bytes[0][half].words[1],
                          means.bytes[1][half].words[1]);
        take_two_bytes<2>(values[0][half], values[1][half], means.bytes[2][half].words[1],
                          means.bytes[3][half].words[1]);
    }
}

/// Keeps bytes kFirst and kFirst + 1.
template <int kFirst>
QC_HD void keep_rows(const uint32_t (&values)[2][2], FilteredRows& rows) {
    take_two_bytes<kFirst>(values[0], values[1], rows.bytes[0][0].words[1], rows.bytes[1][0].words[1]);
}

/// Weighted sums of values of two bytes, which fit 32 bits.
template <class Block>
QC_HD MatrixSums weigh_two_bytes(Block& block, const BandWeights& weights, const MatrixBytes& low,
                                 const MatrixBytes& high) {
    MatrixSums lowest = product(block, weights.low, low), middle = product(block, weights.low, high);
    device::add_product(block, weights.high, low, middle);
    const MatrixSums highest = product(block, weights.high, high);
    QC_UNROLL for (int i = 0; i < 4; ++i) lowest.words[i] += middle.words[i] * 256 + highest.words[i] * 65536;
    return lowest;
}

/// Weighted sums of values of four bytes, without their 16 lowest bits, rounded.
/// @tparam kFirst how many of the values' lowest bytes are zero: 0 or 1
template <int kFirst, class Block>
QC_HD MatrixSums weigh_four_bytes(Block& block, const BandWeights& weights, const MatrixBytes (&bytes)[4]) {
    MatrixSums sums[5]{}; // by the byte of the 48-bit sum that their lowest byte belongs to
    QC_UNROLL for (int i = kFirst; i < 4; ++i) sums[i] = product(block, weights.low, bytes[i]);
    QC_UNROLL for (int i = kFirst; i < 3; ++i) device::add_product(block, weights.high, bytes[i], sums[i + 1]);
    sums[4] = product(block, weights.high, bytes[3]);
    MatrixSums rounded;
    QC_UNROLL for (int i = 0; i < 4; ++i) {
        const uint32_t lowest = sums[1].words[i] * 256 + (sums[0].words[i] + 32768);
        const uint32_t upper = sums[3].words[i] * 256 + sums[2].words[i] + sums[4].words[i] * 65536;
        rounded.words[i] = upper + (lowest >> 16);
    }
    return rounded;
}

/// Weighted sums of values of two bytes, every other one: two for a lane.
template <class Block>
QC_HD void weigh_every_other(Block& block, const BandWeights& weights, const MatrixBytes& low, const MatrixBytes& high,
                             uint32_t (&weighted)[2]) {
    const MatrixSums of_low = product(block, weights.next, low), of_high = product(block, weights.next, high);
    QC_UNROLL for (int i = 0; i < 2; ++i) {
        const uint32_t middle = of_low.words[2 + i] + of_high.words[i];
        weighted[i] = of_low.words[i] + middle * 256 + of_high.words[2 + i] * 65536;
    }
}

// ---- from step to step ----------------------------------------------------------------------------------------------

constexpr int kStages = 2; ///< steps whose samples are on their way

enum class Pictures { kReference, kBoth };

/// Walks from column `first` to `end`. For each step use(x, stage, release) is called when the step's samples are
/// there, and calls release() when it has read them. Step x reads columns x + kRadius to x + kRadius + 15; the first
/// one, before column `first`, only fills what the others find as the step before.
///
/// `Input` is how a kernel gets its samples: a lane copies one row of the band and its margin to the warp's stage in
/// shared memory, begin<kPictures>(x, row), and the warp reads them from there as operands, read<kWhich>(block, stage).
template <Pictures kPictures, class Block, class Input, typename Use>
QC_HD void walk_along(Block& block, const Input& input, int first, int end, uint8_t* stages, const Use& use) {
    uint8_t* const own_row = stages + block.lane() * Input::kRowBytes;
    const auto begin_copy = [&](int x, uint8_t* to) {
        if (x < end) input.template begin<kPictures>(x + kRadius<Input::kScale>, to);
        device::end_copy_group();
    };
    int stage = 0;
    for (; stage < kStages; ++stage)
        begin_copy(first - kStepColumns * (1 - stage), own_row + stage * Input::kStageBytes);
    stage = 0;
    QC_NO_UNROLL
    for (int x = first - kStepColumns; x < end; x += kStepColumns) {
        device::wait_for_copies<kStages - 1>();
        block.sync_warp();
        use(x, stages + stage * Input::kStageBytes, [&] {
            block.sync_warp();
            begin_copy(x + kStages * kStepColumns, own_row + stage * Input::kStageBytes);
            stage = stage + 1 == kStages ? 0 : stage + 1;
        });
    }
}

} // namespace qc::vif
