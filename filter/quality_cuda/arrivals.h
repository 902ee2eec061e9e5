/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Frames as they come: asked for, taken from the links, offered to the pairs.
 *
 * Knows links and the clock, not what a frame shows. Depends on inputs, mask,
 * outputs, record and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_ARRIVALS_H
#define AVFILTER_QUALITY_CUDA_ARRIVALS_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda_run.h>

/**
 * Holds the frame rate that the distorted video claims against the timestamps of
 * its first frames, before any of them is paired. Frames that are sure to come are
 * waited for. @return 1 once that is done, 0 if its input has to deliver more
 */
int ff_qc_settle_rate(AVFilterContext *ctx);

/** Offers the pairs what has come, as far as they need it, and takes their decision. @return AVERROR */
int ff_qc_decide(AVFilterContext *ctx, qcr_decision *decision);

/** The same where nothing is compared any more, whatever the frames are and whatever fails. */
void ff_qc_decide_rest(AVFilterContext *ctx, qcr_decision *decision);

/** Asks the inputs that a decision names, where a consumer waits for what comes of it. @return AVERROR */
int ff_qc_request_if_awaited(AVFilterContext *ctx, uint32_t needs);

#endif /* AVFILTER_QUALITY_CUDA_ARRIVALS_H */
