/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The option roi: the rectangle that is scored in the place of whole pictures.
 *
 * Depends on state; cutting is the engine's.
 */

#ifndef AVFILTER_QUALITY_CUDA_REGION_H
#define AVFILTER_QUALITY_CUDA_REGION_H

#include "compat.h"

#include <quality_cuda.h>

/** In luma samples of the scored picture; width 0: all of it. */
typedef struct QCRegion {
    int x, y, width, height;
} QCRegion;

/** Reads the option. @return AVERROR */
int ff_qc_parse_region(AVFilterContext *ctx);

/** Tells the engine, which knows whether it lies in the picture. */
void ff_qc_configure_region(const AVFilterContext *ctx, qc_config *config);

#endif /* AVFILTER_QUALITY_CUDA_REGION_H */
