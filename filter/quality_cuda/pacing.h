/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Which pairs to score where scoring is slower than the stream: times and
 * lengths of queues in, decisions out.
 *
 * Knows numbers only: the clock is its caller's, so that it is tested in tables.
 * Depends on the C library alone: not on FFmpeg.
 *
 * Scoring is too slow where as many pairs are under way as may be, and the
 * stream is behind the clock. From then on frames pass without scores until
 * nothing is under way: what is scored are rows of neighbours, for metrics look
 * at the frame before, and a row has to begin with a break. A stream that comes
 * faster than its time stamps, from a file, is not behind: it can be made to wait.
 *
 * While that lasts, as many pairs may be under way as are scored before the
 * frames behind them are too many to be held: how fast that is shows while
 * frames pass.
 */

#ifndef AVFILTER_QUALITY_CUDA_PACING_H
#define AVFILTER_QUALITY_CUDA_PACING_H

#include <stdint.h>

#define QC_PACE_TOLERANCE 0.1 /* seconds that a stream may be behind the clock, or ahead of it: jitter */
#define QC_PACE_STEADY   10.0 /* seconds of the stream without a frame that passed, after which scoring keeps up again */

typedef struct QCPacing {
    int depth;             ///< frames that may be held
    int most;              ///< pairs that may be under way, 0: there is no limit, and nothing passes
    int limit;             ///< the same for now, 1 to most
    int is_passing;        ///< frames pass without scores
    int is_overloaded;     ///< some did within QC_PACE_STEADY
    int has_begun;
    double offset;         ///< the clock minus the stream's time, where the stream is not behind; seconds
    double latest;         ///< time of the latest frame
    double resumed;        ///< time of the first frame that was scored again
    int row_under_way;     ///< pairs that were under way when frames began to pass
    int64_t row_passed;    ///< frames that have passed since then
    int64_t passed;        ///< frames since the overload began
} QCPacing;

enum QCPaceChange { QC_PACE_UNCHANGED, QC_PACE_OVERLOADED, QC_PACE_RECOVERED };

/** @param depth frames that may be held @param most pairs that may be under way */
void ff_qc_pacing_start(QCPacing *pacing, int depth, int most);

/**
 * Decides about the next frame that has its partners.
 * @param stream    its time, in seconds; NaN for none: then the stream is taken to be behind the clock
 * @param clock     now, in seconds, on a clock that does not jump
 * @param under_way pairs whose scores are not there yet
 * @return 1: it passes without scores
 */
int ff_qc_pace(QCPacing *pacing, double stream, double clock, int under_way, enum QCPaceChange *change);

/** Whether the stream is behind the clock at that time: nobody may be waited for. */
int ff_qc_pace_is_behind(const QCPacing *pacing, double clock);

#endif /* AVFILTER_QUALITY_CUDA_PACING_H */
