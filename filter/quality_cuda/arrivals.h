/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Frames as they come: asked for, taken, waited for in vain.
 *
 * Knows links and the clock, not what a frame shows. Depends on
 * epochs, record, replay and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_ARRIVALS_H
#define AVFILTER_QUALITY_CUDA_ARRIVALS_H

#include "compat.h"

struct QCInput;

/** Asks the inputs for the frames that are wanted. @return AVERROR, of a replay alone */
int ff_qc_request_inputs(AVFilterContext *ctx);

/** The output gets a frame, which may take it long: until inputs are asked again, none is silent. What they were so far stays. */
void ff_qc_interrupt_silence(AVFilterContext *ctx);

/** The input has delivered a frame. */
void ff_qc_end_silence(struct QCInput *in);

/** Whether an input delivered nothing for long though it was asked to, until it or the run ended. */
int ff_qc_is_stalled(const struct QCInput *in);

/** Takes a frame that waits, or notes that one is wanted, or the input's end. @return 1 if there is one, 0, or AVERROR */
int ff_qc_consume(AVFilterContext *ctx, int index, AVFrame **frame);

/** The same where errors do not matter. @return the frame, or NULL where there is none */
AVFrame *ff_qc_take_frame(AVFilterContext *ctx, int index);

#endif /* AVFILTER_QUALITY_CUDA_ARRIVALS_H */
