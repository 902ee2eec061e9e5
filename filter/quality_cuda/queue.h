/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The distorted frames on their way: from the decision about them until they were sent and their scores
 * have arrived. They leave in order, with their scores as metadata, by both outputs: the main one, and
 * behind it, with maps=METRIC, the map's. Either may ask for more, and either may have enough while the
 * other goes on. Which frames may leave, and what counts, is decided by qcr_rows.
 */

#ifndef AVFILTER_QUALITY_CUDA_QUEUE_H
#define AVFILTER_QUALITY_CUDA_QUEUE_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda.h>

#include <quality_cuda_run.h>

typedef struct QCQueue {
    qcr_rows *rows;               ///< NULL until the output is configured
    const qcr_tally *tally;       ///< of the rows
    int feeds_nullsink;           ///< frames end, at least among others, in a sink of that name
} QCQueue;

enum QCWait { QC_WAIT_NEVER, QC_WAIT_FOR_OLDEST, QC_WAIT_FOR_ALL };

/** Appends a frame that was decided about. @return AVERROR; otherwise the row's handles are gone */
int ff_qc_queue(AVFilterContext *ctx, qcr_row *row);

/** Appends a frame that nobody will score any more. @return as above */
int ff_qc_queue_unscored(AVFilterContext *ctx, qcr_row *row);

/** No row comes any more: frames that wait for one get no scores. */
void ff_qc_give_up_rows(AVFilterContext *ctx);

/** Takes the rows that the engine has finished, or waits for them. @return AVERROR */
int ff_qc_receive_rows(AVFilterContext *ctx, enum QCWait wait);

/** Before the first frame, when it is known where those that leave will go. @return AVERROR */
int ff_qc_open_queue(AVFilterContext *ctx);

/**
 * Sends the oldest frame if it waits for nothing and the next filter asked for one: one for each request, so that what
 * has left when the consumer stops is no matter of timing. @return 1 if it did and that is enough, 0 to go on, or AVERROR
 */
int ff_qc_push_ready(AVFilterContext *ctx);

/** What has left counts where it was taken. From FFmpeg 7 on the command line asks for a frame more than it wants, and leaves it in its sink. */
void ff_qc_confirm_rows(AVFilterContext *ctx, int is_asked);

/** So that this can be seen to the end: a graph frees its first filter first, then from the last one on. */
void ff_qc_be_freed_early(AVFilterContext *ctx);

/**
 * Whether the output may end here, if no distorted frame follows. That takes a request for one frame more: a consumer that
 * has enough makes none, and is no end of the stream. Not so with nullsink, which never has enough: there the end comes
 * with the last frame, or behind it as soon as it is known. For a request of that sink that meets the end is a lack of
 * input to lavfi before 8.1, and FFmpeg 7's command line aborts if it has no input left to ask.
 */
int ff_qc_may_end(AVFilterContext *ctx);

/** Whether more distorted frames may be taken: not while those held suffice and none is asked for. */
int ff_qc_queue_wants_more(AVFilterContext *ctx);

/** Waits until no more frames are held than should be; with realtime=1 the oldest may leave without its scores. @return AVERROR */
int ff_qc_bound_queue(AVFilterContext *ctx);

/** No frame leaves any more. What has not left counts all the same, unless the consumer wanted no more: then the engine forgets it. */
void ff_qc_settle_queue(AVFilterContext *ctx);

void ff_qc_free_queue(AVFilterContext *ctx);

/** Whether an output that still takes frames waits for one. */
int ff_qc_is_awaited(AVFilterContext *ctx);

/** Why no output takes frames any more: the status of the main one. 0: one still does. */
int ff_qc_consumers_status(AVFilterContext *ctx);

/** No frame follows. */
void ff_qc_end_outputs(AVFilterContext *ctx, int status, int64_t end);

#endif /* AVFILTER_QUALITY_CUDA_QUEUE_H */
