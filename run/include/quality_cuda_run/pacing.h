/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Which pairs to score where scoring is slower than the stream: times and
 * lengths of queues in, decisions out.
 *
 * Knows numbers only: the clock is its caller's, so that it is tested in tables.
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
#ifndef QUALITY_CUDA_RUN_PACING_H
#define QUALITY_CUDA_RUN_PACING_H

#include <stdint.h>

#include <quality_cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QCR_PACE_TOLERANCE 0.1 /* seconds that a stream may be behind the clock, or ahead of it: jitter */
#define QCR_PACE_STEADY                                                                                                \
    10.0 /* seconds of the stream without a frame that passed, after which scoring keeps up again                      \
          */

typedef struct qcr_pacing {
    int depth;         ///< frames that may be held
    int most;          ///< pairs that may be under way, 0: there is no limit, and nothing passes
    int limit;         ///< the same for now, 1 to most
    int is_passing;    ///< frames pass without scores
    int is_overloaded; ///< some did within QCR_PACE_STEADY
    int has_begun;
    double offset;      ///< the clock minus the stream's time, where the stream is not behind; seconds
    double latest;      ///< time of the latest frame
    double resumed;     ///< time of the first frame that was scored again
    int row_under_way;  ///< pairs that were under way when frames began to pass
    int64_t row_passed; ///< frames that have passed since then
    int64_t passed;     ///< frames since the overload began
} qcr_pacing;

typedef QC_ENUM(qcr_pace_change) { QCR_PACE_UNCHANGED, QCR_PACE_OVERLOADED, QCR_PACE_RECOVERED } qcr_pace_change;

/** @param depth frames that may be held @param most pairs that may be under way */
QC_API void qcr_pacing_start(qcr_pacing* pacing, int depth, int most);

/**
 * Decides about the next frame that has its partners.
 * @param stream    its time, in seconds; NaN for none: then the stream is taken to be behind the clock
 * @param clock     now, in seconds, on a clock that does not jump
 * @param under_way pairs whose scores are not there yet
 * @return 1: it passes without scores
 */
QC_API int qcr_pace(qcr_pacing* pacing, double stream, double clock, int under_way, qcr_pace_change* change);

/** Whether the stream is behind the clock at that time: nobody may be waited for. */
QC_API int qcr_pace_is_behind(const qcr_pacing* pacing, double clock);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_PACING_H */
