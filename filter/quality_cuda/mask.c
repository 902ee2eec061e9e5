/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The masks; see mask.h. Depends on scaling and state.
 */

#include "compat.h"

#include <string.h>

#include "mask.h"
#include "scaling.h"
#include "state.h"

int ff_qc_has_mask(const AVFilterContext *ctx)
{
    return ((const QualityCudaContext *)ctx->priv)->options.mask;
}

/** The pad comes behind those of the videos. */
static int mask_index(const AVFilterContext *ctx)
{
    return ((const QualityCudaContext *)ctx->priv)->nb_inputs;
}

/* ---- before the first frame ---- */

int ff_qc_check_mask_option(AVFilterContext *ctx)
{
    const QCOptions *options = &((const QualityCudaContext *)ctx->priv)->options;
    const char *other = options->record && options->record[0] ? "record" : options->replay && options->replay[0] ? "replay" : NULL;

    if (!ff_qc_has_mask(ctx) || !other)
        return 0;
    return ff_qc_fail(ctx, AVERROR(EINVAL), "mask=1: not accepted with %s, which knows no masks; 0 is accepted", other);
}

int ff_qc_append_mask_pad(AVFilterContext *ctx)
{
    AVFilterPad pad = { .name = "mask", .type = AVMEDIA_TYPE_VIDEO };

    return ff_qc_has_mask(ctx) ? ff_append_inpad(ctx, &pad) : 0;
}

/** @return AVERROR if that is not the size of what is scored */
static int check_size(AVFilterContext *ctx, int width, int height)
{
    int scored_width, scored_height;

    ff_qc_scored_part(ctx, &scored_width, &scored_height);
    if (width == scored_width && height == scored_height)
        return 0;
    return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (mask) is %dx%d, but %dx%d is scored, and the mask has to have that size: "
                      "put scale=%d:%d before it", mask_index(ctx), width, height, scored_width, scored_height, scored_width,
                      scored_height);
}

int ff_qc_configure_mask(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const AVFilterLink *link;

    if (!ff_qc_has_mask(ctx))
        return 0;
    link = ctx->inputs[mask_index(ctx)];
    s->mask.clock.num = link->time_base.num;
    s->mask.clock.den = link->time_base.den;
    return check_size(ctx, link->w, link->h);
}

/* ---- frames ---- */

/** Takes the next frame, if it is there. @return AVERROR */
static int take_next(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCMask *mask = &s->mask;
    AVFilterLink *link = ctx->inputs[mask_index(ctx)];
    int64_t pts;
    int status, ret;

    if (mask->next || mask->ended)
        return 0;
    ret = ff_inlink_consume_frame(link, &mask->next);
    if (ret < 0)
        return ff_qc_fail(ctx, ret, "Input %d (mask) could not be read", mask_index(ctx));
    if (!ret) {
        mask->ended  = ff_inlink_acknowledge_status(link, &status, &pts);
        mask->wanted = !mask->ended;
        return 0;
    }
    if (!mask->frames && !mask->cur && s->options.align == QC_ALIGN_START && mask->next->pts != AV_NOPTS_VALUE)
        mask->clock.origin = mask->next->pts;
    return check_size(ctx, mask->next->width, mask->next->height);
}

/** Whether the next mask holds from the waiting main frame on, or from an earlier one. */
static int next_holds(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCMask *mask = &s->mask;

    if (!mask->cur)
        return 1;
    if (s->pairing.sync == QCR_SYNC_INDEX)
        return mask->frames <= s->counts[0].frames;
    if (mask->next->pts == AV_NOPTS_VALUE || s->main.frame->pts == AV_NOPTS_VALUE)
        return 0;
    return qcr_distance(&mask->clock, mask->next->pts, &s->input[0].track.clock, s->main.frame->pts) <= s->pairing.tolerance;
}

int ff_qc_find_mask(AVFilterContext *ctx)
{
    QCMask *mask = &((QualityCudaContext *)ctx->priv)->mask;

    if (!ff_qc_has_mask(ctx))
        return 1;
    for (;;) {
        const int ret = take_next(ctx);

        if (ret < 0)
            return ret;
        if (!mask->next)
            break;
        if (!next_holds(ctx))
            return 1;
        av_frame_free(&mask->cur);
        mask->cur  = mask->next;
        mask->next = NULL;
        mask->frames++;
    }
    if (mask->ended && !mask->cur)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (mask) ended without a frame: one is the least", mask_index(ctx));
    return mask->ended;
}

void ff_qc_fill_mask(const AVFilterContext *ctx, qc_picture *picture)
{
    const AVFrame *frame = ((const QualityCudaContext *)ctx->priv)->mask.cur;

    memset(picture, 0, sizeof(*picture));
    if (!frame)
        return;
    picture->plane[0]       = frame->data[0];
    picture->pitch_bytes[0] = frame->linesize[0];
    picture->memory         = QC_MEMORY_HOST;
}

void ff_qc_drop_masks(AVFilterContext *ctx)
{
    AVFrame *nobodys = NULL;

    if (!ff_qc_has_mask(ctx))
        return;
    while (ff_inlink_consume_frame(ctx->inputs[mask_index(ctx)], &nobodys) > 0)
        av_frame_free(&nobodys);
}

void ff_qc_free_mask(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    av_frame_free(&s->mask.cur);
    av_frame_free(&s->mask.next);
}
