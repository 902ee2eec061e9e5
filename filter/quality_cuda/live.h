/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What is told of the scores while the run goes on, as the filter sees it: its options, its files, its
 * frames, and lines for whatever FFmpeg has a protocol for. All else is in quality_cuda_run/live.h.
 */

#ifndef AVFILTER_QUALITY_CUDA_LIVE_H
#define AVFILTER_QUALITY_CUDA_LIVE_H

#include "compat.h"

#include <stdint.h>

#include "libavformat/avio.h"

#include <quality_cuda_run.h>

/** What is behind a URL's qcr_receiver, and has to outlive it. */
typedef struct QCReceiver {
    const char *url;
    AVIOContext *avio;
    qcr_patience patience;
    int64_t connect_until; ///< time of av_gettime_relative() by which a connection has to be made; 0: none is
} QCReceiver;

typedef struct QCLive {
    qcr_live *run;       ///< NULL before the options were looked at
    QCReceiver receiver; ///< of log_fmt=jsonl, if log_path is a URL
} QCLive;

/**
 * What the name of a receiver stands for: "tcp://...", "unix:...", a path, and
 * as paths "-", "pipe:N" and "file:NAME".
 * @param path set to the path, to be freed; or to NULL: it is a URL
 * @return AVERROR; AVERROR_PROTOCOL_NOT_FOUND
 */
int ff_qc_receiver_path(const char *name, char **path);

/** Everything that can be wrong in the options of this. @return AVERROR */
int ff_qc_check_live(AVFilterContext *ctx);

/** Where lines and metrics go; the files are known. Opens nothing yet. @return AVERROR */
int ff_qc_connect_live(AVFilterContext *ctx);

/** What became of a call on it: a failure becomes the filter's. @return AVERROR */
int ff_qc_live_result(AVFilterContext *ctx, qc_status status);

#endif /* AVFILTER_QUALITY_CUDA_LIVE_H */
