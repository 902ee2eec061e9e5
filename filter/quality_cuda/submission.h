/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * From a main frame that waits to a pair in the engine: the decision about it,
 * the references that keep the memory of its pictures.
 *
 * Depends on pictures, colours, engine, queue and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_SUBMISSION_H
#define AVFILTER_QUALITY_CUDA_SUBMISSION_H

#include "compat.h"

enum QCSettled {
    QC_SETTLED_NEEDS_INPUT, ///< the inputs that have to deliver are marked as wanted
    QC_SETTLED_APPENDED,    ///< the main frame is in the queue, on its way to scores or without any
    QC_SETTLED_END,         ///< the output ends before this frame (eof_action=endall)
};

/** Decides about the waiting main frame, and if that is possible moves it into the queue. @return enum QCSettled or AVERROR */
int ff_qc_settle_main(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_SUBMISSION_H */
