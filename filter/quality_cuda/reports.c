/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What the user gets to read; see reports.h. Depends on live, engine, files,
 * formats, replay and state.
 */

#include "compat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/macros.h"

#include "alignment.h"
#include "conditions.h"
#include "formats.h"
#include "json.h"
#include "ladder.h"
#include "live.h"
#include "replay.h"
#include "reports.h"
#include "state.h"

#define STATS_LINE 1024 /* bytes that the engine needs for one */

/** Every frame that counts has a reference frame of its own, and every reference frame was one. */
static int is_exact(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_counts *counts = ff_qc_counts_of(ctx, 0);
    const int reads_to_the_end = s->run.only_left_counts || s->input[QC_REFERENCE].track.ended;

    return qcr_unscored(counts) == counts->disabled && !s->queue.tally->failed[0] && !counts->repeated && !counts->unused && reads_to_the_end &&
           !s->queue.tally->late_scores;
}

/* ---- lines of statistics ---- */

static void append_scores(const QualityCudaContext *s, const qc_row *row, double pts_time, double ref_pts_time, AVBPrint *line)
{
    char value[64];

    av_bprintf(line, "n:%"PRId64, row->frame);
    ff_qc_print_score(value, sizeof(value), pts_time);
    av_bprintf(line, " pts_time:%s", value);
    ff_qc_print_score(value, sizeof(value), ref_pts_time);
    av_bprintf(line, " ref_pts_time:%s", value);
    for (int i = 0; i < ff_qc_nb_scores(s); i++) {
        if (!row->present[i])
            continue;
        ff_qc_print_score(value, sizeof(value), row->value[i]);
        av_bprintf(line, " %s:%s", ff_qc_score_name(&s->engine, i), value);
    }
}

static void append_corrupt(const QualityCudaContext *s, uint32_t corrupt, AVBPrint *line)
{
    char key[32];

    for (int i = 0; i < s->nb_inputs; i++)
        if (corrupt >> i & 1)
            av_bprintf(line, " %s:1", ff_qc_corrupt_key(i, key, sizeof(key)));
}

void ff_qc_write_stats_line(AVFilterContext *ctx, const qc_row *row, double pts_time, double ref_pts_time, uint32_t corrupt)
{
    const QualityCudaContext *s = ctx->priv;
    char theirs[STATS_LINE] = "";
    AVBPrint line;

    if (!s->files.stats.name)
        return;
    av_bprint_init(&line, 0, AV_BPRINT_SIZE_UNLIMITED);
    if (s->files.stats_format == QC_STATS_FORMAT_NONE) {
        append_scores(s, row, pts_time, ref_pts_time, &line);
        append_corrupt(s, corrupt, &line);
    } else if (qc_session_stats_line(s->engine.session, row, theirs, sizeof(theirs)) == QC_OK) {
        av_bprintf(&line, "%s", theirs);
    }
    if (line.len) {
        av_bprint_chars(&line, '\n', 1);
        ff_qc_write_stats(ctx, line.str, av_bprint_is_complete(&line) ? line.len : 0);
    }
    av_bprint_finalize(&line, NULL);
}

/* ---- logs ---- */

