/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * How each rendition fared; see ladder.h. Depends on engine, scaling, inputs,
 * formats and state.
 */

#include "compat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/macros.h"

#include "formats.h"
#include "json.h"
#include "ladder.h"
#include "state.h"

#define LONGEST_ROW 120 /* characters of a row; further scores get rows of their own */
#define GAP         2   /* blanks between two columns */

/* ---- how it ended ---- */

int ff_qc_is_complete(const AVFilterContext *ctx, int rendition)
{
    const QualityCudaContext *s = ctx->priv;

    return (s->run.end == QC_END_OF_STREAM || s->run.end == QC_END_BY_CONSUMER) &&
           !qcr_rendition_missing(ff_qc_counts_of(ctx, rendition)) && !s->queue.failed[rendition] &&
           !*s->input[ff_qc_input_of(rendition)].refusal;
}

/** A program that is told to stop ends its inputs one after the other, which says nothing of any of them. */
static int is_cut_off(const QualityCudaContext *s, int rendition)
{
    return s->run.end == QC_END_BY_SIGNAL && s->input[ff_qc_input_of(rendition)].cut_off;
}

/** Frames that the reference has and the rendition has not; of the main input those behind its end, as far as they were read. */
static int64_t lacking(const AVFilterContext *ctx, int rendition)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_counts *counts = ff_qc_counts_of(ctx, rendition);
    const int64_t behind_its_end = rendition ? counts->ended : qcr_pairs_input(s->pairs, QC_REFERENCE).behind;
    const int64_t all = rendition ? qcr_rendition_missing(counts) : behind_its_end;

    return is_cut_off(s, rendition) ? all - behind_its_end : all;
}

/** How the rendition ended, in a word or two; the worst that holds. */
static const char *fate_of(const AVFilterContext *ctx, int rendition)
{
    const QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[ff_qc_input_of(rendition)];
    const qcr_counts *counts = ff_qc_counts_of(ctx, rendition);

    if (s->run.end == QC_END_BY_FAILURE || *in->refusal)
        return "failed";
    if (qcr_pairs_is_stalled(s->pairs, ff_qc_input_of(rendition), ff_qc_now()))
        return "stalled";
    if (!is_cut_off(s, rendition) && (rendition ? counts->ended : lacking(ctx, 0)))
        return "ended early";
    if (counts->late || counts->holes || s->queue.failed[rendition])
        return "incomplete";
    if (rendition && lacking(ctx, 0))
        return "ended with main";
    if (s->run.end == QC_END_BY_SIGNAL)
        return "interrupted";
    return s->run.end == QC_END_OF_STREAM ? "complete" : "stopped early";
}

/* ---- what it was ---- */

/** In bit/s, -1 where it is not known. */
static double bit_rate_of(const AVFilterContext *ctx, int index)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_input in = qcr_pairs_input(s->pairs, index);
    const int64_t bytes = s->input[index].packet_bytes;
    double seconds;

    if (bytes <= 0 || in.received < 2 || in.first_pts == AV_NOPTS_VALUE || in.last_pts == AV_NOPTS_VALUE)
        return -1;
    seconds = (in.last_pts - in.first_pts) * av_q2d(ctx->inputs[index]->time_base);
    seconds += seconds / (in.received - 1); /* for as long as the last frame lasts */
    return seconds > 0 ? bytes * 8 / seconds : -1;
}

static int is_scaled(const AVFilterContext *ctx, const qc_format *format, int *width, int *height)
{
    ff_qc_scored_size(ctx, width, height);
    return format->width != *width || format->height != *height;
}

/* ---- JSON ---- */

/** The ways of pooling that summaries show. */
static int is_shown(const QCEngine *engine, qc_pool pool)
{
    return pool == QC_POOL_MEAN || pool == QC_POOL_HARMONIC_MEAN || pool == QC_POOL_MIN || pool == QC_POOL_MAX ||
           pool == QC_POOL_P5 || pool == engine->pool;
}

static void pooled_json(const AVFilterContext *ctx, int rendition, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    int count = 0;

    for (int f = 0; f < s->engine.feature_count; f++) {
        qc_feature feature;
        double value;

        if (qc_session_feature(s->engine.session, f, &feature) != QC_OK ||
            qc_session_pooled(s->engine.session, rendition, f, QC_POOL_MEAN, &value) != QC_OK)
            continue;
        av_bprintf(out, "%s", count++ ? ", " : "");
        ff_qc_json_string(out, feature.name);
        av_bprintf(out, ": {");
        for (int pool = 0, listed = 0; pool < QC_POOL_COUNT; pool++) {
            char text[64];

            if (!is_shown(&s->engine, pool) ||
                qc_session_pooled(s->engine.session, rendition, f, pool, &value) != QC_OK)
                continue;
            ff_qc_json_number(text, sizeof(text), value);
            av_bprintf(out, "%s\"%s\": %s", listed++ ? ", " : "", qc_pool_name(pool), text);
        }
        av_bprintf(out, "}");
    }
}

