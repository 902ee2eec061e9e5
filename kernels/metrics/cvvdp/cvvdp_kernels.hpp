// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels, in the order in which they run for a group of frames.
#pragma once

#include "device/kernel_list.hpp"
#include "metrics/cvvdp/cvvdp_band_phases.hpp"
#include "metrics/cvvdp/cvvdp_filter_phases.hpp"
#include "metrics/cvvdp/cvvdp_finish_phases.hpp"
#include "metrics/cvvdp/cvvdp_pyramid_phases.hpp"

namespace qc::cvvdp {

#define QC_CVVDP_KERNELS(KERNEL)                                                                                       \
    KERNEL(cvvdp_group, PlanGroup)                                                                                     \
    KERNEL(cvvdp_filter_u8, FilterFrames<uint8_t, true>)                                                               \
    KERNEL(cvvdp_filter_u16, FilterFrames<uint16_t, true>)                                                             \
    KERNEL(cvvdp_filter_u8_general, FilterFrames<uint8_t, false>)                                                      \
    KERNEL(cvvdp_filter_u16_general, FilterFrames<uint16_t, false>)                                                    \
    KERNEL(cvvdp_reduce, ReduceLevel)                                                                                  \
    KERNEL(cvvdp_bands, ScoreTiles)                                                                                    \
    KERNEL(cvvdp_finish, FinishBands)                                                                                  \
    KERNEL(cvvdp_bands_drawn, ScoreAndDrawTiles)                                                                       \
    KERNEL(cvvdp_finish_drawn, FinishAndDrawBands)                                                                     \
    KERNEL(cvvdp_map_add, AddLevel)                                                                                    \
    KERNEL(cvvdp_map_paint, PaintMap)                                                                                  \
    KERNEL(cvvdp_weights, MakeWeights)                                                                                 \
    KERNEL(cvvdp_bands_weighted, ScoreWeightedTiles)                                                                   \
    KERNEL(cvvdp_finish_weighted, FinishWeightedBands)
QC_DECLARE_KERNELS(QC_CVVDP_KERNELS)

} // namespace qc::cvvdp
