/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Frames as they come: asked for, taken from the links, offered to the pairs.
 */

#ifndef AVFILTER_QUALITY_CUDA_ARRIVALS_H
#define AVFILTER_QUALITY_CUDA_ARRIVALS_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda_run.h>

/** With align=auto or range=auto: a look at the first pictures, while they wait in the queues of their links. */
typedef struct QCPreview {
    int is_over;
    qcr_preview run;
    qc_session *session;          ///< NULL before the first pair, and behind the end
    int movable[QCR_MAX_INPUTS];  ///< frames of each input that may be held, surfaces or copies
    int range[QCR_MAX_VIDEOS];    ///< of each input, as its first frame has it, or as the pictures do where it has none
} QCPreview;

/**
 * Shows the pairs the inputs' first timestamps before any frame is paired, for what they tell of the rate and of where inputs
 * begin. Frames that are sure to come are waited for. @return the inputs that have to deliver more, bit i; 0: it is done
 */
uint32_t ff_qc_settle_start(AVFilterContext *ctx);

/** Offers the pairs what has come, as far as they need it, and takes their decision. @return AVERROR */
int ff_qc_decide(AVFilterContext *ctx, qcr_decision *decision);

/** The same where nothing is compared any more, whatever the frames are and whatever fails. */
void ff_qc_decide_rest(AVFilterContext *ctx, qcr_decision *decision);

/** Asks the inputs that a decision names, where a consumer waits for what comes of it. @return AVERROR */
int ff_qc_request_if_awaited(AVFilterContext *ctx, uint32_t needs);

/**
 * Looks as far as frames have come; does nothing without align=auto, range=auto and range=error.
 * @param needs bit i: input i has to deliver
 * @return 1 once it is over, 0 if more input is needed, or AVERROR
 */
int ff_qc_look_ahead(AVFilterContext *ctx, uint32_t *needs);

void ff_qc_free_preview(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_ARRIVALS_H */
