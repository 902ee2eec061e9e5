// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the GPU: what the blocks of its kernels do. The phases of their threads are in the files that end in
// _phases.hpp.
//
// What a place of a pair costs at 1080p, both scales counted (the second has a quarter of the places): operations that
// take a lane's issue slot, addresses left out, and bytes that have to come from or go to memory, margins left out.
//
//                  operations         bytes                           larger half on an H200
//     response     340 + 36 special    9 read (3 codes), 31 written   21 us
//     lowest band  450                25 read, 25 written             28 us
//     middle band  200                25 read, 25 written             22 us
//     differences  990 + 19 special   65 read, 20 written             61 us
//     masks         70                10 read, 10 written              9 us
//     map           95 + 6 special    21 read, 1 written              10 us
//     in all       2145               267                             150 us
//
// At the rates of an H200 (33.4 T lane operations/s, 4.8 TB/s) 2.07 million places are 133 us of arithmetic and 115 us
// of memory. As the kernels follow each other, the sum of each one's larger half is the floor.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "metrics/butteraugli/butteraugli_blur_phases.hpp"
#include "metrics/butteraugli/butteraugli_difference_phases.hpp"
#include "metrics/butteraugli/butteraugli_map_phases.hpp"
#include "metrics/butteraugli/butteraugli_response_phases.hpp"

namespace qc::butteraugli {

QC_HD float* pair_planes(float* scratch, uint64_t pair_floats, int pair) {
    return scratch + static_cast<uint64_t>(pair) * pair_floats;
}

/// grid: (tiles across, tiles down, pairs)
template <class Source>
struct MakeResponse {
    using Arguments = ResponseArguments;
    static constexpr int kThreads = kResponseThreads;
    static constexpr int kMinBlocks = tuning::kResponseMinBlocks;

    template <class Block>
    QC_HD static void run(Block& block, const ResponseArguments& arguments) {
        auto& shared = device::shared<ResponseShared>(block);
        float* const pair = pair_planes(arguments.scratch, arguments.pair_floats, block.z());
        const int thread = block.thread(), tile_x = block.x(), tile_y = block.y();
        float reference[kThreadRows][3];
        QC_NO_UNROLL
        for (int input = 0; input < 2; ++input) {
            Source::fill(block, shared, arguments, input);
            block.sync();
            if constexpr (Source::kHasHalf) {
                if (arguments.half.width != 0) store_half(shared, thread, arguments, pair, input, tile_x, tile_y);
            }
            adapt_across(shared, thread, arguments);
            block.sync();
            float response[kThreadRows][3];
            respond(shared, thread, arguments, response);
            if (input == 1) {
                store_response(arguments, pair, thread, tile_x, tile_y, reference, response);
                return;
            }
            QC_UNROLL for (int r = 0; r < kThreadRows; ++r) {
                QC_UNROLL for (int c = 0; c < 3; ++c) reference[r][c] = response[r][c];
            }
            block.sync();
        }
    }
};

/// grid: (strips, planes, pairs). kSubtract: what the plane is more than its blur.
template <int kR, bool kSubtract>
struct BlurPlanes {
    using Arguments = BlurArguments<kR>;
    static constexpr int kThreads = kBlurThreads;
    static constexpr int kMinBlocks = tuning::kBlurMinBlocks;

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        auto& stages = device::shared<BlurStages>(block);
        float* const pair = pair_planes(arguments.scratch, arguments.pair_floats, block.z());
        const float* const from = pair + arguments.from[block.y()];
        float* const to = pair + arguments.to[block.y()];
        const int thread = block.thread();
        const int left = block.x() % arguments.strips * kStripColumns;
        const int top = block.x() / arguments.strips * arguments.strip_rows;
        const int rows =
            arguments.shape.height - top < arguments.strip_rows ? arguments.shape.height - top : arguments.strip_rows;
        BlurColumn<kR> column(from, arguments.shape, left - kBlurMargin<kR> + thread,
                              thread < kStripColumns + 2 * kBlurMargin<kR>, top - kR);
        QC_NO_UNROLL
        for (int row = 0; row < 2 * kR; row += kWarmUpRows<kR>) {
            float unused[kWarmUpRows<kR>];
            column.take(arguments.taps, unused);
        }
        QC_NO_UNROLL
        for (int row = 0, stage = 0; row < rows; row += kBlurGroupRows, stage ^= 1) {
            float filtered[kBlurGroupRows];
            column.take(arguments.taps, filtered);
            QC_UNROLL for (int r = 0; r < kBlurGroupRows; ++r) stages.sample[stage][r][thread] = filtered[r];
            block.sync();
            const int own = block.warp();
            if (own < kBlurGroupRows && row + own < rows)
                finish_row<kR, kSubtract>(block, arguments, stages.sample[stage][own], from, to, left, top + row + own);
        }
    }
};

