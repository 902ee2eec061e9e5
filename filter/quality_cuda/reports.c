/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What the user gets to read; see reports.h. Depends on live, receiver, account,
 * scaling, formats and state.
 */

#include "compat.h"

#include <math.h>
#include <string.h>

#include "libavutil/error.h"

#include "account.h"
#include "formats.h"
#include "live.h"
#include "receiver.h"
#include "reports.h"
#include "scaling.h"
#include "state.h"

/* ---- files ---- */

/** What log_fmt=jsonl writes to. @param path set to a path, to be freed; or to NULL: it is a URL @return AVERROR */
static int find_receiver(AVFilterContext *ctx, char **path)
{
    const QCOptions *options = &((const QualityCudaContext *)ctx->priv)->options;
    const char *wish = options->log_path;
    int ret;

    if (!options->log_fmt || strcmp(options->log_fmt, "jsonl") || !wish || !*wish)
        return 0;
    ret = ff_qc_receiver_path(wish, path);
    if (ret == AVERROR_PROTOCOL_NOT_FOUND)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "log_path=%s: this FFmpeg has no such protocol; accepted: a path (./%s), or what "
                          "ffmpeg -protocols lists as output, such as tcp://HOST:PORT", wish, wish);
    return ret < 0 ? ff_qc_fail(ctx, ret, "out of memory") : 0;
}

int ff_qc_open_files(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qcr_file_wishes wishes = {
        .log_path     = s->options.log_path,
        .log_fmt      = s->options.log_fmt,
        .stats_file   = s->options.stats_file,
        .stats_format = s->options.stats_format,
        .metrics_file = s->options.metrics_file,
        .renditions   = s->options.renditions,
        .spares_log   = ff_qc_is_alias(ctx), /* libvmaf's filter finds out at the end, and tells nobody */
    };
    const qcr_sink sink = ff_qc_sink(ctx);
    qcr_failure failure;
    char *path = NULL;
    int ret = find_receiver(ctx, &path);

    wishes.lines_path = path;
    if (ret >= 0 && qcr_open_files(&s->files, &wishes, &sink, &failure) < 0)
        ret = ff_qc_fail(ctx, failure.error, "%s", failure.text);
    av_free(path);
    return ret;
}

int ff_qc_recheck_files(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return s->files.stats_error || ff_qc_is_alias(ctx) ? s->files.stats_error : qcr_recheck_logs(&s->files);
}

void ff_qc_write_stats_line(AVFilterContext *ctx, const qc_row *row, double pts_time, double ref_pts_time, uint32_t corrupt)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_stats_row line = { row, pts_time, ref_pts_time, corrupt, s->options.renditions };
    const qcr_sink sink = ff_qc_sink(ctx);

    qcr_write_stats_line(&s->files, s->engine.session, &line, &sink);
}

/* ---- the run as values ---- */

static qcr_report_input report_input(const AVFilterContext *ctx, int index)
{
    const QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[index];
    const qc_format format = ff_qc_visible_format(in);
    const qcr_input met = qcr_pairs_input(s->pairs, index);
    /* Links may be gone when the filter is freed. */
    const int is_timed = ctx->inputs[index] && met.first_pts != AV_NOPTS_VALUE && met.last_pts != AV_NOPTS_VALUE;
    const double seconds = is_timed ? (met.last_pts - met.first_pts) * av_q2d(ctx->inputs[index]->time_base) : NAN;

    return (qcr_report_input) {
        .format     = ff_qc_pix_fmt_name(in->sw_format),
        .width      = format.width,
        .height     = format.height,
        .colour     = in->format.colour,
        .bit_rate   = qcr_bit_rate(in->packet_bytes, met.received, seconds),
        .refusal    = in->refusal,
        .is_refused = in->mispaired,
        .is_stalled = qcr_pairs_is_stalled(s->pairs, index, ff_qc_now()),
        .is_cut_off = in->cut_off,
    };
}