static void rendition_json(const AVFilterContext *ctx, int rendition, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const int index = ff_qc_input_of(rendition);
    const QCInput *in = &s->input[index];
    const qc_format format = ff_qc_visible_format(in);
    const double bit_rate = bit_rate_of(ctx, index);
    int width, height;

    ff_qc_scored_size(ctx, &width, &height);
    av_bprintf(out, "{\"rendition\": %d, \"input\": ", rendition);
    ff_qc_json_string(out, ff_qc_role(ctx, index));
    av_bprintf(out, ", \"width\": %d, \"height\": %d, \"scored_width\": %d, \"scored_height\": %d, \"format\": ", format.width,
               format.height, width, height);
    ff_qc_json_string(out, ff_qc_pix_fmt_name(in->sw_format));
    av_bprintf(out, ", \"bit_rate\": ");
    if (bit_rate >= 0)
        av_bprintf(out, "%.0f", bit_rate);
    else
        av_bprintf(out, "null");
    av_bprintf(out, ", \"frames\": %"PRId64", \"scored\": %"PRId64", \"lacking\": %"PRId64", \"end\": ",
               ff_qc_counts_of(ctx, rendition)->frames, s->queue.scored[rendition], lacking(ctx, rendition));
    ff_qc_json_string(out, fate_of(ctx, rendition));
    av_bprintf(out, ", \"pooled_metrics\": {");
    pooled_json(ctx, rendition, out);
    av_bprintf(out, "}}");
}

void ff_qc_renditions_json(const AVFilterContext *ctx, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;

    av_bprintf(out, "[");
    for (int k = 0; k < s->options.renditions; k++) {
        av_bprintf(out, "%s", k ? ", " : "");
        rendition_json(ctx, k, out);
    }
    av_bprintf(out, "]");
}

/* ---- table ---- */

typedef struct Column {
    char title[64];
    char cell[QC_MAX_RENDITIONS][64];
    int is_text; ///< aligned to the left
} Column;

static int width_of(const Column *column, int rows)
{
    size_t width = strlen(column->title);

    for (int k = 0; k < rows; k++)
        width = FFMAX(width, strlen(column->cell[k]));
    return width;
}

static void fill_row(const AVFilterContext *ctx, int rendition, Column *columns)
{
    enum { RENDITION, INPUT, SIZE, BIT_RATE, FRAMES, SCORED, LACKING, END };
    const QualityCudaContext *s = ctx->priv;
    const int index = ff_qc_input_of(rendition);
    const qc_format format = ff_qc_visible_format(&s->input[index]);
    const double bit_rate = bit_rate_of(ctx, index);
    const int goes_on = !rendition && lacking(ctx, 0) && !qcr_pairs_input(s->pairs, QC_REFERENCE).ended;
    int width, height;

#define CELL(column, ...) snprintf(columns[column].cell[rendition], sizeof(columns[column].cell[rendition]), __VA_ARGS__)
    CELL(RENDITION, "%d", rendition);
    CELL(INPUT, "%s", ff_qc_role(ctx, index));
    if (is_scaled(ctx, &format, &width, &height))
        CELL(SIZE, "%dx%d -> %dx%d", format.width, format.height, width, height);
    else
        CELL(SIZE, "%dx%d", format.width, format.height);
    if (bit_rate >= 0)
        CELL(BIT_RATE, "%.0f", bit_rate / 1000);
    else
        CELL(BIT_RATE, "-");
    CELL(FRAMES, "%"PRId64, ff_qc_counts_of(ctx, rendition)->frames);
    CELL(SCORED, "%"PRId64, s->queue.scored[rendition]);
    CELL(LACKING, "%"PRId64"%s", lacking(ctx, rendition), goes_on ? "+" : "");
    CELL(END, "%s", fate_of(ctx, rendition));
#undef CELL
}

static const struct { const char *title; int is_text; } facts[] = {
    { "rendition" }, { "input", 1 }, { "size", 1 }, { "kbit/s" }, { "frames" }, { "scored" }, { "lacking" }, { "end", 1 },
};
#define BIT_RATE_COLUMN 3

