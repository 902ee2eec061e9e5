/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * From the records of a video's parts (quality_cuda_run/record.h) to the logs of one run over the whole. Frames and
 * what was measured of them come from the records; pairs, counts, scores, findings and logs are made as in every run,
 * so that whatever a run tells is told here too.
 */
#ifndef QUALITY_CUDA_RUN_MERGE_H
#define QUALITY_CUDA_RUN_MERGE_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/conditions.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A part of a video. */
typedef struct qcr_part {
    /**
     * The timestamp of each input from which on its frames are this part's. Frames before it, which the part saw to
     * know what came before, belong to the part before, and both have to have measured the same of them.
     */
    int64_t from[QCR_MAX_VIDEOS];
    const char* path; ///< of its record
} qcr_part;

/** All zero except what is wanted. All texts live during the call, and NULL is the default of each. */
typedef struct qcr_merge_config {
    const qcr_part* parts; ///< in order
    int part_count;        ///< 1 or more
    int renditions;        ///< 1..QC_MAX_RENDITIONS

    /* What the parts were asked for, as in qc_config; formats, sizes and the region are in the records. */
    const char *metrics, *model, *feature, *options;
    int skip_unsupported;
    qcr_range_check range; ///< tags that differ; the parts did not look at pictures for it

    int n_subsample;        ///< every so many pairs get scores; 0 means 1. Parts measure all
    double max_dt;          ///< as in qcr_rules
    const char* log_path;   ///< NULL: there is no log
    const char* log_fmt;    ///< "json", "xml", "csv" or "sub"; NULL: what the path says
    const char* stats_file; ///< a line for each frame that has scores, with the times of the pair; NULL: there is none

    int waits; ///< records may be still to come: each appears when it is whole
    /** Asked while a record is waited for, and every few hundred frames. 0: the merge ends. NULL: it goes on. */
    int (*goes_on)(void* opaque);
    void* opaque; ///< of goes_on
    qcr_sink sink;
} qcr_merge_config;

typedef QC_ENUM(qcr_merged) {
    QCR_MERGED,
    QCR_MERGE_INEXACT, ///< the parts do not make one run: a record is missing or damaged, or differs from the one
                       ///< before it
    QCR_MERGE_FAILED,  ///< what else can fail a run: an option, a file, too few pairs
    QCR_MERGE_STOPPED, ///< by goes_on: no log is written
} qcr_merged;

/**
 * Merges in the thread that calls. Why it failed is said to the sink, as QCR_LEVEL_ERROR. Scores that there are by then
 * are in the logs all the same, as after every run that fails, except where a log is there already: it stays as it was.
 */
QC_API qcr_merged qcr_merge(const qcr_merge_config* config);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_MERGE_H */
