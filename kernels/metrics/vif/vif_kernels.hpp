// SPDX-License-Identifier: BSD-2-Clause-Patent
// The list of integer VIF's kernels.
#pragma once

#include <type_traits>

#include "metrics/vif/vif_bands_ladder.hpp"
#include "metrics/vif/vif_ladder.hpp"

namespace qc::vif {

template <int kRows>
using Scale0U8Column =
    std::conditional_t<kByteWindow == ByteWindow::kDotProducts, ByteColumn<kRows>, PairColumn<kRows>>;

using Scale0U8 = TilePlan<0, PictureSource<uint8_t>, Scale0U8Column, kTileScale0U8>;
using Scale0U16 = TilePlan<0, PictureSource<uint16_t>, PairColumn, kTileScale0U16>;
using Scale1 = TilePlan<1, PackedSource, PairColumn, kTileScale1>;
using Scale2 = TilePlan<2, PackedSource, PairColumn, kTileScale2>;
using Scale3 = TilePlan<3, PackedSource, PairColumn, kTileScale3>;
/// Scale 0 without its statistics (vif_skip_scale0).
using Decimate0U8 = TilePlan<0, PictureSource<uint8_t>, Scale0U8Column, kTileDecimateOnly, false>;
using Decimate0U16 = TilePlan<0, PictureSource<uint16_t>, PairColumn, kTileDecimateOnly, false>;

#define QC_VIF_KERNELS(KERNEL)                                                                                         \
    KERNEL(vif_scale0_u8, ScoreTile<Scale0U8>)                                                                         \
    KERNEL(vif_scale0_u8_bands, ScoreBands<ByteInput>)                                                                 \
    KERNEL(vif_scale0_u16_bands, ScoreBands<WordInput>)                                                                \
    KERNEL(vif_scale1_bands, ScoreBands<PackedInput>)                                                                  \
    KERNEL(vif_scale0_u16, ScoreTile<Scale0U16>)                                                                       \
    KERNEL(vif_scale1, ScoreTile<Scale1>)                                                                              \
    KERNEL(vif_scale0_u8_bands_ladder, ScoreLadderBands<ByteInput>)                                                    \
    KERNEL(vif_scale0_u16_bands_ladder, ScoreLadderBands<WordInput>)                                                   \
    KERNEL(vif_scale1_bands_ladder, ScoreLadderBands<PackedInput>)                                                     \
    KERNEL(vif_scale0_u8_ladder, ScoreLadderTile<Scale0U8>)                                                            \
    KERNEL(vif_scale0_u16_ladder, ScoreLadderTile<Scale0U16>)                                                          \
    KERNEL(vif_scale1_ladder, ScoreLadderTile<Scale1>)                                                                 \
    KERNEL(vif_scale2, ScoreTile<Scale2>)                                                                              \
    KERNEL(vif_scale3, ScoreTile<Scale3>)                                                                              \
    KERNEL(vif_decimate0_u8, ScoreTile<Decimate0U8>)                                                                   \
    KERNEL(vif_decimate0_u16, ScoreTile<Decimate0U16>)                                                                 \
    KERNEL(vif_scale0_u8_map, ScoreTile<Scale0U8, Extra::kMap>)                                                        \
    KERNEL(vif_scale0_u8_bands_map, ScoreBands<ByteInput, true>)                                                       \
    KERNEL(vif_scale0_u16_map, ScoreTile<Scale0U16, Extra::kMap>)                                                      \
    KERNEL(vif_scale1_map, ScoreTile<Scale1, Extra::kMap>)                                                             \
    KERNEL(vif_scale0_u8_weighted, ScoreTile<Scale0U8, Extra::kWeights>)                                               \
    KERNEL(vif_scale0_u16_weighted, ScoreTile<Scale0U16, Extra::kWeights>)                                             \
    KERNEL(vif_scale1_weighted, ScoreTile<Scale1, Extra::kWeights>)                                                    \
    KERNEL(vif_scale2_weighted, ScoreTile<Scale2, Extra::kWeights>)                                                    \
    KERNEL(vif_scale3_weighted, ScoreTile<Scale3, Extra::kWeights>)
QC_DECLARE_KERNELS(QC_VIF_KERNELS)

} // namespace qc::vif
