// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scale 0 of integer VIF for 8-bit samples as products of matrices of bytes, on the tensor cores (device/matrix.hpp).
//
// A warp filters a band of 16 rows and walks along it, 16 columns a step. Down the columns and along the rows the
// filter is the same matrix, of which row m holds the window's weights from column m on; 16-bit weights are two bytes,
// and so are the squares and products of samples, so each sum is put together of several products' sums.
//
//     down      operand: 32 rows of the step's 16 columns, even and odd ones apart. What is left are four neighbouring
//               columns of two rows in each lane, which are the operand of
//     along     the 16 columns of the step before and those of this one. Sums of 16 pixels of two times 8 rows, for
//               the statistic: four pixels a lane at a time
//
// Nothing passes from lane to lane between the two, and only the pictures' samples go through shared memory.
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

constexpr int kBandRows = 16, kStepColumns = 16; ///< the filters reach 8 samples beyond them on either side

struct BandArguments {
    ScaleArguments scale;     ///< of scale 0; `logarithms` is LogCorrections' table, 16-byte aligned
    const uint32_t* weights;  ///< kBandWeightWords
    int strip_width;          ///< columns that a warp walks along; a multiple of kStepColumns
    int strips, bands, tasks; ///< in a picture, in a picture, in all pairs
};

// ---- weights --------------------------------------------------------------------------------------------------------

/// The matrices of one direction. The two directions count the 32 samples that are summed over in different orders.
struct BandWeights {
    MatrixWeights low, high; ///< bytes of scale 0's weights: row m is the window of sample m
    MatrixWeights next;      ///< scale 1's, for its decimated pictures: rows 0 to 7 low bytes, 8 to 15 high bytes
};

enum BandMatrix { kLowBytes, kHighBytes, kNextScale, kBandMatrices };
enum BandDirection { kDown, kAlong, kBandDirections };
constexpr int kBandWeightWords =
    static_cast<int>(kBandDirections) * static_cast<int>(kBandMatrices) * device::kWarpSize * 4;

/// Sample of a band (of 32, the first lies 8 before it) that byte `index` of 32 belongs to in the operand.
QC_HD constexpr int sample_of(BandDirection direction, int index) {
    if (direction == kAlong) return index;
    const int in_half = index % 16, group = in_half / 4, byte = in_half % 4; // as read_byte_pairs() finds them
    return index / 16 * 16 + 2 * group + byte % 2 + 8 * (byte / 2);
}

