// SPDX-License-Identifier: BSD-2-Clause-Patent
// A scale of integer VIF as products of matrices of bytes, on the tensor cores: scale 0 of samples of up to 12 bits,
// and scale 1.
//
// A warp filters a band of 16 rows and walks along it, 16 columns a step.
//
//     down      operand: 32 rows of the step's 16 columns, in two halves (vif_byte_samples.hpp, vif_word_samples.hpp).
//               What is left are four columns of two rows in each lane, which are the operand of
//     along     the 16 columns of the step before and those of this one. Sums of 16 pixels of two times 8 rows, for
//               the statistic: four pixels a lane at a time
//
// Nothing passes from lane to lane between the two, and only the pictures' samples go through shared memory.
#pragma once

#include "device/kernel_list.hpp"
#include "metrics/vif/vif_byte_samples.hpp"
#include "metrics/vif/vif_word_samples.hpp"

namespace qc::vif {
// ---- along the rows -------------------------------------------------------------------------------------------------

/// Means of samples, 8.24.
template <class Block>
QC_HD MatrixSums filter_along(Block& block, const BandWeights& weights, const FilteredMeans& means, int half) {
    return weigh_two_bytes(block, weights, means.bytes[0][half], means.bytes[1][half]);
}

/// Means of products, 16.16.
template <class Block>
QC_HD MatrixSums filter_along(Block& block, const BandWeights& weights, const FilteredProducts& means, int half) {
    return weigh_four_bytes<0>(
        block, weights, {means.bytes[0][half], means.bytes[1][half], means.bytes[2][half], means.bytes[3][half]});
}

/// Two pixels, one below the other, of the next scale's picture.
template <class Block>
QC_HD void decimate_along(Block& block, const BandWeights& weights, const FilteredRows& rows,
                          uint32_t (&decimated)[2]) {
    weigh_every_other(block, weights, rows.bytes[0][0], rows.bytes[1][0], decimated);
    QC_UNROLL for (int i = 0; i < 2; ++i) decimated[i] = (decimated[i] + 32768) >> 16;
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
template <int kScale, class Block>
QC_HD void add_strip_sums(Block& block, const ThreadSums& of_lane, const ScaleArguments& scale, int pair) {
    const uint64_t sums[kWordsPerScale] = {block.warp_sum(of_lane.numerator_log),
                                           block.warp_sum(of_lane.denominator_log),
                                           block.warp_sum(of_lane.flat_variance), block.warp_sum(of_lane.flat_count)};
    uint64_t* to =
        scale.accumulators + scale.pairs[pair].output * uint64_t{kAccumulatorWords} + kScale * kWordsPerScale;
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
template <class Block, class Input, bool kMap>
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
        const Input input(scale_, pair_, y_ - kRadius<Input::kScale>, block_.lane());
        walk_along<Pictures::kBoth>(block_, input, x_, end_, stages, [&](int x, const uint8_t* stage, auto&& release) {
            const auto reference = input.template read<Which::kReference>(block_, stage);
            const auto distorted = input.template read<Which::kDistorted>(block_, stage);
            release();
            filter_columns(reference, distorted);
            if (x >= x_) {
                filter_rows(x, 0, logarithm);
                filter_rows(x, 1, logarithm);
                decimate(x);
            }
            step_on();
        });
        add_strip_sums<Input::kScale>(block_, sums_, scale_, pair_);
    }

private:
    template <class Samples>
    QC_HD void filter_columns(const Samples& reference, const Samples& distorted) {
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
            if (column < scale_.width && row < scale_.height) map_.put(column, row, losses[i]);
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
    MapPlane map_{};
    FilteredMeans means_1_, means_2_;
    FilteredProducts squares_1_, squares_2_, products_;
    FilteredRows decimated_1_, decimated_2_;
    ThreadSums sums_;
};

struct BothWeights {
    BandWeights down, along;
};

/// Brings the logarithm's table to shared memory, where it is behind the next barrier. @return a lane's weights
template <class Block>
QC_HD BothWeights begin_bands(Block& block, const BandArguments& arguments, uint8_t* shared) {
    const auto* from = static_cast<const uint8_t*>(arguments.scale.logarithms);
    QC_UNROLL_BY(4)
    for (int i = 8 * block.thread(); i < kLogCorrections; i += 8 * Block::kThreads)
        device::begin_copy_of_8(shared + i, from + i);
    device::end_copy_group();
    device::wait_for_copies<0>();
    return {read_weights(arguments.weights, kDown, block.lane()),
            read_weights(arguments.weights, kAlong, block.lane())};
}

/// grid: (as many blocks as run at once). Warps take one strip of a band after the other.
template <class Input, bool kMap = false>
struct ScoreBands : device::KernelOf<BandArguments, 8 * device::kWarpSize, 1> {
    static constexpr int kWarps = kThreads / device::kWarpSize;

    static constexpr size_t kSharedBytes = kLogCorrections + kWarps * kStages * Input::kStageBytes;

    template <class Block>
    QC_HD static void run(Block& block, const BandArguments& arguments) {
        auto* const shared = device::dynamic_shared<uint8_t>(block);
        const BothWeights weights = begin_bands(block, arguments, shared);
        uint8_t* const stages = shared + kLogCorrections + block.warp() * (kStages * Input::kStageBytes);
        block.sync();
        QC_NO_UNROLL
        for (int task = block.x() * kWarps + block.warp(); task < arguments.tasks; task += block.grid_x() * kWarps)
            BandStrip<Block, Input, kMap>(block, arguments, task, weights.down, weights.along)
                .score(stages, LogCorrections{shared});
    }
};

} // namespace qc::vif
