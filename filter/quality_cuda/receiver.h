/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Lines for whatever FFmpeg has a protocol for, and which names mean that.
 *
 * Knows no line and no thread. Depends on compat only.
 */

#ifndef AVFILTER_QUALITY_CUDA_RECEIVER_H
#define AVFILTER_QUALITY_CUDA_RECEIVER_H

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

/**
 * What the name of a receiver stands for: "tcp://...", "unix:...", a path, and
 * as paths "-", "pipe:N" and "file:NAME".
 * @param path set to the path, to be freed; or to NULL: it is a URL
 * @return AVERROR; AVERROR_PROTOCOL_NOT_FOUND
 */
int ff_qc_receiver_path(const char *name, char **path);

/** A receiver that is a URL. */
qcr_receiver ff_qc_url_receiver(QCReceiver *receiver, const char *url);

#endif /* AVFILTER_QUALITY_CUDA_RECEIVER_H */
