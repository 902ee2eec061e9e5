/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <math.h>

#include "libavutil/common.h"

#include "account.h"
#include "state.h"
#include "submission.h"

/** So many frames of an input wait at most. The engine looks at 48 pairs: one side may have twice as many frames, or begin earlier. */
#define MOST_WAITING 96

enum Look {
    LOOK_NEEDS_INPUT,
    LOOK_GOES_ON,
    LOOK_IS_OVER,
};

/* ---- frames that wait ---- */

/** A decoder that hands out its own surfaces may have too few of them for all that wait here. @return AVERROR */
static int leave_surfaces(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++) {
        int *movable = &s->preview.movable[i];
        const int waiting = ff_inlink_queued_frames(ctx->inputs[i]);

        for (; *movable < waiting; ++*movable) {
            const int ret = ff_qc_leave_surface(ctx, i, ff_inlink_peek_frame(ctx->inputs[i], *movable));
            if (ret < 0)
                return ret;
        }
    }
    return 0;
}

/** Offers an input's next frame on trial, or tells its end. */
static enum Look offer_next(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    AVFilterLink *link = ctx->inputs[index];
    qcr_offer offer = { .input = index };
    AVFrame *frame;

    if (preview->seen[index] == MOST_WAITING)
        return LOOK_IS_OVER;
    if (preview->seen[index] == (int)ff_inlink_queued_frames(link)) {
        if (!ff_outlink_get_status(link))
            return LOOK_NEEDS_INPUT;
        qcr_pairs_end(preview->trial, index, 0);
        return LOOK_GOES_ON;
    }
    frame = ff_inlink_peek_frame(link, preview->seen[index]);
    /* What comes behind is not of the beginning, or nothing that can be compared. */
    if (!ff_qc_keeps_promise(ctx, index, frame) || qcr_pairs_jumps(preview->trial, index, frame->pts))
        return LOOK_IS_OVER;
    preview->seen[index]++;
    qcr_pairs_hear(s->pairs, index);
    offer.frame = frame;
    offer.pts   = frame->pts;
    qcr_pairs_offer(preview->trial, &offer);
    return LOOK_GOES_ON;
}

/* ---- pairs on trial ---- */

/** Margins that change are an error, but not this file's. */
static int crops_fit(const QualityCudaContext *s, AVFrame *const *frames)
{
    for (int i = 0; i < s->nb_inputs; i++) {
        const QCInput *in = &s->input[i];

        if (frames[i] && in->is_hw && (frames[i]->crop_left != in->crop_left || frames[i]->crop_top != in->crop_top))
            return 0;
    }
    return 1;
}

/**
 * The look fails. Where the CPU backend may go on with the scoring, or the pictures cannot be watched, that is no more than
 * said. @return AVERROR, or enum Look
 */
static int fail_look(AVFilterContext *ctx, qc_status status, const char *why)
{
    const QualityCudaContext *s = ctx->priv;
    const int may_go_on = qcr_is_of_device(status) && s->options.on_error == QC_ON_ERROR_CPU;

    if (s->run.failure || (status != QC_ERROR_UNSUPPORTED && !may_go_on))
        return ff_qc_fail(ctx, ff_qc_error_of_status(status), "align=auto: the first pictures could not be compared: %s", why);
    av_log(ctx, AV_LOG_WARNING, "align=auto: the first pictures could not be compared: %s\n", why);
    return LOOK_IS_OVER;
}

/** The engine sees a pair, and all that it says of it is waited for: what is told depends on the pictures, not on timing. */
static int compare(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    qc_error error = { "" };
    qc_status status = QC_OK;
    qc_row row;

    if (!preview->session) {
        const int ret = ff_qc_adopt_crop(ctx, frames);

        if (ret < 0)
            return ret;
        status = ff_qc_open_watch(ctx, &preview->session, &error);
        if (status != QC_OK)
            return fail_look(ctx, status, error.text);
    }
    if (!crops_fit(s, frames))
        return LOOK_IS_OVER;
    status = ff_qc_submit_pictures(ctx, preview->session, frames, NULL, NULL, NULL);
    while (status == QC_OK)
        status = qc_session_receive(preview->session, 1, &row);
    if (status != QC_AGAIN)
        return fail_look(ctx, status, qc_session_error(preview->session));
    return LOOK_GOES_ON;
}

static int all_is_told(const QualityCudaContext *s)
{
    int offset;

    for (int k = 0; k < s->options.renditions; k++)
        if (qc_session_start_offset(s->preview.session, k, &offset) == QC_AGAIN)
            return 0;
    return 1;
}

