// SPDX-License-Identifier: BSD-2-Clause-Patent
// Decoupling, masking and energies in the kernels of integer ADM, as a thread of a block sees them (phases 2 and 3).
#pragma once

#include "metrics/adm/adm_wavelet_phases.hpp"

namespace qc::adm {

// ---- phase 2: decoupling, masker terms ------------------------------------------------------------------------------

template <int kLevel>
QC_HD bool lane_same_angle(const int32_t* o, const int32_t* t) {
    using Sum = std::conditional_t<kLevel == 0, int32_t, int64_t>;
    const Sum dot = static_cast<Sum>(o[kBandH]) * t[kBandH] + static_cast<Sum>(o[kBandV]) * t[kBandV];
    const Sum reference_norm = static_cast<Sum>(o[kBandH]) * o[kBandH] + static_cast<Sum>(o[kBandV]) * o[kBandV];
    const Sum distorted_norm = static_cast<Sum>(t[kBandH]) * t[kBandH] + static_cast<Sum>(t[kBandV]) * t[kBandV];
    return same_angle(static_cast<float>(dot), static_cast<float>(reference_norm), static_cast<float>(distorted_norm));
}

/// Weighted magnitude of a coefficient and its masker terms: both backends of a measure need the same product.
template <int kLevel, int kBand>
QC_HD uint32_t weighted_size(uint32_t factor, int32_t x) {
    if constexpr (kLevel == 0)
        return magnitude(weigh_level0(factor, x));
    else
        return magnitude(weigh_deep(factor, x));
}
template <int kLevel, int kBand>
QC_HD MaskerTerms weighted_terms(uint32_t factor, int32_t x, uint32_t& size) {
    if constexpr (kLevel == 0) {
        const int32_t weighted = weigh_level0(factor, x);
        size = magnitude(weighted);
        return masker_level0<kBand>(weighted);
    } else {
        size = magnitude(weigh_deep(factor, x));
        return masker_deep(size);
    }
}

/// Adds one band of a column to the masker sums. With impairment, each part masks the other and is measured.
template <int kLevel, int kBand, bool kAim, bool kWeighted>
QC_HD void add_band(uint32_t factor, Decoupled parts, MaskerTerms (&terms)[2], int column,
                    ThreadTile<kAim, kWeighted>& state) {
    uint32_t additive_size;
    const MaskerTerms additive = weighted_terms<kLevel, kBand>(factor, parts.additive, additive_size);
    terms[0].neighbour += additive.neighbour;
    terms[0].centre += additive.centre;
    if constexpr (kAim) {
        const MaskerTerms restored =
            weighted_terms<kLevel, kBand>(factor, parts.restored, state.size[0][column][kBand]);
        terms[1].neighbour += restored.neighbour;
        terms[1].centre += restored.centre;
        state.size[1][column][kBand] = additive_size;
    } else {
        state.size[0][column][kBand] = weighted_size<kLevel, kBand>(factor, parts.restored);
    }
}

template <int kLevel, int kBand>
QC_HD uint64_t reference_energy(int32_t o, Rounding rounding) {
    if constexpr (kLevel == 0)
        return reference_energy_level0(o);
    else
        return reference_energy_deep<kLevel>(o, rounding);
}

template <int kLevel>
QC_HD Decoupled decouple_at(int32_t o, int32_t t, bool enhanced, const Gain& gain) {
    return gain.whole != 0 ? decouple<(kLevel > 0), true>(o, t, enhanced, gain)
                           : decouple<(kLevel > 0), false>(o, t, enhanced, gain);
}

/// Decouples one column: leaves sizes and centre terms in the state, returns the neighbour terms of each masker.
template <int kLevel, bool kAim, bool kWeighted>
QC_HD void mask_column(const LevelArguments& arguments, const int32_t* o, const int32_t* t, int column,
                       ThreadTile<kAim, kWeighted>& state, int32_t (&neighbour)[2]) {
    const bool enhanced = lane_same_angle<kLevel>(o, t);
    MaskerTerms terms[2] = {{0, 0}, {0, 0}};
    const uint32_t* factor = arguments.plan.factor;
    add_band<kLevel, kBandH>(factor[kBandH], decouple_at<kLevel>(o[kBandH], t[kBandH], enhanced, arguments.gain), terms,
                             column, state);
    add_band<kLevel, kBandV>(factor[kBandV], decouple_at<kLevel>(o[kBandV], t[kBandV], enhanced, arguments.gain), terms,
                             column, state);
    add_band<kLevel, kBandD>(factor[kBandD], decouple_at<kLevel>(o[kBandD], t[kBandD], enhanced, arguments.gain), terms,
                             column, state);
    QC_UNROLL
    for (int m = 0; m < ThreadTile<kAim>::kMaskers; m++) {
        neighbour[m] = terms[m].neighbour;
        state.centre[m][column] = terms[m].centre - terms[m].neighbour;
    }
}

/// @param leads whether the pair is its reference's first, which leaves what depends on the reference alone
/// @tparam kDraws the map needs the reference's magnitudes
/// @param pair whose weights count
template <int kLevel, bool kDetails, bool kDraws = false, bool kAim, bool kWeighted>
QC_HD void filter_rows(const LevelArguments& arguments, int pair, int tile_x, int tile_y, int thread, bool leads,
                       SharedTile<kLevel, kAim>& shared, LowBand<kLevel>* reference_low, LowBand<kLevel>* distorted_low,
                       ThreadTile<kAim, kWeighted>& state) {
    const LevelPlan& plan = arguments.plan;
    const TileRow here(tile_y, thread);
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane;
    const bool wants_low = kLevel < kLevels - 1 && here.useful && here.y >= 0 && here.y < plan.height;
    const bool wants_details = kDetails && masks_row(plan, here.y);
    const bool leaves_reference = leaves_low<kLevel>(leads);
    LaneBands reference{}, distorted{};
    if (wants_low || wants_details) {
        if (kDetails || leaves_reference)
            filter_row<kLevel, kDetails>(shared, 0, here.row, lane, wants_low && leaves_reference, wants_details,
                                         reference);
        filter_row<kLevel, kDetails>(shared, 1, here.row, lane, wants_low, wants_details, distorted);
    }
    if (wants_low) {
        const ptrdiff_t offset = static_cast<ptrdiff_t>(here.y) * arguments.place.out_pitch + x;
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            const int place = 2 * lane + c;
            if (place < 1 || place > tuning::kUsefulColumns || x + c < 0 || x + c >= plan.width) continue;
            if (leaves_reference) reference_low[offset + c] = static_cast<LowBand<kLevel>>(reference.low[c]);
            distorted_low[offset + c] = static_cast<LowBand<kLevel>>(distorted.low[c]);
        }
    }
    if constexpr (kDetails) {
        int32_t neighbour[2][2] = {{0, 0}, {0, 0}}; // [column][masker]
        if (wants_details) {
            const bool adds_reference = leads && here.useful && scores_row(plan, here.y);
            QC_UNROLL
            for (int c = 0; c < 2; c++) {
                const int place = 2 * lane + c;
                if (place > tuning::kUsefulColumns + 1 || !masks_column(plan, x + c)) continue;
                mask_column<kLevel>(arguments, reference.detail[c], distorted.detail[c], c, state, neighbour[c]);
                if constexpr (kDraws) {
                    const int32_t* const detail = reference.detail[c];
                    uint32_t* const size = state.reference_size[c];
                    size[kBandH] = weighted_size<kLevel, kBandH>(plan.factor[kBandH], detail[kBandH]);
                    size[kBandV] = weighted_size<kLevel, kBandV>(plan.factor[kBandV], detail[kBandV]);
                    size[kBandD] = weighted_size<kLevel, kBandD>(plan.factor[kBandD], detail[kBandD]);
                }
                if (!adds_reference || place < 1 || place > tuning::kUsefulColumns || !scores_column(plan, x + c))
                    continue;
                const int32_t* o = reference.detail[c];
                const Rounding rounding = plan.reference_energy;
                if constexpr (kWeighted) state.weight[c] = weight_at(arguments.weights, pair, x + c, here.y);
                constexpr int kFirst = kReference * kBands;
                state.add(kFirst + kBandH, c, reference_energy<kLevel, kBandH>(o[kBandH], rounding));
                state.add(kFirst + kBandV, c, reference_energy<kLevel, kBandV>(o[kBandV], rounding));
                state.add(kFirst + kBandD, c, reference_energy<kLevel, kBandD>(o[kBandD], rounding));
            }
        }
        QC_UNROLL
        for (int m = 0; m < ThreadTile<kAim>::kMaskers; m++) {
            store_neighbours(plan, shared.neighbour[m][here.row], x, lane, neighbour[0][m], neighbour[1][m]);
        }
    }
}

