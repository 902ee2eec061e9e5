/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * @file
 * Main frames on their way: from the decision about them until they were sent
 * and their scores have arrived. They leave in order, with their scores as
 * metadata.
 *
 * Depends on engine, reports and state; knows nothing of pairing.
 */

#ifndef AVFILTER_QUALITY_CUDA_QUEUE_H
#define AVFILTER_QUALITY_CUDA_QUEUE_H

#include "compat.h"

#include <stdint.h>

typedef struct QCPending {
    AVFrame *frame;               ///< NULL once sent
    int64_t row;                  ///< index of its submission, -1 if it gets no scores
    int scored;                   ///< its row has arrived
    double pts_time, ref_pts_time;///< seconds
    struct QCPending *following;
} QCPending;

typedef struct QCQueue {
    QCPending *first, *last;
    int held;                     ///< entries that still have their frame
    int64_t late_scores;          ///< rows that came when their frame was gone
} QCQueue;

enum QCWait { QC_WAIT_NEVER, QC_WAIT_FOR_OLDEST, QC_WAIT_FOR_ALL };

/** Appends the waiting main frame. @param row index of its submission, -1 for none. @return AVERROR */
int ff_qc_queue_main(AVFilterContext *ctx, int64_t row, double ref_pts_time);

/** Takes the rows that the engine has finished, or waits for them. @return AVERROR */
int ff_qc_receive_rows(AVFilterContext *ctx, enum QCWait wait);

/** Sends every frame that waits for nothing, in order. @return how many, or AVERROR */
int ff_qc_push_ready(AVFilterContext *ctx);

/** Waits until no more frames are held than should be. @return AVERROR */
int ff_qc_bound_queue(AVFilterContext *ctx);

void ff_qc_free_queue(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_QUEUE_H */
