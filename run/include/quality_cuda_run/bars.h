/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Black bars, found by the first pictures of all inputs: what all of them show, and where each has it. For inputs of
 * one scale, with bars of any size.
 */
#ifndef QUALITY_CUDA_RUN_BARS_H
#define QUALITY_CUDA_RUN_BARS_H

#include <stddef.h>

#include <quality_cuda.h>

#include "quality_cuda_run/crops.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** So many pictures of each input are looked at. */
#define QCR_BAR_PICTURES 48

typedef struct qcr_bars qcr_bars;

/** @return NULL without memory */
QC_API qcr_bars* qcr_bars_create(void);
QC_API void qcr_bars_destroy(qcr_bars* bars);

/**
 * Looks at the next picture of an input.
 * @param luma  first row, in host memory @param pitch bytes from row to row
 * @param error filled where that fails @return QC_ERROR_UNSUPPORTED for luma that has no plane of its own,
 *              QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_bars_see(qcr_bars* bars, int input, const qc_format* format, const void* luma, ptrdiff_t pitch,
                              qc_error* error);

/**
 * The part of each input that all show. Says what it is, or that the pictures do not tell it; then nothing is cropped.
 * @param format of each input @param crops set for each input
 * @return QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_bars_decide(const qcr_bars* bars, const qcr_names* names, const qc_format* const* format,
                                 qcr_crop* crops, const qcr_sink* sink);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_BARS_H */
