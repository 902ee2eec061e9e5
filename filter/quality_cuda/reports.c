/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "libavformat/avio.h"
#include "libavutil/avstring.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"
#include "libavutil/time.h"

#include "account.h"
#include "formats.h"
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

/* ---- lines; all of this runs in the thread that waits for the receiver, which may outlive the filter ---- */

/** What is behind a URL. */
typedef struct QCReceiver {
    AVIOContext *avio;
    qcr_patience patience;
    int64_t connect_until; ///< time of av_gettime_relative() by which a connection has to be made; 0: none is
} QCReceiver;

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

static int open_url(void *opaque, const char *url, const qcr_patience *patience)
{
    QCReceiver *receiver = opaque;
    const AVIOInterruptCB callback = { is_interrupted, receiver };
    AVDictionary *options = NULL;
    int ret = 0;

    receiver->patience = *patience;
    if (av_strstart(url, "http:", NULL) || av_strstart(url, "https:", NULL))
        ret = av_dict_set(&options, "method", "PUT", 0);
    receiver->connect_until = av_gettime_relative() + CONNECT_US;
    if (ret >= 0)
        ret = avio_open2(&receiver->avio, url, AVIO_FLAG_WRITE, &callback, &options);
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

static const qcr_receiver url_receiver = {
    .state_size = sizeof(QCReceiver),
    .open       = open_url,
    .write      = write_url,
    .close      = close_url,
    .describe   = describe_error,
};

/* ---- files ---- */

int ff_qc_open_files(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const char *name = s->options.log_path;
    const int is_stream = qcr_wants_lines(name, s->options.log_fmt) && name && *name;
    const qcr_file_wishes wishes = {
        .log_path     = name,
        .protocol     = is_stream ? avio_find_protocol_name(name) : NULL,
        .log_fmt      = s->options.log_fmt,
        .stats_file   = s->options.stats_file,
        .stats_format = s->options.stats_format,
        .metrics_file = s->options.metrics_file,
        .renditions   = s->options.renditions,
        .spares_log   = ff_qc_is_alias(ctx), /* libvmaf's filter finds out at the end, and tells nobody */
    };
    const qcr_sink sink = ff_qc_plain_sink(ctx); /* names of files are no matter of the scores */
    qcr_failure failure;

    if (is_stream && !wishes.protocol && has_protocol(name))
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    return qcr_open_files(&s->files, &wishes, &sink, &failure) < 0 ? ff_qc_fail(ctx, failure.error, "%s", failure.text) : 0;
}

int ff_qc_recheck_files(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    if (s->options.strict && qcr_refuse_doubts(s->doubts, (char[QCR_REFUSAL]){ "" }))
        return AVERROR(EINVAL);
    return s->files.stats_error || ff_qc_is_alias(ctx) ? s->files.stats_error : qcr_recheck_logs(&s->files);
}

/* ---- while the run goes on ---- */

int ff_qc_live_result(AVFilterContext *ctx, qc_status status)
{
    return ff_qc_result(ctx, status, qcr_live_error(((const QualityCudaContext *)ctx->priv)->live));
}

int ff_qc_check_live(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;
    const qcr_sink sink = ff_qc_plain_sink(ctx); /* what an alert says, or a receiver does, is no matter of the scores */
    const qcr_live_options asked = {
        .alerts      = options->alert,
        .window      = options->window,
        .has_lines   = qcr_wants_lines(options->log_path, options->log_fmt),
        .has_metrics = options->metrics_file && *options->metrics_file,
        .names       = &s->names,
    };
    qc_status status = qcr_live_create(&sink, &s->live);

    if (status == QC_OK)
        status = qcr_live_configure(s->live, &asked);
    return ff_qc_live_result(ctx, status);
}

static qc_status connect_lines(QualityCudaContext *s)
{
    const qcr_target *target = &s->files.stream;

    if (!target->name)
        return QC_OK;
    if (target->path.canonical)
        return qcr_live_write_to(s->live, target, s->options.log_queue);
    return qcr_live_send_to(s->live, target->name, &url_receiver, s->options.log_queue);
}

int ff_qc_connect_live(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qc_status status = connect_lines(s);

    if (s->files.metrics.name)
        qcr_live_keep_metrics(s->live, &s->files.metrics);
    return ff_qc_live_result(ctx, status);
}

/* ---- the run as values ---- */

static qcr_report_input report_input(const AVFilterContext *ctx, int index)
{
    const QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[index];
    const qc_format format = ff_qc_visible_format(in);
    const qcr_input met = qcr_pairs_input(s->pairs, index);

    return (qcr_report_input) {
        .format     = ff_qc_pix_fmt_name(in->sw_format),
        .width      = format.width,
        .height     = format.height,
        .colour     = in->format.colour,
        .bit_rate   = qcr_bit_rate(in->packet_bytes, met.received, met.seconds),
        .refusal    = in->refusal,
        .delay      = met.delay,
        .has_other_length = met.has_other_length,
        .is_refused = in->mispaired,
        .is_stalled = qcr_pairs_is_stalled(s->pairs, index, ff_qc_now()),
        .is_cut_off = in->cut_off,
    };
}

static qcr_report report_of(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;
    const qcr_size scored = ff_qc_scored(ctx).all;
    qcr_report report = {
        .renditions         = options->renditions,
        .n_subsample        = options->n_subsample,
        .pool               = s->engine.pool,
        .shows_all_features = options->feature || (options->metrics && strcmp(options->metrics, "vmaf")),
        .is_alias           = ff_qc_is_alias(ctx),
        .is_realtime        = options->realtime,
        .may_give_up        = ff_qc_may_give_up(ctx),
        .watches_contents   = (options->watch && !ff_qc_is_alias(ctx)) || options->align == QCR_ALIGN_AUTO,
        .alignment_rules    = ff_qc_alignment_rules(ctx),

        .end              = s->run.end,
        .only_left_counts = s->run.only_left_counts,
        .has_failed       = !!s->run.failure,
        .reason           = s->run.reason,
        .gpu_failure      = s->scoring.gpu_failure,
        .signal           = qcr_interrupted_by(&s->run.interrupts),
        .counts           = ff_qc_counts_of(ctx, 0),
        .conditions       = s->conditions,
        .doubts           = s->doubts,
        .scored_width     = scored.width,
        .scored_height    = scored.height,
        .alignment        = &s->alignment,
        .session = s->scoring.session,
        .engine  = qc_session_description(s->scoring.session),
    };

    for (int i = 0; i < s->nb_inputs; i++)
        report.input[i] = report_input(ctx, i);
    qcr_report_pairs(&report, s->pairs, s->queue.tally);
    return report;
}

/* ---- reports ---- */

int ff_qc_write_logs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_report report = report_of(ctx);

    return ff_qc_error_of_status(qcr_write_logs(&report, &s->files, s->run.reported, &s->sink));
}

