/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * @file
 * What the user gets to read; see reports.h. Depends on engine, files, formats
 * and state.
 */

#include "compat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/bprint.h"
#include "libavutil/macros.h"

#include "formats.h"
#include "reports.h"
#include "state.h"

#define STATS_LINE 1024 /* bytes that the engine needs for one */

/** Key of a score as the user reads it: "vmaf", "1.vmaf". */
static const char *short_key(const QCEngine *engine, int index)
{
    return engine->keys[index] + strlen(QC_KEY_PREFIX);
}

static int64_t scored_frames(const QualityCudaContext *s)
{
    return s->engine.session ? qc_session_scored_frames(s->engine.session) : 0;
}

/* ---- lines of statistics ---- */

static void write_scores_line(const QualityCudaContext *s, const qc_row *row, double pts_time, double ref_pts_time)
{
    FILE *stats = s->files.stats;
    char value[64];

    fprintf(stats, "n:%"PRId64, row->frame);
    ff_qc_print_score(value, sizeof(value), pts_time);
    fprintf(stats, " pts_time:%s", value);
    ff_qc_print_score(value, sizeof(value), ref_pts_time);
    fprintf(stats, " ref_pts_time:%s", value);
    for (int i = 0; i < s->options.renditions * s->engine.feature_count; i++) {
        if (!row->present[i])
            continue;
        ff_qc_print_score(value, sizeof(value), row->value[i]);
        fprintf(stats, " %s:%s", short_key(&s->engine, i), value);
    }
    fputc('\n', stats);
}

void ff_qc_write_stats_line(AVFilterContext *ctx, const qc_row *row, double pts_time, double ref_pts_time)
{
    const QualityCudaContext *s = ctx->priv;
    char line[STATS_LINE] = "";

    if (!s->files.stats)
        return;
    if (s->files.stats_format == QC_STATS_FORMAT_NONE)
        write_scores_line(s, row, pts_time, ref_pts_time);
    else if (qc_session_stats_line(s->engine.session, row, line, sizeof(line)) == QC_OK && *line)
        fprintf(s->files.stats, "%s\n", line);
    fflush(s->files.stats);
}

/* ---- logs ---- */

static void json_string(AVBPrint *out, const char *text)
{
    av_bprint_chars(out, '"', 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            av_bprint_chars(out, '\\', 1);
        av_bprint_chars(out, (unsigned char)*text < ' ' ? ' ' : *text, 1);
    }
    av_bprint_chars(out, '"', 1);
}

static void pairing_json(const QualityCudaContext *s, AVBPrint *out)
{
    const QCCounts *counts = &s->counts;
    char max_abs[64], mean[64];

    ff_qc_print_score(max_abs, sizeof(max_abs), counts->max_abs_dt);
    ff_qc_print_score(mean, sizeof(mean), ff_qc_mean_dt(counts));
    av_bprintf(out, "{\"frames\": %"PRId64", \"paired\": %"PRId64", \"scored\": %"PRId64", \"unscored\": %"PRId64
               ", \"before_reference\": %"PRId64", \"after_reference\": %"PRId64", \"gaps\": %"PRId64", \"disabled\": %"PRId64
               ", \"untimed\": %"PRId64", \"reference_repeated\": %"PRId64", \"reference_unused\": %"PRId64
               ", \"max_abs_dt\": %s, \"mean_dt\": %s}",
               counts->frames, counts->paired, scored_frames(s), ff_qc_unscored(counts), counts->before, counts->after,
               counts->gaps, counts->disabled, counts->untimed, counts->repeated,
               ff_qc_track_unused(&s->input[QC_REFERENCE].track), max_abs, mean);
}

static const char *end_of_run(const QCRun *run)
{
    if (run->failure)
        return "failure";
    return run->done ? "end of stream" : "stopped early";
}

