// SPDX-License-Identifier: BSD-2-Clause-Patent
// The map of integer ADM, by the kernels of one level: phase 3 once more, for values in the place of sums.
#pragma once

#include "metrics/adm/adm_masking_phases.hpp"

namespace qc::adm {

/// All bands of a place. @param size weighted magnitudes of what is left
template <int kLevel>
QC_HD float lost_at(const uint32_t* reference_size, const uint32_t* size, int32_t threshold) {
    float lost = 0.0f;
    if constexpr (kLevel == 0) {
        lost = lost_contrast<0, kBandH>(reference_size[kBandH], excess_level0<kBandH>(size[kBandH], threshold));
        lost = lost + lost_contrast<0, kBandV>(reference_size[kBandV], excess_level0<kBandV>(size[kBandV], threshold));
        lost = lost + lost_contrast<0, kBandD>(reference_size[kBandD], excess_level0<kBandD>(size[kBandD], threshold));
    } else {
        for (int band = 0; band < kBands; band++)
            lost = lost + lost_contrast<1, kBandH>(reference_size[band], excess_deep(size[band], threshold));
    }
    return lost;
}

/// Puts a tile's values into the map: 0 where the level is not scored.
/// @param has_details else no place of the tile is scored
template <int kLevel, bool kAim, bool kWeighted>
QC_HD void draw_losses(const LevelArguments& arguments, int tile_x, int tile_y, int thread, bool has_details,
                       const SharedTile<kLevel, kAim>& shared, const ThreadTile<kAim, kWeighted>& state,
                       const MapPlane& map) {
    const LevelPlan& plan = arguments.plan;
    const TileRow here(tile_y, thread);
    if (map.data == nullptr || !here.useful || here.y < 0 || here.y >= plan.height) return;
    const bool is_scored = has_details && scores_row(plan, here.y);
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane, at = kWindowPad + 2 * lane;
    uint32_t columns[4] = {};
    if (is_scored) {
        const WindowRows rows(plan, here);
        sum_columns(&shared.neighbour[0][rows.above][at], &shared.neighbour[0][here.row][at],
                    &shared.neighbour[0][rows.below][at], columns);
    }
    QC_UNROLL
    for (int c = 0; c < 2; c++) {
        if (!useful_place(2 * lane + c) || x + c < 0 || x + c >= plan.width) continue;
        float lost = 0.0f;
        if (is_scored && scores_column(plan, x + c)) {
            const int32_t threshold = static_cast<int32_t>(static_cast<uint32_t>(state.centre[0][c]) + columns[c] +
                                                           columns[c + 1] + columns[c + 2]);
            lost = lost_at<kLevel>(state.reference_size[c], state.size[0][c], threshold);
        }
        map.put(x + c, here.y, lost);
    }
}

} // namespace qc::adm
