/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Black bars, by pictures of all inputs: what all of them show, and where each has it. With crop=auto that is what is
 * compared; otherwise bars that differ are told of.
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

/** So many first pictures of each input are looked at before one is compared. */
#define QCR_BAR_PICTURES 48

typedef struct qcr_bars qcr_bars;

/** @param decides 1: what is compared; 0: only tells @return NULL without memory */
QC_API qcr_bars* qcr_bars_create(int decides);
QC_API void qcr_bars_destroy(qcr_bars* bars);

/** How many pictures of each input have to be seen before qcr_bars_decide(); 0: none, nothing has to be decided. */
QC_API int qcr_bars_awaits(const qcr_bars* bars);

/** Where nothing has to be decided: whether the next pair has to be seen, the picture of each input that has one.
 * Before each pair. @param bars NULL: no */
QC_API int qcr_bars_wants_pair(qcr_bars* bars, int inputs);

/**
 * Looks at the next picture of an input.
 * @param luma  first row, in host memory @param pitch bytes from row to row
 * @param error filled where that fails @return QC_ERROR_UNSUPPORTED for luma that has no plane of its own, if something
 *              has to be decided; QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_bars_see(qcr_bars* bars, int input, const qc_format* format, const void* luma, ptrdiff_t pitch,
                              qc_error* error);

/**
 * The part of each input that all show. Says what it is, or that the pictures do not tell it; then nothing is cropped.
 * @param crops set for each input
 * @return QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_bars_decide(qcr_bars* bars, const qcr_names* names, qcr_crop* crops, const qcr_sink* sink);

/**
 * Where nothing has to be decided: says once which bars differ, as soon as enough pictures are seen, with the option
 * that helps. @param bars NULL: says nothing @param scales the inputs are scaled already @param is_ended no pair
 * follows
 */
QC_API void qcr_bars_say(qcr_bars* bars, const qcr_names* names, int scales, int is_ended, const qcr_sink* sink);

/** Whether qcr_bars_say() may have something to say later. @param bars NULL: no */
QC_API int qcr_bars_are_open(const qcr_bars* bars);

/** Whether that was said of an input, which explains why it seems to show something else. @param bars NULL: no */
QC_API int qcr_bars_differ(const qcr_bars* bars, int input);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_BARS_H */
