// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the GPU: what the blocks of its kernels do. The phases of their threads are in the files that end in
// _phases.hpp.
//
// What a place of a pair costs at 1080p, both scales counted (the second has a quarter of the places): operations that
// take a lane's issue slot, addresses left out, and bytes that have to come from or go to memory, margins left out.
//
//                  operations         bytes                           larger half on an H200
//     response     340 + 36 special    9 read (3 codes), 31 written   21 us
//     lowest band  100                25 read, 25 written             22 us
//     middle band  80                 25 read, 25 written             22 us
//     differences  450 + 16 special   65 read, 30 written             41 us
//     lines        485                20 read, 5 written              30 us
//     masking      25                 5 read, 5 written               4 us
//     map           95 + 6 special    16 read, 1 written               7 us
//     in all       1575               287                             147 us
//
// At the rates of an H200 (33.4 T lane operations/s, 4.8 TB/s) 2.07 million places are 98 us of arithmetic and 124 us
// of memory. As the kernels of some pairs follow each other, the sum of each one's larger half is the floor.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "metrics/butteraugli/butteraugli_blur_phases.hpp"
#include "metrics/butteraugli/butteraugli_difference_phases.hpp"
#include "metrics/butteraugli/butteraugli_line_phases.hpp"
#include "metrics/butteraugli/butteraugli_map_phases.hpp"
#include "metrics/butteraugli/butteraugli_response_phases.hpp"
#include "metrics/butteraugli/butteraugli_weighted_phases.hpp"

namespace qc::butteraugli {
QC_HD float* pair_planes(float* scratch, uint64_t pair_floats, int pair) {
    return scratch + static_cast<uint64_t>(pair) * pair_floats;
}

/// grid: (strips across, strips down, pairs)
template <class Source>
struct MakeResponse : device::KernelOf<ResponseArguments, kResponseThreads, tuning::kResponseMinBlocks> {
    static constexpr size_t kSharedBytes = sizeof(ResponseShared);

    template <class Block>
    QC_HD static void run(Block& block, const ResponseArguments& arguments) {
        auto& shared = *device::dynamic_shared<ResponseShared>(block);
        float* const pair = pair_planes(arguments.scratch, arguments.pair_floats, block.z());
        if constexpr (Source::kHasHalf) {
            if (block.thread() == 0) shared.picture[0] = arguments.pairs[block.z()].reference;
            if (block.thread() == kResponseQuads) shared.picture[1] = arguments.pairs[block.z()].distorted;
            block.sync();
        }
        // A warp's lanes see to one input: what a compiler is told by a shuffle.
        const int input = block.shuffle_from(block.thread() / kResponseQuads, 0);
        const Quad quad(input, block.thread(), block.x(), arguments.shape.width);
        const DevicePicture& picture = shared.picture[input];
        const int first = block.y() * kResponsePairs, height = arguments.shape.height;
        const int left = (height + 1) / 2 - first, count = left < kResponsePairs ? left : kResponsePairs;
        typename Source::Fetched fetched;
        // One step behind the reference, whose responses the differences are from.
        int now = first - 1 - input;
        const auto share = [&](int row_pair) {
            Source::share(arguments, picture, quad, Couple(row_pair, height), fetched,
                          shared.chroma[input][turn(row_pair)][quad.thread]);
        };
        if (input == 0) {
            Source::fetch(arguments, picture, pair, quad, Couple(now, height), fetched);
            share(now);
        }
        QC_NO_UNROLL
        for (int step = 0; step < count + 4; ++step, ++now) {
            block.sync();
            const bool has_light = now >= first - 1 && now <= first + count;
            const bool has_next = now + 1 >= first - 1 && now + 1 <= first + count;
            typename Source::Fetched next;
            if (has_next) Source::fetch(arguments, picture, pair, quad, Couple(now + 1, height), next);
            if (now >= first && now <= first + count + 1) {
                Float4 around[3];
                adapt(shared, arguments, quad, now - 1, around);
                if (now >= first + 2) store_response(shared, arguments, pair, quad, now - 2, around);
            }
            if (has_light) {
                Float4 light[3];
                Source::light_of(arguments, picture, quad, fetched, shared.chroma[input][turn(now)], light);
                QC_UNROLL for (int k = 0; k < 3; ++k)
                    store_plane4(shared.light[input][turn(now)][k][quad.thread], light[k]);
                if (Source::kHasHalf && now >= first && now < first + count && arguments.half.width != 0)
                    store_half(arguments, pair, quad, now, light);
            }
            if (has_next) {
                fetched = next;
                share(now + 1);
            }
        }
    }
};

/// What a plane is more than its blur.
template <bool kScales>
struct LessBlur {
    using Samples = FloatSamples<kScales>;
    using Result = TakeFromWhole<kScales>;
    template <int kR>
    QC_HD static const float* from(const BlurArguments<kR>& arguments, const float* pair, int plane) {
        return pair + arguments.from[plane];
    }
    template <int kR>
    QC_HD static Result result(const BlurArguments<kR>& arguments, float* pair, int plane) {
        return {pair + arguments.from[plane], pair + arguments.to[plane], kUnscaled / arguments.sample_scale};
    }
};
/// The blur of a plane of pairs of halves: a plane for each half.
struct BlurOfHalves {
    using Samples = PairSamples;
    using Result = StoreHalves;
    template <int kR>
    QC_HD static const float* from(const BlurArguments<kR>& arguments, const float* pair, int) {
        return pair + arguments.from[0];
    }
    template <int kR>
    QC_HD static StoreHalves result(const BlurArguments<kR>& arguments, float* pair, int) {
        return {{halves(pair, arguments.to[0]), halves(pair, arguments.to[1])}};
    }
};

/// grid: (strips, planes that are blurred, pairs)
template <int kR, class Planes>
struct BlurPlanes : device::KernelOf<BlurArguments<kR>, kBlurThreads, tuning::kBlurMinBlocks> {
    using Samples = typename Planes::Samples;

