// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/preview.h"

#include <algorithm>
#include <cmath>

#include "quality_cuda_run/engine.h"

namespace {

/// From one pair to the next: distorted frames without a partner may lie between them, where the reference's rate is
/// lower.
double seconds_of_pair(const qcr_preview& preview, bool by_index) {
    const double rate = qcr_pairs_rate(preview.pairs);
    const double measured = (preview.last_time - preview.first_time) / std::max(preview.seen_pairs - 1, 1);
    if (by_index) return rate > 0 ? 1 / rate : NAN;
    return rate > 0 ? std::fmax(std::round(measured * rate), 1) / rate : measured;
}

/// A frame without a partner.
qcr_look look_past(qcr_preview& preview, const qcr_decision& decision) {
    if (decision.why == QCR_WHY_UNTIMED) return QCR_LOOK_GOES_ON;
    if (decision.is_last != 0) return QCR_LOOK_IS_OVER;
    return preview.seen_pairs != 0 && ++preview.gap > QCR_LONGEST_GAP ? QCR_LOOK_IS_OVER : QCR_LOOK_GOES_ON;
}

} // namespace

qc_status qcr_preview_begin(qcr_preview* preview, qcr_pairs* pairs, int renditions, unsigned wishes) {
    preview->pairs = pairs;
    preview->wishes = wishes;
    preview->renditions = renditions;
    return qcr_pairs_create_trial(pairs, preview->counts, &preview->trial);
}

void qcr_preview_end(qcr_preview* preview) {
    qcr_pairs_destroy(preview->trial);
    preview->trial = nullptr;
}

int qcr_preview_needs(const qcr_preview* preview, int input) {
    return qcr_pairs_needs(preview->trial, input);
}

qcr_look qcr_preview_offer(qcr_preview* preview, int input, void* frame, int64_t pts, int has_ended) {
    if (preview->seen[input] == QCR_MOST_WAITING) return QCR_LOOK_IS_OVER;
    if (frame == nullptr) {
        if (has_ended == 0) return QCR_LOOK_NEEDS_INPUT;
        qcr_pairs_end(preview->trial, input, 0);
        return QCR_LOOK_GOES_ON;
    }
    if (qcr_pairs_jumps(preview->trial, input, pts) != 0) return QCR_LOOK_IS_OVER;
    preview->seen[input]++;
    qcr_pairs_hear(preview->pairs, input);
    const qcr_offer offer = {input, pts, frame, 0, 0, 0};
    qcr_pairs_offer(preview->trial, &offer);
    return QCR_LOOK_GOES_ON;
}

qcr_look qcr_preview_next(qcr_preview* preview, qcr_decision* decision) {
    qcr_pairs_next(preview->trial, decision);
    switch (decision->kind) {
    case QCR_NEEDS_INPUT:
        return QCR_LOOK_NEEDS_INPUT;
    case QCR_PAIR:
        return QCR_LOOK_AT_PAIR;
    case QCR_PASS:
        return look_past(*preview, *decision);
    default:
        return QCR_LOOK_IS_OVER;
    }
}

qcr_look qcr_preview_saw(qcr_preview* preview, const qc_session* session, double time) {
    qcr_pairs_take(preview->trial);
    preview->last_time = time;
    if (preview->seen_pairs++ == 0) preview->first_time = time;
    preview->gap = 0;
    qc_ranges ranges;
    for (int k = 0, offset = 0; k < preview->renditions; k++) {
        const bool knows_start = qc_session_start_offset(session, k, &offset) != QC_AGAIN;
        const bool knows_range = qc_session_start_range(session, k, &ranges) != QC_AGAIN;
        if ((!knows_start && (preview->wishes & QCR_WISH_START) != 0) ||
            (!knows_range && (preview->wishes & QCR_WISH_RANGE) != 0))
            return QCR_LOOK_GOES_ON;
    }
    return QCR_LOOK_IS_OVER;
}

void qcr_preview_conclude(qcr_preview* preview, qc_session* session, int by_index, qcr_start* start) {
    const double seconds = seconds_of_pair(*preview, by_index != 0);
    const bool has_seen = session != nullptr && qc_session_flush(session) == QC_OK;
    for (int k = 0; k < preview->renditions; k++) {
        if (has_seen && (preview->wishes & QCR_WISH_RANGE) != 0)
            start[k].is_range_told = qc_session_start_range(session, k, &start[k].ranges) == QC_OK ? 1 : 0;
        if ((preview->wishes & QCR_WISH_START) == 0) continue;
        if (has_seen) {
            start[k].is_told = qc_session_start_offset(session, k, &start[k].offset) == QC_OK ? 1 : 0;
            start[k].seconds = start[k].is_told != 0 ? start[k].offset * seconds : NAN;
        }
        qcr_pairs_correct_start(preview->pairs, k, start[k].is_told, start[k].offset, start[k].seconds);
    }
}
