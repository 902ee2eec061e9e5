/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Lines for a receiver that may be slow or gone; see stream.h. Depends on
 * receiver and state.
 */

#include "compat.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/time.h"

#include "stream.h"

#define FIRST_PAUSE_MS   100  /* before a receiver is tried again, doubled each time */
#define LONGEST_PAUSE_MS 5000
#define LAST_PAUSE_MS    100  /* while the end waits for it */

/* ---- the queue; the mutex is held ---- */

static QCStreamLine *take_first(QCStream *stream)
{
    QCStreamLine *line = stream->first;

    if (!line)
        return NULL;
    stream->first = line->following;
    if (!stream->first)
        stream->last = NULL;
    stream->waiting--;
    return line;
}

static void count_dropped(QCStream *stream)
{
    stream->counts.dropped++;
    stream->unsaid++;
}

static void drop_first(QCStream *stream)
{
    QCStreamLine *line = take_first(stream);

    count_dropped(stream);
    av_free(line);
}

/* ---- the thread ---- */

static void lock(QCStream *stream)
{
    pthread_mutex_lock(&stream->mutex);
}

static void unlock(QCStream *stream)
{
    pthread_mutex_unlock(&stream->mutex);
}

/** @return NULL: no line follows */
static QCStreamLine *next_line(QCStream *stream)
{
    QCStreamLine *line;

    lock(stream);
    while (!stream->first && !stream->is_closing)
        pthread_cond_wait(&stream->changed, &stream->mutex);
    line = take_first(stream);
    if (line) {
        line->dropped_before = stream->unsaid;
        stream->unsaid = 0;
    }
    unlock(stream);
    return line;
}

/** Waits before another try; a line that comes meanwhile does not end that, the end of the run does. @return the next pause */
static int pause_ms(QCStream *stream, int ms)
{
    struct timespec until;
    int ret = 0;

    lock(stream);
    if (stream->is_closing)
        ms = FFMIN(ms, LAST_PAUSE_MS);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec  += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    until.tv_sec  += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!ret && (!stream->is_closing || ms <= LAST_PAUSE_MS))
        ret = pthread_cond_timedwait(&stream->changed, &stream->mutex, &until);
    unlock(stream);
    return FFMIN(2 * ms, LONGEST_PAUSE_MS);
}

static void note_failure(QCStream *stream, int error)
{
    const int lasts = ff_qc_receiver_is_lasting(&stream->receiver);

    lock(stream);
    if (!stream->error)
        stream->error = error;
    unlock(stream);
    av_log(stream->ctx, stream->has_complained ? AV_LOG_VERBOSE : lasts ? AV_LOG_ERROR : AV_LOG_WARNING,
           "log_path=%s takes no lines: %s; scoring goes on, up to %d lines wait, and then the oldest are dropped\n", stream->name,
           error == AVERROR(ENXIO) ? "no process reads from it" : av_err2str(error), stream->most);
    stream->has_complained = 1;
}

/** What a receiver missed, it is told; also that it is not the first one. @return AVERROR */
static int write_gap(QCStream *stream, int64_t dropped, int is_new)
{
    QCStreamCounts counts;
    char text[160];
    int length;

    counts = ff_qc_stream_counts(stream);
    if (!dropped && (!is_new || counts.receivers < 2))
        return 0;
    length = snprintf(text, sizeof(text), "{\"type\": \"stream\", \"dropped\": %"PRId64", \"dropped_total\": %"PRId64
                      ", \"receiver\": %"PRId64"}\n", dropped, counts.dropped, counts.receivers);
    return ff_qc_receiver_write(&stream->receiver, text, length);
}