/// Weight of a sample in a row of a matrix.
QC_HD constexpr uint32_t band_weight(BandMatrix matrix, int row, int sample) {
    const auto byte_of = [](uint32_t weight, bool high) { return high ? weight >> 8 : weight & 0xff; };
    if (matrix != kNextScale) {
        const int k = sample - row;
        return k < 0 || k > 2 * kRadius<0> ? 0 : byte_of(tap<0>(k), matrix == kHighBytes);
    }
    const int k = sample - kRadius<0> + kRadius<1> - 2 * (row % 8);
    return k < 0 || k > 2 * kRadius<1> ? 0 : byte_of(tap<1>(k), row >= 8);
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

// ---- samples --------------------------------------------------------------------------------------------------------

constexpr int kStages = 2; ///< steps whose samples are on their way
constexpr int kStagePictureBytes = device::kStagedRows * device::kStagedRowBytes;
constexpr int kStageBytes = 2 * kStagePictureBytes;

/// One picture's samples of a step, and the products of two pictures' samples: of the even and of the odd columns.
struct StepBytes {
    MatrixBytes columns[2];
};

enum class Pictures { kReference, kBoth };

/// A row of both pictures, which this lane copies.
struct RowCopier {
    const uint8_t *reference, *distorted;
    int width;
    bool is_aligned;

    QC_HD RowCopier(const PictureSource<uint8_t>& source, int y) : width(source.width) {
        const auto row = static_cast<ptrdiff_t>(reflect_inside(y, source.height));
        reference = source.reference + row * source.reference_pitch;
        distorted = source.distorted + row * source.distorted_pitch;
        is_aligned = ((reinterpret_cast<uintptr_t>(reference) | reinterpret_cast<uintptr_t>(distorted)) & 7) == 0;
    }

    /// Begins to copy columns x to x + 15 (x: a multiple of 8) to this lane's row of a stage.
    template <Pictures kPictures>
    QC_HD void begin(int x, uint8_t* to) const {
        constexpr bool kBoth = kPictures == Pictures::kBoth;
        if (is_aligned && x >= 0 && x + kStepColumns <= width) {
            QC_UNROLL for (int i = 0; i < kStepColumns; i += 8) {
                device::begin_copy_of_8(to + i, reference + x + i);
                if constexpr (kBoth) device::begin_copy_of_8(to + kStagePictureBytes + i, distorted + x + i);
            }
        } else {
            QC_UNROLL_BY(4)
            for (int i = 0; i < kStepColumns; ++i) {
                const int from = reflect_inside(x + i, width);
                to[i] = read_global(reference + from);
                if constexpr (kBoth) to[kStagePictureBytes + i] = read_global(distorted + from);
            }
        }
    }
};

template <class Block>
QC_HD StepBytes read_samples(Block& block, const uint8_t* picture) {
    uint32_t pairs[4];
    device::read_byte_pairs(block, picture, pairs);
    StepBytes samples;
    QC_UNROLL for (int half = 0; half < 2; ++half) {
        samples.columns[0].words[half] = select_bytes(pairs[2 * half], pairs[2 * half + 1], 0x6420);
        samples.columns[1].words[half] = select_bytes(pairs[2 * half], pairs[2 * half + 1], 0x7531);
    }
    return samples;
}

/// Low and high bytes of products of samples.
struct StepProducts {
    StepBytes low, high;
};

QC_HD StepProducts multiply(const StepBytes& a, const StepBytes& b) {
    StepProducts products;
    QC_UNROLL for (int j = 0; j < 2; ++j) QC_UNROLL for (int half = 0; half < 2; ++half) {
        // Two products of neighbours in a word: those of bytes 0 and 1, and of bytes 2 and 3.
        const uint32_t x = a.columns[j].words[half], y = b.columns[j].words[half], x2 = x >> 16, y2 = y >> 16;
        const uint32_t lower = (x & 0xff) * (y & 0xff) + (x & 0xff00) * (y & 0xff00);
        const uint32_t upper = (x2 & 0xff) * (y2 & 0xff) + (x2 & 0xff00) * (y2 & 0xff00);
        products.low.columns[j].words[half] = select_bytes(lower, upper, 0x6420);
        products.high.columns[j].words[half] = select_bytes(lower, upper, 0x7531);
    }
    return products;
}

/// Walks from column `first` to `end`. For each step use(x, stage, release) is called when the step's samples are
/// there, and calls release() when it has read them. Step x reads columns x + 8 to x + 23; the first one, before column
/// `first`, only fills what the others find as the step before.
template <Pictures kPictures, class Block, typename Use>
QC_HD void walk_along(Block& block, const RowCopier& copier, int first, int end, uint8_t* stages, const Use& use) {
    uint8_t* const own_row = stages + block.lane() * device::kStagedRowBytes;
    const auto begin_copy = [&](int x, uint8_t* to) {
        if (x < end) copier.begin<kPictures>(x + kRadius<0>, to);
        device::end_copy_group();
    };
    int stage = 0;
    for (; stage < kStages; ++stage) begin_copy(first - kStepColumns * (1 - stage), own_row + stage * kStageBytes);
    stage = 0;
    QC_NO_UNROLL
    for (int x = first - kStepColumns; x < end; x += kStepColumns) {
        device::wait_for_copies<kStages - 1>();
        block.sync_warp();
        use(x, stages + stage * kStageBytes, [&] {
            block.sync_warp();
            begin_copy(x + kStages * kStepColumns, own_row + stage * kStageBytes);
            stage = stage + 1 == kStages ? 0 : stage + 1;
        });
    }
}

// ---- down the columns -----------------------------------------------------------------------------------------------

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

/// Bytes kFirst and kFirst + 1 of four neighbouring columns: the even columns' sums come first, then the odd ones'.
template <int kFirst>
QC_HD void keep_two_bytes(const uint32_t (&even)[2], const uint32_t (&odd)[2], uint32_t& lower, uint32_t& upper) {
    constexpr uint32_t kSelector = kFirst == 0 ? 0x5140 : kFirst == 1 ? 0x6251 : 0x7362;
    const uint32_t left = select_bytes(even[0], odd[0], kSelector), right = select_bytes(even[1], odd[1], kSelector);
    lower = select_bytes(left, right, 0x5410);
    upper = select_bytes(left, right, 0x7632);
}

/// Means of 8-bit samples, 8.8.
template <class Block>
QC_HD void filter_down(Block& block, const BandWeights& weights, const StepBytes& samples, Filtered<2, 2>& means) {
    uint32_t values[2][2][2]; // of even and odd columns, by row
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        const MatrixSums low = product(block, weights.low, samples.columns[j]);
        const MatrixSums high = product(block, weights.high, samples.columns[j]);
        QC_UNROLL for (int i = 0; i < 4; ++i) values[j][i / 2][i % 2] = high.words[i] * 256 + (low.words[i] + 128);
    }
    QC_UNROLL for (int half = 0; half < 2; ++half) keep_two_bytes<1>(
        values[0][half], values[1][half], means.bytes[0][half].words[1], means.bytes[1][half].words[1]);
}

