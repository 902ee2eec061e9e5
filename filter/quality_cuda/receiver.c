/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Where lines go while the run lasts; see receiver.h. Depends on paths.
 */

#include "compat.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/time.h"

#include "receiver.h"

#define CONNECT_US  5000000 /* what a connection may take */
#define STEP_MS     50      /* so often a wait looks whether it should go on */
#define PIECE       512     /* POSIX: a pipe that poll() calls writable takes so much at once */

/** Whether there is a protocol for a name. Unlike FFmpeg's own search, which finds nothing without memory, this takes none. */
static int has_protocol(const char *name)
{
    void *position = NULL;
    const char *protocol, *rest;

    while ((protocol = avio_enum_protocols(&position, 1)))
        if ((av_strstart(name, protocol, &rest) && *rest == ':') || (!strcmp(protocol, "file") && !strchr(name, ':')))
            return 1;
    return 0;
}

int ff_qc_receiver_path(const char *name, char **path)
{
    const char *protocol = avio_find_protocol_name(name), *rest;

    *path = NULL;
    if (!protocol)
        return has_protocol(name) ? AVERROR(ENOMEM) : AVERROR_PROTOCOL_NOT_FOUND;
    if (!strcmp(name, "-"))
        *path = av_strdup("/dev/stdout");
    else if (av_strstart(name, "pipe:", &rest))
        *path = av_asprintf("/dev/fd/%s", *rest ? rest : "1");
    else if (av_strstart(name, "file:", &rest) || !strcmp(protocol, "file"))
        *path = av_strdup(av_strstart(name, "file:", &rest) ? rest : name);
    else
        return 0;
    return *path ? 0 : AVERROR(ENOMEM);
}

void ff_qc_receiver_init(QCReceiver *receiver, const char *url, const qcr_path *path, int append)
{
    memset(receiver, 0, sizeof(*receiver));
    receiver->url        = url;
    receiver->path       = path;
    receiver->append     = append;
    receiver->descriptor = -1;
    atomic_init(&receiver->give_up_at, LLONG_MAX);
}

int ff_qc_receiver_is_lasting(const QCReceiver *receiver)
{
    return !receiver->url && receiver->path->kind != QCR_PATH_PIPE;
}

static int gives_up(QCReceiver *receiver)
{
    return av_gettime_relative() >= atomic_load(&receiver->give_up_at);
}

/** Protocols ask this while they wait. */
static int is_interrupted(void *opaque)
{
    QCReceiver *receiver = opaque;

    return gives_up(receiver) || (receiver->connect_until && av_gettime_relative() >= receiver->connect_until);
}

static int open_url(QCReceiver *receiver)
{
    const AVIOInterruptCB callback = { is_interrupted, receiver };
    AVDictionary *options = NULL;
    int ret = 0;

    if (av_strstart(receiver->url, "http:", NULL) || av_strstart(receiver->url, "https:", NULL))
        ret = av_dict_set(&options, "method", "PUT", 0);
    receiver->connect_until = av_gettime_relative() + CONNECT_US;
    if (ret >= 0)
        ret = avio_open2(&receiver->avio, receiver->url, AVIO_FLAG_WRITE, &callback, &options);
    if (ret == AVERROR_EXIT && !gives_up(receiver))
        ret = AVERROR(ETIMEDOUT);
    receiver->connect_until = 0;
    av_dict_free(&options);
    return ret;
}

int ff_qc_receiver_open(QCReceiver *receiver)
{
    int ret;

    if (receiver->is_open)
        return 0;
    if (gives_up(receiver))
        return AVERROR_EXIT;
    if (receiver->url)
        ret = open_url(receiver);
    else
        ret = receiver->descriptor = qcr_open_for_lines(receiver->path, receiver->append, 0);
    receiver->is_open = ret >= 0;
    return FFMIN(ret, 0);
}

/* ---- writing ---- */

static int write_url(QCReceiver *receiver, const char *text, size_t size)
{
    avio_write(receiver->avio, (const unsigned char *)text, size);
    avio_flush(receiver->avio);
    return receiver->avio->error;
}

/** What others read may be full for long: never more than it takes at once. @return bytes, 0: it takes none now, AVERROR */
static ssize_t write_some(const QCReceiver *receiver, const char *text, size_t size)
{
    struct pollfd asked = { receiver->descriptor, POLLOUT };
    const int is_file = receiver->path->kind == QCR_PATH_FILE;
    ssize_t count;

    if (!is_file && !poll(&asked, 1, STEP_MS))
        return 0;
    count = write(receiver->descriptor, text, is_file ? size : FFMIN(size, PIECE));
    if (count > 0)
        return count;
    if (!count)
        return AVERROR(ENOSPC);
    return errno == EINTR || errno == EAGAIN ? 0 : AVERROR(errno);
}

static int write_descriptor(QCReceiver *receiver, const char *text, size_t size)
{
    while (size) {
        const ssize_t count = write_some(receiver, text, size);

        if (count < 0)
            return count;
        if (!count && gives_up(receiver))
            return AVERROR_EXIT;
        text += count;
        size -= count;
    }
    return 0;
}

static int write_file(QCReceiver *receiver, const char *text, size_t size)
{
    const off_t before = lseek(receiver->descriptor, 0, SEEK_END);
    const int ret = write_descriptor(receiver, text, size);

    /* Half a line would spoil the next one, too. */
    if (ret < 0 && before >= 0 && !ftruncate(receiver->descriptor, before))
        lseek(receiver->descriptor, before, SEEK_SET);
    return ret;
}

int ff_qc_receiver_write(QCReceiver *receiver, const char *text, size_t size)
{
    if (receiver->url)
        return write_url(receiver, text, size);
    if (receiver->path->kind == QCR_PATH_FILE)
        return write_file(receiver, text, size);
    return write_descriptor(receiver, text, size);
}

int ff_qc_receiver_close(QCReceiver *receiver, int is_end)
{
    int ret = 0;

    if (!receiver->is_open || (!is_end && ff_qc_receiver_is_lasting(receiver)))
        return 0;
    if (receiver->avio)
        ret = avio_closep(&receiver->avio);
    else if (close(receiver->descriptor))
        ret = AVERROR(errno);
    receiver->descriptor = -1;
    receiver->is_open    = 0;
    return ret;
}
