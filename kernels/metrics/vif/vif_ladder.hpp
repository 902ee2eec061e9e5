// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF of several distorted pictures that have one reference: what depends on the reference alone is computed
// once for all of them, and kept where a thread finds it again.
//
//     reference    its column of samples stays in registers (8 bits), its means and variances in shared memory, its
//                  part of the sums in registers
//     each picture three filtered quantities instead of five: mean and square of its samples, product with the
//     reference
#pragma once

#include "device/kernel_list.hpp"
#include "metrics/vif/vif_tile.hpp"

namespace qc::vif {
/// A tile's shared memory, beside that of its plan: the reference's results take the place that its squares have there.
template <class Plan>
struct LadderShared {
    static constexpr int kReferenceMeans = Plan::kSquares1;
    static constexpr int kReferenceVariances = Plan::kSharedWords;
    static constexpr int kWords = kReferenceVariances + Plan::kHeight * Plan::kWidth;
    static_assert(Plan::kHeight * Plan::kWidth <= Plan::kPlane && kReferenceVariances % 4 == 0);
};

/// Where the column lies that a thread filters. Made anew for each picture: that costs less than to keep it.
template <class Plan>
struct LadderPlace {
    int x, y;               ///< in the tile
    int source_x, source_y; ///< in the picture
    bool is_used;

    QC_HD LadderPlace(int thread, TileOrigin origin, int width)
        : x(thread % Plan::kColumns), y(thread / Plan::kColumns * Plan::kRowsPerThread),
          source_x(reflect_inside(origin.x - Plan::kMargin + x, width)), source_y(origin.y - Plan::kMargin + y),
          is_used(thread < Plan::kColumns * (Plan::kHeight / Plan::kRowsPerThread)) {
        static_assert(Plan::kColumns * (Plan::kHeight / Plan::kRowsPerThread) <= Plan::kThreads);
    }
};

template <class Plan, Which kWhich>
QC_HD void filter_means(typename Plan::Column& column, int shift, uint32_t* out) {
    column.next_quantity();
    QC_UNROLL for (int row = 0; row < Plan::kRowsPerThread; ++row) out[row * Plan::kPitch] =
        round_shift(column.template weighted_samples_of<Plan::kScale, kWhich>(row), shift);
}

/// The means and squares of one picture; of the distorted one also its products with the reference, and the next scale.
template <Which kWhich, class Plan>
QC_HD void vertical_phase_of(typename Plan::Column& column, const LadderPlace<Plan>& place, uint32_t* shared,
                             const typename Plan::Source& source, VerticalShifts shifts) {
    if (!place.is_used) return;
    uint32_t* out = shared + place.y * Plan::kPitch + place.x;
    column.template load_one<kWhich>(source, place.source_x, place.source_y);
    filter_means<Plan, kWhich>(column, shifts.mean, out + Plan::kMeans);
    constexpr bool kIsReference = kWhich == Which::kReference;
    filter_products<Plan, kIsReference ? Product::kSquare1 : Product::kSquare2>(column, shifts.product,
                                                                                out + Plan::kSquares2);
    if constexpr (kIsReference) return;
    filter_products<Plan, Product::kProduct12>(column, shifts.product, out + Plan::kProducts);
    if constexpr (Plan::kDecimates)
        filter_samples<Plan, Plan::kNextScale, 2>(column, Plan::kDecimationOffset, shifts.mean,
                                                  shared + Plan::kDecimation + place.y / 2 * Plan::kPitch + place.x);
}

/// Filters four pixels' worth of a plane of 16-bit values in shared memory.
template <int kScale>
QC_HD void filter_row(const uint32_t* from, uint32_t (&sums)[kColumnsPerThread]) {
    uint32_t words[round_up(kColumnsPerThread + 2 * kRadius<kScale>, 4)];
    read_row(from, words);
    QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) sums[i] =
        window_sum<kScale>([&](int k) { return words[i + k]; });
}

/// Calls use(x, y) for the pixels of a tile, kColumnsPerThread of a row at a time: always the same thread for the same.
template <class Plan, typename Use>
QC_HD void for_pixels(int thread, const Use& use) {
    constexpr int kItemsPerRow = Plan::kWidth / kColumnsPerThread;
    for (int item = thread; item < kItemsPerRow * Plan::kHeight; item += Plan::kThreads) {
        const int y = item / kItemsPerRow;
        use((item - y * kItemsPerRow) * kColumnsPerThread, y);
    }
}