static void pairing_json(const AVFilterContext *ctx, int rendition, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_counts *counts = ff_qc_counts_of(ctx, rendition), *main_counts = ff_qc_counts_of(ctx, 0);
    char max_abs[64], mean[64], rate[64], tolerance[64];

    ff_qc_json_number(max_abs, sizeof(max_abs), counts->max_abs_dt);
    ff_qc_json_number(mean, sizeof(mean), qcr_mean_dt(counts));
    ff_qc_json_number(rate, sizeof(rate), s->engine.frame_rate);
    ff_qc_json_number(tolerance, sizeof(tolerance), s->pairing.tolerance);
    av_bprintf(out, "{\"frames\": %"PRId64", \"paired\": %"PRId64", \"scored\": %"PRId64", \"unscored\": %"PRId64
               ", \"before_reference\": %"PRId64", \"after_reference\": %"PRId64", \"gaps\": %"PRId64", \"disabled\": %"PRId64
               ", \"untimed\": %"PRId64", \"reference_repeated\": %"PRId64", \"reference_unused\": %"PRId64
               ", \"reference_ended\": %s", counts->frames, counts->paired, s->queue.tally->scored[rendition],
               qcr_unscored(counts) + s->queue.tally->failed[rendition], counts->before, counts->after, counts->gaps,
               counts->disabled, counts->untimed, main_counts->repeated, main_counts->unused, s->run.end != QC_END_OF_STREAM ? "null" :
               s->input[QC_REFERENCE].track.ended ? "true" : "false");
    if (s->options.realtime)
        av_bprintf(out, ", \"realtime_passed\": %"PRId64, counts->passed);
    if (ff_qc_may_give_up(ctx))
        av_bprintf(out, ", \"failed\": %"PRId64, s->queue.tally->failed[rendition]);
    if (rendition)
        av_bprintf(out, ", \"rendition_late\": %"PRId64", \"rendition_gaps\": %"PRId64", \"rendition_ended\": %"PRId64
                   ", \"rendition_repeated\": %"PRId64", \"rendition_unused\": %"PRId64, counts->late, counts->holes,
                   counts->ended, counts->repeated, counts->unused);
    av_bprintf(out, ", \"max_abs_dt\": %s, \"mean_dt\": %s, \"frame_rate\": %s, \"max_dt\": %s}", max_abs, mean, rate,
               tolerance);
}

static const char *end_of_run(enum QCEnd end)
{
    static const char *const names[] = {
        [QC_END_NONE]        = "stopped early", /* of a log that is written in mid of the run */
        [QC_END_OF_STREAM]   = "end of stream",
        [QC_END_BY_CONSUMER] = "stopped early",
        [QC_END_BY_SIGNAL]   = "interrupted",
        [QC_END_TAKEN_DOWN]  = "stopped early",
        [QC_END_BY_FAILURE]  = "failure",
    };

    return names[end];
}

/** Why a log is not complete, or an empty text. */
static void reason_json(const AVFilterContext *ctx, int rendition, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const QCRun *run = &s->run;
    char text[128];

    if (run->end == QC_END_BY_FAILURE) {
        ff_qc_json_string(out, run->reason);
    } else if (run->end == QC_END_BY_SIGNAL) {
        snprintf(text, sizeof(text), "the program got %s", qcr_interrupted_by(&run->interrupts));
        ff_qc_json_string(out, text);
    } else if (run->end == QC_END_TAKEN_DOWN) {
        ff_qc_json_string(out, "the filter graph was taken down before its inputs ended");
    } else if (run->end == QC_END_NONE) {
        ff_qc_json_string(out, "the run goes on");
    } else if (s->queue.tally->failed[rendition]) {
        char failure[sizeof(s->engine.gpu_failure) + 128];
        snprintf(failure, sizeof(failure), "frames under way when the GPU failed:%"PRId64" (%s)",
                 s->queue.tally->failed[rendition], s->engine.gpu_failure);
        ff_qc_json_string(out, failure);
    } else if (*s->input[ff_qc_input_of(rendition)].refusal) {
        ff_qc_json_string(out, s->input[ff_qc_input_of(rendition)].refusal);
    } else if (!ff_qc_is_complete(ctx, rendition)) {
        const qcr_counts *counts = ff_qc_counts_of(ctx, rendition);
        snprintf(text, sizeof(text), "the rendition lacks %"PRId64" of %"PRId64" frames", qcr_rendition_missing(counts),
                 qcr_rendition_missing(counts) + counts->paired);
        ff_qc_json_string(out, text);
    } else {
        av_bprintf(out, "null");
    }
}

