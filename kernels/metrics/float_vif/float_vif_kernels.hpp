// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of float_vif: one per scale, those for windows of any size, and vif_prescale.
#pragma once

#include "device/kernel_list.hpp"
#include "device/row_sum_kernels.hpp"
#include "device/term_weight_kernels.hpp"
#include "metrics/float_vif/float_vif_tile_phases.hpp"

namespace qc::float_vif {
/// grid: (tiles across, tiles down, pairs)
template <class Plan>
struct ScoreTile : device::KernelOf<ScaleArguments, Plan::kThreads, Plan::kMinBlocks> {
    static constexpr size_t kSharedBytes = Plan::kSharedBytes;

    template <class Block>
    QC_HD static void run(Block& block, const ScaleArguments& arguments) {
        auto* const shared = device::dynamic_shared<float>(block);
        const int thread = block.thread(), pair = block.z();
        const TileOrigin origin{block.x() * Plan::kWidth, block.y() * Plan::kHeight};
        const typename Plan::Source source(arguments, pair);
        vertical_phase<Plan>(shared, thread, source, origin, arguments);
        block.sync();
        decimation_phase<Plan>(shared, thread, origin, arguments, pair);
        horizontal_phase<Plan>(shared, thread, origin, arguments, pair);
    }
};

/// The same for windows of any size; the host knows how much shared memory they take.
template <class Source>
struct ScoreAnyTile : device::KernelOf<ScaleArguments, AnyTile::kThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const ScaleArguments& arguments) {
        auto* const shared = device::dynamic_shared<float>(block);
        const int thread = block.thread(), pair = block.z();
        const TileOrigin origin{block.x() * AnyTile::kWidth, block.y() * AnyTile::kHeight};
        const Source source(arguments, pair);
        const AnyTile tile(arguments);
        any_vertical_phase(tile, shared, thread, source, origin, arguments);
        block.sync();
        any_horizontal_phase(tile, shared, thread, origin, arguments, pair);
    }
};

/// vif_prescale. grid: (pieces of a row, rows, pairs)
template <typename Sample>
struct ResizePictures : device::KernelOf<ResizeArguments, kResizeBlock> {
    template <class Block>
    QC_HD static void run(Block& block, const ResizeArguments& arguments) {
        resize_sample<Sample>(arguments, block.z(), block.x() * kThreads + block.thread(), block.y());
    }
};

using Scale0U8 = TilePlan<0, PictureSource<uint8_t>, kTileScale0>;
using Scale0U16 = TilePlan<0, PictureSource<uint16_t>, kTileScale0>;
using Scale1 = TilePlan<1, ScratchSource, kTileScale1>;
using Scale2 = TilePlan<2, ScratchSource, kTileScale2>;
using Scale3 = TilePlan<3, ScratchSource, kTileScale3>;

#define QC_FLOAT_VIF_KERNELS(KERNEL)                                                                                   \
    KERNEL(float_vif_scale0_u8, ScoreTile<Scale0U8>)                                                                   \
    KERNEL(float_vif_scale0_u16, ScoreTile<Scale0U16>)                                                                 \
    KERNEL(float_vif_scale1, ScoreTile<Scale1>)                                                                        \
    KERNEL(float_vif_scale2, ScoreTile<Scale2>)                                                                        \
    KERNEL(float_vif_scale3, ScoreTile<Scale3>)                                                                        \
    KERNEL(float_vif_any_u8, ScoreAnyTile<PictureSource<uint8_t>>)                                                     \
    KERNEL(float_vif_any_u16, ScoreAnyTile<PictureSource<uint16_t>>)                                                   \
    KERNEL(float_vif_any_scratch, ScoreAnyTile<ScratchSource>)                                                         \
    KERNEL(float_vif_resize_u8, ResizePictures<uint8_t>)                                                               \
    KERNEL(float_vif_resize_u16, ResizePictures<uint16_t>)                                                             \
    KERNEL(float_vif_sum_rows, device::SumRows)                                                                        \
    KERNEL(float_vif_sum_columns, device::SumColumns<DevicePair>)                                                      \
    KERNEL(float_vif_weigh_terms, device::WeighTerms<DevicePair>)
QC_DECLARE_KERNELS(QC_FLOAT_VIF_KERNELS)

} // namespace qc::float_vif
