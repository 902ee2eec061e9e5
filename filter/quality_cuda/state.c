/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/rational.h"
#include "libavutil/time.h"

#include "state.h"

int ff_qc_fail(AVFilterContext *ctx, int error, const char *format, ...)
{
    QualityCudaContext *s = ctx->priv;
    va_list arguments;

    if (s->run.failure)
        return s->run.failure;
    va_start(arguments, format);
    vsnprintf(s->run.reason, sizeof(s->run.reason), format, arguments);
    va_end(arguments);
    av_log(ctx, AV_LOG_ERROR, "%s\n", s->run.reason);
    return s->run.failure = error;
}

int ff_qc_error_of_status(qc_status status)
{
    switch (status) {
    case QC_OK:                return 0;
    case QC_ERROR_INVALID:     return AVERROR(EINVAL);
    case QC_ERROR_UNSUPPORTED: return AVERROR(ENOSYS);
    case QC_ERROR_NO_DEVICE:   return AVERROR(ENODEV);
    case QC_ERROR_NO_MEMORY:   return AVERROR(ENOMEM);
    case QC_ERROR_DEVICE:      return AVERROR_EXTERNAL;
    case QC_ERROR_IO:          return AVERROR(EIO);
    default:                   return AVERROR_BUG;
    }
}

int ff_qc_result(AVFilterContext *ctx, qc_status status, const char *why)
{
    return status == QC_OK ? 0 : ff_qc_fail(ctx, ff_qc_error_of_status(status), "%s", why);
}

static void say(void *opaque, qcr_level level, const char *text)
{
    static const int levels[] = { AV_LOG_ERROR, AV_LOG_WARNING, AV_LOG_INFO, AV_LOG_VERBOSE, AV_LOG_DEBUG };

    av_log(opaque, levels[level], "%s\n", text);
}

qcr_sink ff_qc_plain_sink(const AVFilterContext *ctx)
{
    return (qcr_sink) { say, (void *)ctx };
}

void ff_qc_warn(const AVFilterContext *ctx, const char *format, ...)
{
    const QualityCudaContext *s = ctx->priv;
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    s->sink.say(s->sink.opaque, QCR_LEVEL_WARNING, text);
}

int ff_qc_is_alias(const AVFilterContext *ctx)
{
    return !!((const QualityCudaContext *)ctx->priv)->alias.own_class;
}

int ff_qc_may_give_up(const AVFilterContext *ctx)
{
    return ((const QualityCudaContext *)ctx->priv)->options.on_error != QCR_ON_ERROR_FAIL;
}

const qcr_counts *ff_qc_counts_of(const AVFilterContext *ctx, int rendition)
{
    const QualityCudaContext *s = ctx->priv;

    return s->run.only_left_counts ? &s->queue.tally->left[rendition] : &s->counts[rendition];
}

const char *ff_qc_role(const AVFilterContext *ctx, int index)
{
    return ctx->input_pads ? avfilter_pad_get_name(ctx->input_pads, index) : "?";
}

double ff_qc_seconds(const AVFilterContext *ctx, int index, int64_t pts)
{
    return pts == AV_NOPTS_VALUE ? NAN : pts * av_q2d(ctx->inputs[index]->time_base);
}

double ff_qc_now(void)
{
    return av_gettime_relative() / 1e6;
}