static qc_status write_one_log(const AVFilterContext *ctx, int rendition, const char *path, int complete)
{
    enum { EXTRA_ALIGNMENT, EXTRA_PAIRING, EXTRA_DISTORTED_STREAM, EXTRA_REFERENCE_STREAM, EXTRA_END, EXTRA_REASON, EXTRA_ENGINE, EXTRA_DISTORTED,
           EXTRA_REFERENCE, EXTRA_CORRUPT, EXTRA_RENDITIONS, EXTRA_COUNT };
    static const char *const keys[EXTRA_COUNT] = { "alignment", "pairing", "distorted_stream", "reference_stream", "end", "reason", "engine",
                                                   "distorted_format", "reference_format", "corrupt_frame_numbers", "renditions" };
    const QualityCudaContext *s = ctx->priv;
    qc_session *session = s->engine.session;
    /* XML would give objects an element of their own, and those who read libvmaf's count its elements. */
    const int is_json = s->files.log_format == QC_LOG_FORMAT_JSON;
    const int watches = (s->options.watch && !ff_qc_is_alias(ctx)) || s->options.align == QC_ALIGN_AUTO;
    const int first = ff_qc_is_alias(ctx) && s->files.log_format == QC_LOG_FORMAT_XML ? EXTRA_END :
                      is_json && watches ? EXTRA_ALIGNMENT : EXTRA_PAIRING;
    /* All of them side by side in the first one's log. */
    const int last = !rendition && s->options.renditions > 1 ? EXTRA_RENDITIONS : EXTRA_CORRUPT;
    qc_log_extra extra[EXTRA_COUNT];
    AVBPrint text[EXTRA_COUNT];
    qc_status status;

    for (int i = 0; i < EXTRA_COUNT; i++)
        av_bprint_init(&text[i], 0, AV_BPRINT_SIZE_UNLIMITED);
    pairing_json(ctx, rendition, &text[EXTRA_PAIRING]);
    ff_qc_json_string(&text[EXTRA_END], end_of_run(s->run.end));
    reason_json(ctx, rendition, &text[EXTRA_REASON]);
    ff_qc_json_string(&text[EXTRA_ENGINE], ff_qc_replayed_engine(ctx) ? ff_qc_replayed_engine(ctx) : qc_session_description(session));
    ff_qc_json_string(&text[EXTRA_DISTORTED], ff_qc_pix_fmt_name(s->input[ff_qc_input_of(rendition)].sw_format));
    ff_qc_json_string(&text[EXTRA_REFERENCE], ff_qc_pix_fmt_name(s->input[QC_REFERENCE].sw_format));
    ff_qc_alignment_json(ctx, rendition, &text[EXTRA_ALIGNMENT]);
    ff_qc_stream_json(ctx, ff_qc_input_of(rendition), rendition, &text[EXTRA_DISTORTED_STREAM]);
    ff_qc_stream_json(ctx, QC_REFERENCE, rendition, &text[EXTRA_REFERENCE_STREAM]);
    ff_qc_corrupt_json(ctx, rendition, &text[EXTRA_CORRUPT]);
    if (last == EXTRA_RENDITIONS)
        ff_qc_renditions_json(ctx, &text[EXTRA_RENDITIONS]);
    for (int i = 0; i < EXTRA_COUNT; i++) {
        extra[i].key        = keys[i];
        extra[i].json_value = av_bprint_is_complete(&text[i]) ? text[i].str : "null";
    }
    status = qc_session_write_log(session, rendition, path, s->files.log_format, complete, extra + first, last + 1 - first);
    for (int i = 0; i < EXTRA_COUNT; i++)
        av_bprint_finalize(&text[i], NULL);
    return status;
}