/** @return AVERROR */
static int finish_live(AVFilterContext *ctx, const qcr_report *report)
{
    const QualityCudaContext *s = ctx->priv;
    char *end = qcr_end_members(report);
    const int error = qcr_live_finish(s->live, end ? end : "\"end\": null", s->scoring.session,
                                      !!qcr_interrupted_by(&s->run.interrupts));
    const int lost = end ? 0 : AVERROR(ENOMEM);

    qcr_free_text(end);
    return error < 0 ? AVERROR(-error) : lost;
}

int ff_qc_report(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qcr_report report;
    char why[QCR_REFUSAL];
    int ret = 0, stats, live, said;

    if (s->run.reported)
        return 0;
    s->run.reported = 1;
    /* Without any pair there was no session; the log has to say so all the same. */
    if (!s->scoring.session && (!s->run.failure || s->run.is_refused || s->run.gave_up) && s->files.log[0] &&
        !ff_qc_is_alias(ctx)) {
        ret = ff_qc_open_session(ctx);
        if (ret >= 0)
            qc_session_flush(s->scoring.session);
    }
    ff_qc_say_findings(ctx, ff_qc_counts_of(ctx, 0)->paired);
    if (ret >= 0)
        ret = ff_qc_write_logs(ctx);
    stats = qcr_finish_stats(&s->files, &s->sink);
    report = report_of(ctx);
    live = finish_live(ctx, &report);
    said = ff_qc_error_of_status(qcr_say_summary(&report, &s->sink));
    if (said < 0)
        av_log(ctx, AV_LOG_ERROR, "the summary is not complete: %s\n", av_err2str(said));
    qcr_live_sum_up(s->live);
    if (stats < 0)
        av_log(ctx, AV_LOG_ERROR, "stats_file=%s is not complete: %s\n", s->files.stats.name, av_err2str(stats));
    if (ret >= 0)
        ret = stats < 0 ? stats : live < 0 ? live : said < 0 ? said : s->run.refused_rendition;
    if (ret >= 0 && s->options.strict && qcr_refuse_doubts(s->doubts, why)) /* a warning fails the run, when all is written */
        ret = ff_qc_fail(ctx, AVERROR(EINVAL), "%s", why);
    return ret;
}
