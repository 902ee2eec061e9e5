/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * From a decision to a pair in the engine and a frame in the queue: the
 * references that keep the memory of its pictures, and what comes of a failure.
 *
 * Depends on pictures, account, engine, maps, queue, record and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_SUBMISSION_H
#define AVFILTER_QUALITY_CUDA_SUBMISSION_H

#include "compat.h"

#include <quality_cuda_run.h>

/** Does what was decided, QCR_PAIR or QCR_PASS: the distorted frame moves into the queue. @return AVERROR */
int ff_qc_act(AVFilterContext *ctx, const qcr_decision *decision);

#endif /* AVFILTER_QUALITY_CUDA_SUBMISSION_H */
