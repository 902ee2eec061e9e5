/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What the user gets to read: lines of statistics, logs, the summary.
 *
 * Knows every count and score, changes none. Depends on engine, files, formats
 * and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_REPORTS_H
#define AVFILTER_QUALITY_CUDA_REPORTS_H

#include "compat.h"

#include <quality_cuda.h>

#include "libavutil/bprint.h"

/** Writes a row's line into stats_file, if there is one. Times in seconds. @param corrupt bit i: the frame of input i is damaged */
void ff_qc_write_stats_line(AVFilterContext *ctx, const qc_row *row, double pts_time, double ref_pts_time, uint32_t corrupt);

/** Writes the log of each rendition: q.json, q.rendition1.json, ... @param complete 0 marks it as of an unfinished run. @return AVERROR */
int ff_qc_write_logs(AVFilterContext *ctx, int complete);

/** Once: writes the logs and says what came out. @return AVERROR */
int ff_qc_report(AVFilterContext *ctx);

/** Pooled scores so far, "key:value ...". Needs a session. */
void ff_qc_running_scores(AVFilterContext *ctx, AVBPrint *out);

#endif /* AVFILTER_QUALITY_CUDA_REPORTS_H */
