/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * @file
 * Where logs and lines of statistics go: paths, their owners, the open file.
 *
 * Knows names and files, not what is written into them. Depends on state.
 */

#ifndef AVFILTER_QUALITY_CUDA_FILES_H
#define AVFILTER_QUALITY_CUDA_FILES_H

#include "compat.h"

#include <stdio.h>

#include <quality_cuda.h>

typedef struct QCFiles {
    qc_log_format log_format;
    qc_stats_format stats_format; ///< QC_STATS_FORMAT_NONE: the filter's own lines
    FILE *stats;                  ///< NULL: none are wanted
    char *log;                    ///< log_path, or its variant where another filter has that one; NULL: no log
    int log_claim, stats_claim;   ///< numbers of the claims on log_path and stats_file, 0: none
} QCFiles;

/** Opens what the options name, or fails before the first frame is decoded. @return AVERROR */
int ff_qc_open_files(AVFilterContext *ctx);

/** Closes them. @param used 0: nothing was written, a later filter may have the paths */
void ff_qc_close_files(AVFilterContext *ctx, int used);

/** "dir/q.json" and ".2" give "dir/q.2.json". @return to be freed, NULL without memory */
char *ff_qc_insert_before_extension(const char *path, const char *text);

#endif /* AVFILTER_QUALITY_CUDA_FILES_H */
