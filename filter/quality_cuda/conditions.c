/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What frames say of themselves; see conditions.h. Depends on engine, inputs
 * and state.
 */

#include "compat.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/dict.h"
#include "libavutil/macros.h"
#include "libavutil/pixdesc.h"

#include "conditions.h"
#include "json.h"
#include "state.h"

/** What frames are called in messages: "Input 0 (main)". */
static const char *name_input(const AVFilterContext *ctx, int index, char *text, size_t size)
{
    snprintf(text, size, "Input %d (%s)", index, ff_qc_role(ctx, index));
    return text;
}
#define INPUT_NAME(index) name_input(ctx, index, (char[64]){ "" }, 64)

/** libvmaf's filter says nothing of all this. */
static int warning_level(const AVFilterContext *ctx)
{
    return ff_qc_is_alias(ctx) ? AV_LOG_VERBOSE : AV_LOG_WARNING;
}

/* ---- HDR ---- */

static const char *hdr_of(const qc_colour *colour)
{
    return colour->transfer == AVCOL_TRC_SMPTE2084 ? "PQ" : colour->transfer == AVCOL_TRC_ARIB_STD_B67 ? "HLG" : NULL;
}

/** @param model "version=NAME:...", a bare name or path, or "path=FILE:...", up to its end or a bar */
static int is_built_in(const char *model)
{
    const size_t name = strcspn(model, ":|");
    const char *version = strstr(model, "version="), *known = "auto";

    if (version && version < model + strcspn(model, "|"))
        return 1;
    for (int i = 0; known; known = qc_model_name(i++))
        if (strlen(known) == name && !strncmp(model, known, name))
            return 1;
    return 0;
}

/** Models that come with the engine are made for SDR; what one from a file is made for, its owner knows. */
static int has_built_in_model(const char *models)
{
    int found = !models || !*models;

    for (const char *at = models; !found && at; at = strchr(at, '|'), at += !!at)
        found = is_built_in(at);
    return found;
}

void ff_qc_check_hdr(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const char *model = NULL;
    qc_feature feature;

    for (int f = 0; f < s->engine.feature_count && !model; f++)
        if (qc_session_feature(s->engine.session, f, &feature) == QC_OK && feature.is_model)
            model = feature.name;
    if (!model || !has_built_in_model(s->options.model))
        return;
    for (int i = 0; i < s->nb_inputs && !s->conditions.warned_hdr; i++) {
        const char *hdr = hdr_of(&s->input[i].format.colour);

        if (!hdr)
            continue;
        s->conditions.warned_hdr = 1;
        av_log(ctx, warning_level(ctx), "%s is HDR (%s): models such as %s were made for SDR, and what they score it is no viewer's opinion; "
               "map all inputs to SDR before quality_cuda, e.g. with libplacebo or zscale and tonemap, or use a model of your own, "
               "model=path=FILE\n", INPUT_NAME(i), hdr, model);
    }
}

/* ---- frames ---- */

static int is_corrupt(const AVFrame *frame)
{
    return frame->decode_error_flags || (frame->flags & AV_FRAME_FLAG_CORRUPT);
}

static void warn_of_corrupt(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;

    if (s->conditions.warned_corrupt++)
        return;
    av_log(ctx, warning_level(ctx), "%s has damaged frames, the first one at %s s%s: scores tell what the decoder made of it; they carry "
           QC_KEY_PREFIX "*corrupt, mend the stream or leave them out\n", INPUT_NAME(index),
           QC_NUMBER(3, ff_qc_seconds(ctx, index, frame->pts)),
           frame->decode_error_flags & FF_DECODE_ERROR_CONCEALMENT_ACTIVE ? " (concealed)" : "");
}

