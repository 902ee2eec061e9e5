/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What the user gets to read, and where: the run as values, for
 * quality_cuda_run/report.h and files.h.
 *
 * Knows every count, changes none. Depends on live, receiver, account, scaling,
 * arrivals, formats and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_REPORTS_H
#define AVFILTER_QUALITY_CUDA_REPORTS_H

#include "compat.h"

#include <quality_cuda.h>

/**
 * Decides where the options' files are, and whether they can be written, before
 * the first frame is decoded. Changes no file. @return AVERROR
 */
int ff_qc_open_files(AVFilterContext *ctx);

/**
 * Whether the report can still be written, as far as that shows without writing
 * it. A filter that is freed cannot fail any more: this is asked before. Says
 * nothing to the user. @return AVERROR
 */
int ff_qc_recheck_files(const AVFilterContext *ctx);

/** Writes a row's line into stats_file, if there is one. Times in seconds. @param corrupt bit i: the frame of input i is damaged */
void ff_qc_write_stats_line(AVFilterContext *ctx, const qc_row *row, double pts_time, double ref_pts_time, uint32_t corrupt);

/** Writes the logs, of an unfinished run. @return AVERROR */
int ff_qc_write_logs(AVFilterContext *ctx);

/** Once: writes the logs and says what came out. @return AVERROR */
int ff_qc_report(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_REPORTS_H */