static void fill_scores(const AVFilterContext *ctx, int feature, Column *column)
{
    const QualityCudaContext *s = ctx->priv;

    av_strlcpy(column->title, ff_qc_score_name(&s->engine, feature), sizeof(column->title));
    for (int k = 0; k < s->options.renditions; k++) {
        double value;

        if (!s->input[ff_qc_input_of(k)].mispaired && qc_session_pooled(s->engine.session, k, feature, s->engine.pool, &value) == QC_OK)
            ff_qc_print_score(column->cell[k], sizeof(column->cell[k]), value);
        else
            av_strlcpy(column->cell[k], "-", sizeof(column->cell[k]));
    }
}

/** The columns that there are something to say in. @return how many */
static int fill_columns(const AVFilterContext *ctx, Column *columns)
{
    const QualityCudaContext *s = ctx->priv;
    const int has_scores = s->engine.session && s->run.end != QC_END_BY_FAILURE;
    int count = FF_ARRAY_ELEMS(facts), knows_rates = 0;
    qc_feature feature;

    for (int c = 0; c < count; c++) {
        av_strlcpy(columns[c].title, facts[c].title, sizeof(columns[c].title));
        columns[c].is_text = facts[c].is_text;
    }
    for (int k = 0; k < s->options.renditions; k++) {
        fill_row(ctx, k, columns);
        knows_rates |= bit_rate_of(ctx, ff_qc_input_of(k)) >= 0;
    }
    if (!knows_rates) {
        memmove(columns + BIT_RATE_COLUMN, columns + BIT_RATE_COLUMN + 1, (--count - BIT_RATE_COLUMN) * sizeof(*columns));
        memset(columns + count, 0, sizeof(*columns));
    }
    for (int models = 1; has_scores && models >= 0; models--) /* those first: they are looked for */
        for (int f = 0; f < s->engine.feature_count; f++)
            if (ff_qc_is_asked_for(ctx, f) && qc_session_feature(s->engine.session, f, &feature) == QC_OK && feature.is_model == models)
                fill_scores(ctx, f, &columns[count++]);
    return count;
}

/** One line: the titles (row -1) or a rendition, in the first column and those of a stretch. */
static void print_row(AVFilterContext *ctx, const Column *columns, int from, int to, int row)
{
    const int rows = ((const QualityCudaContext *)ctx->priv)->options.renditions;
    AVBPrint line;

    av_bprint_init(&line, 0, AV_BPRINT_SIZE_UNLIMITED);
    for (int c = 0; c < to; c = c ? c + 1 : FFMAX(from, 1)) {
        const Column *column = &columns[c];
        const char *text = row < 0 ? column->title : column->cell[row];
        const int width = width_of(column, rows), is_last = c == to - 1;

        av_bprintf(&line, "%*s", c ? GAP : 0, "");
        if (column->is_text)
            av_bprintf(&line, "%-*s", is_last ? 0 : width, text);
        else
            av_bprintf(&line, "%*s", width, text);
    }
    av_log(ctx, AV_LOG_INFO, "%s\n", line.str);
    av_bprint_finalize(&line, NULL);
}

/** The columns behind those of a stretch that fit into its rows, at least one of them. */
static int end_of_stretch(const Column *columns, int count, int from, int rows)
{
    int length = from ? width_of(columns, rows) : -GAP, to = from;

    do {
        length += GAP + width_of(&columns[to], rows);
    } while (++to < count && length + GAP + width_of(&columns[to], rows) <= LONGEST_ROW);
    return to;
}

void ff_qc_print_ladder(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const int rows = s->options.renditions;
    Column *columns;
    int count;

    if (rows < 2)
        return;
    columns = av_calloc(FF_ARRAY_ELEMS(facts) + s->engine.feature_count, sizeof(*columns));
    if (!columns)
        return;
    count = fill_columns(ctx, columns);
    av_log(ctx, AV_LOG_INFO, "%d renditions; scores: %s\n", rows, qc_pool_name(s->engine.pool));
    for (int from = 0, to; from < count; from = to) {
        to = end_of_stretch(columns, count, from, rows);
        for (int k = -1; k < rows; k++)
            print_row(ctx, columns, from, to, k);
    }
    if (lacking(ctx, 0))
        av_log(ctx, AV_LOG_WARNING, "main ended before the reference did, and with it all renditions: make the longest one the first input\n");
    av_free(columns);
}