/// grid: (tiles across, tiles down, pairs)
struct MakeDifferences {
    using Arguments = DifferenceArguments;
    static constexpr int kThreads = kDifferenceThreads;
    static constexpr int kMinBlocks = tuning::kDifferenceMinBlocks;
    static constexpr size_t kSharedBytes = sizeof(DifferenceShared);

    template <bool kIsX, class Block>
    QC_HD static void add_channel(Block& block, DifferenceShared& shared, const DifferenceArguments& arguments,
                                  float* pair, const Own& own, Corner corner, Places& places) {
        const int thread = block.thread();
        stage_above<kIsX>(shared, thread, arguments, pair, corner);
        block.sync();
        blur_stage_across(shared, thread, arguments);
        block.sync();
        QC_NO_UNROLL
        for (int r = 0; r < 2; ++r) {
            const Group group = own.group(r, corner);
            add_bands<kIsX>(arguments, pair, group, separate<kIsX>(shared, arguments, pair, group), places);
        }
        if (thread < kMarginGroups) separate<kIsX>(shared, arguments, pair, margin_group(thread, corner));
        block.sync();
        lines_phase(shared, own, places);
    }

    template <class Block>
    QC_HD static void run(Block& block, const DifferenceArguments& arguments) {
        auto& shared = *device::dynamic_shared<DifferenceShared>(block);
        float* const pair = pair_planes(arguments.scratch, arguments.pair_floats, block.z());
        const Corner corner{block.x() * kPatchColumns, block.y() * kPatchRows};
        const Own own(block.thread());
        Places places;
        begin_places(arguments, pair, own, corner, places);
        add_channel<false>(block, shared, arguments, pair, own, corner, places);
        add_channel<true>(block, shared, arguments, pair, own, corner, places);
        store_high(arguments, pair, own, corner, places);
    }
};

/// grid: (blocks across, blocks down, pairs)
struct MakeHalfMap {
    using Arguments = MapArguments;
    static constexpr int kThreads = kMapThreads;
    static constexpr int kMinBlocks = tuning::kMapMinBlocks;

    template <class Block>
    QC_HD static void run(Block& block, const MapArguments& arguments) {
        store_map(arguments, pair_planes(arguments.scratch, arguments.pair_floats, block.z()), block.warp(),
                  block.lane(), block.x(), block.y());
    }
};

// ---- sums -----------------------------------------------------------------------------------------------------------

/// Of a block's warps.
template <int kWarps>
struct WarpSums {
    double sum[kAccumulatorWords][kWarps];
};

/// Of the block, for the first kAccumulatorWords threads, which write it: lanes by a tree, then warp after warp.
template <class Block>
QC_HD double total_of_block(Block& block, const double (&value)[kAccumulatorWords]) {
    constexpr int kWarps = Block::kThreads / device::kWarpSize;
    auto& warps = device::shared<WarpSums<kWarps>>(block);
    QC_UNROLL for (int i = 0; i < kPowers; ++i) {
        const double sum = device::warp_tree_sum(block, value[i]);
        if (block.lane() == 0) warps.sum[i][block.warp()] = sum;
    }
    double largest = value[kLargest];
    QC_UNROLL for (int distance = device::kWarpSize / 2; distance > 0; distance /= 2) largest =
        larger(largest, block.shuffle_xor(largest, distance));
    if (block.lane() == 0) warps.sum[kLargest][block.warp()] = largest;
    block.sync();
    if (block.thread() >= kAccumulatorWords) return 0.0;
    double total = warps.sum[block.thread()][0];
    QC_UNROLL for (int w = 1; w < kWarps; ++w) {
        const double next = warps.sum[block.thread()][w];
        total = block.thread() == kLargest ? larger(total, next) : total + next;
    }
    return total;
}