static void warn_of_interlaced(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;

    if (s->conditions.warned_interlaced++)
        return;
    av_log(ctx, warning_level(ctx), "%s has interlaced frames, the first one at %s s: scores are made for progressive ones; put the same "
           "deinterlacer before all inputs, e.g. [0:v]bwdif[d];[1:v]bwdif[r];[d][r]quality_cuda\n", INPUT_NAME(index),
           QC_NUMBER(3, ff_qc_seconds(ctx, index, frame->pts)));
}

static void add_to_side(AVFilterContext *ctx, int index, const AVFrame *frame, qcr_side *side)
{
    side->corrupt    += is_corrupt(frame);
    side->interlaced += QC_IS_INTERLACED(frame);
    if (is_corrupt(frame))
        warn_of_corrupt(ctx, index, frame);
    if (QC_IS_INTERLACED(frame))
        warn_of_interlaced(ctx, index, frame);
}

const char *ff_qc_corrupt_key(int index, char *key, size_t size)
{
    if (index <= QC_REFERENCE)
        snprintf(key, size, "%s", index ? "ref_corrupt" : "corrupt");
    else
        snprintf(key, size, "%d.corrupt", index - 1);
    return key;
}

/** Also takes away what a filter before this one said, where that does not hold here. @return AVERROR */
static int mark(AVFilterContext *ctx, AVFrame *frame, uint32_t corrupt)
{
    const QualityCudaContext *s = ctx->priv;
    const int has_keys = av_dict_get(frame->metadata, QC_KEY_PREFIX, NULL, AV_DICT_IGNORE_SUFFIX) != NULL;
    char key[64] = QC_KEY_PREFIX;
    const size_t prefix = strlen(key);

    for (int i = 0; (corrupt || has_keys) && i < s->nb_inputs; i++) {
        ff_qc_corrupt_key(i, key + prefix, sizeof(key) - prefix);
        if (av_dict_set(&frame->metadata, key, corrupt >> i & 1 ? "1" : NULL, 0) < 0)
            return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    }
    return 0;
}

/** What was met in an input so far is part of what counts up to this main frame. */
static void carry_counts(const QualityCudaContext *s, int index, qcr_side *side)
{
    side->colour_changes = s->input[index].colour_changes;
    side->jumps          = qcr_pairs_input(s->pairs, index).jumps;
}

static int list_corrupt(AVFilterContext *ctx, int64_t row, uint32_t inputs)
{
    QCConditions *conditions = &((QualityCudaContext *)ctx->priv)->conditions;
    QCCorruptPair *list;

    if (conditions->nb_corrupt == QC_MOST_CORRUPT)
        return 0;
    if (!(conditions->nb_corrupt & (conditions->nb_corrupt - 1))) { /* full, as it doubles */
        list = av_realloc_array(conditions->corrupt, FFMAX(2 * conditions->nb_corrupt, 1), sizeof(*list));
        if (!list)
            return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
        conditions->corrupt = list;
    }
    conditions->corrupt[conditions->nb_corrupt++] = (QCCorruptPair) { row, inputs };
    return 0;
}

int ff_qc_note_frames(AVFilterContext *ctx, QCDecided *decided, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    const int64_t row = decided->row;
    int ret;

    decided->corrupt = is_corrupt(decided->frame);
    for (int i = QC_REFERENCE; row >= 0 && i < s->nb_inputs; i++)
        if (frames[i])
            decided->corrupt |= (uint32_t)is_corrupt(frames[i]) << i;
    for (int k = 0; k < s->options.renditions; k++) {
        const int index = ff_qc_input_of(k);

        carry_counts(s, index, &s->counts[k].own);
        carry_counts(s, QC_REFERENCE, &s->counts[k].reference);
        if (row < 0 || !frames[index])
            continue;
        add_to_side(ctx, index, frames[index], &s->counts[k].own);
        add_to_side(ctx, QC_REFERENCE, frames[QC_REFERENCE], &s->counts[k].reference);
    }
    ret = mark(ctx, decided->frame, decided->corrupt);
    return ret < 0 || row < 0 || !decided->corrupt ? ret : list_corrupt(ctx, row, decided->corrupt);
}

