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

/** @return AVERROR of the record's first failure */
static int result(AVFilterContext *ctx, qc_status status)
{
    const QualityCudaContext *s = ctx->priv;
    const int error = AVERROR(qcr_record_error(s->record.record));

    return status == QC_OK ? 0 : ff_qc_fail(ctx, error, "record=%s could not be written: %s", s->options.record, av_err2str(error));
}

int ff_qc_check_record(AVFilterContext *ctx)
{
    const QCOptions *options = &((const QualityCudaContext *)ctx->priv)->options;

    /* Each part of a video would begin with a look of its own. */
    if (options->record && options->align == QC_ALIGN_AUTO)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "align=auto: with record none and start are accepted");
    return 0;
}

/** @return AVERROR, 0: nobody wants a record, 1 */
static int make_record(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    if (!s->options.record || s->record.record)
        return s->options.record != NULL;
    s->record.record = qcr_record_create(s->options.record, s->nb_inputs);
    return s->record.record ? 1 : ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
}

static qc_status describe_input(const AVFilterContext *ctx, int index)
{
    const QualityCudaContext *s = ctx->priv;
    const AVFilterLink *link = ctx->inputs[index];
    const AVRational rate = QC_LINK_RATE(ctx->inputs[index]);
    const qcr_recorded_input facts = {
        .width       = link->w,
        .height      = link->h,
        .format      = s->input[index].sw_format,
        .format_name = ff_qc_pix_fmt_name(s->input[index].sw_format),
        .clock_num   = link->time_base.num,
        .clock_den   = link->time_base.den,
        .rate_num    = rate.num,
        .rate_den    = rate.den,
        .shape_num   = link->sample_aspect_ratio.num,
        .shape_den   = link->sample_aspect_ratio.den,
    };

    return qcr_record_input(s->record.record, index, &facts);
}

/** A first frame or end comes. @return as make_record() */
static int begin(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const int ret = make_record(ctx);
    qc_status status = QC_OK;

    for (int i = 0; ret > 0 && !s->record.is_begun && i < s->nb_inputs && status == QC_OK; i++)
        status = describe_input(ctx, i);
    s->record.is_begun = 1;
    return status == QC_OK ? ret : result(ctx, status);
}

void ff_qc_warn_of_input(AVFilterContext *ctx, const char *format, ...)
{
    const QualityCudaContext *s = ctx->priv;
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    av_log(ctx, AV_LOG_WARNING, "%s\n", text);
    if (make_record(ctx) > 0)
        qcr_record_said(s->record.record, QCR_LEVEL_WARNING, text);
}

static enum AVPixelFormat format_of(const AVFrame *frame)
{
    return frame->hw_frames_ctx ? ((const AVHWFramesContext *)frame->hw_frames_ctx->data)->sw_format : frame->format;
}

int ff_qc_record_frame(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_recorded_frame facts = {
        .pts             = frame->pts,
        .width           = frame->width,
        .height          = frame->height,
        .format          = format_of(frame),
        .format_name     = ff_qc_pix_fmt_name(format_of(frame)),
        .is_corrupt      = frame->decode_error_flags || (frame->flags & AV_FRAME_FLAG_CORRUPT),
        .is_concealed    = !!(frame->decode_error_flags & FF_DECODE_ERROR_CONCEALMENT_ACTIVE),
        .is_interlaced   = QC_IS_INTERLACED(frame),
        .range           = ff_qc_range_of(frame, format_of(frame)),
        .matrix          = ff_qc_matrix_of(frame, format_of(frame)),
        .primaries       = frame->color_primaries,
        .transfer        = frame->color_trc,
        .chroma_location = frame->chroma_location,
        .packet_bytes    = QC_PACKET_BYTES(frame),
    };
    const int ret = begin(ctx);

    return ret <= 0 ? ret : result(ctx, qcr_record_frame(s->record.record, index, &facts));
}

int ff_qc_record_end(AVFilterContext *ctx, int index)
{
    const QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[index];
    const int ret = begin(ctx);

    return ret <= 0 ? ret : result(ctx, qcr_record_end(s->record.record, index, in->status, in->eof_pts));
}

int ff_qc_record_session(AVFilterContext *ctx, const qc_config *config)
{
    const QualityCudaContext *s = ctx->priv;

    return s->record.record ? result(ctx, qcr_record_session(s->record.record, s->scoring.session, config)) : 0;
}

int ff_qc_record_pair(AVFilterContext *ctx, int64_t row, uint32_t renditions, AVFrame *const *frames)
{
    const QualityCudaContext *s = ctx->priv;
    int64_t pts[QC_MAX_INPUTS];

    if (!s->record.record)
        return 0;
    for (int i = 0; i < s->nb_inputs; i++)
        pts[i] = frames[i] ? frames[i]->pts : AV_NOPTS_VALUE;
    return result(ctx, qcr_record_pair(s->record.record, row, renditions, pts));
}

void ff_qc_record_break(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    if (s->record.record)
        qcr_record_break(s->record.record);
}

int ff_qc_finish_record(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    int ret;

    if (!s->record.record)
        return 0;
    ret = result(ctx, qcr_record_finish(s->record.record, qcr_pairs_rate(s->pairs), qcr_pairs_tolerance(s->pairs),
                                        s->run.end != QCR_END_BY_FAILURE));
    ff_qc_close_record(ctx);
    return ret;
}

void ff_qc_close_record(AVFilterContext *ctx)
{
    QCRecord *record = &((QualityCudaContext *)ctx->priv)->record;

    qcr_record_destroy(record->record);
    record->record = NULL;
}
