/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <math.h>
#include <string.h>

#include "libavutil/dict.h"

#include "account.h"
#include "formats.h"
#include "state.h"

int ff_qc_open_account(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_condition_rules rules = {
        .names    = &s->names,
        .range    = s->options.range,
        .converts = ff_qc_convert(ctx) == QC_CONVERT_AUTO,
        .is_quiet = ff_qc_is_alias(ctx), /* libvmaf's filter says nothing of all this */
        .sink     = s->sink,
    };

    s->names.inputs = s->nb_inputs;
    for (int i = 0; i < s->nb_inputs; i++)
        s->names.role[i] = ff_qc_role(ctx, i);
    s->conditions = qcr_conditions_create(&rules);
    return s->conditions ? 0 : ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
}

/* ---- frames ---- */

/** @param frame NULL for none */
static qcr_frame_facts facts_of(const AVFilterContext *ctx, int index, const AVFrame *frame)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_input met = qcr_pairs_input(s->pairs, index);
    qcr_frame_facts facts = { 0 };

    if (frame)
        facts = ff_qc_facts_of_frame(frame, s->input[index].sw_format);
    if (frame && !facts.range)
        facts.range = s->preview.range[index];
    facts.time  = frame ? ff_qc_seconds(ctx, index, frame->pts) : NAN;
    facts.jumps = met.jumps;
    facts.rate  = met.rate;
    return facts;
}

/** Also takes away what a filter before this one said, where that does not hold here. @return AVERROR */
static int mark(AVFilterContext *ctx, AVFrame *frame, uint32_t corrupt)
{
    const QualityCudaContext *s = ctx->priv;
    const int has_keys = av_dict_get(frame->metadata, QC_KEY_PREFIX, NULL, AV_DICT_IGNORE_SUFFIX) != NULL;
    char key[64] = QC_KEY_PREFIX;
    const size_t prefix = strlen(key);

    for (int i = 0; (corrupt || has_keys) && i < s->nb_inputs; i++) {
        qcr_corrupt_key(i, key + prefix, sizeof(key) - prefix);
        if (av_dict_set(&frame->metadata, key, corrupt >> i & 1 ? "1" : NULL, 0) < 0)
            return AVERROR(ENOMEM);
    }
    return 0;
}

int ff_qc_note_frames(AVFilterContext *ctx, qcr_row *row, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    qcr_frame_facts facts[QC_MAX_INPUTS];
    qc_status status;

    for (int i = 0; i < s->nb_inputs; i++)
        facts[i] = facts_of(ctx, i, !i ? row->frame : frames ? frames[i] : NULL);
    status = qcr_note_frames(s->conditions, facts, row->number, s->counts, &row->corrupt);
    return status == QC_OK && mark(ctx, row->frame, row->corrupt) >= 0 ? 0 : ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
}

/* ---- colours ---- */

int ff_qc_check_colour(AVFilterContext *ctx, int index, const AVFrame *frame, const AVFrame *distorted)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_frame_facts own = facts_of(ctx, index, frame), other = facts_of(ctx, 0, distorted);
    qc_error error = { "out of memory" };

    return ff_qc_result(ctx, qcr_check_colour(s->conditions, index, &own, &other, &error), error.text);
}

void ff_qc_adopt_colours(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++) {
        QCInput *in = &s->input[i];
        const AVFrame *frame = frames[i] ? frames[i] : qcr_pairs_held(s->pairs, i);
        const qcr_frame_facts facts = facts_of(ctx, i, frame);

        in->format.colour = frame ? qcr_colour_of(&facts) : s->input[0].format.colour;
        qcr_adopt_colour(s->conditions, i, &in->format.colour);
    }
}

void ff_qc_warn_of_colour_change(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_frame_facts facts = facts_of(ctx, index, frame);

    qcr_follow_colour(s->conditions, index, &facts);
}

void ff_qc_check_hdr(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qc_colour colour[QC_MAX_INPUTS];

    for (int i = 0; i < s->nb_inputs; i++)
        colour[i] = s->input[i].format.colour;
    qcr_check_hdr(s->conditions, s->scoring.session, s->options.model, colour);
}

/* ---- alignment ---- */

qcr_alignment_rules ff_qc_alignment_rules(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return (qcr_alignment_rules) {
        .names       = &s->names,
        .renditions  = s->options.renditions,
        .by_index    = s->pairing.sync == QCR_SYNC_INDEX,
        .is_auto     = s->options.align == QCR_ALIGN_AUTO,
        .start_pairs = s->preview.run.seen_pairs,
        .frame_rate  = qcr_pairs_rate(s->pairs),
        .conditions  = s->conditions,
        .bars        = s->bars,
        .scales      = s->geometry.scaling != QC_SCALING_NONE,
        .is_over     = s->run.end != QCR_END_NONE,
    };
}

int ff_qc_note_ranges(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    int unknown = 0;

    for (int i = 0; i < s->nb_inputs; i++) {
        s->preview.range[i] = facts_of(ctx, i, frames[i]).range;
        unknown |= !s->preview.range[i];
    }
    if (!unknown)
        s->preview.run.wishes &= ~QCR_WISH_RANGE;
    return s->preview.run.wishes != 0;
}

int ff_qc_adopt_start(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_alignment_rules rules = ff_qc_alignment_rules(ctx);
    qc_error error = { "out of memory" };

    for (int k = 0; rules.is_auto && k < s->options.renditions; k++)
        qcr_say_start(&s->alignment, &rules, k, &s->sink);
    return ff_qc_result(ctx, qcr_settle_ranges(&s->names, s->options.renditions, s->alignment.start, s->preview.range,
                                               s->options.range == QCR_RANGE_ERROR, &s->sink, &error), error.text);
}

void ff_qc_say_findings(AVFilterContext *ctx, int64_t rows_left)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_alignment_rules rules = ff_qc_alignment_rules(ctx);

    qcr_say_findings(&s->alignment, &rules, s->scoring.session, rows_left, s->run.end == QCR_END_OF_STREAM, &s->sink);
}

/* ---- the verdict ---- */

void ff_qc_judge_pairs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const int64_t received[] = { qcr_pairs_input(s->pairs, 0).received, qcr_pairs_input(s->pairs, QC_REFERENCE).received };
    const qcr_source_rules rules = ff_qc_source_rules(ctx);
    char why[QCR_REFUSAL];

    qcr_say_single_frames(&s->sources, &rules, s->pairs, ff_qc_counts_of(ctx, 0), &s->sink);
    qcr_conclude_conditions(s->conditions);
    if (s->options.allow_unpaired || s->run.failure)
        return;
    s->run.is_refused = qcr_refuse_pairs(ff_qc_counts_of(ctx, 0), 0, qcr_pairs_tolerance(s->pairs), why);
    for (int k = 1; k < s->options.renditions && !s->run.is_refused; k++) {
        QCInput *in = &s->input[qcr_input_of(k)];

        if (!qcr_refuse_pairs(ff_qc_counts_of(ctx, k), k, qcr_pairs_tolerance(s->pairs), in->refusal))
            continue;
        /* Its failure is its own: the others have their scores, and the exit code tells. */
        in->mispaired = 1;
        s->run.refused_rendition = AVERROR(EINVAL);
        av_log(ctx, AV_LOG_ERROR, "%s\n", in->refusal);
    }
    if (!s->run.is_refused)
        s->run.is_refused = qcr_refuse_nothing(ff_qc_counts_of(ctx, 0), s->run.end, received, why);
    if (s->run.is_refused)
        ff_qc_fail(ctx, AVERROR(EINVAL), "%s", why);
}
