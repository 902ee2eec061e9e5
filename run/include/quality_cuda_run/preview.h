/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * A look at the first pictures before any is paired for good: the constant offset of each rendition from the reference
 * is found and corrected, and its range told.
 *
 * Frames are not taken for that. They wait where they are, and are paired on trial, by the rules of the run, for a
 * session of the engine that watches and scores nothing. What it is told beyond doubt moves the clocks of the inputs,
 * or with QCR_SYNC_INDEX their beginnings; then everything goes as if nobody had looked.
 *
 *     qcr_preview_begin(&preview, pairs, renditions, wishes)
 *     until a call returns QCR_LOOK_IS_OVER:
 *         for each input, while qcr_preview_needs(): qcr_preview_offer() its frame number preview.seen[input]
 *         qcr_preview_next(); QCR_LOOK_AT_PAIR: the session is given the pair, then qcr_preview_saw()
 *     qcr_preview_conclude()
 *     qcr_preview_end()
 */
#ifndef QUALITY_CUDA_RUN_PREVIEW_H
#define QUALITY_CUDA_RUN_PREVIEW_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/alignment.h"
#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** So many frames of an input wait at most. The engine looks at 48 pairs: one side may have twice as many frames, or
 * begin earlier. */
#define QCR_MOST_WAITING 96

typedef QC_ENUM(qcr_look) {
    QCR_LOOK_NEEDS_INPUT, ///< an input has to deliver first
    QCR_LOOK_GOES_ON,
    QCR_LOOK_AT_PAIR, ///< the session has to see it
    QCR_LOOK_IS_OVER
} qcr_look;

/** What one looks for. */
enum {
    QCR_WISH_START = 1, ///< each rendition's offset
    QCR_WISH_RANGE = 2  ///< and its range beside the reference's
};

/** Zeroed before it begins. */
typedef struct qcr_preview {
    qcr_pairs* pairs; ///< of the run
    qcr_pairs* trial; ///< NULL before the first look, and behind the end
    int renditions;
    unsigned wishes; ///< QCR_WISH_START, QCR_WISH_RANGE
    qcr_counts counts[QC_MAX_RENDITIONS]; ///< of the trial, which nobody reads
    int seen[QCR_MAX_INPUTS];             ///< frames of each input that were looked at
    int seen_pairs;                       ///< how many pairs; stays
    int gap;                              ///< distorted frames in a row since the last one
    double first_time, last_time;         ///< of the pairs' distorted frames, seconds
} qcr_preview;

/** @param pairs outlive the look @return QC_ERROR_NO_MEMORY */
QC_API qc_status qcr_preview_begin(qcr_preview* preview, qcr_pairs* pairs, int renditions, unsigned wishes);
/** Also of one that did not begin. */
QC_API void qcr_preview_end(qcr_preview* preview);

/** Whether an input's next frame, or its end, is needed for the next pair. */
QC_API int qcr_preview_needs(const qcr_preview* preview, int input);

/**
 * Shows an input's next frame.
 * @param frame NULL: none waits; then `has_ended` says whether one will come @param pts its timestamp, QCR_NO_PTS for
 * none
 * @return QCR_LOOK_IS_OVER also for a frame that is not of the beginning
 */
QC_API qcr_look qcr_preview_offer(qcr_preview* preview, int input, void* frame, int64_t pts, int has_ended);

/** The next decision on trial. @param decision frames of a pair, or the inputs that have to deliver */
QC_API qcr_look qcr_preview_next(qcr_preview* preview, qcr_decision* decision);

/** A session was given the pair. @param time of the distorted frame, seconds @return QCR_LOOK_IS_OVER: all is told */
QC_API qcr_look qcr_preview_saw(qcr_preview* preview, const qc_session* session, double time);

/**
 * Takes what the session was told, and with QCR_WISH_START corrects the beginnings of the run's pairs.
 * @param session NULL: it saw no pair @param by_index the rule is QCR_SYNC_INDEX @param start one for each rendition
 */
QC_API void qcr_preview_conclude(qcr_preview* preview, qc_session* session, int by_index, qcr_start* start);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_PREVIEW_H */
