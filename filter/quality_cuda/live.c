/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What watches the scores while the run goes on; see live.h. Depends on
 * stream, windows, alerts, metrics_file, engine, files and state.
 */

#include "compat.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libavutil/bprint.h"
#include "libavutil/dict.h"

#include "json.h"
#include "live.h"
#include "metrics_file.h"
#include "queue.h"
#include "state.h"

#define DEFAULT_WINDOW 1000000 /* microseconds, where metrics_file needs one and none was asked for */
#define PATIENCE       3000000 /* microseconds that a receiver has at the end */
#define SHORT_PATIENCE 1000000 /* and where the program was told to stop */
#define LATE_SCORES    1000000 /* microseconds: a step back that is no jump of the stream's time, but a score that came late */

/* ---- options ---- */

static int parse_alert(AVFilterContext *ctx, const char *text, size_t length)
{
    QualityCudaContext *s = ctx->priv;
    QCLive *live = &s->live;
    const char *wrong;

    if (live->nb_alerts == QC_MAX_ALERTS)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "alert=%s has more than %d conditions", s->options.alert, QC_MAX_ALERTS);
    wrong = ff_qc_alert_parse(text, length, &live->alert[live->nb_alerts]);
    if (wrong)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "alert=%s: %.*s: %s; accepted: conditions like vmaf<80:2s, joined by |",
                          s->options.alert, (int)length, text, wrong);
    for (int i = 0; i < live->nb_alerts; i++)
        if (!strcmp(live->alert[i].name, live->alert[live->nb_alerts].name))
            return ff_qc_fail(ctx, AVERROR(EINVAL), "alert=%s has %s twice", s->options.alert, live->alert[i].name);
    live->nb_alerts++;
    return 0;
}

static int parse_alerts(AVFilterContext *ctx)
{
    const char *at = ((const QualityCudaContext *)ctx->priv)->options.alert;
    int ret = 0;

    while (ret >= 0 && at) {
        const size_t length = strcspn(at, "|");

        ret = parse_alert(ctx, at, length);
        at  = at[length] ? at + length + 1 : NULL;
    }
    return ret;
}

int ff_qc_check_live(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;
    const int has_lines = options->log_fmt && !strcmp(options->log_fmt, "jsonl");
    const int has_metrics = options->metrics_file && *options->metrics_file;

    if (options->window && !has_lines && !has_metrics)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "window=%ss needs log_fmt=jsonl or metrics_file, which say what became of each "
                          "window", QC_BRIEF_NUMBER(options->window / 1e6));
    s->live.window.length = options->window ? options->window : has_metrics ? DEFAULT_WINDOW : 0;
    return parse_alerts(ctx);
}

/** The scores that there are, for a message. */
static void list_scores(const QualityCudaContext *s, AVBPrint *out)
{
    for (int i = 0; i < ff_qc_nb_scores(s); i++)
        av_bprintf(out, "%s%s", i ? ", " : "", ff_qc_score_name(&s->engine, i));
}

int ff_qc_find_alerts(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret = 0;

    for (int a = 0; ret >= 0 && a < s->live.nb_alerts; a++) {
        QCAlert *alert = &s->live.alert[a];
        AVBPrint names;

        alert->column = 0;
        while (alert->column < ff_qc_nb_scores(s) && strcmp(ff_qc_score_name(&s->engine, alert->column), alert->score))
            alert->column++;
        if (alert->column < ff_qc_nb_scores(s))
            continue;
        av_bprint_init(&names, 0, AV_BPRINT_SIZE_UNLIMITED);
        list_scores(s, &names);
        ret = ff_qc_fail(ctx, AVERROR(EINVAL), "alert=%s: there is no score %s; accepted: %s", s->options.alert, alert->score,
                         names.str);
        av_bprint_finalize(&names, NULL);
    }
    return ret;
}

/* ---- lines ---- */

static void begin_line(AVBPrint *line, const char *type)
{
    av_bprint_init(line, 0, AV_BPRINT_SIZE_UNLIMITED);
    av_bprintf(line, "{\"type\": \"%s\"", type);
}

static void add_number(AVBPrint *line, const char *key, double value)
{
    char text[64];

    ff_qc_json_number(text, sizeof(text), value);
    av_bprintf(line, "%s\"%s\": %s", line->str[line->len - 1] == '{' ? "" : ", ", key, text);
}

static void add_string(AVBPrint *line, const char *key, const char *value)
{
    av_bprintf(line, ", \"%s\": ", key);
    ff_qc_json_string(line, value);
}