/// Means of products, 16.16.
template <class Block>
QC_HD void filter_down(Block& block, const BandWeights& weights, const StepProducts& products, Filtered<4, 2>& means) {
    uint32_t values[2][2][2];
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        const MatrixBytes &low = products.low.columns[j], &high = products.high.columns[j];
        const MatrixSums lowest = product(block, weights.low, low), highest = product(block, weights.high, high);
        MatrixSums middle = product(block, weights.low, high);
        device::add_product(block, weights.high, low, middle);
        QC_UNROLL for (int i = 0; i < 4; ++i) values[j][i / 2][i % 2] =
            lowest.words[i] + middle.words[i] * 256 + highest.words[i] * 65536;
    }
    QC_UNROLL for (int half = 0; half < 2; ++half) {
        keep_two_bytes<0>(values[0][half], values[1][half], means.bytes[0][half].words[1],
                          means.bytes[1][half].words[1]);
        keep_two_bytes<2>(values[0][half], values[1][half], means.bytes[2][half].words[1],
                          means.bytes[3][half].words[1]);
    }
}

/// Rows of the next scale's picture, 8.8.
template <class Block>
QC_HD void decimate_down(Block& block, const BandWeights& weights, const StepBytes& samples, Filtered<2, 1>& rows) {
    uint32_t values[2][2];
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        const MatrixSums sums = product(block, weights.next, samples.columns[j]);
        QC_UNROLL for (int i = 0; i < 2; ++i) values[j][i] = sums.words[2 + i] * 256 + (sums.words[i] + 128);
    }
    keep_two_bytes<1>(values[0], values[1], rows.bytes[0][0].words[1], rows.bytes[1][0].words[1]);
}

// ---- along the rows -------------------------------------------------------------------------------------------------

/// Means of samples, 8.24.
template <class Block>
QC_HD MatrixSums filter_along(Block& block, const BandWeights& weights, const Filtered<2, 2>& means, int half) {
    const MatrixBytes &low = means.bytes[0][half], &high = means.bytes[1][half];
    MatrixSums lowest = product(block, weights.low, low), middle = product(block, weights.low, high);
    device::add_product(block, weights.high, low, middle);
    const MatrixSums highest = product(block, weights.high, high);
    QC_UNROLL for (int i = 0; i < 4; ++i) lowest.words[i] += middle.words[i] * 256 + highest.words[i] * 65536;
    return lowest;
}

/// Means of products, 16.16, rounded.
template <class Block>
QC_HD MatrixSums filter_along(Block& block, const BandWeights& weights, const Filtered<4, 2>& means, int half) {
    MatrixSums sums[5]; // by the byte of the 48-bit sum that their lowest byte belongs to
    QC_UNROLL for (int i = 0; i < 4; ++i) sums[i] = product(block, weights.low, means.bytes[i][half]);
    QC_UNROLL for (int i = 0; i < 3; ++i) device::add_product(block, weights.high, means.bytes[i][half], sums[i + 1]);
    sums[4] = product(block, weights.high, means.bytes[3][half]);
    MatrixSums rounded;
    QC_UNROLL for (int i = 0; i < 4; ++i) {
        const uint32_t lowest = sums[1].words[i] * 256 + (sums[0].words[i] + 32768);
        const uint32_t upper = sums[3].words[i] * 256 + sums[2].words[i] + sums[4].words[i] * 65536;
        rounded.words[i] = upper + (lowest >> 16);
    }
    return rounded;
}