/// Means and variances of the reference, and what they add to the sums of every picture.
template <class Plan, typename Logarithm>
QC_HD void horizontal_phase_of_reference(uint32_t* shared, int thread, const ScaleArguments& arguments,
                                         TileOrigin origin, const Logarithm& logarithm, ThreadSums& sums) {
    for_pixels<Plan>(thread, [&](int x, int y) {
        const uint32_t* from = shared + y * Plan::kPitch + x;
        uint32_t means[kColumnsPerThread], variances[kColumnsPerThread];
        SplitSum squares[kColumnsPerThread];
        filter_row<Plan::kScale>(from + Plan::kMeans, means);
        filter_row<Plan::kScale>(from + Plan::kSquares2, squares);
        QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) {
            const int32_t variance = variance_of(means[i], round_shift(squares[i], 16));
            variances[i] = static_cast<uint32_t>(variance);
            if (origin.x + x + i >= arguments.width || origin.y + y >= arguments.height) continue;
            add_reference_pixel(variance, logarithm, sums);
        }
        write_four(shared + LadderShared<Plan>::kReferenceMeans + y * Plan::kWidth + x, means);
        write_four(shared + LadderShared<Plan>::kReferenceVariances + y * Plan::kWidth + x, variances);
    });
}

template <class Plan, typename Logarithm>
QC_HD void horizontal_phase_of_distorted(const uint32_t* shared, int thread, const ScaleArguments& arguments,
                                         TileOrigin origin, const Logarithm& logarithm, ThreadSums& sums) {
    for_pixels<Plan>(thread, [&](int x, int y) {
        const uint32_t* from = shared + y * Plan::kPitch + x;
        uint32_t means_1[kColumnsPerThread], variances_1[kColumnsPerThread], means_2[kColumnsPerThread];
        SplitSum squares_2[kColumnsPerThread], products[kColumnsPerThread];
        filter_row<Plan::kScale>(from + Plan::kMeans, means_2);
        filter_row<Plan::kScale>(from + Plan::kSquares2, squares_2);
        filter_row<Plan::kScale>(from + Plan::kProducts, products);
        read_row(shared + LadderShared<Plan>::kReferenceMeans + y * Plan::kWidth + x, means_1);
        read_row(shared + LadderShared<Plan>::kReferenceVariances + y * Plan::kWidth + x, variances_1);
        if (origin.y + y >= arguments.height) return;
        QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) if (origin.x + x + i < arguments.width)
            add_distorted_pixel(covariance(static_cast<int32_t>(variances_1[i]), means_1[i], means_2[i],
                                           round_shift(squares_2[i], 16), round_shift(products[i], 16)),
                                arguments.gain_limit, logarithm, sums);
    });
}

/// The logarithm as the plan has it.
template <class Plan>
QC_HD auto logarithm_of(const uint32_t* shared, const ScaleArguments& arguments) {
    if constexpr (Plan::kSharedThresholds)
        return LogThresholds{shared + Plan::kLogarithms};
    else
        return LogTable{static_cast<const uint16_t*>(arguments.logarithms)};
}

/// grid: (tiles across, tiles down, groups of pairs)
template <class Plan>
struct ScoreLadderTile : device::KernelOf<ScaleArguments, Plan::kThreads, Plan::kMinBlocks> {
    static constexpr size_t kSharedBytes = LadderShared<Plan>::kWords * sizeof(uint32_t);

    template <class Block>
    QC_HD static void run(Block& block, const ScaleArguments& arguments) {
        auto* const shared = device::dynamic_shared<uint32_t>(block);
        const int thread = block.thread();
        const auto first = static_cast<int>(arguments.first_pair[block.z()]),
                   end = static_cast<int>(arguments.first_pair[block.z() + 1]);
        if (first == end) return;
        const TileOrigin origin = tile_origin<Plan>(block.x(), block.y());
        const VerticalShifts shifts = vertical_shifts(Plan::kScale, arguments.depth);
        const auto logarithm = logarithm_of<Plan>(shared, arguments);

        copy_thresholds<Plan>(shared, thread, arguments);
        typename Plan::Column column;
        vertical_phase_of<Which::kReference>(column, LadderPlace<Plan>(thread, origin, arguments.width), shared,
                                             typename Plan::Source(arguments, first), shifts);
        block.sync();
        ThreadSums of_reference;
        horizontal_phase_of_reference<Plan>(shared, thread, arguments, origin, logarithm, of_reference);
        block.sync();
        QC_NO_UNROLL
        for (int pair = first; pair < end; ++pair) {
            vertical_phase_of<Which::kDistorted>(column, LadderPlace<Plan>(thread, origin, arguments.width), shared,
                                                 typename Plan::Source(arguments, pair), shifts);
            block.sync();
            ThreadSums sums = of_reference;
            horizontal_phase_of_distorted<Plan>(shared, thread, arguments, origin, logarithm, sums);
            if constexpr (Plan::kDecimates)
                decimation_phase<Plan>(shared, thread, origin, arguments.width, arguments.height,
                                       arguments.output + pair * arguments.output_plane, arguments.output_pitch);
            // Its barrier is also the one behind which the next picture may overwrite what was read here.
            add_tile_sums(block, sums,
                          arguments.accumulators + arguments.pairs[pair].output * uint64_t{kAccumulatorWords} +
                              Plan::kScale * kWordsPerScale);
        }
    }
};

} // namespace qc::vif