int ff_qc_write_logs(AVFilterContext *ctx, int complete)
{
    QualityCudaContext *s = ctx->priv;
    int ret = 0;

    /* Each failure may leave the scores in a file of another name: once is enough before the end. */
    if (s->files.log_failed && !s->run.reported)
        return AVERROR(EIO);
    for (int k = 0; s->engine.session && k < s->options.renditions && s->files.log[k]; k++) {
        const char *path = s->files.log[k];
        const qc_status status = write_one_log(ctx, k, path, complete && ff_qc_is_complete(ctx, k));

        if (status == QC_OK) {
            av_log(ctx, AV_LOG_VERBOSE, "log written to %s\n", path);
            continue;
        }
        av_log(ctx, AV_LOG_ERROR, "log %s could not be written: %s\n", path, qc_session_error(s->engine.session));
        s->files.log_failed = 1;
        if (ret >= 0 && !ff_qc_is_alias(ctx)) /* libvmaf's filter does not look */
            ret = ff_qc_error_of_status(status);
    }
    return ret;
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

    if (ff_qc_is_alias(ctx))
        level = AV_LOG_VERBOSE;
    av_bprint_init(&line, 0, AV_BPRINT_SIZE_AUTOMATIC);
    for (size_t i = 0; i < FF_ARRAY_ELEMS(pools); i++) {
        append_pooled(engine, &line, rendition, index, pools[i]);
        listed |= pools[i] == engine->pool;
    }
    if (!listed)
        append_pooled(engine, &line, rendition, index, engine->pool);
    av_log(ctx, level, "quality_cuda %s%s frames:%"PRId64" scored:%"PRId64"\n",
           ff_qc_score_name(engine, rendition * engine->feature_count + index),
           line.len ? line.str : " no value, or not in every scored frame;", ff_qc_counts_of(ctx, rendition)->frames,
           s->queue.tally->scored[rendition]);
}

/** The members of a bootstrap collection and their spread are called after it: outputs of a model, but no scores of a video. */
static int is_part_of(const char *key, const char *collection)
{
    static const char *const spreads[] = { "_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi" };
    const char *tail;

    if (!av_strstart(key, collection, &tail))
        return 0;
    for (size_t i = 0; i < FF_ARRAY_ELEMS(spreads); i++)
        if (!strcmp(tail, spreads[i]))
            return 1;
    return *tail == '_' && strlen(tail + 1) == 4 && strspn(tail + 1, "0123456789") == 4;
}

/**
 * The next model itself, after its index. @param key of the one before, replaced
 * @return its index, or the number of features behind the last one
 */
static int next_model(const QCEngine *engine, int index, const char **key)
{
    qc_feature feature;

    while (++index < engine->feature_count) {
        if (qc_session_feature(engine->session, index, &feature) != QC_OK || !feature.is_model ||
            (*key && is_part_of(feature.key, *key)))
            continue;
        *key = feature.key;
        break;
    }
    return index;
}

static void print_vmaf_score(AVFilterContext *ctx, int rendition, int index, int is_first)
{
    const QualityCudaContext *s = ctx->priv;
    const QCEngine *engine = &s->engine;
    qc_feature feature;
    char text[64], where[32] = "";
    double value;

    if (qc_session_feature(engine->session, index, &feature) != QC_OK ||
        qc_session_pooled(engine->session, rendition, index, engine->pool, &value) != QC_OK)
        return;
    ff_qc_print_score(text, sizeof(text), value);
    if (rendition)
        snprintf(where, sizeof(where), ", rendition %d", rendition);
    if (is_first || ff_qc_is_alias(ctx))
        av_log(ctx, AV_LOG_INFO, "VMAF score: %s\n", text);
    else
        av_log(ctx, AV_LOG_INFO, "score of %s%s: %s\n", feature.name, where, text);
}

