/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <errno.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"
#include "libavutil/time.h"

#include "state.h"

#define CONNECT_US 5000000 /* what a connection may take */

/* ---- receivers ---- */

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

/* ---- lines; all of this runs in the thread that waits for the receiver ---- */

static int gives_up(const QCReceiver *receiver)
{
    return receiver->patience.is_over(receiver->patience.opaque);
}

/** Protocols ask this while they wait. */
static int is_interrupted(void *opaque)
{
    const QCReceiver *receiver = opaque;

    return gives_up(receiver) || (receiver->connect_until && av_gettime_relative() >= receiver->connect_until);
}

/** @return as a qcr_receiver's functions do */
static int result_of(int ret)
{
    return ret == AVERROR_EXIT ? QCR_GAVE_UP : FFMIN(ret, 0);
}

static int open_url(void *opaque, const qcr_patience *patience)
{
    QCReceiver *receiver = opaque;
    const AVIOInterruptCB callback = { is_interrupted, receiver };
    AVDictionary *options = NULL;
    int ret = 0;

    receiver->patience = *patience;
    if (av_strstart(receiver->url, "http:", NULL) || av_strstart(receiver->url, "https:", NULL))
        ret = av_dict_set(&options, "method", "PUT", 0);
    receiver->connect_until = av_gettime_relative() + CONNECT_US;
    if (ret >= 0)
        ret = avio_open2(&receiver->avio, receiver->url, AVIO_FLAG_WRITE, &callback, &options);
    if (ret == AVERROR_EXIT && !gives_up(receiver))
        ret = AVERROR(ETIMEDOUT);
    receiver->connect_until = 0;
    av_dict_free(&options);
    return result_of(ret);
}

static int write_url(void *opaque, const char *text, size_t size)
{
    QCReceiver *receiver = opaque;

    avio_write(receiver->avio, (const unsigned char *)text, size);
    avio_flush(receiver->avio);
    return result_of(receiver->avio->error);
}

static int close_url(void *opaque)
{
    return result_of(avio_closep(&((QCReceiver *)opaque)->avio));
}

static void describe_error(void *opaque, int error, char *text, size_t size)
{
    (void)opaque;
    av_strlcpy(text, error == AVERROR(ENXIO) ? "no process reads from it" : av_err2str(error), size);
}

static qcr_receiver url_receiver(QCReceiver *receiver, const char *url)
{
    receiver->url = url;
    return (qcr_receiver) {
        .opaque   = receiver,
        .open     = open_url,
        .write    = write_url,
        .close    = close_url,
        .describe = describe_error,
    };
}

/* ---- the run ---- */

int ff_qc_live_result(AVFilterContext *ctx, qc_status status)
{
    return ff_qc_result(ctx, status, qcr_live_error(((const QualityCudaContext *)ctx->priv)->live.run));
}

int ff_qc_check_live(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;
    const qcr_sink sink = ff_qc_sink(ctx);
    const qcr_live_options asked = {
        .alerts      = options->alert,
        .window      = options->window,
        .has_lines   = options->log_fmt && !strcmp(options->log_fmt, "jsonl"),
        .has_metrics = options->metrics_file && *options->metrics_file,
        .names       = &s->names,
    };
    qc_status status = qcr_live_create(&sink, &s->live.run);

    if (status == QC_OK)
        status = qcr_live_configure(s->live.run, &asked);
    return ff_qc_live_result(ctx, status);
}

static qc_status connect_lines(QualityCudaContext *s)
{
    const qcr_target *target = &s->files.stream;
    qcr_receiver receiver;

    if (!target->name)
        return QC_OK;
    if (target->path.canonical)
        return qcr_live_write_to(s->live.run, target, s->options.log_queue);
    receiver = url_receiver(&s->live.receiver, target->name);
    return qcr_live_send_to(s->live.run, target->name, &receiver, s->options.log_queue);
}

int ff_qc_connect_live(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qc_status status = connect_lines(s);

    if (s->files.metrics.name)
        qcr_live_keep_metrics(s->live.run, &s->files.metrics);
    return ff_qc_live_result(ctx, status);
}