static qc_status write_one_log(const QualityCudaContext *s, int rendition, const char *path, int complete)
{
    enum { EXTRA_PAIRING, EXTRA_END, EXTRA_ENGINE, EXTRA_DISTORTED, EXTRA_REFERENCE, EXTRA_COUNT };
    static const char *const keys[EXTRA_COUNT] = { "pairing", "end", "engine", "distorted_format", "reference_format" };
    qc_session *session = s->engine.session;
    qc_log_extra extra[EXTRA_COUNT];
    AVBPrint text[EXTRA_COUNT];
    qc_status status;

    for (int i = 0; i < EXTRA_COUNT; i++)
        av_bprint_init(&text[i], 0, AV_BPRINT_SIZE_UNLIMITED);
    pairing_json(s, &text[EXTRA_PAIRING]);
    json_string(&text[EXTRA_END], end_of_run(&s->run));
    json_string(&text[EXTRA_ENGINE], qc_session_description(session));
    json_string(&text[EXTRA_DISTORTED], ff_qc_pix_fmt_name(s->input[rendition ? 1 + rendition : 0].sw_format));
    json_string(&text[EXTRA_REFERENCE], ff_qc_pix_fmt_name(s->input[QC_REFERENCE].sw_format));
    for (int i = 0; i < EXTRA_COUNT; i++) {
        extra[i].key        = keys[i];
        extra[i].json_value = av_bprint_is_complete(&text[i]) ? text[i].str : "null";
    }
    status = qc_session_write_log(session, rendition, path, s->files.log_format, complete, extra, EXTRA_COUNT);
    for (int i = 0; i < EXTRA_COUNT; i++)
        av_bprint_finalize(&text[i], NULL);
    return status;
}

int ff_qc_write_logs(AVFilterContext *ctx, int complete)
{
    const QualityCudaContext *s = ctx->priv;
    const char *log = s->files.log;

    for (int k = 0; log && s->engine.session && k < s->options.renditions; k++) {
        char suffix[32];
        char *path;
        qc_status status;

        snprintf(suffix, sizeof(suffix), ".rendition%d", k);
        path = k ? ff_qc_insert_before_extension(log, suffix) : av_strdup(log);
        if (!path)
            return AVERROR(ENOMEM);
        status = write_one_log(s, k, path, complete);
        if (status != QC_OK) {
            av_log(ctx, AV_LOG_ERROR, "log %s could not be written: %s\n", path, qc_session_error(s->engine.session));
            av_free(path);
            return ff_qc_error_of_status(status);
        }
        av_log(ctx, AV_LOG_VERBOSE, "log written to %s\n", path);
        av_free(path);
    }
    return 0;
}

/* ---- summary ---- */

static void append_pooled(const QCEngine *engine, AVBPrint *line, int rendition, int feature, qc_pool pool)
{
    char text[64];
    double value;

    if (qc_session_pooled(engine->session, rendition, feature, pool, &value) != QC_OK)
        return;
    ff_qc_print_score(text, sizeof(text), value);
    av_bprintf(line, " %s:%s", qc_pool_name(pool), text);
}

static void print_feature(AVFilterContext *ctx, int rendition, int index, int level)
{
    static const qc_pool pools[] = { QC_POOL_MEAN, QC_POOL_HARMONIC_MEAN, QC_POOL_MIN, QC_POOL_MAX, QC_POOL_P5 };
    const QualityCudaContext *s = ctx->priv;
    const QCEngine *engine = &s->engine;
    int listed = 0;
    AVBPrint line;

    av_bprint_init(&line, 0, AV_BPRINT_SIZE_AUTOMATIC);
    for (size_t i = 0; i < FF_ARRAY_ELEMS(pools); i++) {
        append_pooled(engine, &line, rendition, index, pools[i]);
        listed |= pools[i] == engine->pool;
    }
    if (!listed)
        append_pooled(engine, &line, rendition, index, engine->pool);
    av_log(ctx, level, "quality_cuda %s%s frames:%"PRId64" scored:%"PRId64"\n",
           short_key(engine, rendition * engine->feature_count + index),
           line.len ? line.str : " no value, or not in every scored frame;", s->counts.frames, scored_frames(s));
}

/** A bootstrap collection's spread is a model output too, but no score. */
static int is_headline(const qc_feature *feature)
{
    static const char *const spreads[] = { "_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi" };
    const size_t length = strlen(feature->key);

    for (size_t i = 0; i < FF_ARRAY_ELEMS(spreads); i++) {
        const size_t tail = strlen(spreads[i]);
        if (length > tail && !strcmp(feature->key + length - tail, spreads[i]))
            return 0;
    }
    return feature->is_model;
}

