/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The filter under the names of FFmpeg's own, libvmaf and libvmaf_cuda, for
 * programs that know only those: their options with their defaults. What these
 * mean is in quality_cuda_run/libvmaf.h.
 */

#ifndef AVFILTER_QUALITY_CUDA_ALIAS_H
#define AVFILTER_QUALITY_CUDA_ALIAS_H

#include "compat.h"

#include "libavutil/log.h"
#include "libavutil/rational.h"

#include <quality_cuda_run.h>

typedef struct QCAlias {
    const AVClass *own_class; ///< of the filter under its own name; NULL: that is its name
    qcr_libvmaf_options libvmaf; ///< its strings are of lavfi's memory
    int n_threads, enable_conf_interval;
} QCAlias;

/** Options of libvmaf and libvmaf_cuda. */
extern const AVClass ff_qc_libvmaf_class;

/** Before the options are set: gives those that libvmaf lacks the filter's own defaults. */
int ff_qc_prepare_alias(AVFilterContext *ctx, const AVClass *own_class);

/** Fills the filter's own options from libvmaf's. @return AVERROR */
int ff_qc_translate_options(AVFilterContext *ctx);

/** What timestamps are rounded to: two inputs that both decide when pairs are made share a clock that both fit into, or microseconds. */
AVRational ff_qc_alias_clock(const AVFilterContext *ctx);

/** Frees the options that lavfi does not know of. */
void ff_qc_free_alias(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_ALIAS_H */
