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
    const char *other = options->record && options->record[0] ? "record" : NULL;

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
    const AVFilterLink *link;

    if (!ff_qc_has_mask(ctx))
        return 0;
    link = ctx->inputs[mask_index(ctx)];
    return check_size(ctx, link->w, link->h);
}

/* ---- frames ---- */

/** Offers the next mask, or tells the end of them. @return 1 if there was either, 0, or AVERROR */
static int offer_next(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const int index = mask_index(ctx);
    qcr_offer offer = { .input = index };
    AVFrame *frame = NULL;
    int64_t pts;
    int status, ret = ff_inlink_consume_frame(ctx->inputs[index], &frame);

    if (ret < 0)
        return ff_qc_fail(ctx, ret, "Input %d (mask) could not be read", index);
    if (frame) {
        offer.frame = frame;
        offer.pts   = frame->pts;
        ret = check_size(ctx, frame->width, frame->height);
        qcr_pairs_offer(s->pairs, &offer);
        return ret < 0 ? ret : 1;
    }
    if (!ff_inlink_acknowledge_status(ctx->inputs[index], &status, &pts))
        return 0;
    qcr_pairs_end(s->pairs, index, ff_qc_now());
    if (!qcr_pairs_input(s->pairs, index).received)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (mask) ended without a frame: one is the least", index);
    return 1;
}

int ff_qc_offer_masks(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    int ret = 1;

    while (ff_qc_has_mask(ctx) && ret > 0 && qcr_pairs_needs(s->pairs, mask_index(ctx)))
        ret = offer_next(ctx);
    return FFMIN(ret, 0);
}

void ff_qc_fill_mask(const AVFrame *mask, qc_picture *picture)
{
    memset(picture, 0, sizeof(*picture));
    if (!mask)
        return;
    picture->plane[0]       = mask->data[0];
    picture->pitch_bytes[0] = mask->linesize[0];
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
