/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What the user gets to read: logs, lines of statistics, the summary, the table of a ladder. All of it is made of one
 * struct of values, and changes none of them.
 */
#ifndef QUALITY_CUDA_RUN_REPORT_H
#define QUALITY_CUDA_RUN_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/alignment.h"
#include "quality_cuda_run/conditions.h"
#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/doubts.h"
#include "quality_cuda_run/engine.h"
#include "quality_cuda_run/files.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/pairs.h"
#include "quality_cuda_run/rows.h"
#include "quality_cuda_run/sink.h"
#include "quality_cuda_run/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An input as it is told of. */
typedef struct qcr_report_input {
    const char* format; ///< the name of its pixel format
    int width, height;  ///< of its visible pictures
    qc_colour colour;
    double bit_rate;      ///< bit/s; below 0: not known
    const char* refusal;  ///< why it was refused, or is over before its end; "": neither
    int is_refused;       ///< too few of its frames had a partner: nothing is said of its scores
    int is_stalled;       ///< it has not delivered for long
    int is_cut_off;       ///< it ended when the program had been told to stop
    double delay;         ///< as in qcr_input
    int has_other_length; ///< the same
} qcr_report_input;

/**
 * Bit/s of frames whose packets had so many bytes; below 0: not known.
 * @param bytes 0 or less: not known @param seconds from the first frame to the last, NaN: not known
 */
QC_API double qcr_bit_rate(int64_t bytes, int64_t frames, double seconds);

/** A run, at its end or so far. Pointers are the caller's and live during the calls. */
typedef struct qcr_report {
    /* what was asked for */
    int renditions;                      ///< 1..QC_MAX_RENDITIONS
    int n_subsample;                     ///< every so many pairs are scored
    qc_pool pool;                        ///< of the final score
    int shows_all_features;              ///< 0: those that only feed the default model are shown to who asks for more
    int is_alias;                        ///< libvmaf's filter is stood in for: what it prints
    int is_realtime;                     ///< pairs may be left out where scoring is too slow
    int may_give_up;                     ///< the video outlives its scoring
    int watches_contents;                ///< findings are in the log
    double max_dt;                       ///< largest distance of a pair, seconds
    qcr_alignment_rules alignment_rules; ///< names and frame rate are those of all

    /* what came of it */
    qcr_end end;
    int only_left_counts; ///< the consumer wanted no more: what it did not get is forgotten
    int has_failed;       ///< there was a failure: reason says which
    const char* reason;
    const char* gpu_failure;  ///< what the GPU's failure was, where the CPU went on
    const char* signal;       ///< that the program got
    int reference_ended;      ///< no frame of the reference is left
    int64_t behind;           ///< frames of the reference behind the distorted video's end, as far as they were read
    int64_t late_scores;      ///< that came when their frame was gone
    const qcr_counts* counts; ///< of each rendition
    const int64_t *scored, *failed; ///< of each: frames with scores, and without because the scoring failed
    qcr_report_input input[QCR_MAX_VIDEOS];
    int scored_width, scored_height;
    const qcr_conditions* conditions;
    const qcr_doubts* doubts; ///< what was warned of
    const qcr_alignment* alignment;

    qc_session* session; ///< NULL: nothing was scored
    const char* engine;  ///< what the session says of itself
    const char* origin;  ///< where the scores come from, as JSON, if not from the session; NULL: from it
} qcr_report;

/** Fills in what the pairs and the rows of the run tell: max_dt, the reference's end, behind, and the counts of scores.
 */
QC_API void qcr_report_pairs(qcr_report* report, const qcr_pairs* pairs, const qcr_tally* tally);

/** A rendition is as complete as the run, if it has a score wherever the reference has a frame. */
QC_API int qcr_is_complete(const qcr_report* report, int rendition);

/**
 * Writes the log of each rendition: q.json, q.rendition1.json, ...
 * @param is_over 0: an unfinished run's; after a failure there are none before the end, for each one may leave the
 * scores in a file of another name
 * @return the first failure; each was said
 */
QC_API qc_status qcr_write_logs(const qcr_report* report, qcr_files* files, int is_over, const qcr_sink* sink);

/**
 * Says what came out: counts, conditions, scores, the ladder, and the line with the score last.
 * @return QC_OK, QC_ERROR_NO_MEMORY: something went unsaid
 */
QC_API qc_status qcr_say_summary(const qcr_report* report, const qcr_sink* sink);

/**
 * Members of the JSON object that ends a stream of lines: how the run ended, why it is not complete, its renditions.
 * @return to be freed with qcr_free_text(); NULL without memory
 */
QC_API char* qcr_end_members(const qcr_report* report);
QC_API void qcr_free_text(char* text);

/** Pooled scores so far, "key:value ...", cut to size bytes with their zero. */
QC_API void qcr_running_scores(qc_session* session, int renditions, qc_pool pool, char* text, size_t size);

/** A row for stats_file. */
typedef struct qcr_stats_row {
    const qc_row* row;
    double pts_time, ref_pts_time; ///< seconds
    uint32_t corrupt;              ///< bit i: the frame of input i is damaged
    int renditions;
} qcr_stats_row;

/** Writes its line into stats_file, if there is one. */
QC_API void qcr_write_stats_line(qcr_files* files, const qc_session* session, const qcr_stats_row* row,
                                 const qcr_sink* sink);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_REPORT_H */
