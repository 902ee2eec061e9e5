/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Lines for a receiver that may be slow, stand still, go away and come back: a
 * queue of bounded length, and a thread that alone waits for the receiver.
 *
 * Where the queue is full its oldest line is dropped. The thread tries again
 * and again to reach a receiver that is gone, and tells it in a line of its own
 * how many lines it has missed. Knows no score. Depends on receiver and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_STREAM_H
#define AVFILTER_QUALITY_CUDA_STREAM_H

#include "compat.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "receiver.h"

typedef struct QCStreamLine {
    struct QCStreamLine *following;
    int64_t dropped_before;  ///< lines that were dropped since the one before
    size_t size;
    char text[];
} QCStreamLine;

typedef struct QCStreamCounts {
    int64_t lines;           ///< that were handed over
    int64_t dropped;
    int64_t receivers;       ///< that were reached, one after the other
} QCStreamCounts;

typedef struct QCStream {
    AVFilterContext *ctx;    ///< for messages
    const char *name;
    QCReceiver receiver;     ///< the thread's, but for give_up_at
    pthread_t thread;
    int is_running;
    int has_complained;      ///< the thread's: a loss is a warning once

    /* shared with the thread */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    QCStreamLine *first, *last;
    int waiting, most;       ///< lines in the queue, at most
    int64_t unsaid;          ///< lines that were dropped, and no later line says so yet
    QCStreamCounts counts;
    int is_closing;          ///< no line follows
    int error;               ///< AVERROR of the first failure
} QCStream;

/**
 * Starts the thread. The name and the path have to outlive it.
 * @param path without a canonical name: the name is a URL @param most lines that may wait @return AVERROR
 */
int ff_qc_stream_start(QCStream *stream, AVFilterContext *ctx, const char *name, const qcr_path *path, int append, int most);

/** Appends a line, which needs its own end. Waits for nobody. */
void ff_qc_stream_send(QCStream *stream, const char *text, size_t size);

/** What has become of the lines so far. */
QCStreamCounts ff_qc_stream_counts(QCStream *stream);

/**
 * Ends the thread: the receiver has so many microseconds to take what waits.
 * @return AVERROR of the first failure, if one lost a line of a file
 */
int ff_qc_stream_finish(QCStream *stream, int64_t patience);

#endif /* AVFILTER_QUALITY_CUDA_STREAM_H */
