/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Both outputs: the main one, and behind it, with maps=METRIC, the map's.
 *
 * Frames leave them together. Either may ask for more, and either may have
 * enough while the other goes on. Depends on compat only.
 */

#ifndef AVFILTER_QUALITY_CUDA_OUTPUTS_H
#define AVFILTER_QUALITY_CUDA_OUTPUTS_H

#include "compat.h"

enum { QC_OUTPUT_MAIN, QC_OUTPUT_MAP };

/** Whether an output that still takes frames waits for one. */
int ff_qc_is_awaited(AVFilterContext *ctx);

/** Why no output takes frames any more: the status of the main one. 0: one still does. */
int ff_qc_consumers_status(AVFilterContext *ctx);

/** Sends a frame, and its map where there is one, to those that still take frames. Both are gone then. @return AVERROR */
int ff_qc_send(AVFilterContext *ctx, AVFrame *frame, AVFrame *map);

/** No frame follows. */
void ff_qc_end_outputs(AVFilterContext *ctx, int status, int64_t end);

#endif /* AVFILTER_QUALITY_CUDA_OUTPUTS_H */