    template <class Block>
    QC_HD static void run(Block& block, const BlurArguments<kR>& arguments) {
        auto& table = device::shared<TapTable>(block);
        make_tap_table(arguments.taps, block.thread(), table);
        block.sync();
        float* const pair = pair_planes(arguments.scratch, arguments.pair_floats, block.z());
        const PlaneShape& shape = arguments.shape;
        const int left = block.x() % arguments.strips * kStripColumns + block.warp() * kWarpColumns;
        const int top = block.x() / arguments.strips * arguments.strip_rows;
        if (left >= shape.width) return;
        const int rows = shape.height - top < arguments.strip_rows ? shape.height - top : arguments.strip_rows;
        const MatrixLane lane(block.lane());
        const BandMatrices<kR> bands(table, lane);
        const auto result = Planes::result(arguments, pair, block.y());
        constexpr int kAhead = kBlurBlocks<kR> - 1; // blocks of rows before the first is complete
        const int steps = (rows + kBlurRows - 1) / kBlurRows + kAhead, first = top - kBlurReach<kR>;
        BlurFetch<kR, Samples> fetch(Planes::from(arguments, pair, block.y()), shape, lane, left, first,
                                     first + steps * kBlurRows - 1);
        fetch.advance();
        QC_UNROLL for (int f = 0; f < BlurFetch<kR, Samples>::kBlocks; ++f) fetch.fetch(f);
        BlurSums<Samples> results[kBlurBlocks<kR>] = {};
        QC_NO_UNROLL
        for (int step = 0; step < steps; ++step) {
            const int y = top + (step - kAhead) * kBlurRows; // of what will be complete
            const BlurPlaces places(lane, left, y);
            Wholes<typename Planes::Result> wholes;
            if (y >= top) fetch_wholes(shape, result, places, wholes);
            fetch.clear_outside(lane);
            BlurSums<Samples> along = {};
            blur_along<kR, Samples>(block, bands, arguments.sample_scale, fetch, along);
            blur_down<kR, Samples>(block, bands, along, results);
            if (y >= top) {
                if (Taps<kR>::is_near_border(left, left + kWarpColumns - 1, shape.width) ||
                    Taps<kR>::is_near_border(y, y + kBlurRows - 1, shape.height)) {
                    scale_at_borders<kR, Samples>(arguments, places, results[0]);
                    store_blurred<false, Samples>(shape, result, places, wholes, results[0]);
                } else {
                    store_blurred<true, Samples>(shape, result, places, wholes, results[0]);
                }
            }
            shift_results<kR, Samples>(results);
        }
    }
};

/// grid: (tiles across, tiles down, pairs)
struct MakeDifferences : device::KernelOf<DifferenceArguments, kDifferenceThreads, tuning::kDifferenceMinBlocks> {
    static constexpr size_t kSharedBytes = sizeof(DifferenceShared);