/* ---- what is told ---- */

static void add_name(AVBPrint *out, const char *key, const char *name)
{
    av_bprintf(out, "\"%s\": ", key);
    if (name)
        ff_qc_json_string(out, name);
    else
        av_bprintf(out, "null");
    av_bprintf(out, ", ");
}

void ff_qc_stream_json(const AVFilterContext *ctx, int index, int rendition, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const qc_colour *colour = &s->input[index].format.colour;
    const qcr_counts *counts = ff_qc_counts_of(ctx, rendition);
    const qcr_side *side = index == QC_REFERENCE ? &counts->reference : &counts->own;

    av_bprintf(out, "{");
    add_name(out, "range", colour->range ? av_color_range_name(colour->range) : NULL);
    add_name(out, "matrix", colour->matrix ? av_color_space_name(colour->matrix) : NULL);
    add_name(out, "primaries", colour->primaries ? av_color_primaries_name(colour->primaries) : NULL);
    add_name(out, "transfer", colour->transfer ? av_color_transfer_name(colour->transfer) : NULL);
    add_name(out, "hdr", hdr_of(colour));
    av_bprintf(out, "\"corrupt_frames\": %"PRId64", \"interlaced_frames\": %"PRId64", \"colour_changes\": %"PRId64
               ", \"timestamp_jumps\": %"PRId64"}", side->corrupt, side->interlaced, side->colour_changes, side->jumps);
}

void ff_qc_corrupt_json(const AVFilterContext *ctx, int rendition, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const QCConditions *conditions = &s->conditions;
    const uint32_t sides = 1u << QC_REFERENCE | 1u << ff_qc_input_of(rendition);
    int count = 0;

    av_bprintf(out, "[");
    for (size_t i = 0; i < conditions->nb_corrupt; i++) {
        const QCCorruptPair *pair = &conditions->corrupt[i];

        if ((pair->inputs & sides) && pair->row % s->options.n_subsample == 0 && pair->row < ff_qc_counts_of(ctx, 0)->paired)
            av_bprintf(out, "%s%"PRId64, count++ ? ", " : "", pair->row);
    }
    av_bprintf(out, "]");
}

/** "main:3 reference:1", of the inputs where there is any. @return whether there was */
static int list_counts(const AVFilterContext *ctx, size_t field, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;

    av_bprint_init(out, 0, AV_BPRINT_SIZE_UNLIMITED);
    for (int i = 0; i < s->nb_inputs; i++) {
        const qcr_counts *counts = ff_qc_counts_of(ctx, i <= QC_REFERENCE ? 0 : i - 1);
        const qcr_side *side = i == QC_REFERENCE ? &counts->reference : &counts->own;
        const int64_t count = *(const int64_t *)((const char *)side + field);

        if (count)
            av_bprintf(out, " %s:%"PRId64, ff_qc_role(ctx, i), count);
    }
    return out->len > 0;
}

void ff_qc_print_conditions(AVFilterContext *ctx)
{
    static const struct { size_t field; const char *text; } conditions[] = {
        { offsetof(qcr_side, corrupt),        "damaged frames among the pairs, whose scores count like others:" },
        { offsetof(qcr_side, interlaced),     "interlaced frames among the pairs:" },
        { offsetof(qcr_side, colour_changes), "changes of colour tags:" },
        { offsetof(qcr_side, jumps),          "jumps of time stamps:" },
    };

    for (size_t i = 0; i < FF_ARRAY_ELEMS(conditions); i++) {
        AVBPrint counts;

        if (list_counts(ctx, conditions[i].field, &counts))
            av_log(ctx, warning_level(ctx), "%s%s\n", conditions[i].text, counts.str);
        av_bprint_finalize(&counts, NULL);
    }
}

void ff_qc_free_conditions(AVFilterContext *ctx)
{
    av_freep(&((QualityCudaContext *)ctx->priv)->conditions.corrupt);
}
