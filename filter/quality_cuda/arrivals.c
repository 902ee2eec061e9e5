/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Frames as they come; see arrivals.h. Depends on inputs, mask, outputs, record
 * and state.
 */

#include "compat.h"

#include <string.h>

#include "libavutil/common.h"

#include "arrivals.h"
#include "mask.h"
#include "outputs.h"
#include "record.h"
#include "state.h"

int ff_qc_settle_rate(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int64_t pts[QCR_RATE_FRAMES];
    int wanted, count;

    if (s->run.rate_settled)
        return 1;
    wanted = qcr_pairs_rate_frames(s->pairs);
    count  = FFMIN(ff_inlink_queued_frames(ctx->inputs[0]), wanted);
    if (count < wanted && !ff_outlink_get_status(ctx->inputs[0]))
        return 0;
    for (int i = 0; i < count; i++) /* they wait in the link's queue: nobody has to hold them */
        pts[i] = ff_inlink_peek_frame(ctx->inputs[0], i)->pts;
    qcr_pairs_settle_rate(s->pairs, pts, count);
    s->engine.frame_rate = qcr_pairs_rate(s->pairs);
    return s->run.rate_settled = 1;
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
    ret = ff_qc_record_end(ctx, index);
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
    ret = ff_qc_offer_masks(ctx);
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
            if (frame)
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
