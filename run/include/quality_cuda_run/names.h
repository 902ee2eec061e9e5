/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What messages call the inputs of a run.
 */
#ifndef QUALITY_CUDA_RUN_NAMES_H
#define QUALITY_CUDA_RUN_NAMES_H

#include <quality_cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Inputs are numbered: 0 is the distorted video, 1 the reference, the others are further renditions. */
#define QCR_REFERENCE 1
#define QCR_MAX_VIDEOS (1 + QC_MAX_RENDITIONS) ///< all of these

/** The names of the inputs; they live as long as what was given them. */
typedef struct qcr_names {
    const char* role[QCR_MAX_VIDEOS]; ///< "main", "reference", "main1", ...
    int inputs;                       ///< so many of them, 2..QCR_MAX_VIDEOS
} qcr_names;

/** The input of a rendition: 0, 2, 3, ... */
QC_API int qcr_input_of(int rendition);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_NAMES_H */
