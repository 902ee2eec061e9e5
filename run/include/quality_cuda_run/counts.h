/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What became of the frames of a run, as numbers. Values: whoever decides counts, whoever reports reads.
 */
#ifndef QUALITY_CUDA_RUN_COUNTS_H
#define QUALITY_CUDA_RUN_COUNTS_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What was met on one side of the pairs; pairing only carries it along with its counts. */
typedef struct qcr_side {
    int64_t corrupt;        ///< pairs whose frame its decoder calls damaged
    int64_t interlaced;     ///< pairs whose frame is interlaced
    int64_t with_grain;     ///< pairs whose frame carries parameters of film grain
    int64_t colour_changes; ///< how often colour tags changed
    int64_t jumps;          ///< how often the time stamps jumped
} qcr_side;

/**
 * What became of the main frames, as one rendition sees them. Rendition 0 is
 * the main input itself; a further one has a pair where both the reference and
 * it have a partner for the main frame.
 */
typedef struct qcr_counts {
    int64_t frames;                                 ///< all that were decided about
    int64_t paired;                                 ///< those that went to the engine
    int64_t disabled, untimed, before, gaps, after; ///< those that did not, by reason; the last three: of the reference
    int64_t passed;             ///< those that had a partner, but scoring was too slow for the stream
    int64_t late, holes, ended; ///< those where only the rendition has no frame: not begun, gap, over
    int64_t repeated;           ///< pairs whose frame of the other input had been used already
    int64_t unused;             ///< frames of that input that no pair used
    int64_t restarts;           ///< how often the filter was switched on behind frames without it
    int is_off;                 ///< it is switched off at the last frame
    int unpaired_row;           ///< frames since the last pair
    double max_abs_dt, sum_dt;  ///< of the pairs' distances, seconds
    qcr_side own, reference;    ///< the rendition's frames, and those that they are compared with
} qcr_counts;

/** Counts a distorted frame that is being decided about. @param disabled the filter is switched off at that frame */
QC_API void qcr_count_frame(qcr_counts* counts, int disabled);

/** Counts a pair's distance, in seconds. */
QC_API void qcr_count_distance(qcr_counts* counts, double distance);

/**
 * Counts a distorted frame that gets no pair.
 * @param disabled the filter is switched off at that frame
 * @param untimed  the frame has no time stamp, and one is needed
 * @return 1 if the row of such frames has just become a pause
 */
QC_API int qcr_count_unpaired(qcr_counts* counts, qcr_lack lack, int disabled, int untimed);

/** Counts a distorted frame that has its reference, and no frame of this rendition for that reason. */
QC_API void qcr_count_without_rendition(qcr_counts* counts, qcr_lack lack);

/** Main frames without scores, for whatever reason. */
QC_API int64_t qcr_unscored(const qcr_counts* counts);

/** Main frames whose scores only the rendition's own input withholds. */
QC_API int64_t qcr_rendition_missing(const qcr_counts* counts);

/**
 * Main frames that should have had a partner and got none: those while both
 * inputs ran and the filter was on.
 */
QC_API int64_t qcr_partnerless(const qcr_counts* counts);

/**
 * Whether less than half of the frames that should have a partner got one. Each
 * switching-on can begin in mid of the partners' rhythm and costs one frame.
 */
QC_API int qcr_pairs_too_few(const qcr_counts* counts);

/** Mean distance of the pairs, in seconds; 0 without any. */
QC_API double qcr_mean_dt(const qcr_counts* counts);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_COUNTS_H */
