// SPDX-License-Identifier: BSD-2-Clause-Patent
// The bands of vif_bands.hpp for several distorted pictures that have one reference. A warp walks along its strip once
// for the reference alone, then once for each distorted picture; what the first walk leaves it keeps for itself, lane
// by lane:
//
//     shared memory   mean and variance of each pixel, pixels of the reference's next scale
//     registers       the reference's part of the sums
//
// A walk along a distorted picture filters three quantities instead of five: mean and square of its samples, product
// with the reference. The registers that this saves let it take the statistic of eight pixels a lane at a time instead
// of four.
#pragma once

#include "device/kernel_list.hpp"
#include "metrics/vif/vif_bands.hpp"

namespace qc::vif {
/// What a warp keeps of the reference for one step: of each lane two times four pixels, 16 bytes at a time, and two
/// decimated ones in a word.
struct KeptStep {
    static constexpr int kFours = 4, kWords = (4 * kFours + 1) * device::kWarpSize;
    uint32_t* words;

    /// Of a lane's pixels in the upper or the lower 8 rows.
    QC_HD uint32_t* means(int half, int lane) const { return four(half, lane); }
    QC_HD uint32_t* variances(int half, int lane) const { return four(2 + half, lane); }
    QC_HD uint32_t* decimated(int lane) const { return words + 4 * kFours * device::kWarpSize + lane; }

private:
    QC_HD uint32_t* four(int index, int lane) const { return words + 4 * (index * device::kWarpSize + lane); }
};

/// What one warp does: `strip_width` columns of a band, for the pairs of a group.
template <class Block, class Input>
class LadderStrip {
public:
    /// The warp's own shared memory, and the table that all warps read.
    struct Memory {
        uint8_t* stages;
        uint32_t* kept;
        LogCorrections logarithm;
    };

    QC_HD LadderStrip(Block& block, const BandArguments& arguments, int in_picture, const BandWeights& down,
                      const BandWeights& along, const Memory& memory)
        : block_(block), scale_(arguments.scale), down_(down), along_(along), memory_(memory),
          x_(in_picture / arguments.bands * arguments.strip_width), y_(in_picture % arguments.bands * kBandRows),
          end_(x_ + arguments.strip_width < scale_.width ? x_ + arguments.strip_width : scale_.width) {}

    QC_HD void score(int first_pair, int end_pair) {
        const ThreadSums of_reference = walk_along_reference(first_pair);
        QC_NO_UNROLL
        for (int pair = first_pair; pair < end_pair; ++pair)
            add_strip_sums<Input::kScale>(block_, walk_along_distorted(pair, of_reference), scale_, pair);
    }

private:
    QC_HD Input input_of(int pair) const { return {scale_, pair, y_ - kRadius<Input::kScale>, block_.lane()}; }
    QC_HD KeptStep kept_at(int x) const { return {memory_.kept + (x - x_) / kStepColumns * KeptStep::kWords}; }

    /// Whether a step's pixels all lie in the picture; whether a lane's pixel i of the upper or the lower 8 rows does.
    QC_HD bool is_whole(int x) const { return x + kStepColumns <= scale_.width && y_ + kBandRows <= scale_.height; }
    QC_HD bool is_inside(int x, int half, int i) const {
        const int column = x + block_.lane() / 4 + 8 * (i / 2), row = y_ + 8 * half + block_.lane() % 4 * 2 + i % 2;
        return column < scale_.width && row < scale_.height;
    }

    // ---- reference ----

    struct ReferenceColumns {
        FilteredMeans means;
        FilteredProducts squares;
        FilteredRows rows;

        QC_HD void step_on() {
            means.step_on();
            squares.step_on();
            rows.step_on();
        }
    };

    QC_HD ThreadSums walk_along_reference(int pair) {
        const Input input = input_of(pair);
        ReferenceColumns columns;
        ThreadSums sums;
        const auto step = [&](int x, const uint8_t* stage, auto&& release) {
            const auto samples = input.template read<Which::kReference>(block_, stage);
            release();
            filter_down(block_, down_, samples, columns.means);
            decimate_down(block_, down_, samples, columns.rows);
            filter_down(block_, down_, multiply(samples, samples), columns.squares);
            if (x >= x_) keep_step(x, columns, sums);
            columns.step_on();
        };
        walk_along<Pictures::kReference>(block_, input, x_, end_, memory_.stages, step);
        return sums;
    }

    QC_HD void keep_step(int x, const ReferenceColumns& columns, ThreadSums& sums) const {
        keep_pixels(x, 0, columns, sums);
        keep_pixels(x, 1, columns, sums);
        uint32_t decimated[2];
        decimate_along(block_, along_, columns.rows, decimated);
        *kept_at(x).decimated(block_.lane()) = pack(decimated[0], decimated[1]);
    }

    /// @param half the upper or the lower 8 rows
    QC_HD void keep_pixels(int x, int half, const ReferenceColumns& columns, ThreadSums& sums) const {
        const MatrixSums mean = filter_along(block_, along_, columns.means, half);
        const MatrixSums square = filter_along(block_, along_, columns.squares, half);
        int32_t variances[4];
        uint32_t words[4];
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            variances[i] = variance_of(mean.words[i], square.words[i]);
            words[i] = static_cast<uint32_t>(variances[i]);
            if (is_whole(x) || is_inside(x, half, i)) continue;
            variances[i] = 0;
            sums.flat_count -= 1; // such a pixel will add one
        }
        write_four(kept_at(x).means(half, block_.lane()), mean.words);
        write_four(kept_at(x).variances(half, block_.lane()), words);
        add_reference_pixels(variances, memory_.logarithm, sums);
    }