/// Two pixels, one below the other, of the next scale's picture.
template <class Block>
QC_HD void decimate_along(Block& block, const BandWeights& weights, const Filtered<2, 1>& rows,
                          uint32_t (&decimated)[2]) {
    const MatrixSums low = product(block, weights.next, rows.bytes[0][0]);
    const MatrixSums high = product(block, weights.next, rows.bytes[1][0]);
    QC_UNROLL for (int i = 0; i < 2; ++i) {
        const uint32_t middle = low.words[2 + i] + high.words[i];
        decimated[i] = (low.words[i] + middle * 256 + high.words[2 + i] * 65536 + 32768) >> 16;
    }
}

// ---- statistic ------------------------------------------------------------------------------------------------------

// What add_pixel() does, without a branch of a pixel's own: divisions and logarithms of several pixels overlap.

/// What the variance of an active pixel of the reference adds; nothing of one that is not.
/// @return the logarithm that an active one adds
QC_HD int add_denominator(int32_t variance, bool is_active, const LogCorrections& logarithm, ThreadSums& sums) {
    const int32_t counted = is_active ? variance : kNoiseVariance;
    const int denominator = logarithm(static_cast<uint32_t>(kNoiseVariance + counted)) - kLogOfNoiseVariance;
    sums.denominator_log += is_active ? static_cast<uint32_t>(denominator) : 0u;
    return denominator;
}

/// What the distorted picture adds to the numerator at an active pixel; nothing at one that is not.
/// @return it
QC_HD int add_numerator(Covariance c, bool is_active, double gain_limit, const LogCorrections& logarithm,
                        ThreadSums& sums) {
    c.sigma_1_sq = is_active ? c.sigma_1_sq : kNoiseVariance;
    // Without a covariance the gain is 0, and the numerator's logarithms are equal.
    c.sigma_12 = is_active && c.sigma_12 > 0 && c.sigma_2_sq > 0 ? c.sigma_12 : 0;
    const LogArguments arguments = log_arguments(c, gain_limit);
    const int numerator = logarithm(arguments.signal_and_noise) - logarithm(arguments.noise);
    sums.numerator_log += static_cast<uint32_t>(numerator);
    return numerator;
}

/// @param losses what the map shows of each
template <class Block, int kPixels>
QC_HD void add_pixels(Block& block, const Covariance (&pixels)[kPixels], double gain_limit,
                      const LogCorrections& logarithm, ThreadSums& sums, float (&losses)[kPixels]) {
    bool is_active[kPixels], any = false;
    QC_UNROLL for (int i = 0; i < kPixels; ++i) {
        is_active[i] = pixels[i].sigma_1_sq >= kNoiseVariance;
        any = any || is_active[i];
        sums.flat_variance += is_active[i] ? 0u : static_cast<uint32_t>(pixels[i].sigma_2_sq);
        sums.flat_count += is_active[i] ? 0u : 1u;
        losses[i] = lost_flat_bits(static_cast<uint32_t>(pixels[i].sigma_2_sq));
    }
    if (block.ballot(any) == 0) return;
    QC_UNROLL for (int i = 0; i < kPixels; ++i) {
        const int denominator = add_denominator(pixels[i].sigma_1_sq, is_active[i], logarithm, sums);
        const int numerator = add_numerator(pixels[i], is_active[i], gain_limit, logarithm, sums);
        if (is_active[i]) losses[i] = lost_bits(denominator, numerator);
    }
}

/// Of add_pixels(), what the reference alone adds.
template <int kPixels>
QC_HD void add_reference_pixels(const int32_t (&variances)[kPixels], const LogCorrections& logarithm,
                                ThreadSums& sums) {
    QC_UNROLL for (int i = 0; i < kPixels; ++i) {
        const bool is_active = variances[i] >= kNoiseVariance;
        sums.flat_count += is_active ? 0u : 1u;
        add_denominator(variances[i], is_active, logarithm, sums);
    }
}

