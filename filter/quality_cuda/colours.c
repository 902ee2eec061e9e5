/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Colour tags of the inputs; see colours.h. Depends on formats, inputs and state.
 */

#include "compat.h"

#include <stdio.h>

#include "libavutil/pixdesc.h"

#include "colours.h"
#include "formats.h"
#include "state.h"

int ff_qc_check_colour(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const AVFrame *main = s->main.frame;
    const enum AVColorRange range = ff_qc_range_of(frame, in->sw_format), main_range = ff_qc_range_of(main, s->input[0].sw_format);
    const int range_differs  = range && main_range && range != main_range;
    const int matrix_differs = frame->colorspace != AVCOL_SPC_UNSPECIFIED && main->colorspace != AVCOL_SPC_UNSPECIFIED &&
                               frame->colorspace != main->colorspace;
    char text[256];

    if (in->colour_checked++ || s->options.range == QC_RANGE_IGNORE || !(range_differs || matrix_differs))
        return 0;
    snprintf(text, sizeof(text), "Input %d (%s) is tagged range %s, matrix %s; main range %s, matrix %s", index,
             ff_qc_role(ctx, index), av_color_range_name(range), av_color_space_name(frame->colorspace),
             av_color_range_name(main_range), av_color_space_name(main->colorspace));
    if (s->options.range == QC_RANGE_ERROR)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "%s (range=error)", text);
    av_log(ctx, AV_LOG_WARNING, "%s; samples are scored as they are\n", text);
    return 0;
}

/** The numbers are the engine's, but that 0 is what is not known. */
static qc_colour colour_of(const AVFrame *frame, enum AVPixelFormat format)
{
    return (qc_colour) {
        .matrix          = frame->colorspace == AVCOL_SPC_UNSPECIFIED ? 0 : frame->colorspace,
        .range           = ff_qc_range_of(frame, format),
        .primaries       = frame->color_primaries == AVCOL_PRI_UNSPECIFIED ? 0 : frame->color_primaries,
        .transfer        = frame->color_trc == AVCOL_TRC_UNSPECIFIED ? 0 : frame->color_trc,
        .chroma_location = frame->chroma_location,
    };
}

static int same_colour(const qc_colour *a, const qc_colour *b)
{
    return a->matrix == b->matrix && a->range == b->range && a->primaries == b->primaries && a->transfer == b->transfer &&
           a->chroma_location == b->chroma_location;
}

void ff_qc_adopt_colours(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++) {
        QCInput *in = &s->input[i];
        const AVFrame *frame = frames[i] ? frames[i] : in->next ? in->next : in->cur;

        in->format.colour = frame ? colour_of(frame, in->sw_format) : s->input[0].format.colour;
        in->latest_colour = in->format.colour;
    }
}

void ff_qc_warn_of_colour_change(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const qc_colour colour = colour_of(frame, in->sw_format);

    if (same_colour(&colour, &in->latest_colour))
        return;
    in->latest_colour = colour;
    in->colour_changes++;
    if (s->options.range == QC_RANGE_IGNORE || in->colour_changed)
        return;
    in->colour_changed = 1;
    av_log(ctx, AV_LOG_WARNING, "Input %d (%s) changes its colour tags at %s s; those of the first pair go on being used: score parts "
           "of different colours apart, e.g. with trim\n", index, ff_qc_role(ctx, index), QC_NUMBER(3, ff_qc_seconds(ctx, index, frame->pts)));
}
