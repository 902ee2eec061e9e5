/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What a run saw and measured, in a file (record=FILE): a frame's and a link's facts, as qcr_record takes
 * them.
 */

#ifndef AVFILTER_QUALITY_CUDA_RECORD_H
#define AVFILTER_QUALITY_CUDA_RECORD_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda_run.h>

/** What became of a call on the record: a failure becomes the filter's. Without record=FILE nothing is called. @return AVERROR */
int ff_qc_recorded(AVFilterContext *ctx, qc_status status);

/** With record=FILE: writes nothing before the first frame or end. @return AVERROR */
int ff_qc_open_record(AVFilterContext *ctx);

/** Warns before the first frame, of what holds for the whole video: a merge of its parts' records says it too. */
void ff_qc_warn_of_input(AVFilterContext *ctx, const char *text);

/** The links are configured. @return AVERROR */
int ff_qc_record_inputs(AVFilterContext *ctx);

/** A frame that came. @return AVERROR */
int ff_qc_record_frame(AVFilterContext *ctx, int index, const AVFrame *frame);

/** The pair of row `row` goes to the engine. @return AVERROR */
int ff_qc_record_pair(AVFilterContext *ctx, int64_t row, uint32_t renditions, AVFrame *const *frames);

#endif /* AVFILTER_QUALITY_CUDA_RECORD_H */
