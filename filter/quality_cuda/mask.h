/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The masks: gray frames of one more input, which say how much each sample of
 * what is scored counts.
 *
 * Depends on scaling and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_MASK_H
#define AVFILTER_QUALITY_CUDA_MASK_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda.h>

#include <quality_cuda_run.h>

typedef struct QCMask {
    AVFrame *cur, *next; ///< the one that holds; the one behind it, if it is known already
    qcr_clock clock;
    int64_t frames;      ///< up to cur
    int ended;
    int wanted;          ///< a frame has to be requested
} QCMask;

/** Whether there is an input of masks. */
int ff_qc_has_mask(const AVFilterContext *ctx);

/** What the engine cannot know to be wrong with the option. @return AVERROR */
int ff_qc_check_mask_option(AVFilterContext *ctx);

/** Adds the pad, behind all others, if there is to be one. @return AVERROR */
int ff_qc_append_mask_pad(AVFilterContext *ctx);

/** Looks at the pad's link, if there is one; the other inputs are configured. @return AVERROR */
int ff_qc_configure_mask(AVFilterContext *ctx);

/**
 * Finds the mask of the waiting main frame: the latest one that is not later, or the first. So the last one stays, and one
 * picture is the mask of all frames. @return AVERROR, 0 if the input has to deliver first, 1 if it is there, or none is wanted
 */
int ff_qc_find_mask(AVFilterContext *ctx);

/** The picture that the engine reads; without planes where there is none. */
void ff_qc_fill_mask(const AVFilterContext *ctx, qc_picture *picture);

/** Nobody wants masks any more. */
void ff_qc_drop_masks(AVFilterContext *ctx);

void ff_qc_free_mask(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_MASK_H */