/** The thread is started with the first line: the command line makes a filter just to count its pads. */
static void end_line(AVFilterContext *ctx, AVBPrint *line)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_target *target = &s->files.stream;
    QCStream *stream = &s->live.stream;
    int ret = 0;

    av_bprintf(line, "}\n");
    if (!stream->is_running && !s->live.is_finished && !stream->error) {
        ret = ff_qc_stream_start(stream, ctx, target->name, &target->path, target->append, s->options.log_queue);
        if (ret < 0) {
            stream->error = ret;
            av_log(ctx, AV_LOG_ERROR, "log_path=%s cannot be written: %s\n", target->name, av_err2str(ret));
        }
    }
    if (stream->is_running && av_bprint_is_complete(line))
        ff_qc_stream_send(stream, line->str, line->len);
    av_bprint_finalize(line, NULL);
}

static void add_active_alerts(const QCLive *live, AVBPrint *line)
{
    int count = 0;

    if (!live->nb_alerts)
        return;
    av_bprintf(line, ", \"alerts\": [");
    for (int a = 0; a < live->nb_alerts; a++) {
        if (!live->alert[a].is_active)
            continue;
        av_bprintf(line, "%s", count++ ? ", " : "");
        ff_qc_json_string(line, live->alert[a].name);
    }
    av_bprintf(line, "]");
}

/** The inputs whose frames are damaged, if there are any. */
static void add_corrupt(const AVFilterContext *ctx, uint32_t corrupt, AVBPrint *line)
{
    int count = 0;

    for (int i = 0; corrupt >> i; i++)
        if (corrupt >> i & 1)
            av_bprintf(line, "%s\"%s\"", count++ ? ", " : ", \"corrupt\": [", ff_qc_role(ctx, i));
    if (count)
        av_bprintf(line, "]");
}

static void write_frame(AVFilterContext *ctx, const QCPending *entry)
{
    const QualityCudaContext *s = ctx->priv;
    AVBPrint line;

    begin_line(&line, "frame");
    if (entry->present)
        av_bprintf(&line, ", \"n\": %"PRId64, entry->row);
    add_number(&line, "pts_time", entry->pts_time);
    if (entry->present) {
        add_number(&line, "ref_pts_time", entry->ref_pts_time);
        av_bprintf(&line, ", \"scores\": {");
        for (int i = 0; i < ff_qc_nb_scores(s); i++)
            if (entry->present[i])
                add_number(&line, ff_qc_score_name(&s->engine, i), entry->value[i]);
        av_bprintf(&line, "}");
    } else {
        add_string(&line, "unscored", entry->unscored ? entry->unscored : "unpaired");
    }
    add_corrupt(ctx, entry->corrupt, &line);
    add_active_alerts(&s->live, &line);
    end_line(ctx, &line);
}

/* ---- windows ---- */

static void write_window(AVFilterContext *ctx, const QCWindowScore *scores)
{
    const QualityCudaContext *s = ctx->priv;
    const QCWindow *window = &s->live.window;
    int count = 0;
    AVBPrint line;

    begin_line(&line, "window");
    add_number(&line, "start", ff_qc_window_start(window) / 1e6);
    add_number(&line, "end", ff_qc_window_end(window) / 1e6);
    av_bprintf(&line, ", \"frames\": %d, \"scored\": %d, \"scores\": {", window->frames, window->scored);
    for (int i = 0; scores && i < window->columns; i++) {
        if (!scores[i].count)
            continue;
        av_bprintf(&line, "%s\"%s\": {", count++ ? ", " : "", ff_qc_score_name(&s->engine, i));
        add_number(&line, "mean", scores[i].mean);
        add_number(&line, "min", scores[i].min);
        add_number(&line, "p5", scores[i].p5);
        av_bprintf(&line, ", \"count\": %d}", scores[i].count);
    }
    av_bprintf(&line, "}");
    add_active_alerts(&s->live, &line);
    end_line(ctx, &line);
}

static void close_window(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCLive *live = &s->live;
    QCWindow *window = &live->window;

    if (!live->latest && window->columns)
        live->latest = av_calloc(window->columns, sizeof(*live->latest));
    for (int i = 0; live->latest && i < window->columns; i++)
        live->latest[i] = ff_qc_window_pool(window, i);
    live->latest_start = ff_qc_window_start(window);
    live->latest_end   = ff_qc_window_end(window);
    if (s->files.is_stream && s->options.window)
        write_window(ctx, live->latest);
    ff_qc_window_clear(window);
    ff_qc_write_metrics(ctx, 1);
}

static void add_to_window(AVFilterContext *ctx, const QCPending *entry)
{
    QualityCudaContext *s = ctx->priv;
    QCWindow *window = &s->live.window;

    if (!window->columns)
        window->columns = ff_qc_nb_scores(s);
    if (ff_qc_window_add(window, s->live.time, entry->value, entry->present))
        ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
}

