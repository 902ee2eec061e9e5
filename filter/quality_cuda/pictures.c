/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Frames as the engine takes them; see pictures.h. Depends on inputs, maps, mask
 * and state.
 */

#include "compat.h"

#include <string.h>

#include "libavutil/pixdesc.h"

#include "maps.h"
#include "mask.h"
#include "pictures.h"
#include "state.h"

static void fill_picture(const QCInput *in, const AVFrame *frame, qc_picture *picture)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(in->sw_format);
    const int nb_planes = in->format.chroma == QC_CHROMA_400 || in->format.pixel_step ? 1 : in->format.semi_planar ? 2 : 3;

    memset(picture, 0, sizeof(*picture));
    if (!frame)
        return;
    for (int i = 0; i < nb_planes; i++) {
        const AVComponentDescriptor *comp = &desc->comp[in->format.rgb ? (i + 1) % 3 : i];
        const ptrdiff_t pitch = frame->linesize[comp->plane];
        const ptrdiff_t x = in->crop_left >> (i ? desc->log2_chroma_w : 0);
        const ptrdiff_t y = in->crop_top  >> (i ? desc->log2_chroma_h : 0);

        picture->plane[i]       = frame->data[comp->plane] + y * pitch + x * comp->step;
        picture->pitch_bytes[i] = pitch;
    }
    picture->memory = frame->hw_frames_ctx ? QC_MEMORY_CUDA : QC_MEMORY_HOST;
    if (frame->hw_frames_ctx)
        picture->cuda_stream = QC_CUDA_STREAM(frame);
}

int ff_qc_adopt_crop(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++) {
        QCInput *in = &s->input[i];
        const AVFrame *frame = frames[i];

        if (!frame || !in->is_hw || (frame->crop_left == in->crop_left && frame->crop_top == in->crop_top))
            continue;
        if (s->scoring.session || frame->crop_left >= (size_t)in->format.width || frame->crop_top >= (size_t)in->format.height)
            return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (%s) changed its cropping at %s s", i, ff_qc_role(ctx, i),
                              QC_NUMBER(3, ff_qc_seconds(ctx, i, frame->pts)));
        in->crop_left = frame->crop_left;
        in->crop_top  = frame->crop_top;
    }
    return 0;
}

qc_status ff_qc_submit_pictures(const AVFilterContext *ctx, qc_session *session, AVFrame *const *frames, const AVFrame *map,
                                void (*release)(void *opaque), void *opaque)
{
    const QualityCudaContext *s = ctx->priv;
    qc_frame frame = { .release = release, .opaque = opaque };

    fill_picture(&s->input[QC_REFERENCE], frames[QC_REFERENCE], &frame.reference);
    for (int k = 0; k < s->options.renditions; k++)
        fill_picture(&s->input[qcr_input_of(k)], frames[qcr_input_of(k)], &frame.distorted[k]);
    ff_qc_fill_map(ctx, map, &frame.map);
    ff_qc_fill_mask(frames[s->nb_inputs], &frame.weights);
    return qc_session_submit(session, &frame);
}
