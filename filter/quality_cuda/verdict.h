/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Whether the pairs of a run suffice for a score. Knows counts and how the run
 * ended. Depends on state.
 */

#ifndef AVFILTER_QUALITY_CUDA_VERDICT_H
#define AVFILTER_QUALITY_CUDA_VERDICT_H

#include "compat.h"

/** A video that mostly lacks its reference must not pass for one that was scored: the run fails then. */
void ff_qc_judge_pairs(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_VERDICT_H */
