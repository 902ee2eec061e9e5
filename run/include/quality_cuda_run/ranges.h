/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Which range the samples of each input have, where nobody tagged it and the first pictures tell.
 */
#ifndef QUALITY_CUDA_RUN_RANGES_H
#define QUALITY_CUDA_RUN_RANGES_H

#include <quality_cuda.h>

#include "quality_cuda_run/alignment.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A tag's code, as in qc_colour. */
enum { QCR_RANGE_UNKNOWN, QCR_RANGE_LIMITED, QCR_RANGE_FULL };

/**
 * Gives inputs without a range tag the range that their pictures show; tags that are there stay. Says what it does.
 * @param start    what was told of each rendition
 * @param tag      of each input; unknown ones are replaced by what is told
 * @param is_error nothing is tagged: ranges that differ without a tag are refused
 * @return QC_OK, or QC_ERROR_INVALID with is_error: error says what was found, and what to put where
 */
QC_API qc_status qcr_settle_ranges(const qcr_names* names, int renditions, const qcr_start* start, int* tag,
                                   int is_error, const qcr_sink* sink, qc_error* error);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_RANGES_H */