/// grid: (blocks across, blocks down, pairs)
/// @tparam kDraws hands the map out as well
template <bool kDraws>
struct AddMap {
    using Arguments = MapArguments;
    static constexpr int kThreads = kMapThreads;
    static constexpr int kMinBlocks = tuning::kMapMinBlocks;

    template <class Block>
    QC_HD static void run(Block& block, const MapArguments& arguments) {
        MapSums sums{};
        Plane<float> drawn{};
        if constexpr (kDraws)
            drawn = arguments.drawn.of_output(arguments.pairs[block.z()].output,
                                              {arguments.shape.width, arguments.shape.height});
        add_map<kDraws>(arguments, pair_planes(arguments.scratch, arguments.pair_floats, block.z()), block.warp(),
                        block.lane(), block.x(), block.y(), drawn, sums);
        const double value[kAccumulatorWords] = {static_cast<double>(sums.power[0]), static_cast<double>(sums.power[1]),
                                                 static_cast<double>(sums.power[2]), sums.twelfth,
                                                 static_cast<double>(sums.largest)};
        const double total = total_of_block(block, value);
        if (block.thread() >= kAccumulatorWords) return;
        const int64_t own = static_cast<int64_t>(block.z()) * arguments.blocks + block.y() * block.grid_x() + block.x();
        arguments.sums[own * kAccumulatorWords + block.thread()] = total;
    }
};

/// grid: (1, 1, pairs)
struct Finish {
    using Arguments = FinishArguments;
    static constexpr int kThreads = tuning::kFinishThreads;

    template <class Block>
    QC_HD static void run(Block& block, const FinishArguments& arguments) {
        const double* const sums =
            arguments.sums + static_cast<int64_t>(block.z()) * arguments.blocks * kAccumulatorWords;
        double value[kAccumulatorWords] = {};
        for (int i = block.thread(); i < arguments.blocks; i += kThreads) {
            QC_UNROLL for (int p = 0; p < kPowers; ++p) value[p] += sums[i * kAccumulatorWords + p];
            value[kLargest] = larger(value[kLargest], sums[i * kAccumulatorWords + kLargest]);
        }
        const double total = total_of_block(block, value);
        if (block.thread() >= kAccumulatorWords) return;
        const size_t row = static_cast<size_t>(arguments.pairs[block.z()].output) * kAccumulatorWords;
        arguments.accumulators[row + block.thread()] = device::bits_of(total);
    }
};

// ---- list -----------------------------------------------------------------------------------------------------------

#define QC_BUTTERAUGLI_KERNELS(KERNEL)                                                                                 \
    KERNEL(butteraugli_response_u8, MakeResponse<FromCodes<uint8_t, false>>)                                           \
    KERNEL(butteraugli_response_u8_general, MakeResponse<FromCodes<uint8_t, true>>)                                    \
    KERNEL(butteraugli_response_u16, MakeResponse<FromCodes<uint16_t, false>>)                                         \
    KERNEL(butteraugli_response_u16_general, MakeResponse<FromCodes<uint16_t, true>>)                                  \
    KERNEL(butteraugli_response_half, MakeResponse<FromHalf>)                                                          \
    KERNEL(butteraugli_without_low, BlurPlanes<16, true>)                                                              \
    KERNEL(butteraugli_above, BlurPlanes<7, true>)                                                                     \
    KERNEL(butteraugli_mask, BlurPlanes<6, false>)                                                                     \
    KERNEL(butteraugli_differences, MakeDifferences)                                                                   \
    KERNEL(butteraugli_half_map, MakeHalfMap)                                                                          \
    KERNEL(butteraugli_map, AddMap<false>)                                                                             \
    KERNEL(butteraugli_map_drawn, AddMap<true>)                                                                        \
    KERNEL(butteraugli_finish, Finish)
QC_DECLARE_KERNELS(QC_BUTTERAUGLI_KERNELS)

} // namespace qc::butteraugli
