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

#include <quality_cuda.h>

/** Whether there is an input of masks. */
int ff_qc_has_mask(const AVFilterContext *ctx);

/** What the engine cannot know to be wrong with the option. @return AVERROR */
int ff_qc_check_mask_option(AVFilterContext *ctx);

/** Adds the pad, behind all others, if there is to be one. @return AVERROR */
int ff_qc_append_mask_pad(AVFilterContext *ctx);

/** Looks at the pad's link, if there is one; the other inputs are configured. @return AVERROR */
int ff_qc_configure_mask(AVFilterContext *ctx);

/** Offers the pairs the masks that have come, as far as they need them. @return AVERROR */
int ff_qc_offer_masks(AVFilterContext *ctx);

/** The picture that the engine reads; without planes where there is none. @param mask may be NULL */
void ff_qc_fill_mask(const AVFrame *mask, qc_picture *picture);

/** Nobody wants masks any more. */
void ff_qc_drop_masks(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_MASK_H */
