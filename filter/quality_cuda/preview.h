/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * A look at the first pictures before any is paired for good: with align=auto
 * each rendition's constant offset from the reference is found and corrected.
 *
 * Frames are not taken for that: they wait in their links' queues, where they
 * are paired on trial, by the rules of the run, for a session of the engine
 * that watches and scores nothing. What it is told beyond doubt moves the
 * clocks of the inputs, or with sync=index their beginnings; then everything
 * goes as if nobody had looked.
 *
 * Knows links, pairing's rules and the engine's watch. Depends on pictures,
 * arrivals, alignment, epochs and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_PREVIEW_H
#define AVFILTER_QUALITY_CUDA_PREVIEW_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda.h>

#include "inputs.h"
#include <quality_cuda_run.h>

/** An input as far as it waits; of main only what was seen. */
typedef struct QCWaiting {
    qcr_track track;
    int seen;         ///< frames that were looked at, from the queue's first on
    int cur, next;    ///< which of them the track has the stamps of
    int movable;      ///< frames that may be held, surfaces or copies
    int64_t last_pts; ///< of the latest frame that has a stamp
} QCWaiting;

typedef struct QCPreview {
    int is_over;
    qc_session *session;          ///< NULL before the first pair, and behind the end
    QCWaiting input[QC_MAX_INPUTS];
    int has_main;                 ///< the latest main frame that was seen waits for its partners
    int pairs, gap;               ///< how many; and main frames in a row since the last one
    double first_time, last_time; ///< of the pairs' main frames, seconds
} QCPreview;

/**
 * Looks as far as frames have come; marks the inputs that have to deliver as
 * wanted. Does nothing without align=auto.
 * @return 1 once it is over, 0 if more input is needed, or AVERROR
 */
int ff_qc_look_ahead(AVFilterContext *ctx);

void ff_qc_free_preview(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_PREVIEW_H */
