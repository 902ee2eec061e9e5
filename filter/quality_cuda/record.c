/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <stdarg.h>
#include <stdio.h>

#include "libavutil/error.h"
#include "libavutil/frame.h"

#include "formats.h"
#include "state.h"

int ff_qc_recorded(AVFilterContext *ctx, qc_status status)
{
    const QualityCudaContext *s = ctx->priv;
    const int error = AVERROR(qcr_record_error(s->record));

    return status == QC_OK ? 0 : ff_qc_fail(ctx, error, "record=%s could not be written: %s", s->options.record, av_err2str(error));
}

int ff_qc_open_record(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    if (!s->options.record)
        return 0;
    s->record = qcr_record_create(s->options.record, s->nb_inputs);
    return s->record ? 0 : ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
}

int ff_qc_record_inputs(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    qc_status status = QC_OK;

    for (int i = 0; i < s->nb_inputs && status == QC_OK; i++) {
        const AVFilterLink *link = ctx->inputs[i];
        const AVRational rate = QC_LINK_RATE(ctx->inputs[i]), clock = link->time_base, shape = link->sample_aspect_ratio;
        const enum AVPixelFormat format = s->input[i].sw_format;

        status = qcr_record_input(s->record, i, &(qcr_recorded_input) { link->w, link->h, format, ff_qc_pix_fmt_name(format),
                                  clock.num, clock.den, rate.num, rate.den, shape.num, shape.den });
    }
    return ff_qc_recorded(ctx, status);
}

void ff_qc_warn_of_input(AVFilterContext *ctx, const char *text)
{
    const QualityCudaContext *s = ctx->priv;

    ff_qc_warn(ctx, "%s", text);
    qcr_record_said(s->record, QCR_LEVEL_WARNING, text);
}

int ff_qc_record_frame(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    const QualityCudaContext *s = ctx->priv;
    const enum AVPixelFormat format = frame->hw_frames_ctx ? ((const AVHWFramesContext *)frame->hw_frames_ctx->data)->sw_format
                                                           : frame->format;
    const qcr_recorded_frame facts = {
        .pts          = frame->pts,
        .width        = frame->width,
        .height       = frame->height,
        .format       = format,
        .format_name  = ff_qc_pix_fmt_name(format),
        .facts        = ff_qc_facts_of_frame(frame, format),
        .packet_bytes = QC_PACKET_BYTES(frame),
    };

    return ff_qc_recorded(ctx, qcr_record_frame(s->record, index, &facts));
}

int ff_qc_record_pair(AVFilterContext *ctx, int64_t row, uint32_t renditions, AVFrame *const *frames)
{
    const QualityCudaContext *s = ctx->priv;
    int64_t pts[QC_MAX_INPUTS];

    for (int i = 0; i < s->nb_inputs; i++)
        pts[i] = frames[i] ? frames[i]->pts : AV_NOPTS_VALUE;
    return ff_qc_recorded(ctx, qcr_record_pair(s->record, row, renditions, pts));
}