    template <class Block>
    QC_HD static void run(Block& block, const DifferenceArguments& arguments) {
        auto& shared = *device::dynamic_shared<DifferenceShared>(block);
        float* const pair = pair_planes(arguments.scratch, arguments.pair_floats, block.z());
        const Corner corner{block.x() * kPatchColumns, block.y() * kPatchRows};
        const int thread = block.thread();
        const Own own(thread);
        stage_above(shared, thread, arguments, pair, corner);
        Places places;
        begin_places(arguments, pair, own, corner, places);
        block.sync();
        WithoutLow of_y = load_without_low<false>(arguments, pair, own, corner),
                   of_x = load_without_low<true>(arguments, pair, own, corner);
        blur_stage_across(shared, thread, arguments);
        block.sync();
        QC_NO_UNROLL
        for (int r = 0; r < kOwnRows; ++r) {
            const Group group = group_of(own, r, corner, arguments.planes.shape);
            OfY left;
            float difference[4] = {};
            compare_group<false>(shared, arguments, pair, own, r, group, of_y.row[0], left, difference);
            compare_group<true>(shared, arguments, pair, own, r, group, of_x.row[0], left, difference);
            places.add(difference);
            of_y.row[0] = of_y.row[1];
            of_x.row[0] = of_x.row[1];
        }
        store_high(arguments, pair, own, corner, places);
    }
};

/// grid: (tiles across, tiles down, pairs)
struct AddLines : device::KernelOf<LinesArguments, kLineThreads, tuning::kLinesMinBlocks> {
    template <class Block>
    QC_HD static void run(Block& block, const LinesArguments& arguments) {
        auto& shared = device::shared<LinesShared>(block);
        float* const pair = pair_planes(arguments.scratch, arguments.pair_floats, block.z());
        const LineFetch fetch(arguments.shape, block.thread(), block.x(), block.y());
        fetch.begin(pair + arguments.lines[0], shared);
        LineSums sums{};
        QC_NO_UNROLL
        for (int i = 0; i < kLinePairs; ++i) {
            if (i > 0) block.sync();
            fetch.unpack(shared);
            if (i + 1 < kLinePairs) fetch.begin(pair + arguments.lines[i + 1], shared);
            block.sync();
            if (i == kUltraPair)
                add_pair<true>(shared, block.thread(), sums);
            else
                add_pair<false>(shared, block.thread(), sums);
        }
        add_to_high(arguments, pair, block.thread(), block.x(), block.y(), sums);
    }
};

/// grid: (blocks across, blocks down, pairs)
struct MakeHalfMap : device::KernelOf<MapArguments, kMapThreads, tuning::kMapMinBlocks> {
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
struct AddMap : device::KernelOf<MapArguments, kMapThreads, tuning::kMapMinBlocks> {
    template <class Block>
    QC_HD static void run(Block& block, const MapArguments& arguments) {
        MapSums sums{};
        MapPlane drawn{};
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

/// grid: (blocks across, blocks down, pairs)
struct AddWeightedMap : device::KernelOf<MapArguments, kMapThreads, tuning::kMapMinBlocks> {
    template <class Block>
    QC_HD static void run(Block& block, const MapArguments& arguments) {
        const DevicePair& of = arguments.pairs[block.z()];
        const MapPlane drawn = arguments.drawn.of_output(of.output, {arguments.shape.width, arguments.shape.height});
        WeightedMapSums sums{};
        add_weighted_map(arguments, pair_planes(arguments.scratch, arguments.pair_floats, block.z()), block.warp(),
                         block.lane(), block.x(), block.y(), of.weights, drawn, sums);
        const uint32_t weights[1] = {sums.weights};
        device::add_block_sums(
            block, weights, arguments.accumulators + static_cast<size_t>(of.output) * kWeightedWords + kSumOfWeights);
        const double value[kAccumulatorWords] = {
            static_cast<double>(sums.map.power[0]), static_cast<double>(sums.map.power[1]),
            static_cast<double>(sums.map.power[2]), sums.map.twelfth, static_cast<double>(sums.map.largest)};
        const double total = total_of_block(block, value);
        if (block.thread() >= kAccumulatorWords) return;
        const int64_t own = static_cast<int64_t>(block.z()) * arguments.blocks + block.y() * block.grid_x() + block.x();
        arguments.sums[own * kAccumulatorWords + block.thread()] = total;
    }
};

/// grid: (1, 1, pairs)
/// @tparam kWords accumulators of a pair
template <int kWords>
struct Finish : device::KernelOf<FinishArguments, tuning::kFinishThreads> {
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
        const size_t row = static_cast<size_t>(arguments.pairs[block.z()].output) * kWords;
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
    KERNEL(butteraugli_without_low, BlurPlanes<16, LessBlur<false>>)                                                   \
    KERNEL(butteraugli_without_low_scaled, BlurPlanes<16, LessBlur<true>>)                                             \
    KERNEL(butteraugli_above, BlurPlanes<7, LessBlur<false>>)                                                          \
    KERNEL(butteraugli_above_scaled, BlurPlanes<7, LessBlur<true>>)                                                    \
    KERNEL(butteraugli_masking, BlurPlanes<6, BlurOfHalves>)                                                           \
    KERNEL(butteraugli_differences, MakeDifferences)                                                                   \
    KERNEL(butteraugli_lines, AddLines)                                                                                \
    KERNEL(butteraugli_half_map, MakeHalfMap)                                                                          \
    KERNEL(butteraugli_map, AddMap<false>)                                                                             \
    KERNEL(butteraugli_map_drawn, AddMap<true>)                                                                        \
    KERNEL(butteraugli_finish, Finish<kAccumulatorWords>)                                                              \
    KERNEL(butteraugli_map_weighted, AddWeightedMap)                                                                   \
    KERNEL(butteraugli_finish_weighted, Finish<kWeightedWords>)
QC_DECLARE_KERNELS(QC_BUTTERAUGLI_KERNELS)

} // namespace qc::butteraugli
