/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Whether the program was told to stop while a filter lived.
 *
 * A program that handles SIGINT or SIGTERM ends its inputs as if they were over,
 * so nothing else tells an interrupted run from a complete one. Where there is
 * such a handler, a note is taken before it; a signal that nobody handles is
 * left alone. Depends on compat only.
 */

#ifndef AVFILTER_QUALITY_CUDA_INTERRUPTS_H
#define AVFILTER_QUALITY_CUDA_INTERRUPTS_H

#include "compat.h"

typedef struct QCInterrupts {
    int watching;
    int before;   ///< signals noted when watching began
} QCInterrupts;

/** Begins to watch; as often as wanted, from any thread. */
void ff_qc_watch_interrupts(QCInterrupts *watch);

/** Name of the last signal since then, NULL if there was none. */
const char *ff_qc_interrupted_by(const QCInterrupts *watch);

/** The last one to leave puts the program's handlers back. */
void ff_qc_unwatch_interrupts(QCInterrupts *watch);

#endif /* AVFILTER_QUALITY_CUDA_INTERRUPTS_H */
