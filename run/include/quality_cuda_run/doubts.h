/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What was warned of in a run, whoever found it: a number that anything speaks against shall not pass for a good one.
 * Whatever is said as a warning by way of qcr_doubting() is noted, so that nobody has to know all that can be found.
 */
#ifndef QUALITY_CUDA_RUN_DOUBTS_H
#define QUALITY_CUDA_RUN_DOUBTS_H

#include <quality_cuda.h>

#include "quality_cuda_run/sink.h"
#include "quality_cuda_run/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Safe for use by several threads at once. */
typedef struct qcr_doubts qcr_doubts;

/** @param sink gets all that is said @return NULL without memory */
QC_API qcr_doubts* qcr_doubts_create(const qcr_sink* sink);
QC_API void qcr_doubts_destroy(qcr_doubts* doubts);

/** A sink that passes everything on, and notes the warnings. It lives as long as the doubts. */
QC_API qcr_sink qcr_doubting(qcr_doubts* doubts);

/**
 * Whether a run that accepts no doubt has to fail.
 * @param why set to a sentence with the first warning where that is so @return 1 or 0
 */
QC_API int qcr_refuse_doubts(const qcr_doubts* doubts, char why[QCR_REFUSAL]);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_DOUBTS_H */
