/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Where messages for the user go.
 */
#ifndef QUALITY_CUDA_RUN_SINK_H
#define QUALITY_CUDA_RUN_SINK_H

#include <quality_cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef QC_ENUM(qcr_level) {
    QCR_LEVEL_ERROR,
    QCR_LEVEL_WARNING,
    QCR_LEVEL_INFO,
    QCR_LEVEL_VERBOSE, /**< what is only of interest to someone who asks why */
    QCR_LEVEL_DEBUG
} qcr_level;

/** A function of the front end's, which is called in the thread that calls the room. */
typedef struct qcr_sink {
    /** @param text one line without its end, valid during the call */
    void (*say)(void* opaque, qcr_level level, const char* text);
    void* opaque;
} qcr_sink;

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_SINK_H */
