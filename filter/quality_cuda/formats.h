/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Pixel formats: those that the filter offers to lavfi, and what the engine has to know of each.
 */

#ifndef AVFILTER_QUALITY_CUDA_FORMATS_H
#define AVFILTER_QUALITY_CUDA_FORMATS_H

#include "compat.h"

#include <quality_cuda.h>
#include <quality_cuda_run.h>

/**
 * Every input gets its own lists, otherwise lavfi would convert one input to the
 * other's format, range or matrix; the output shares those of input 0.
 * @param nb_inputs so many of them, the first ones
 * @param with_rgb offer RGB too; otherwise lavfi converts such input
 * @return AVERROR
 */
int ff_qc_offer_formats(AVFilterContext *ctx, unsigned nb_inputs, int with_rgb);

/** A pad's own lists: these formats (a list that ends with AV_PIX_FMT_NONE), of this range where it is told. @return AVERROR */
int ff_qc_offer_one_range(AVFilterFormatsConfig *config, const int *formats, enum AVColorRange range);

/** Of an input of masks: gray, of full range, in memory. @return AVERROR */
int ff_qc_offer_weights_formats(AVFilterContext *ctx, unsigned index);

/**
 * Every input and the output get one list, as libvmaf's filter has it: lavfi converts where they differ, in colour range and
 * matrix too. CUDA frames are among it. @return AVERROR
 */
int ff_qc_offer_common_formats(AVFilterContext *ctx);

/** Describes the layout of a format's samples, without sizes and colours; as qc_format_from_name(). */
qc_status ff_qc_describe_format(enum AVPixelFormat pix_fmt, qc_format *format);

/** The range of a frame's samples, which some formats say by their name. */
enum AVColorRange ff_qc_range_of(const AVFrame *frame, enum AVPixelFormat format);

/** What a link says of its pictures' format and colours. */
qcr_link_colours ff_qc_link_colours(const AVFilterLink *link);

/** Name of a pixel format, "unknown" if it has none. */
const char *ff_qc_pix_fmt_name(enum AVPixelFormat pix_fmt);

/** What a frame says of itself. @param format of its samples */
qcr_frame_facts ff_qc_facts_of_frame(const AVFrame *frame, enum AVPixelFormat format);

#endif /* AVFILTER_QUALITY_CUDA_FORMATS_H */
