/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Frames that wait for their scores: from the decision about a frame until it was sent and its scores have arrived.
 *
 *     qcr_rows_append -> qcr_rows_deliver -> qcr_rows_take -> qcr_rows_confirm -> qcr_rows_account
 *                    \-> qcr_rows_fail   /      \-> qcr_rows_let_go, where it cannot wait
 *
 * Frames leave in the order in which they were appended. One that was taken counts when it is known that the consumer has
 * it: qcr_rows_confirm(). Whatever counts, and has its scores or will get none, is handed out once by qcr_rows_account(),
 * for reports, lines and files.
 *
 * Handles of frames and maps are the caller's: nothing looks into them, and nothing frees them.
 */
#ifndef QUALITY_CUDA_RUN_ROWS_H
#define QUALITY_CUDA_RUN_ROWS_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/counts.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A frame and what is known of its scores. What is handed out is valid until the next call on the rows. */
typedef struct qcr_row {
    void *frame;                 ///< NULL: it has left
    void *map;                   ///< what is painted while the frame is scored; NULL: nothing
    int64_t number;              ///< index of its submission, -1 if it gets no scores
    double pts_time, ref_pts_time; ///< seconds; NaN: none
    uint32_t renditions;         ///< bit k: rendition k has a frame for it
    uint32_t corrupt;            ///< bit i: the frame of input i is damaged
    const char *unscored;        ///< why it has no scores, a text that stays; NULL: it has some, or waits for them
    int failed;                  ///< it has no scores because the scoring failed
    int scores_follow;           ///< it left without its scores, which are handed out in a row of their own, maybe before
    int was_taken;               ///< its frame was handed out by qcr_rows_take()
    const double *value;         ///< [renditions][features], NaN for none; NULL if it has none at all. Only handed out
    const unsigned char *present; ///< which of them there are; NULL with value
} qcr_row;

/** What became of all rows that qcr_rows_take() and qcr_rows_account() have handed out. */
typedef struct qcr_tally {
    int64_t scored[QC_MAX_RENDITIONS];  ///< accounted rows that have scores of each rendition
    int64_t failed[QC_MAX_RENDITIONS];  ///< accounted rows that have none, because the scoring failed
    int64_t late_scores;                ///< rows whose scores came when their frame had left
    qcr_counts left[QC_MAX_RENDITIONS]; ///< counts up to the latest frame that was confirmed
    int held;                           ///< frames that wait to be taken
} qcr_tally;

typedef struct qcr_rows qcr_rows;

/**
 * @param renditions  1..QC_MAX_RENDITIONS
 * @param n_subsample as in qc_config: a row without scores that was not to be scored is none that failed
 * @return NULL: out of memory, or a number that there is not
 */
QC_API qcr_rows *qcr_rows_create(int renditions, int n_subsample);
/** NULL is allowed. Handles that are still in it are forgotten: take them by qcr_rows_pop() before. */
QC_API void qcr_rows_destroy(qcr_rows *rows);

/**
 * A frame joins the queue. Its handles stay the caller's if this fails.
 * @param row    with `failed` it has no scores because the scoring failed, and unscored says "failure"
 * @param counts of each rendition, up to this frame
 * @return QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_rows_append(qcr_rows *rows, const qcr_row *row, const qcr_counts *counts);

/**
 * Scores arrive, in the order of submission.
 * @param features scores of each rendition
 * @param settled  the row that they belong to; its frame is still the queue's. If it failed its map is the caller's again
 * @return QC_ERROR_INVALID: another row's scores are awaited; QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_rows_deliver(qcr_rows *rows, const qc_row *scores, int features, qcr_row *settled);

/** No scores come any more. The oldest row that waits for some has failed, see qcr_rows_deliver(). @return 0: none waits */
QC_API int qcr_rows_fail(qcr_rows *rows, qcr_row *failed);

/** Whether the oldest frame that has not left waits for its scores. */
QC_API int qcr_rows_oldest_waits(const qcr_rows *rows);
/** Rows whose scores have not arrived. */
QC_API int qcr_rows_under_way(const qcr_rows *rows);

/** The oldest frame leaves, if it waits for nothing: frame and map are the caller's. @return 0: there is none */
QC_API int qcr_rows_take(qcr_rows *rows, qcr_row *taken);
/** The consumer has all frames that were taken: so it is when it asks for the next one. */
QC_API void qcr_rows_confirm(qcr_rows *rows);

/**
 * The oldest frame that has not left can wait no longer: it becomes one without scores, without its map, which may be under
 * the brush. Its scores keep their place in a row without a frame before it.
 * @param gone that row. @return 0: no frame waits for its scores, or out of memory
 */
QC_API int qcr_rows_let_go(qcr_rows *rows, qcr_row *gone);

/**
 * The next row that counts: its frame has left and is confirmed, and its scores have arrived or never will. The map of a frame that was let
 * go is the caller's now.
 * @param rest 1: nothing leaves and nothing arrives any more, so that all rows count; frames and maps stay, see qcr_rows_pop()
 * @return 0: there is none
 */
QC_API int qcr_rows_account(qcr_rows *rows, int rest, qcr_row *row);

/** Takes the oldest row out, whatever it waits for: frame and map are the caller's. @return 0: there is none */
QC_API int qcr_rows_pop(qcr_rows *rows, qcr_row *row);

/** Lives as long as the rows, and changes with them. */
QC_API const qcr_tally *qcr_rows_tally(const qcr_rows *rows);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_ROWS_H */
