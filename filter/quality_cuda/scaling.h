/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Inputs of different sizes: whether the engine scales them, how, to what size,
 * and whether that would change the shape of what they show.
 *
 * Depends on inputs and state; the scaling itself is the engine's.
 */

#ifndef AVFILTER_QUALITY_CUDA_SCALING_H
#define AVFILTER_QUALITY_CUDA_SCALING_H

#include "compat.h"

#include <quality_cuda.h>

/** Whose size is scored. */
enum QCScaleTo { QC_SCALE_TO_REFERENCE, QC_SCALE_TO_MAIN, QC_SCALE_TO_SIZE };

typedef struct QCScaling {
    qc_scaling kernel; ///< none: inputs of different sizes are refused
    enum QCScaleTo to;
    int width, height; ///< of QC_SCALE_TO_SIZE
} QCScaling;

/** Reads the options scale and scale_to. @return AVERROR */
int ff_qc_parse_scaling(AVFilterContext *ctx);

/**
 * Tells the engine, whose formats are set, how to scale. Refuses inputs that
 * are scaled and do not have the reference's shape. @return AVERROR
 */
int ff_qc_configure_scaling(AVFilterContext *ctx, qc_config *config);

/** The size that is scored. */
void ff_qc_scored_size(const AVFilterContext *ctx, int *width, int *height);

/** That of what is scored of it: all, or the region. */
void ff_qc_scored_part(const AVFilterContext *ctx, int *width, int *height);

#endif /* AVFILTER_QUALITY_CUDA_SCALING_H */
