/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Where logs and all kinds of lines go: paths, their owners, the open file.
 *
 * Knows names and files, not what is written into them. Depends on receiver,
 * paths and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_FILES_H
#define AVFILTER_QUALITY_CUDA_FILES_H

#include "compat.h"

#include <stddef.h>

#include <quality_cuda.h>

#include "paths.h"

/** A file that is written while the run goes on. */
typedef struct QCTarget {
    const char *option;           ///< that asks for it: "stats_file"
    char *name;                   ///< the option's value, or a variant of it; NULL: it is not wanted
    QCPath path;                  ///< without a canonical name: it is a URL
    int append;                   ///< it goes on with the lines of an earlier filter
} QCTarget;

typedef struct QCFiles {
    qc_log_format log_format;
    int is_stream;                ///< log_fmt=jsonl: no report at the end, but lines
    qc_stats_format stats_format; ///< QC_STATS_FORMAT_NONE: the filter's own lines
    char *log[QC_MAX_RENDITIONS]; ///< where each rendition's log goes: log_path, or a variant of it; NULL: no log
    int log_failed;               ///< one could not be written
    QCTarget stats;               ///< lines of statistics
    QCTarget stream;              ///< log_path with log_fmt=jsonl
    QCTarget metrics;             ///< metrics_file
    int stats_open;
    int stats_descriptor;         ///< if it is open
    int stats_error;              ///< AVERROR of the first line that could not be written
} QCFiles;

/**
 * Decides where the options' files are, and whether they can be written, before
 * the first frame is decoded. Changes no file. @return AVERROR
 */
int ff_qc_open_files(AVFilterContext *ctx);

/**
 * Writes lines of statistics; the first ones open the file. A failure is
 * reported once, and later lines are dropped: the scores are still in the log.
 */
void ff_qc_write_stats(AVFilterContext *ctx, const char *text, size_t size);

/** Makes the file if there was no line for it. @return AVERROR of the first failure */
int ff_qc_finish_stats(AVFilterContext *ctx);

/**
 * Whether the report can still be written, as far as that shows without writing
 * it. A filter that is freed cannot fail any more: this is asked before. Says
 * nothing to the user. @return AVERROR
 */
int ff_qc_recheck_files(const AVFilterContext *ctx);

/** Closes them. @param used 0: nothing was written, a later filter may have the paths */
void ff_qc_close_files(AVFilterContext *ctx, int used);

#endif /* AVFILTER_QUALITY_CUDA_FILES_H */