// ---- phase 3: the masking window and the energies -------------------------------------------------------------------

template <int kLevel, int kBand>
QC_HD uint64_t masked_energy(const LevelPlan& plan, uint32_t size, int32_t threshold) {
    if constexpr (kLevel == 0)
        return static_cast<uint64_t>(energy_level0<kBand>(size, threshold, plan.energy[kBand]));
    else
        return static_cast<uint64_t>(energy_deep(size, threshold, plan.energy[kBand]));
}

/// Sums over three rows of the window for four columns: one before a lane's two, and one behind.
QC_HD void sum_columns(const int32_t* above, const int32_t* here, const int32_t* below, uint32_t (&columns)[4]) {
    QC_UNROLL
    for (int k = 0; k < 4; k++) columns[k] = 0;
    const int32_t* const rows[3] = {above, here, below};
    QC_UNROLL
    for (int j = 0; j < 3; j++) {
        const Word2 middle = load_as<Word2>(rows[j]);
        columns[0] += static_cast<uint32_t>(rows[j][-1]);
        columns[1] += middle.at[0];
        columns[2] += middle.at[1];
        columns[3] += static_cast<uint32_t>(rows[j][2]);
    }
}

template <int kLevel, bool kAim, bool kWeighted>
QC_HD void sum_energies(const LevelArguments& arguments, int tile_x, int tile_y, int thread,
                        const SharedTile<kLevel, kAim>& shared, ThreadTile<kAim, kWeighted>& state) {
    const LevelPlan& plan = arguments.plan;
    const TileRow here(tile_y, thread);
    if (!here.useful || !scores_row(plan, here.y)) return;
    const int lane = thread % 32, x = tile_x - 1 + 2 * lane;
    const WindowRows rows(plan, here);
    QC_UNROLL
    for (int m = 0; m < ThreadTile<kAim>::kMaskers; m++) {
        uint32_t columns[4];
        const int at = kWindowPad + 2 * lane;
        sum_columns(&shared.neighbour[m][rows.above][at], &shared.neighbour[m][here.row][at],
                    &shared.neighbour[m][rows.below][at], columns);
        const int first = (m == 0 ? kDetail : kImpairment) * kBands;
        QC_UNROLL
        for (int c = 0; c < 2; c++) {
            const int place = 2 * lane + c;
            if (place < 1 || place > tuning::kUsefulColumns || !scores_column(plan, x + c)) continue;
            const int32_t threshold = static_cast<int32_t>(static_cast<uint32_t>(state.centre[m][c]) + columns[c] +
                                                           columns[c + 1] + columns[c + 2]);
            const uint32_t* size = state.size[m][c];
            state.add(first + kBandH, c, masked_energy<kLevel, kBandH>(plan, size[kBandH], threshold));
            state.add(first + kBandV, c, masked_energy<kLevel, kBandV>(plan, size[kBandV], threshold));
            state.add(first + kBandD, c, masked_energy<kLevel, kBandD>(plan, size[kBandD], threshold));
        }
    }
}

} // namespace qc::adm
