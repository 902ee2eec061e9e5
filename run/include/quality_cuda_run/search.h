/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Whether one video is a part of the other: pictures behind the last pair, where pairs do not fit, are shown to the run's
 * session, which has kept some of the other video's.
 */
#ifndef QUALITY_CUDA_RUN_SEARCH_H
#define QUALITY_CUDA_RUN_SEARCH_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/crops.h"
#include "quality_cuda_run/engine.h"
#include "quality_cuda_run/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Zeroed before; qcr_search_end() ends it. */
typedef struct qcr_search {
    qc_session* alone[QCR_MAX_VIDEOS]; ///< looks at the pictures of one input; NULL before the first
    int is_over[QCR_MAX_VIDEOS];       ///< that failed: nobody fails for it
    int64_t number[QCR_MAX_VIDEOS];    ///< of the latest picture
} qcr_search;

/** Behind the flush: has the reference read on, where that may tell something. @param scored NULL: it does not */
QC_API void qcr_search_begin(const qc_session* scored, qcr_pairs* pairs);

/** Whether a picture behind the last pair is worth a look. @return its number for qcr_search_see(); below 0: it is not */
QC_API int64_t qcr_search_number(const qcr_search* search, const qc_session* scored, const qcr_pairs* pairs, int input,
                                 int64_t pts);

/** Shows it. @param config as of the run, read for an input's first picture alone, and changed @param is_on_gpu where the picture is */
QC_API void qcr_search_see(qcr_search* search, qc_session* scored, const qc_request* request, qc_config* config,
                           int input, int is_on_gpu, const qc_picture* picture, int64_t number);

/** Nothing follows: what was found is among the findings of `scored`, which may be NULL. */
QC_API void qcr_search_end(qcr_search* search, qc_session* scored);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_SEARCH_H */
