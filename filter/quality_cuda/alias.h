/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The filter under the names of FFmpeg's own, libvmaf and libvmaf_cuda, for
 * programs that know only those: their options with their defaults, in terms
 * of this filter's. docs/libvmaf_alias.md has a table of what else differs.
 *
 * Knows names and values of options, no frame. Depends on pairing and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_ALIAS_H
#define AVFILTER_QUALITY_CUDA_ALIAS_H

#include "compat.h"

#include "libavutil/log.h"
#include "libavutil/rational.h"

/** libvmaf's options, those that have gone since and those of FFmpeg's framesync included, as the user gave them. */
typedef struct QCAlias {
    const AVClass *own_class; ///< of the filter under its own name; NULL: that is its name
    char *model_path, *model, *feature, *pool, *log_fmt;
    int enable_transform, phone_model, enable_conf_interval, psnr, ssim, ms_ssim;
    int n_threads;
    int eof_action, shortest, repeatlast, ts_sync_mode;
} QCAlias;

/** Options of libvmaf and libvmaf_cuda. */
extern const AVClass ff_qc_libvmaf_class;

/** Before the options are set: gives those that libvmaf lacks the filter's own defaults. */
int ff_qc_prepare_alias(AVFilterContext *ctx, const AVClass *own_class);

/** Fills the filter's own options from libvmaf's. @return AVERROR */
int ff_qc_translate_options(AVFilterContext *ctx);

/** Decides how frames are paired: as the filters of FFmpeg that have two inputs do. */
void ff_qc_pair_as_libvmaf(AVFilterContext *ctx);

/** What timestamps are rounded to: two inputs that both decide when pairs are made share a clock that both fit into, or microseconds. */
AVRational ff_qc_alias_clock(const AVFilterContext *ctx);

/** Frees the options that lavfi does not know of. */
void ff_qc_free_alias(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_ALIAS_H */
