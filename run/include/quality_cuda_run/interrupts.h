/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Whether the program was told to stop while a run lasted.
 *
 * A program that handles SIGINT or SIGTERM ends its inputs as if they were over, so nothing else tells an interrupted
 * run from a complete one. Where there is such a handler, a note is taken before it; a signal that nobody handles is
 * left alone. Handlers belong to the process, so this room is one for all runs; any thread may call it.
 */
#ifndef QUALITY_CUDA_RUN_INTERRUPTS_H
#define QUALITY_CUDA_RUN_INTERRUPTS_H

#include <quality_cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One run's watch; zeroed before it begins. */
typedef struct qcr_interrupts {
    int is_watching;
    int before; ///< signals that had been noted when it began
} qcr_interrupts;

/** Begins to watch. */
QC_API void qcr_interrupts_watch(qcr_interrupts* watch);

/** Name of the last signal since then, NULL if there was none. */
QC_API const char* qcr_interrupted_by(const qcr_interrupts* watch);

/** Ends it. The last one to leave puts the program's handlers back. */
QC_API void qcr_interrupts_unwatch(qcr_interrupts* watch);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_INTERRUPTS_H */
