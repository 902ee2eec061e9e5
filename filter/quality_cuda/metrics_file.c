/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * A file with the state of the run for Prometheus; see metrics_file.h. Depends
 * on engine, files and state.
 */

#include "compat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"

#include "metrics_file.h"
#include "state.h"

#define NAME_PREFIX "quality_cuda_"

/** Files of several processes are read together: this tells their series apart. */
static void open_labels(const QualityCudaContext *s, AVBPrint *out)
{
    const char *name = av_basename(s->files.metrics.name), *dot = strrchr(name, '.');
    const size_t length = dot && dot != name ? (size_t)(dot - name) : strlen(name);

    av_bprintf(out, "{stream=\"");
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '\n')
            av_bprintf(out, "\\n");
        else
            av_bprintf(out, "%s%c", name[i] == '"' || name[i] == '\\' ? "\\" : "", name[i]);
    }
    av_bprintf(out, "\"");
}

static void describe(AVBPrint *out, const char *name, const char *type, const char *help)
{
    av_bprintf(out, "# HELP " NAME_PREFIX "%s %s\n# TYPE " NAME_PREFIX "%s %s\n", name, help, name, type);
}

/** One sample; labels: a further label with its value, quoted, or empty. */
static void sample(const QualityCudaContext *s, AVBPrint *out, const char *name, const char *labels, double value)
{
    char text[64];

    if (isfinite(value))
        ff_qc_number(text, sizeof(text), value == floor(value) && fabs(value) < 1e15 ? 0 : 6, value);
    else
        av_strlcpy(text, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf", sizeof(text));
    av_bprintf(out, NAME_PREFIX "%s", name);
    open_labels(s, out);
    av_bprintf(out, "%s%s} %s\n", *labels ? "," : "", labels, text);
}

static void single(const QualityCudaContext *s, AVBPrint *out, const char *name, const char *type, const char *help, double value)
{
    describe(out, name, type, help);
    sample(s, out, name, "", value);
}

static void write_counters(const QualityCudaContext *s, AVBPrint *out, int is_running)
{
    const QCLive *live = &s->live;

    single(s, out, "running", "gauge", "1 while frames may follow, 0 behind the end of the run.", is_running);
    single(s, out, "frames_total", "counter", "Frames of the distorted input that left.", live->frames);
    single(s, out, "scored_frames_total", "counter", "Those of them that have scores.", live->scored);
    single(s, out, "passed_frames_total", "counter", "Those of them that have none, for whatever reason.", live->frames - live->scored);
    single(s, out, "realtime_passed_frames_total", "counter", "Those that have none because scoring was slower than the stream.",
           live->realtime);
    single(s, out, "dropped_lines_total", "counter", "Lines of log_path that its receiver did not take.",
           ff_qc_stream_counts((QCStream *)&live->stream).dropped);
}

static void write_alerts(const QualityCudaContext *s, AVBPrint *out)
{
    const QCLive *live = &s->live;
    char label[QC_ALERT_NAME + 16];

    if (!live->nb_alerts)
        return;
    describe(out, "alerts_total", "counter", "How often the alert has begun.");
    for (int a = 0; a < live->nb_alerts; a++) {
        snprintf(label, sizeof(label), "alert=\"%s\"", live->alert[a].name);
        sample(s, out, "alerts_total", label, live->alert[a].times);
    }
    describe(out, "alert_active", "gauge", "1 while the alert's condition holds, for as long as it has to.");
    for (int a = 0; a < live->nb_alerts; a++) {
        snprintf(label, sizeof(label), "alert=\"%s\"", live->alert[a].name);
        sample(s, out, "alert_active", label, live->alert[a].is_active);
    }
}

/** One statistic of each score. */
static void write_scores(const QualityCudaContext *s, AVBPrint *out, const char *name, const char *help, size_t offset)
{
    const QCLive *live = &s->live;

    describe(out, name, "gauge", help);
    for (int i = 0; i < ff_qc_nb_scores(s); i++) {
        const char *key = ff_qc_score_name(&s->engine, i % s->engine.feature_count); /* rendition 0 has no prefix */
        char label[256];

        if (!live->latest[i].count)
            continue;
        snprintf(label, sizeof(label), "rendition=\"%d\",score=\"%s\"", i / s->engine.feature_count, key);
        sample(s, out, name, label, *(const double *)((const char *)&live->latest[i] + offset));
    }
}

static void write_window(const QualityCudaContext *s, AVBPrint *out)
{
    const QCLive *live = &s->live;

    if (!live->latest)
        return;
    single(s, out, "window_start_seconds", "gauge", "Time of the stream at which the window of the scores begins.",
           live->latest_start / 1e6);
    single(s, out, "window_end_seconds", "gauge", "Time of the stream at which it ends.", live->latest_end / 1e6);
    write_scores(s, out, "score_mean", "Mean of a score in the latest window.", offsetof(QCWindowScore, mean));
    write_scores(s, out, "score_min", "Least value of a score in the latest window.", offsetof(QCWindowScore, min));
    write_scores(s, out, "score_p5", "5th percentile of a score in the latest window.", offsetof(QCWindowScore, p5));
}

void ff_qc_write_metrics(AVFilterContext *ctx, int is_running)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_target *target = &s->files.metrics;
    AVBPrint text;
    int ret;

    if (!target->name)
        return;
    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    write_counters(s, &text, is_running);
    write_alerts(s, &text);
    write_window(s, &text);
    ret = av_bprint_is_complete(&text) ? qcr_replace_file(&target->path, text.str, text.len) : AVERROR(ENOMEM);
    av_bprint_finalize(&text, NULL);
    if (ret >= 0 || s->live.metrics_error)
        return;
    s->live.metrics_error = ret;
    av_log(ctx, AV_LOG_ERROR, "metrics_file=%s cannot be written: %s; it is tried again with each window\n", target->name,
           av_err2str(ret));
}