static void print_vmaf_score(AVFilterContext *ctx, int rendition, int index, const qc_feature *feature)
{
    const QualityCudaContext *s = ctx->priv;
    const QCEngine *engine = &s->engine;
    char text[64], where[32] = "";
    double value;

    if (!is_headline(feature) || qc_session_pooled(engine->session, rendition, index, engine->pool, &value) != QC_OK)
        return;
    ff_qc_print_score(text, sizeof(text), value);
    if (rendition)
        snprintf(where, sizeof(where), ", rendition %d", rendition);
    if (rendition || strcmp(feature->key, "vmaf"))
        av_log(ctx, AV_LOG_INFO, "VMAF score: %s (%s%s)\n", text, feature->name, where);
    else
        av_log(ctx, AV_LOG_INFO, "VMAF score: %s\n", text);
}

/** Features that only feed the default model would drown its score: they are shown with -v verbose. */
static int features_were_asked_for(const QCOptions *options)
{
    return options->feature || (options->metrics && strcmp(options->metrics, "vmaf"));
}

static void print_scores(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const int asked_for = features_were_asked_for(&s->options);
    qc_feature feature;

    for (int k = 0; k < s->options.renditions; k++)
        for (int f = 0; f < s->engine.feature_count; f++)
            if (qc_session_feature(s->engine.session, f, &feature) == QC_OK)
                print_feature(ctx, k, f, feature.is_model || asked_for ? AV_LOG_INFO : AV_LOG_VERBOSE);
    for (int k = 0; k < s->options.renditions; k++)
        for (int f = 0; f < s->engine.feature_count; f++)
            if (qc_session_feature(s->engine.session, f, &feature) == QC_OK)
                print_vmaf_score(ctx, k, f, &feature);
}

static void print_pairing(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCCounts *counts = &s->counts;
    const int64_t unused = ff_qc_track_unused(&s->input[QC_REFERENCE].track), unscored = ff_qc_unscored(counts);
    const int exact = unscored == counts->disabled && !counts->repeated && !unused && !s->queue.late_scores;

    av_log(ctx, exact ? AV_LOG_INFO : AV_LOG_WARNING, "frames:%"PRId64" scored:%"PRId64" unscored:%"PRId64
           " (before the reference:%"PRId64" after it:%"PRId64" in gaps:%"PRId64" disabled:%"PRId64" without time stamp:%"PRId64
           ") reference frames repeated:%"PRId64" unused:%"PRId64" max |dt|:%s mean dt:%s\n",
           counts->frames, scored_frames(s), unscored, counts->before, counts->after, counts->gaps, counts->disabled,
           counts->untimed, counts->repeated, unused, QC_NUMBER(6, counts->max_abs_dt), QC_NUMBER(6, ff_qc_mean_dt(counts)));
}

static void print_summary(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCCounts *counts = &s->counts;

    print_pairing(ctx);
    if (s->run.failure) {
        av_log(ctx, AV_LOG_WARNING, "INCOMPLETE after %"PRId64" frames\n", scored_frames(s));
        return;
    }
    if (!s->run.done)
        av_log(ctx, AV_LOG_INFO, "stopped before the inputs ended; the scores are those of the frames up to there\n");
    if (counts->paired)
        print_scores(ctx);
    else
        av_log(ctx, AV_LOG_ERROR, "no frame was scored%s\n",
               counts->frames > counts->disabled && s->input[QC_REFERENCE].received ?
               ": the time stamps never overlap; use align=start, setpts=PTS-STARTPTS or sync=index" : "");
}

int ff_qc_report(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret = 0;

    if (s->run.reported)
        return 0;
    s->run.reported = 1;
    /* Without any pair there was no session; the log has to say so all the same. */
    if (!s->engine.session && !s->run.failure && s->files.log) {
        ret = ff_qc_open_session(ctx);
        if (ret >= 0)
            qc_session_flush(s->engine.session);
    }
    if (ret >= 0)
        ret = ff_qc_write_logs(ctx, !s->run.failure);
    print_summary(ctx);
    return ret;
}

void ff_qc_running_scores(AVFilterContext *ctx, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const QCEngine *engine = &s->engine;

    for (int i = 0; i < s->options.renditions * engine->feature_count; i++) {
        double value;
        char text[64];

        if (qc_session_pooled(engine->session, i / engine->feature_count, i % engine->feature_count, engine->pool,
                              &value) != QC_OK)
            continue;
        ff_qc_print_score(text, sizeof(text), value);
        av_bprintf(out, "%s%s:%s", out->len ? " " : "", short_key(engine, i), text);
    }
}
