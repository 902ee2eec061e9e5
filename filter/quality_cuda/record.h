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

typedef struct QCRecord {
    qcr_record *record; ///< from the first thing on that it is told; NULL: there is none
    int is_begun;       ///< it knows the inputs
} QCRecord;

/** Whether the options go with it. @return AVERROR */
int ff_qc_check_record(AVFilterContext *ctx);

/** Warns before the first frame, of what holds for the whole video: a merge of its parts' records says it too. */
void ff_qc_warn_of_input(AVFilterContext *ctx, const char *format, ...) av_printf_format(2, 3);

/** A frame that came, or the input's end. With record=FILE alone this and all below do anything. @return AVERROR */
int ff_qc_record_frame(AVFilterContext *ctx, int index, const AVFrame *frame);
int ff_qc_record_end(AVFilterContext *ctx, int index);

/** The session was opened: writes down what it measures. @return AVERROR */
int ff_qc_record_session(AVFilterContext *ctx, const qc_config *config);

/** The pair of row `row` goes to the engine. @return AVERROR */
int ff_qc_record_pair(AVFilterContext *ctx, int64_t row, uint32_t renditions, AVFrame *const *frames);

/** The pairs pause. */
void ff_qc_record_break(AVFilterContext *ctx);

/** The run is over. @return AVERROR if the record is not whole */
int ff_qc_finish_record(AVFilterContext *ctx);

void ff_qc_close_record(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_RECORD_H */