/** Of metrics that have one score for a whole video. */
static void print_stream_scores(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const char *title;
    double value;
    qc_status status;

    for (int k = 0; k < s->options.renditions; k++) {
        char text[64], where[32] = "";

        if (s->input[ff_qc_input_of(k)].mispaired)
            continue;
        if (k)
            snprintf(where, sizeof(where), ", rendition %d", k);
        for (int i = 0; (status = qc_session_stream_score(s->engine.session, k, i, &title, &value)) == QC_OK || status == QC_AGAIN; i++) {
            if (status == QC_AGAIN)
                continue;
            ff_qc_print_score(text, sizeof(text), value);
            av_log(ctx, AV_LOG_INFO, "%s%s: %s\n", title, where, text);
        }
    }
}

/** Programs look for one line with the score of the first model, or take the last one: the others read differently. */
static void print_vmaf_scores(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCEngine *engine = &s->engine;
    const char *key = NULL;
    const int first = next_model(engine, -1, &key);

    for (int k = 0; k < s->options.renditions; k++) {
        if (s->input[ff_qc_input_of(k)].mispaired)
            continue;
        key = NULL;
        for (int f = next_model(engine, -1, &key); f < engine->feature_count; f = next_model(engine, f, &key))
            if (k || f != first || ff_qc_is_alias(ctx)) /* libvmaf's filter keeps their order */
                print_vmaf_score(ctx, k, f, 0);
    }
    ff_qc_print_ladder(ctx);
    if (first < engine->feature_count && !ff_qc_is_alias(ctx))
        print_vmaf_score(ctx, 0, first, 1);
}

/** Features that only feed the default model would drown its score: they are shown with -v verbose. */
static void print_scores(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    for (int k = 0; k < s->options.renditions; k++)
        for (int f = 0; f < s->engine.feature_count && !s->input[ff_qc_input_of(k)].mispaired; f++)
            print_feature(ctx, k, f, ff_qc_is_asked_for(ctx, f) ? AV_LOG_INFO : AV_LOG_VERBOSE);
    print_stream_scores(ctx);
    print_vmaf_scores(ctx);
}

static void print_pairing(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_counts *counts = ff_qc_counts_of(ctx, 0);
    const int goes_on = s->run.end == QC_END_OF_STREAM && !s->input[QC_REFERENCE].track.ended;

    av_log(ctx, is_exact(ctx) || ff_qc_is_alias(ctx) ? AV_LOG_INFO : AV_LOG_WARNING, "frames:%"PRId64" scored:%"PRId64" unscored:%"PRId64
           " (before the reference:%"PRId64" after it:%"PRId64" in gaps:%"PRId64" disabled:%"PRId64" without time stamp:%"PRId64
           ") reference frames repeated:%"PRId64" unused:%"PRId64"%s max |dt|:%s mean dt:%s\n",
           counts->frames, s->queue.tally->scored[0], qcr_unscored(counts) + s->queue.tally->failed[0], counts->before, counts->after, counts->gaps,
           counts->disabled, counts->untimed, counts->repeated, counts->unused, goes_on ? " and more that were not read" : "",
           QC_NUMBER(6, counts->max_abs_dt), QC_NUMBER(6, qcr_mean_dt(counts)));
}

static void print_rendition(AVFilterContext *ctx, int rendition)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_counts *counts = ff_qc_counts_of(ctx, rendition);
    const int64_t missing = qcr_rendition_missing(counts);
    const int exact = !missing && !counts->repeated && !counts->unused;

    av_log(ctx, exact ? AV_LOG_INFO : AV_LOG_WARNING, "rendition %d: frames:%"PRId64" scored:%"PRId64" without its frame:%"PRId64
           " (not begun:%"PRId64" in gaps:%"PRId64" ended:%"PRId64") its frames repeated:%"PRId64" unused:%"PRId64
           " max |dt|:%s%s\n", rendition, counts->frames, s->queue.tally->scored[rendition], missing, counts->late,
           counts->holes, counts->ended, counts->repeated, counts->unused, QC_NUMBER(6, counts->max_abs_dt),
           missing ? "; its scores are of those frames only" : "");
}

