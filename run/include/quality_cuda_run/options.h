/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What can be wrong with a front end's options before anything is known of the inputs, beside what the engine finds.
 */
#ifndef QUALITY_CUDA_RUN_OPTIONS_H
#define QUALITY_CUDA_RUN_OPTIONS_H

#include <quality_cuda.h>

#include "quality_cuda_run/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is corrected before anything is paired. */
typedef QC_ENUM(qcr_align) {
    QCR_ALIGN_NONE,
    QCR_ALIGN_START, ///< each input's time counts from its first frame
    QCR_ALIGN_AUTO,  ///< each rendition's offset from the reference, if its first pictures tell one
    QCR_ALIGN_DELAY  ///< less than a frame, where two inputs keep step
} qcr_align;

/** What becomes of the video when its scoring fails. */
typedef QC_ENUM(qcr_on_error) {
    QCR_ON_ERROR_FAIL, ///< it ends with an error
    QCR_ON_ERROR_PASS, ///< it goes on without scores
    QCR_ON_ERROR_CPU   ///< the CPU backend goes on with the scoring; if that fails too, as above
} qcr_on_error;

/** As the user gave them; NULL or "" is nothing. */
typedef struct qcr_option_values {
    const char *pool, *stats_format;
    const char *record, *maps;
    int has_mask;
    int renditions, map_rendition;
    int is_align_auto;
    const char *crop, *scale;
} qcr_option_values;

/** What their words mean. */
typedef struct qcr_option_meanings {
    qc_pool pool;
    qc_stats_format stats_format; ///< QC_STATS_FORMAT_NONE: lines of scores
} qcr_option_meanings;

/** @param error filled where that fails @return QC_ERROR_INVALID, QC_ERROR_NO_MEMORY */
QC_API qc_status qcr_read_options(const qcr_option_values* values, qcr_option_meanings* meanings, qc_error* error);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_OPTIONS_H */
