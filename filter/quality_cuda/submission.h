/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * From a decision to a pair in the engine and a frame in the queue: the pictures, the references that keep
 * their memory, and what comes of a failure.
 */

#ifndef AVFILTER_QUALITY_CUDA_SUBMISSION_H
#define AVFILTER_QUALITY_CUDA_SUBMISSION_H

#include "compat.h"

#include <quality_cuda_run.h>

/** Does what was decided, QCR_PAIR or QCR_PASS: the distorted frame moves into the queue. @return AVERROR */
int ff_qc_act(AVFilterContext *ctx, const qcr_decision *decision);

/**
 * Left and top margins of hardware frames are only known with the first frame; while there is a session they must stay.
 * @param frames one of each input, or NULL
 * @return AVERROR
 */
int ff_qc_adopt_crop(AVFilterContext *ctx, AVFrame *const *frames);

/**
 * Hands a pair over.
 * @param map to be painted on, or NULL
 * @param release as qc_frame has it, and opaque
 */
qc_status ff_qc_submit_pictures(const AVFilterContext *ctx, qc_session *session, AVFrame *const *frames, const AVFrame *map,
                                void (*release)(void *opaque), void *opaque);

/** A picture behind the last pair: it may be that which the other video's are of. Nothing fails here. */
void ff_qc_look_further(AVFilterContext *ctx, int index, const AVFrame *frame);

#endif /* AVFILTER_QUALITY_CUDA_SUBMISSION_H */