/// And all else.
template <class Block, int kPixels>
QC_HD void add_distorted_pixels(Block& block, const Covariance (&pixels)[kPixels], double gain_limit,
                                const LogCorrections& logarithm, ThreadSums& sums) {
    bool is_active[kPixels], any = false;
    QC_UNROLL for (int i = 0; i < kPixels; ++i) {
        is_active[i] = pixels[i].sigma_1_sq >= kNoiseVariance;
        any = any || is_active[i];
        sums.flat_variance += is_active[i] ? 0u : static_cast<uint32_t>(pixels[i].sigma_2_sq);
    }
    if (block.ballot(any) == 0) return;
    QC_UNROLL for (int i = 0; i < kPixels; ++i) add_numerator(pixels[i], is_active[i], gain_limit, logarithm, sums);
}

// ---- a strip of a band ----------------------------------------------------------------------------------------------

/// Adds a warp's sums to the pair's accumulators. Integers: the order of the warps does not matter.
template <class Block>
QC_HD void add_strip_sums(Block& block, const ThreadSums& of_lane, const ScaleArguments& scale, int pair) {
    const uint64_t sums[kWordsPerScale] = {block.warp_sum(of_lane.numerator_log),
                                           block.warp_sum(of_lane.denominator_log),
                                           block.warp_sum(of_lane.flat_variance), block.warp_sum(of_lane.flat_count)};
    uint64_t* to = scale.accumulators + scale.pairs[pair].output * uint64_t{kAccumulatorWords};
    if (block.lane() != 0) return;
    QC_UNROLL for (int i = 0; i < kWordsPerScale; ++i) block.atomic_add(to + i, sums[i]);
}

/// Writes what decimate_along() left of step x of a band.
QC_HD void write_next_scale(const ScaleArguments& scale, int pair, int x, int y, int lane,
                            const uint32_t (&reference)[2], const uint32_t (&distorted)[2]) {
    const int column = x / 2 + lane / 4, row = y / 2 + lane % 4 * 2;
    uint32_t* to = scale.output + pair * scale.output_plane + static_cast<ptrdiff_t>(row) * scale.output_pitch;
    QC_UNROLL for (int i = 0; i < 2; ++i) {
        if (column < scale.width / 2 && row + i < scale.height / 2) to[column] = pack(reference[i], distorted[i]);
        to += scale.output_pitch;
    }
}

/// What one warp does: `strip_width` columns of a band.
/// @tparam kMap draws the map as well
template <class Block, bool kMap>
class BandStrip {
public:
    QC_HD BandStrip(Block& block, const BandArguments& arguments, int task, const BandWeights& down,
                    const BandWeights& along)
        : block_(block), scale_(arguments.scale), down_(down), along_(along) {
        const int in_pair = task % (arguments.strips * arguments.bands);
        pair_ = task / (arguments.strips * arguments.bands);
        x_ = in_pair / arguments.bands * arguments.strip_width;
        y_ = in_pair % arguments.bands * kBandRows;
        end_ = x_ + arguments.strip_width < scale_.width ? x_ + arguments.strip_width : scale_.width;
        if constexpr (kMap) map_ = scale_.map.of_output(scale_.pairs[pair_].output, scale_.map_shape);
    }

    QC_HD void score(uint8_t* stages, const LogCorrections& logarithm) {
        const RowCopier copier(PictureSource<uint8_t>(scale_, pair_), y_ - kRadius<0> + block_.lane());
        walk_along<Pictures::kBoth>(block_, copier, x_, end_, stages, [&](int x, const uint8_t* stage, auto&& release) {
            const StepBytes reference = read_samples(block_, stage);
            const StepBytes distorted = read_samples(block_, stage + kStagePictureBytes);
            release();
            filter_columns(reference, distorted);
            if (x >= x_) {
                filter_rows(x, 0, logarithm);
                filter_rows(x, 1, logarithm);
                decimate(x);
            }
            step_on();
        });
        add_strip_sums(block_, sums_, scale_, pair_);
    }

private:
    QC_HD void filter_columns(const StepBytes& reference, const StepBytes& distorted) {
        filter_down(block_, down_, reference, means_1_);
        filter_down(block_, down_, distorted, means_2_);
        decimate_down(block_, down_, reference, decimated_1_);
        decimate_down(block_, down_, distorted, decimated_2_);
        filter_down(block_, down_, multiply(reference, reference), squares_1_);
        filter_down(block_, down_, multiply(distorted, distorted), squares_2_);
        filter_down(block_, down_, multiply(reference, distorted), products_);
    }