static void print_summary(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    print_pairing(ctx);
    if (s->queue.tally->failed[0])
        av_log(ctx, AV_LOG_WARNING, "frames without scores because scoring failed:%"PRId64" (%s)\n", s->queue.tally->failed[0],
               s->run.failure ? s->run.reason : s->engine.gpu_failure);
    if (ff_qc_counts_of(ctx, 0)->passed)
        av_log(ctx, AV_LOG_WARNING, "frames without scores because scoring was slower than the stream:%"PRId64"\n",
               ff_qc_counts_of(ctx, 0)->passed);
    for (int k = 1; k < s->options.renditions; k++)
        print_rendition(ctx, k);
    ff_qc_print_conditions(ctx);
    if (s->run.end == QC_END_BY_FAILURE) {
        ff_qc_print_ladder(ctx);
        av_log(ctx, AV_LOG_WARNING, "INCOMPLETE after %"PRId64" frames\n", s->queue.tally->scored[0]);
        return;
    }
    if (s->run.end == QC_END_BY_SIGNAL || s->run.end == QC_END_TAKEN_DOWN)
        av_log(ctx, AV_LOG_WARNING, "INCOMPLETE after %"PRId64" frames: %s\n", s->queue.tally->scored[0],
               s->run.end == QC_END_BY_SIGNAL ? qcr_interrupted_by(&s->run.interrupts) :
               "the filter graph was taken down before its inputs ended");
    else if (s->run.end != QC_END_OF_STREAM)
        av_log(ctx, AV_LOG_INFO, "stopped before the inputs ended; the scores are those of the frames up to there\n");
    if (ff_qc_counts_of(ctx, 0)->paired) {
        print_scores(ctx);
        return;
    }
    ff_qc_print_ladder(ctx);
    av_log(ctx, ff_qc_is_alias(ctx) ? AV_LOG_ERROR : AV_LOG_WARNING, "no frame was scored\n");
}

/** @return AVERROR */
static int finish_live(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    int complete = 1, ret;
    AVBPrint end;

    for (int k = 0; k < s->options.renditions; k++)
        complete &= ff_qc_is_complete(ctx, k);
    av_bprint_init(&end, 0, AV_BPRINT_SIZE_UNLIMITED);
    av_bprintf(&end, "\"end\": \"%s\", \"complete\": %s, \"reason\": ", end_of_run(s->run.end), complete ? "true" : "false");
    reason_json(ctx, 0, &end);
    if (s->options.renditions > 1) {
        av_bprintf(&end, ", \"renditions\": ");
        ff_qc_renditions_json(ctx, &end);
    }
    ret = ff_qc_finish_live(ctx, end.str);
    av_bprint_finalize(&end, NULL);
    return ret;
}

int ff_qc_report(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret = 0, stats, live;

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
        ret = ff_qc_write_logs(ctx, 1);
    stats = ff_qc_finish_stats(ctx);
    live = finish_live(ctx);
    print_summary(ctx);
    qcr_live_sum_up(s->live.run);
    if (stats < 0)
        av_log(ctx, AV_LOG_ERROR, "stats_file=%s is not complete: %s\n", s->files.stats.name, av_err2str(stats));
    return ret < 0 ? ret : stats < 0 ? stats : live < 0 ? live : s->run.refused_rendition;
}

void ff_qc_running_scores(AVFilterContext *ctx, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const QCEngine *engine = &s->engine;

    for (int i = 0; i < ff_qc_nb_scores(s); i++) {
        double value;
        char text[64];

        if (qc_session_pooled(engine->session, i / engine->feature_count, i % engine->feature_count, engine->pool,
                              &value) != QC_OK)
            continue;
        ff_qc_print_score(text, sizeof(text), value);
        av_bprintf(out, "%s%s:%s", out->len ? " " : "", ff_qc_score_name(engine, i), text);
    }
}
