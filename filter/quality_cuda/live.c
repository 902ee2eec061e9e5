/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What is told of the scores while the run goes on; see live.h. Depends on
 * receiver, engine and state.
 */

#include "compat.h"

#include <string.h>

#include "libavutil/dict.h"

#include "live.h"
#include "state.h"

static int fail_live(AVFilterContext *ctx, qc_status status)
{
    const qcr_live *run = ((const QualityCudaContext *)ctx->priv)->live.run;

    return ff_qc_fail(ctx, ff_qc_error_of_status(status), "%s", run ? qcr_live_error(run) : "out of memory");
}

/* ---- before the run ---- */

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
    return status == QC_OK ? 0 : fail_live(ctx, status);
}

static qc_status connect_lines(QualityCudaContext *s)
{
    const qcr_target *target = &s->files.stream;
    qcr_receiver receiver;

    if (!target->name)
        return QC_OK;
    if (target->path.canonical)
        return qcr_live_write_to(s->live.run, target, s->options.log_queue);
    receiver = ff_qc_url_receiver(&s->live.receiver, target->name);
    return qcr_live_send_to(s->live.run, target->name, &receiver, s->options.log_queue);
}

int ff_qc_connect_live(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qc_status status = connect_lines(s);

    if (s->files.metrics.name)
        qcr_live_keep_metrics(s->live.run, &s->files.metrics);
    return status == QC_OK ? 0 : fail_live(ctx, status);
}

int ff_qc_find_alerts(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qc_status status = qcr_live_name_scores(s->live.run, s->scoring.names, s->options.renditions, s->scoring.features);

    return status == QC_OK ? 0 : fail_live(ctx, status);
}

/* ---- the run ---- */

void ff_qc_watch_frame(AVFilterContext *ctx, const qcr_row *row)
{
    const qc_status status = qcr_live_frame_leaves(((const QualityCudaContext *)ctx->priv)->live.run, row);

    if (status != QC_OK)
        fail_live(ctx, status);
}

int ff_qc_tag_alerts(const AVFilterContext *ctx, AVFrame *frame)
{
    const qcr_live *run = ((const QualityCudaContext *)ctx->priv)->live.run;
    const char *names = qcr_live_active_alerts(run);

    /* Without any, that of a filter before this one goes. */
    return qcr_live_has_alerts(run) ? av_dict_set(&frame->metadata, QC_KEY_PREFIX "alert", *names ? names : NULL, 0) : 0;
}

int ff_qc_finish_live(AVFilterContext *ctx, const char *end)
{
    const QualityCudaContext *s = ctx->priv;
    const int error = qcr_live_finish(s->live.run, end, s->scoring.session, !!qcr_interrupted_by(&s->run.interrupts));

    return error < 0 ? AVERROR(-error) : 0;
}

void ff_qc_free_live(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    qcr_live_destroy(s->live.run);
    s->live.run = NULL;
}