/** @return AVERROR, or enum Look */
static int look_at_pair(AVFilterContext *ctx, const qcr_decision *decision)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    AVFrame *frames[QC_MAX_INPUTS];
    int ret;

    for (int i = 0; i < QC_MAX_INPUTS; i++)
        frames[i] = decision->input[i].frame;
    ret = compare(ctx, frames);
    if (ret != LOOK_GOES_ON)
        return ret;
    qcr_pairs_take(preview->trial);
    preview->last_time = ff_qc_seconds(ctx, 0, frames[0]->pts);
    if (!preview->pairs++)
        preview->first_time = preview->last_time;
    preview->gap = 0;
    return all_is_told(s) ? LOOK_IS_OVER : LOOK_GOES_ON;
}

/** A frame without a partner. */
static enum Look look_past(QCPreview *preview, const qcr_decision *decision)
{
    if (decision->why == QCR_WHY_UNTIMED)
        return LOOK_GOES_ON;
    return decision->is_last || (preview->pairs && ++preview->gap > QCR_LONGEST_GAP) ? LOOK_IS_OVER : LOOK_GOES_ON;
}

/** Looks as far as the next decision on trial. @return AVERROR, or enum Look */
static int look(AVFilterContext *ctx, uint32_t *needs)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    qcr_decision decision;

    for (int i = 0; i < s->nb_inputs; i++) {
        enum Look seen = LOOK_GOES_ON;

        while (seen == LOOK_GOES_ON && qcr_pairs_needs(preview->trial, i))
            seen = offer_next(ctx, i);
        if (seen == LOOK_IS_OVER)
            return seen;
    }
    qcr_pairs_next(preview->trial, &decision);
    *needs = decision.needs;
    switch (decision.kind) {
    case QCR_NEEDS_INPUT: return LOOK_NEEDS_INPUT;
    case QCR_PAIR:        return look_at_pair(ctx, &decision);
    case QCR_PASS:        return look_past(preview, &decision);
    default:              return LOOK_IS_OVER;
    }
}

/* ---- what was told ---- */

/** From one pair to the next: main frames without a partner may lie between them, where the reference's rate is lower. */
static double seconds_of_pair(const QualityCudaContext *s)
{
    const QCPreview *preview = &s->preview;
    const double rate = s->engine.frame_rate;
    const double measured = (preview->last_time - preview->first_time) / FFMAX(preview->pairs - 1, 1);

    if (s->pairing.sync == QCR_SYNC_INDEX)
        return rate > 0 ? 1 / rate : NAN;
    return rate > 0 ? fmax(round(measured * rate), 1) / rate : measured;
}

static void take_offsets(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const double seconds = seconds_of_pair(s);

    if (!s->preview.session || qc_session_flush(s->preview.session) != QC_OK)
        return;
    for (int k = 0; k < s->options.renditions; k++) {
        qcr_start *start = &s->alignment.start[k];

        start->is_told = qc_session_start_offset(s->preview.session, k, &start->offset) == QC_OK;
        start->seconds = start->is_told ? start->offset * seconds : NAN;
    }
}

static void conclude(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    take_offsets(ctx);
    ff_qc_free_preview(ctx);
    for (int k = 0; k < s->options.renditions; k++) {
        const qcr_start *start = &s->alignment.start[k];

        qcr_pairs_correct_start(s->pairs, k, start->is_told, start->offset, start->seconds);
    }
    for (int k = 0; k < s->options.renditions; k++)
        ff_qc_say_start(ctx, k);
}

int ff_qc_look_ahead(AVFilterContext *ctx, uint32_t *needs)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    int ret;

    if (s->options.align != QC_ALIGN_AUTO || preview->is_over)
        return 1;
    if (!preview->trial && qcr_pairs_create_trial(s->pairs, preview->counts, &preview->trial) != QC_OK)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    ret = leave_surfaces(ctx);
    if (ret >= 0)
        do
            ret = look(ctx, needs);
        while (ret == LOOK_GOES_ON);
    if (ret == LOOK_NEEDS_INPUT)
        return 0;
    preview->is_over = 1;
    if (ret == LOOK_IS_OVER)
        conclude(ctx);
    else
        ff_qc_free_preview(ctx);
    return FFMIN(ret, 1);
}

void ff_qc_free_preview(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    qc_session_destroy(s->preview.session);
    s->preview.session = NULL;
    qcr_pairs_destroy(s->preview.trial);
    s->preview.trial = NULL;
}
