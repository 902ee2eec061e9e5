/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Where lines go while the run lasts: a file, a named pipe, a device, an open
 * descriptor, or whatever FFmpeg has a protocol for.
 *
 * All that can wait for others is here, and can be told to stop waiting. Knows
 * no line and no thread. Depends on no
 * other file of the filter.
 */

#ifndef AVFILTER_QUALITY_CUDA_RECEIVER_H
#define AVFILTER_QUALITY_CUDA_RECEIVER_H

#include "compat.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libavformat/avio.h"

#include <quality_cuda_run.h>

typedef struct QCReceiver {
    /* set by the owner */
    const char *url;           ///< NULL: it is a path
    const qcr_path *path;
    int append;                ///< of a file: goes on behind what it has
    /* anybody's */
    atomic_llong give_up_at;   ///< time of av_gettime_relative() at which nothing is waited for any more
    /* its own */
    int is_open;
    int descriptor;
    AVIOContext *avio;
    int64_t connect_until;     ///< the same for a connection that is being made; 0: none is
} QCReceiver;

/**
 * What the name of a receiver stands for: "tcp://...", "unix:...", a path, and
 * as paths "-", "pipe:N" and "file:NAME".
 * @param path set to the path, to be freed; or to NULL: it is a URL
 * @return AVERROR; AVERROR_PROTOCOL_NOT_FOUND
 */
int ff_qc_receiver_path(const char *name, char **path);

/** Whether a lost line is a failure: files keep everything, other receivers come and go. */
int ff_qc_receiver_is_lasting(const QCReceiver *receiver);

void ff_qc_receiver_init(QCReceiver *receiver, const char *url, const qcr_path *path, int append);

/** @return AVERROR; AVERROR(ENXIO): nobody reads from the named pipe; AVERROR_EXIT: it was told to give up */
int ff_qc_receiver_open(QCReceiver *receiver);

/** Writes all of a line. @return AVERROR; of a file then nothing of the line is left in it */
int ff_qc_receiver_write(QCReceiver *receiver, const char *text, size_t size);

/** @param is_end 0: it failed, and will be opened again; a file stays open then @return AVERROR of what could not be handed over */
int ff_qc_receiver_close(QCReceiver *receiver, int is_end);

#endif /* AVFILTER_QUALITY_CUDA_RECEIVER_H */
