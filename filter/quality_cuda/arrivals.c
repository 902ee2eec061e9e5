/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <string.h>

#include "libavutil/common.h"

#include "account.h"
#include "state.h"
#include "submission.h"

uint32_t ff_qc_settle_start(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int64_t pts[QCR_RATE_FRAMES];

    for (int i = 0, wanted; !s->run.start_settled && i < s->nb_inputs; i++) {
        while ((wanted = qcr_pairs_first_frames(s->pairs, i)) > 0) {
            const int count = FFMIN(ff_inlink_queued_frames(ctx->inputs[i]), wanted);

            if (count < wanted && !ff_outlink_get_status(ctx->inputs[i]))
                return 1u << i;
            for (int k = 0; k < count; k++) /* they wait in the link's queue: nobody has to hold them */
                pts[k] = ff_inlink_peek_frame(ctx->inputs[i], k)->pts;
            qcr_pairs_show_first(s->pairs, i, pts, count);
        }
    }
    s->run.start_settled = 1;
    return 0;
}

/* ---- frames come in ---- */

/** Has the pairs look at the frame that an input delivers next, if one waits. @return 0 if the one behind it has to be there first */
static int foresee(AVFilterContext *ctx, int index, qcr_offer *offer)
{
    const QualityCudaContext *s = ctx->priv;
    AVFilterLink *link = ctx->inputs[index];
    const size_t waiting = ff_inlink_queued_frames(link);

    *offer = (qcr_offer) { .input = index, .pts = AV_NOPTS_VALUE, .following_pts = AV_NOPTS_VALUE };
    if (!waiting)
        return 1;
    offer->pts             = ff_inlink_peek_frame(link, 0)->pts;
    offer->knows_following = waiting > 1 || ff_outlink_get_status(link);
    if (waiting > 1)
        offer->following_pts = ff_inlink_peek_frame(link, 1)->pts;
    return qcr_pairs_foresee(s->pairs, offer);
}

/** Filters may drop or repeat frames, with what their packets were. */
static void count_packet(const AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const int bytes = QC_PACKET_BYTES(frame);

    if (bytes <= 0 || strcmp(ctx->inputs[index]->src->filter->name, "buffer"))
        in->packet_bytes = -1;
    if (in->packet_bytes >= 0)
        in->packet_bytes += bytes;
}

/** Takes a frame that waits, or notes the input's end. @return 1 if there was either, 0, or AVERROR */
static int consume(AVFilterContext *ctx, int index, AVFrame **frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    int ret = ff_inlink_consume_frame(ctx->inputs[index], frame);

    if (ret > 0) {
        count_packet(ctx, index, *frame);
        ret = ff_qc_record_frame(ctx, index, *frame);
        if (ret >= 0)
            return 1;
        av_frame_free(frame);
        return ret;
    }
    if (ret < 0 || !ff_inlink_acknowledge_status(ctx->inputs[index], &in->status, &in->eof_pts))
        return ret;
    in->cut_off = !!qcr_interrupted_by(&s->run.interrupts);
    qcr_pairs_end(s->pairs, index, ff_qc_now());
    ret = ff_qc_recorded(ctx, qcr_record_end(s->record, index, in->status, in->eof_pts));
    return ret < 0 ? ret : 1;
}

/** Offers an input's next frame. A frame that fails is offered too, for the video may go on without scores. @return as consume() */
static int offer_next(AVFilterContext *ctx, int index)
{
    const QualityCudaContext *s = ctx->priv;
    AVFrame *frame = NULL;
    qcr_offer offer;
    int ret;

    if (!foresee(ctx, index, &offer))
        return 0;
    ret = consume(ctx, index, &frame);
    if (ret < 0)
        return ff_qc_fail(ctx, ret, "Input %d (%s) could not be read", index, ff_qc_role(ctx, index));
    if (!frame)
        return ret;
    ret = ff_qc_check_frame(ctx, index, frame);
    if (!ret) {
        qcr_pairs_refuse(s->pairs, index, frame->pts);
        av_frame_free(&frame);
        return 1;
    }
    if (ret > 0 && QC_SCARCE_SURFACES)
        ret = ff_qc_leave_surface(ctx, index, frame);
    offer.frame    = frame;
    offer.disabled = ctx->is_disabled; /* only right until another frame is taken */
    qcr_pairs_offer(s->pairs, &offer);
    return ret < 0 ? ret : 1;
}

