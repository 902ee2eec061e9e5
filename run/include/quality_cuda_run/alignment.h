/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What the engine's watch of the contents has found, for the user: warnings with a remedy, and what was moved because
 * of it. An account is a value, zeroed at the start.
 */
#ifndef QUALITY_CUDA_RUN_ALIGNMENT_H
#define QUALITY_CUDA_RUN_ALIGNMENT_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/bars.h"
#include "quality_cuda_run/engine.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QCR_NOTED_TIMES 1024 ///< more pairs than a finding is late by
#define QCR_MOST_FINDINGS 64 ///< of a rendition, by the engine's word

/** What a rendition begins with, by align=auto and range=auto. */
typedef struct qcr_start {
    int is_told;    ///< beyond doubt
    int offset;     ///< frames, as a finding has it; 0 where nothing is told
    double seconds; ///< the same; NaN where nothing is told, or the frame rate is not known
    int is_range_told;
    qc_ranges ranges;
} qcr_start;

typedef struct qcr_alignment {
    qcr_start start[QC_MAX_RENDITIONS];
    int64_t noted;                ///< pairs so far
    double time[QCR_NOTED_TIMES]; ///< of the distorted frames of the latest ones, seconds
    double first_time;
    int said[QC_MAX_RENDITIONS];                            ///< findings that the user knows of
    double said_time[QC_MAX_RENDITIONS][QCR_MOST_FINDINGS]; ///< theirs, seconds; NaN for not known
} qcr_alignment;

/** What remedies depend on. */
typedef struct qcr_alignment_rules {
    const qcr_names* names;
    int renditions;
    int by_index;                            ///< frames are paired by their number, not by time
    int is_auto;                             ///< beginnings were corrected already (align=auto)
    int start_pairs;                         ///< so many pairs were looked at for that
    double frame_rate;                       ///< of the distorted video, 1/s, 0: not known
    const struct qcr_conditions* conditions; ///< what tags had converted; NULL: nothing
    qcr_bars* bars;                          ///< may have something to say; NULL: there are none
    int scales;                              ///< inputs are scaled
    int is_over;                             ///< nothing follows, for whatever reason
} qcr_alignment_rules;

/** A distorted frame was paired and handed to the engine. @param row index of its submission @param time seconds */
QC_API void qcr_note_pair(qcr_alignment* alignment, int64_t row, double time);

/** Says what was told of a rendition's beginning, and what becomes of it. */
QC_API void qcr_say_start(const qcr_alignment* alignment, const qcr_alignment_rules* rules, int rendition,
                          const qcr_sink* sink);

/**
 * Says what was found since the last time, but not of frames that have not left yet; black bars too.
 * @param session  NULL: nothing is found
 * @param is_ended the run came to the end of its inputs: only then is a frozen end one
 */
QC_API void qcr_say_findings(qcr_alignment* alignment, const qcr_alignment_rules* rules, const qc_session* session,
                             int64_t rows_left, int is_ended, const qcr_sink* sink);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_ALIGNMENT_H */
