/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * A look at the first pictures before any is paired for good: with align=auto each rendition's constant
 * offset from the reference is found and corrected. Frames are not taken for that: they wait in their
 * links' queues, where they are paired on trial.
 */

#ifndef AVFILTER_QUALITY_CUDA_PREVIEW_H
#define AVFILTER_QUALITY_CUDA_PREVIEW_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda_run.h>

typedef struct QCPreview {
    int is_over;
    qcr_preview run;
    qc_session *session;          ///< NULL before the first pair, and behind the end
    int movable[QCR_MAX_INPUTS];  ///< frames of each input that may be held, surfaces or copies
} QCPreview;

/**
 * Looks as far as frames have come; does nothing without align=auto.
 * @param needs bit i: input i has to deliver
 * @return 1 once it is over, 0 if more input is needed, or AVERROR
 */
int ff_qc_look_ahead(AVFilterContext *ctx, uint32_t *needs);

void ff_qc_free_preview(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_PREVIEW_H */
