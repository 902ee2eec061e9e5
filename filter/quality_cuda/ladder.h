/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * How each rendition fared: whether it is complete, and, where there are
 * several, all of them side by side, as a table for people and as JSON for
 * programs.
 *
 * Knows every count and score, changes none. Depends on engine, scaling,
 * inputs, formats and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_LADDER_H
#define AVFILTER_QUALITY_CUDA_LADDER_H

#include "compat.h"

#include "libavutil/bprint.h"

/** A rendition is as complete as the run, if it has a score wherever the reference has a frame. */
int ff_qc_is_complete(const AVFilterContext *ctx, int rendition);

/** An array with an object for each rendition: what it is, how it ended, its pooled scores, if there are any. */
void ff_qc_renditions_json(const AVFilterContext *ctx, AVBPrint *out);

/** The same as a table of messages; after a failure without the scores. */
void ff_qc_print_ladder(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_LADDER_H */
