/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include "libavutil/common.h"

#include "account.h"
#include "state.h"
#include "submission.h"

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

/** Shows an input's next frame, if it has come. */
static qcr_look offer_next(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    qcr_preview *run = &s->preview.run;
    AVFilterLink *link = ctx->inputs[index];
    AVFrame *frame = NULL;

    if (run->seen[index] < (int)ff_inlink_queued_frames(link))
        frame = ff_inlink_peek_frame(link, run->seen[index]);
    if (frame && !ff_qc_keeps_promise(ctx, index, frame))
        return QCR_LOOK_IS_OVER; /* nothing that can be compared */
    return qcr_preview_offer(run, index, frame, frame ? frame->pts : AV_NOPTS_VALUE, ff_outlink_get_status(link));
}

/* ---- pairs ---- */

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
 * said. @return AVERROR, or qcr_look
 */
static int fail_look(AVFilterContext *ctx, qc_status status, const char *why)
{
    const QualityCudaContext *s = ctx->priv;
    const int may_go_on = qcr_is_of_device(status) && s->options.on_error == QC_ON_ERROR_CPU;

    if (s->run.failure || (status != QC_ERROR_UNSUPPORTED && !may_go_on))
        return ff_qc_fail(ctx, ff_qc_error_of_status(status), "align=auto: the first pictures could not be compared: %s", why);
    av_log(ctx, AV_LOG_WARNING, "align=auto: the first pictures could not be compared: %s\n", why);
    return QCR_LOOK_IS_OVER;
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
        return QCR_LOOK_IS_OVER;
    status = ff_qc_submit_pictures(ctx, preview->session, frames, NULL, NULL, NULL);
    while (status == QC_OK)
        status = qc_session_receive(preview->session, 1, &row);
    if (status != QC_AGAIN)
        return fail_look(ctx, status, qc_session_error(preview->session));
    return QCR_LOOK_GOES_ON;
}

/** @return AVERROR, or qcr_look */
static int look_at_pair(AVFilterContext *ctx, const qcr_decision *decision)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *frames[QC_MAX_INPUTS];
    int ret;

    for (int i = 0; i < QC_MAX_INPUTS; i++)
        frames[i] = decision->input[i].frame;
    ret = compare(ctx, frames);
    return ret != QCR_LOOK_GOES_ON ? ret :
           qcr_preview_saw(&s->preview.run, s->preview.session, ff_qc_seconds(ctx, 0, frames[0]->pts));
}

/** Looks as far as the next decision on trial. @return AVERROR, or qcr_look */
static int look(AVFilterContext *ctx, uint32_t *needs)
{
    QualityCudaContext *s = ctx->priv;
    qcr_decision decision;
    int ret;

    for (int i = 0; i < s->nb_inputs; i++) {
        for (ret = QCR_LOOK_GOES_ON; ret == QCR_LOOK_GOES_ON && qcr_preview_needs(&s->preview.run, i); )
            ret = offer_next(ctx, i);
        if (ret == QCR_LOOK_IS_OVER)
            return ret;
    }
    ret = qcr_preview_next(&s->preview.run, &decision);
    *needs = decision.needs;
    return ret == QCR_LOOK_AT_PAIR ? look_at_pair(ctx, &decision) : ret;
}

int ff_qc_look_ahead(AVFilterContext *ctx, uint32_t *needs)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    int ret;

    if (s->options.align != QC_ALIGN_AUTO || preview->is_over)
        return 1;
    if (!preview->run.trial && qcr_preview_begin(&preview->run, s->pairs, s->options.renditions) != QC_OK)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    ret = leave_surfaces(ctx);
    if (ret >= 0)
        do
            ret = look(ctx, needs);
        while (ret == QCR_LOOK_GOES_ON);
    if (ret == QCR_LOOK_NEEDS_INPUT)
        return 0;
    preview->is_over = 1;
    if (ret == QCR_LOOK_IS_OVER)
        qcr_preview_conclude(&preview->run, preview->session, s->pairing.sync == QCR_SYNC_INDEX, s->alignment.start);
    ff_qc_free_preview(ctx);
    for (int k = 0; ret == QCR_LOOK_IS_OVER && k < s->options.renditions; k++)
        ff_qc_say_start(ctx, k);
    return FFMIN(ret, 1);
}

void ff_qc_free_preview(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    qc_session_destroy(s->preview.session);
    s->preview.session = NULL;
    qcr_preview_end(&s->preview.run);
}