int ff_qc_decide(AVFilterContext *ctx, qcr_decision *decision)
{
    const QualityCudaContext *s = ctx->priv;
    int ret;

    qcr_pairs_next(s->pairs, decision);
    if (decision->kind != QCR_NEEDS_INPUT)
        return 0;
    for (int i = 0; i < s->nb_inputs; i++) {
        for (ret = 1; ret > 0 && qcr_pairs_needs(s->pairs, i); )
            ret = offer_next(ctx, i);
        if (ret < 0)
            return ret;
    }
    ret = ff_qc_offer_weights(ctx);
    if (ret >= 0)
        qcr_pairs_next(s->pairs, decision);
    return ret;
}

void ff_qc_decide_rest(AVFilterContext *ctx, qcr_decision *decision)
{
    const QualityCudaContext *s = ctx->priv;

    for (int n = 1; n <= s->nb_inputs; n++) {
        const int i = n % s->nb_inputs; /* the distorted video comes last */
        qcr_offer offer;
        int ret = 1;

        while (ret > 0 && qcr_pairs_needs(s->pairs, i) && foresee(ctx, i, &offer)) {
            AVFrame *frame = NULL;

            ret = consume(ctx, i, &frame);
            offer.frame = frame;
            if (!frame)
                continue;
            ff_qc_look_further(ctx, i, frame);
            qcr_pairs_offer(s->pairs, &offer);
        }
    }
    qcr_pairs_next(s->pairs, decision);
}

/* ---- frames are asked for ---- */

int ff_qc_request_if_awaited(AVFilterContext *ctx, uint32_t needs)
{
    const QualityCudaContext *s = ctx->priv;

    if (!ff_qc_is_awaited(ctx))
        return FFERROR_NOT_READY;
    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        if (!(needs >> i & 1))
            continue;
        qcr_pairs_ask(s->pairs, i, ff_qc_now());
        ff_inlink_request_frame(ctx->inputs[i]);
    }
    return 0;
}

/* ---- the first pictures ---- */

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
static qcr_look preview_next(AVFilterContext *ctx, int index)
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

static unsigned wishes_of(const AVFilterContext *ctx)
{
    const QCOptions *options = &((const QualityCudaContext *)ctx->priv)->options;
    const int by_pictures = options->range == QCR_RANGE_AUTO || options->range == QCR_RANGE_ERROR;

    return (options->align == QCR_ALIGN_AUTO ? QCR_WISH_START : 0) |
           (by_pictures && !options->record && !ff_qc_is_alias(ctx) ? QCR_WISH_RANGE : 0);
}

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
    const char *option = s->options.align == QCR_ALIGN_AUTO ? "align=auto" : "range=auto";
    const int may_go_on = qcr_is_of_device(status) && s->options.on_error == QCR_ON_ERROR_CPU;

    if (s->run.failure || (status != QC_ERROR_UNSUPPORTED && !may_go_on))
        return ff_qc_fail(ctx, ff_qc_error_of_status(status), "%s: the first pictures could not be compared: %s", option, why);
    ff_qc_warn(ctx, "%s: the first pictures could not be compared: %s", option, why);
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
        int ret = ff_qc_note_ranges(ctx, frames) ? ff_qc_adopt_crop(ctx, frames) : QCR_LOOK_IS_OVER;
        qc_config config;

        if (!ret)
            ret = ff_qc_make_config(ctx, &config, NULL);
        if (ret)
            return ret;
        status = qcr_open_watch(s->engine.request, &config, ff_qc_any_hw_input(ctx), &preview->session, &error);
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
            ret = preview_next(ctx, i);
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

    if (!wishes_of(ctx) || preview->is_over)
        return 1;
    if (!preview->run.trial && qcr_preview_begin(&preview->run, s->pairs, s->options.renditions, wishes_of(ctx)) != QC_OK)
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
    if (ret == QCR_LOOK_IS_OVER)
        ret = ff_qc_adopt_start(ctx);
    return ret < 0 ? ret : 1;
}

void ff_qc_free_preview(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    qc_session_destroy(s->preview.session);
    s->preview.session = NULL;
    qcr_preview_end(&s->preview.run);
}