    // ---- a distorted picture ----

    struct DistortedColumns {
        FilteredMeans means;
        FilteredProducts squares, products;
        FilteredRows rows;

        QC_HD void step_on() {
            means.step_on();
            squares.step_on();
            products.step_on();
            rows.step_on();
        }
    };

    QC_HD ThreadSums walk_along_distorted(int pair, ThreadSums sums) {
        const Input input = input_of(pair);
        DistortedColumns columns;
        const auto step = [&](int x, const uint8_t* stage, auto&& release) {
            const auto reference = input.template read<Which::kReference>(block_, stage);
            const auto samples = input.template read<Which::kDistorted>(block_, stage);
            release();
            filter_down(block_, down_, samples, columns.means);
            decimate_down(block_, down_, samples, columns.rows);
            filter_down(block_, down_, multiply(samples, samples), columns.squares);
            filter_down(block_, down_, multiply(reference, samples), columns.products);
            if (x >= x_) {
                add_step(x, columns, sums);
                write_decimated(x, pair, columns.rows);
            }
            columns.step_on();
        };
        walk_along<Pictures::kBoth>(block_, input, x_, end_, memory_.stages, step);
        return sums;
    }

    QC_HD void add_step(int x, const DistortedColumns& columns, ThreadSums& sums) const {
        Covariance pixels[8];
        QC_UNROLL for (int half = 0; half < 2; ++half) {
            const MatrixSums mean_2 = filter_along(block_, along_, columns.means, half);
            const MatrixSums square_2 = filter_along(block_, along_, columns.squares, half);
            const MatrixSums product_12 = filter_along(block_, along_, columns.products, half);
            uint32_t means_1[4], variances_1[4];
            read_row(kept_at(x).means(half, block_.lane()), means_1);
            read_row(kept_at(x).variances(half, block_.lane()), variances_1);
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                Covariance& pixel = pixels[4 * half + i];
                pixel = covariance(static_cast<int32_t>(variances_1[i]), means_1[i], mean_2.words[i], square_2.words[i],
                                   product_12.words[i]);
                if (!is_whole(x) && !is_inside(x, half, i)) pixel = {0, 0, 0};
            }
        }
        add_distorted_pixels(block_, pixels, scale_.gain_limit, memory_.logarithm, sums);
    }

    QC_HD void write_decimated(int x, int pair, const FilteredRows& rows) const {
        uint32_t distorted[2];
        decimate_along(block_, along_, rows, distorted);
        const uint32_t reference = *kept_at(x).decimated(block_.lane());
        write_next_scale(scale_, pair, x, y_, block_.lane(), {reference & 0xffff, reference >> 16}, distorted);
    }

    Block& block_;
    const ScaleArguments& scale_;
    const BandWeights &down_, &along_;
    const Memory& memory_;
    int x_, y_, end_;
};

/// grid: (as many blocks as run at once). Warps take one strip of a group's band after the other, those of a block far
/// from each other: a strip has less to do where its reference is flat, and a batch has few strips for each warp.
template <class Input>
struct ScoreLadderBands : device::KernelOf<BandArguments, 8 * device::kWarpSize, 1> {
    static constexpr int kWarps = kThreads / device::kWarpSize;

    /// Steps of a strip at most: as many as there is room for.
    static constexpr int kMostSteps = Input::kStageBytes <= ByteInput::kStageBytes ? 8 : 7;
    static constexpr int kStagesBytes = kStages * Input::kStageBytes;
    static constexpr int kKeptBytes = kMostSteps * KeptStep::kWords * static_cast<int>(sizeof(uint32_t));
    static constexpr size_t kSharedBytes = kLogCorrections + kWarps * (kStagesBytes + kKeptBytes);

    template <class Block>
    QC_HD static void run(Block& block, const BandArguments& arguments) {
        auto* const shared = device::dynamic_shared<uint8_t>(block);
        const BothWeights weights = begin_bands(block, arguments, shared);
        uint8_t* const own = shared + kLogCorrections + block.warp() * (kStagesBytes + kKeptBytes);
        using Strip = LadderStrip<Block, Input>;
        const typename Strip::Memory memory{own, reinterpret_cast<uint32_t*>(own + kStagesBytes),
                                            LogCorrections{shared}};
        block.sync();

        const int in_picture = arguments.strips * arguments.bands;
        QC_NO_UNROLL
        for (int task = block.warp() * block.grid_x() + block.x(); task < arguments.tasks;
             task += block.grid_x() * kWarps) {
            const uint32_t* pairs = arguments.scale.first_pair + task / in_picture;
            const auto first = static_cast<int>(pairs[0]), end = static_cast<int>(pairs[1]);
            if (first == end) continue;
            Strip(block, arguments, task % in_picture, weights.down, weights.along, memory).score(first, end);
        }
    }
};

} // namespace qc::vif