static qcr_report report_of(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;
    const qcr_input reference = qcr_pairs_input(s->pairs, QC_REFERENCE);
    qcr_report report = {
        .renditions         = options->renditions,
        .n_subsample        = options->n_subsample,
        .pool               = s->engine.pool,
        .shows_all_features = options->feature || (options->metrics && strcmp(options->metrics, "vmaf")),
        .is_alias           = ff_qc_is_alias(ctx),
        .is_realtime        = options->realtime,
        .may_give_up        = ff_qc_may_give_up(ctx),
        .watches_contents   = (options->watch && !ff_qc_is_alias(ctx)) || options->align == QC_ALIGN_AUTO,
        .max_dt             = qcr_pairs_tolerance(s->pairs),
        .alignment_rules    = ff_qc_alignment_rules(ctx),

        .end              = s->run.end,
        .only_left_counts = s->run.only_left_counts,
        .has_failed       = !!s->run.failure,
        .reason           = s->run.reason,
        .gpu_failure      = s->engine.gpu_failure,
        .signal           = qcr_interrupted_by(&s->run.interrupts),
        .reference_ended  = reference.ended,
        .behind           = reference.behind,
        .late_scores      = s->queue.tally->late_scores,
        .counts           = ff_qc_counts_of(ctx, 0),
        .scored           = s->queue.tally->scored,
        .failed           = s->queue.tally->failed,
        .conditions       = s->conditions,
        .alignment        = &s->alignment,

        .session = s->engine.session,
        .engine  = qc_session_description(s->engine.session),
    };

    for (int i = 0; i < s->nb_inputs; i++)
        report.input[i] = report_input(ctx, i);
    ff_qc_scored_size(ctx, &report.scored_width, &report.scored_height);
    return report;
}

/* ---- reports ---- */

int ff_qc_write_logs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_report report = report_of(ctx);
    const qcr_sink sink = ff_qc_sink(ctx);

    return ff_qc_error_of_status(qcr_write_logs(&report, &s->files, s->run.reported, &sink));
}

/** @return AVERROR */
static int finish_live(AVFilterContext *ctx, const qcr_report *report)
{
    char *end = qcr_end_members(report);
    const int ret = ff_qc_finish_live(ctx, end ? end : "\"end\": null");
    const int lost = end ? 0 : AVERROR(ENOMEM);

    qcr_free_text(end);
    return ret < 0 ? ret : lost;
}

int ff_qc_report(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_sink sink = ff_qc_sink(ctx);
    qcr_report report;
    int ret = 0, stats, live, said;

    if (s->run.reported)
        return 0;
    s->run.reported = 1;
    /* Without any pair there was no session; the log has to say so all the same. */
    if (!s->engine.session && (!s->run.failure || s->run.is_refused || s->run.gave_up) && s->files.log[0] &&
        !ff_qc_is_alias(ctx)) {
        ret = ff_qc_open_session(ctx);
        if (ret >= 0)
            qc_session_flush(s->engine.session);
    }
    ff_qc_say_findings(ctx, ff_qc_counts_of(ctx, 0)->paired);
    if (ret >= 0)
        ret = ff_qc_write_logs(ctx);
    stats = qcr_finish_stats(&s->files, &sink);
    report = report_of(ctx);
    live = finish_live(ctx, &report);
    said = ff_qc_error_of_status(qcr_say_summary(&report, &sink));
    if (said < 0)
        av_log(ctx, AV_LOG_ERROR, "the summary is not complete: %s\n", av_err2str(said));
    qcr_live_sum_up(s->live.run);
    if (stats < 0)
        av_log(ctx, AV_LOG_ERROR, "stats_file=%s is not complete: %s\n", s->files.stats.name, av_err2str(stats));
    return ret < 0 ? ret : stats < 0 ? stats : live < 0 ? live : said < 0 ? said : s->run.refused_rendition;
}
