/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What the user gets to read, and where, while the run goes on and at its end: the run as values, for
 * quality_cuda_run/live.h, report.h and files.h, and lines for whatever FFmpeg has a protocol for.
 */

#ifndef AVFILTER_QUALITY_CUDA_REPORTS_H
#define AVFILTER_QUALITY_CUDA_REPORTS_H

#include "compat.h"

#include <quality_cuda_run.h>

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

/** Writes the logs, of an unfinished run. @return AVERROR */
int ff_qc_write_logs(AVFilterContext *ctx);

/** Once: writes the logs and says what came out. @return AVERROR */
int ff_qc_report(AVFilterContext *ctx);

/** Everything that can be wrong in the options of what is told while the run goes on. @return AVERROR */
int ff_qc_check_live(AVFilterContext *ctx);

/** Where lines and metrics go; the files are known. Opens nothing yet. @return AVERROR */
int ff_qc_connect_live(AVFilterContext *ctx);

/** What became of a call on the live output: a failure becomes the filter's. @return AVERROR */
int ff_qc_live_result(AVFilterContext *ctx, qc_status status);

#endif /* AVFILTER_QUALITY_CUDA_REPORTS_H */