/** @return AVERROR */
static int try_line(QCStream *stream, QCStreamLine *line)
{
    const int is_new = !stream->receiver.is_open;
    int ret = ff_qc_receiver_open(&stream->receiver);

    if (ret < 0)
        return ret;
    if (is_new) {
        lock(stream);
        stream->counts.receivers++;
        unlock(stream);
        av_log(stream->ctx, stream->has_complained ? AV_LOG_INFO : AV_LOG_VERBOSE, "log_path=%s takes lines\n", stream->name);
    }
    ret = write_gap(stream, line->dropped_before, is_new);
    if (ret < 0)
        return ret;
    line->dropped_before = 0;
    return ff_qc_receiver_write(&stream->receiver, line->text, line->size);
}

/** @return 0: there is no time for any further one */
static int deliver(QCStream *stream, QCStreamLine *line)
{
    int ms = FIRST_PAUSE_MS, ret;

    while ((ret = try_line(stream, line)) < 0 && ret != AVERROR_EXIT &&
           av_gettime_relative() < atomic_load(&stream->receiver.give_up_at)) {
        ff_qc_receiver_close(&stream->receiver, 0);
        note_failure(stream, ret);
        ms = pause_ms(stream, ms);
    }
    lock(stream);
    if (ret >= 0)
        stream->counts.lines++;
    else
        count_dropped(stream);
    unlock(stream);
    av_free(line);
    return ret >= 0;
}

static void *run(void *opaque)
{
    QCStream *stream = opaque;
    QCStreamLine *line;
    int goes_on = 1, ret;

    while (goes_on && (line = next_line(stream)))
        goes_on = deliver(stream, line);
    ret = ff_qc_receiver_close(&stream->receiver, 1);
    if (ret < 0 && ret != AVERROR_EXIT)
        note_failure(stream, ret);
    return NULL;
}

/* ---- the filter's side ---- */

/** A signal is the program's business, and a broken pipe an error like others. */
static int create_thread(QCStream *stream)
{
    sigset_t all, before;
    int ret;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ret = pthread_create(&stream->thread, NULL, run, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return AVERROR(ret);
}

int ff_qc_stream_start(QCStream *stream, AVFilterContext *ctx, const char *name, const qcr_path *path, int append, int most)
{
    pthread_condattr_t attributes;
    int ret;

    stream->ctx  = ctx;
    stream->name = name;
    stream->most = most;
    ff_qc_receiver_init(&stream->receiver, path->canonical ? NULL : name, path, append);
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&stream->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    ret = create_thread(stream);
    stream->is_running = ret >= 0;
    if (ret < 0) {
        pthread_cond_destroy(&stream->changed);
        pthread_mutex_destroy(&stream->mutex);
    }
    return ret;
}

void ff_qc_stream_send(QCStream *stream, const char *text, size_t size)
{
    QCStreamLine *line = av_malloc(sizeof(*line) + size);

    if (line) {
        line->following = NULL;
        line->size = size;
        memcpy(line->text, text, size);
    }
    lock(stream);
    if (!line)
        count_dropped(stream);
    else if (stream->waiting >= stream->most)
        drop_first(stream);
    if (line) {
        if (stream->last)
            stream->last->following = line;
        else
            stream->first = line;
        stream->last = line;
        stream->waiting++;
    }
    pthread_cond_signal(&stream->changed);
    unlock(stream);
}

QCStreamCounts ff_qc_stream_counts(QCStream *stream)
{
    QCStreamCounts counts;

    if (!stream->is_running)
        return stream->counts;
    lock(stream);
    counts = stream->counts;
    unlock(stream);
    return counts;
}

int ff_qc_stream_finish(QCStream *stream, int64_t patience)
{
    if (!stream->is_running)
        return 0;
    lock(stream);
    stream->is_closing = 1;
    atomic_store(&stream->receiver.give_up_at, av_gettime_relative() + patience);
    pthread_cond_signal(&stream->changed);
    unlock(stream);
    pthread_join(stream->thread, NULL);
    stream->is_running = 0;
    while (stream->first)
        drop_first(stream);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->mutex);
    return ff_qc_receiver_is_lasting(&stream->receiver) && stream->counts.dropped ? stream->error : 0;
}