/* ---- alerts ---- */

static void write_alert(AVFilterContext *ctx, const QCAlert *alert, const char *event, double time, double value, const char *reason)
{
    const QualityCudaContext *s = ctx->priv;
    AVBPrint line;

    if (!s->files.is_stream)
        return;
    begin_line(&line, "alert");
    add_string(&line, "event", event);
    add_string(&line, "alert", alert->name);
    add_number(&line, "pts_time", time);
    add_number(&line, "since", alert->since);
    add_number(&line, "value", value);
    add_number(&line, "worst", alert->worst);
    if (reason)
        add_string(&line, "reason", reason);
    end_line(ctx, &line);
}

static void begin_alert(AVFilterContext *ctx, const QCAlert *alert, double time, double value)
{
    av_log(ctx, AV_LOG_WARNING, "alert %s begins at %s s: %s, since %s s\n", alert->name, QC_NUMBER(3, time), QC_NUMBER(6, value),
           QC_NUMBER(3, alert->since));
    write_alert(ctx, alert, "begin", time, value, NULL);
}

static void end_alert(AVFilterContext *ctx, const QCAlert *alert, double time, double value, const char *reason)
{
    av_log(ctx, AV_LOG_WARNING, "alert %s ends at %s s%s%s: since %s s, worst %s\n", alert->name, QC_NUMBER(3, time),
           reason ? ", " : "", reason ? reason : "", QC_NUMBER(3, alert->since), QC_NUMBER(6, alert->worst));
    write_alert(ctx, alert, "end", time, value, reason);
}

/** @param changes what becomes of each */
static void update_alerts(QualityCudaContext *s, const QCPending *entry, enum QCAlertChange *changes)
{
    for (int a = 0; a < s->live.nb_alerts; a++) {
        QCAlert *alert = &s->live.alert[a];

        changes[a] = entry->present && entry->present[alert->column] ?
                     ff_qc_alert_update(alert, entry->value[alert->column], s->live.time / 1e6) : QC_ALERT_UNCHANGED;
    }
}

static void announce_alerts(AVFilterContext *ctx, const QCPending *entry, const enum QCAlertChange *changes)
{
    const QualityCudaContext *s = ctx->priv;

    for (int a = 0; a < s->live.nb_alerts; a++) {
        const QCAlert *alert = &s->live.alert[a];

        if (changes[a] == QC_ALERT_BEGINS)
            begin_alert(ctx, alert, s->live.time / 1e6, entry->value[alert->column]);
        else if (changes[a] == QC_ALERT_ENDS)
            end_alert(ctx, alert, s->live.time / 1e6, entry->value[alert->column], NULL);
    }
}

int ff_qc_tag_alerts(const AVFilterContext *ctx, AVFrame *frame)
{
    const QualityCudaContext *s = ctx->priv;
    AVBPrint names;
    int ret;

    if (!s->live.nb_alerts)
        return 0;
    av_bprint_init(&names, 0, AV_BPRINT_SIZE_UNLIMITED);
    for (int a = 0; a < s->live.nb_alerts; a++)
        if (s->live.alert[a].is_active)
            av_bprintf(&names, "%s%s", names.len ? "|" : "", s->live.alert[a].name);
    /* Without any, that of a filter before this one goes. */
    ret = av_dict_set(&frame->metadata, QC_KEY_PREFIX "alert", names.len ? names.str : NULL, 0);
    av_bprint_finalize(&names, NULL);
    return ret;
}

/* ---- the run ---- */

static int is_watching(const QualityCudaContext *s)
{
    return s->files.is_stream || s->live.nb_alerts || s->live.window.length;
}

/** Scores may come when later frames have left already; only what jumps further is a jump of the stream. */
static void follow_time(QCLive *live, double pts_time)
{
    const int64_t time = isnan(pts_time) ? live->time : llrint(pts_time * 1e6);

    if (time > live->time || live->time - time > LATE_SCORES || !live->frames)
        live->time = time;
}

void ff_qc_watch_frame(AVFilterContext *ctx, const QCPending *entry)
{
    QualityCudaContext *s = ctx->priv;
    QCLive *live = &s->live;
    enum QCAlertChange changes[QC_MAX_ALERTS];

    if (!is_watching(s) || entry->has_ghost || live->is_finished)
        return;
    follow_time(live, entry->pts_time);
    live->frames++;
    live->scored   += !!entry->present;
    live->realtime += entry->unscored && !strcmp(entry->unscored, "realtime");
    if (live->window.length && ff_qc_window_closes(&live->window, live->time))
        close_window(ctx);
    if (live->window.length)
        add_to_window(ctx, entry);
    update_alerts(s, entry, changes);
    if (s->files.is_stream && !s->options.window)
        write_frame(ctx, entry);
    announce_alerts(ctx, entry, changes);
}

