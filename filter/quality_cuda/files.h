/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Where logs and lines of statistics go: paths, their owners, the open file.
 *
 * Knows names and files, not what is written into them. Depends on paths and
 * state.
 */

#ifndef AVFILTER_QUALITY_CUDA_FILES_H
#define AVFILTER_QUALITY_CUDA_FILES_H

#include "compat.h"

#include <stddef.h>

#include <quality_cuda.h>

#include "paths.h"

typedef struct QCFiles {
    qc_log_format log_format;
    qc_stats_format stats_format; ///< QC_STATS_FORMAT_NONE: the filter's own lines
    char *log[QC_MAX_RENDITIONS]; ///< where each rendition's log goes: log_path, or a variant of it; NULL: no log
    int log_failed;               ///< one could not be written
    char *stats_name;             ///< stats_file, or a variant of it; NULL: no lines are wanted
    QCPath stats_path;
    int stats_append;             ///< it goes on with the lines of an earlier filter
    int stats_open;
    int stats;                    ///< descriptor, if it is open
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