    /// @param half the upper or the lower 8 rows
    QC_HD void filter_rows(int x, int half, const LogCorrections& logarithm) {
        const MatrixSums mean_1 = filter_along(block_, along_, means_1_, half);
        const MatrixSums mean_2 = filter_along(block_, along_, means_2_, half);
        const MatrixSums square_1 = filter_along(block_, along_, squares_1_, half);
        const MatrixSums square_2 = filter_along(block_, along_, squares_2_, half);
        const MatrixSums product_12 = filter_along(block_, along_, products_, half);
        const bool is_whole = x + kStepColumns <= scale_.width && y_ + kBandRows <= scale_.height;
        Covariance pixels[4];
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            pixels[i] = covariance(
                {mean_1.words[i], mean_2.words[i], square_1.words[i], square_2.words[i], product_12.words[i]});
            if (is_whole) continue;
            const int column = x + block_.lane() / 4 + 8 * (i / 2), row = y_ + 8 * half + block_.lane() % 4 * 2 + i % 2;
            if (column < scale_.width && row < scale_.height) continue;
            pixels[i] = {0, 0, 0};
            sums_.flat_count -= 1; // such a pixel will add one
        }
        float losses[4];
        add_pixels(block_, pixels, scale_.gain_limit, logarithm, sums_, losses);
        if constexpr (kMap) draw(x, half, losses);
    }

    QC_HD void draw(int x, int half, const float (&losses)[4]) const {
        if (map_.data == nullptr) return;
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            const int column = x + block_.lane() / 4 + 8 * (i / 2), row = y_ + 8 * half + block_.lane() % 4 * 2 + i % 2;
            if (column < scale_.width && row < scale_.height) map_.at(column, row) = losses[i];
        }
    }

    QC_HD void decimate(int x) const {
        uint32_t reference[2], distorted[2];
        decimate_along(block_, along_, decimated_1_, reference);
        decimate_along(block_, along_, decimated_2_, distorted);
        write_next_scale(scale_, pair_, x, y_, block_.lane(), reference, distorted);
    }

    QC_HD void step_on() {
        means_1_.step_on();
        means_2_.step_on();
        squares_1_.step_on();
        squares_2_.step_on();
        products_.step_on();
        decimated_1_.step_on();
        decimated_2_.step_on();
    }

    Block& block_;
    const ScaleArguments& scale_;
    const BandWeights &down_, &along_;
    int pair_, x_, y_, end_;
    Plane<float> map_{};
    Filtered<2, 2> means_1_, means_2_;
    Filtered<4, 2> squares_1_, squares_2_, products_;
    Filtered<2, 1> decimated_1_, decimated_2_;
    ThreadSums sums_;
};

/// Brings the logarithm's table to shared memory.
template <class Block>
QC_HD void copy_corrections(Block& block, const BandArguments& arguments, uint8_t* shared) {
    const auto* from = static_cast<const uint8_t*>(arguments.scale.logarithms);
    QC_UNROLL_BY(4)
    for (int i = 8 * block.thread(); i < kLogCorrections; i += 8 * Block::kThreads)
        device::begin_copy_of_8(shared + i, from + i);
    device::end_copy_group();
    device::wait_for_copies<0>();
}

/// grid: (as many blocks as run at once). Warps take one strip of a band after the other.
template <bool kMap = false>
struct ScoreBands {
    using Arguments = BandArguments;
    static constexpr int kWarps = 8, kThreads = kWarps * device::kWarpSize, kMinBlocks = 1;
    static constexpr size_t kSharedBytes = kLogCorrections + kWarps * kStages * kStageBytes;

    template <class Block>
    QC_HD static void run(Block& block, const BandArguments& arguments) {
        auto* const shared = device::dynamic_shared<uint8_t>(block);
        copy_corrections(block, arguments, shared);
        const BandWeights down = read_weights(arguments.weights, kDown, block.lane());
        const BandWeights along = read_weights(arguments.weights, kAlong, block.lane());
        uint8_t* const stages = shared + kLogCorrections + block.warp() * (kStages * kStageBytes);
        block.sync();
        QC_NO_UNROLL
        for (int task = block.x() * kWarps + block.warp(); task < arguments.tasks; task += block.grid_x() * kWarps)
            BandStrip<Block, kMap>(block, arguments, task, down, along).score(stages, LogCorrections{shared});
    }
};

} // namespace qc::vif