void ff_qc_announce_pace(AVFilterContext *ctx, int is_overloaded, double time, int64_t passed)
{
    const QualityCudaContext *s = ctx->priv;
    AVBPrint line;

    if (is_overloaded)
        av_log(ctx, AV_LOG_WARNING, "realtime=1: from %s s on scoring is slower than the stream, frames pass without scores\n",
               QC_NUMBER(3, time));
    else
        av_log(ctx, AV_LOG_WARNING, "realtime=1: scoring keeps up again at %s s; frames that passed without scores:%"PRId64"\n",
               QC_NUMBER(3, time), passed);
    if (!s->files.is_stream)
        return;
    begin_line(&line, "realtime");
    add_string(&line, "event", is_overloaded ? "overloaded" : "recovered");
    add_number(&line, "pts_time", time);
    av_bprintf(&line, ", \"passed\": %"PRId64, passed);
    end_line(ctx, &line);
}

/** The receiver wants to know the whole run's scores, too. */
static void add_pooled(const QualityCudaContext *s, AVBPrint *line)
{
    static const qc_pool pools[] = { QC_POOL_MEAN, QC_POOL_HARMONIC_MEAN, QC_POOL_MIN, QC_POOL_P5 };
    int count = 0;

    av_bprintf(line, ", \"scores\": {");
    for (int i = 0; s->engine.session && i < ff_qc_nb_scores(s); i++) {
        const int rendition = i / s->engine.feature_count, feature = i % s->engine.feature_count;
        double value;

        if (qc_session_pooled(s->engine.session, rendition, feature, pools[0], &value) != QC_OK)
            continue;
        av_bprintf(line, "%s\"%s\": {", count++ ? ", " : "", ff_qc_score_name(&s->engine, i));
        for (size_t k = 0; k < FF_ARRAY_ELEMS(pools); k++)
            if (qc_session_pooled(s->engine.session, rendition, feature, pools[k], &value) == QC_OK)
                add_number(line, qc_pool_name(pools[k]), value);
        av_bprintf(line, "}");
    }
    av_bprintf(line, "}");
}

static void write_end(AVFilterContext *ctx, const char *end)
{
    QualityCudaContext *s = ctx->priv;
    const QCLive *live = &s->live;
    AVBPrint line;

    begin_line(&line, "end");
    av_bprintf(&line, ", %s, \"frames\": %"PRId64", \"scored\": %"PRId64", \"unscored\": %"PRId64", \"dropped\": %"PRId64, end,
               live->frames, live->scored, live->frames - live->scored, ff_qc_stream_counts(&s->live.stream).dropped);
    add_pooled(s, &line);
    end_line(ctx, &line);
}

int ff_qc_finish_live(AVFilterContext *ctx, const char *end)
{
    QualityCudaContext *s = ctx->priv;
    QCLive *live = &s->live;
    int ret;

    if (!is_watching(s) || live->is_finished)
        return 0;
    for (int a = 0; a < live->nb_alerts; a++) {
        if (live->alert[a].is_active)
            end_alert(ctx, &live->alert[a], live->time / 1e6, NAN, "the run ends");
        live->alert[a].is_active = 0;
    }
    if (live->window.is_open)
        close_window(ctx);
    ff_qc_write_metrics(ctx, 0);
    if (s->files.is_stream)
        write_end(ctx, end);
    live->is_finished = 1;
    ret = ff_qc_stream_finish(&live->stream, ff_qc_interrupted_by(&s->run.interrupts) ? SHORT_PATIENCE : PATIENCE);
    return ret < 0 ? ret : live->metrics_error;
}

void ff_qc_print_live(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCStreamCounts *counts = &s->live.stream.counts;

    if (s->files.is_stream)
        av_log(ctx, counts->dropped ? AV_LOG_WARNING : AV_LOG_INFO, "log_path=%s: lines:%"PRId64" dropped:%"PRId64
               " receivers:%"PRId64"\n", s->files.stream.name, counts->lines, counts->dropped, counts->receivers);
    for (int a = 0; a < s->live.nb_alerts; a++)
        av_log(ctx, AV_LOG_INFO, "alert %s: times:%lld\n", s->live.alert[a].name, s->live.alert[a].times);
    if (s->live.metrics_error)
        av_log(ctx, AV_LOG_ERROR, "metrics_file=%s could not always be written: %s\n", s->files.metrics.name,
               av_err2str(s->live.metrics_error));
}

void ff_qc_free_live(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    ff_qc_stream_finish(&s->live.stream, 0);
    ff_qc_window_free(&s->live.window);
    av_freep(&s->live.latest);
}
