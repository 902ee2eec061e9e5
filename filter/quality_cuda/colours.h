/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Colour tags of the inputs: compared, handed to the engine, never acted upon.
 *
 * Knows the tags of frames and the engine's qc_colour. Depends on inputs and
 * state.
 */

#ifndef AVFILTER_QUALITY_CUDA_COLOURS_H
#define AVFILTER_QUALITY_CUDA_COLOURS_H

#include "compat.h"

/** What to do when range or matrix differ between the inputs. */
enum QCRangeCheck { QC_RANGE_AUTO, QC_RANGE_IGNORE, QC_RANGE_ERROR };

/** Tags are compared with main's at an input's first pair; samples are scored as they are. @return AVERROR */
int ff_qc_check_colour(AVFilterContext *ctx, int index, const AVFrame *frame);

/**
 * The tags of the first pair count. A rendition that is missing there has those
 * of its next frame, or main's.
 * @param frames one of each input, or NULL
 */
void ff_qc_adopt_colours(AVFilterContext *ctx, AVFrame *const *frames);

/** Counts, and says once, if an input changes its tags after the first pair. */
void ff_qc_warn_of_colour_change(AVFilterContext *ctx, int index, const AVFrame *frame);

#endif /* AVFILTER_QUALITY_CUDA_COLOURS_H */
