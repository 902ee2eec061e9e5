/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/cpu.h"

#include "state.h"

static qcr_scoring_rules scoring_rules(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return (qcr_scoring_rules) {
        .key_prefix    = QC_KEY_PREFIX,
        .depth         = s->options.async_depth,
        .threads       = s->options.n_threads > 0 ? s->options.n_threads : av_cpu_count(),
        .may_leave_gpu = s->options.on_error == QCR_ON_ERROR_CPU,
        .is_for_log    = s->run.gave_up,
    };
}

int ff_qc_recover_session(AVFilterContext *ctx, qc_status status)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_scoring_rules rules = scoring_rules(ctx);
    qc_error error;

    return qcr_recover_scoring(&s->scoring, status, &rules, &s->sink, &error) == QC_OK ? 0 :
           ff_qc_fail(ctx, ff_qc_error_of_status(status), "scoring failed: %s", error.text);
}

static void engine_log(void *opaque, qc_log_level level, const char *text)
{
    const QualityCudaContext *s = ((const AVFilterContext *)opaque)->priv;

    s->sink.say(s->sink.opaque, level == QC_LOG_DEBUG ? QCR_LEVEL_DEBUG : (qcr_level)level, text);
}

/* ---- configuration ---- */

/** What the options say; formats and device stay empty. */
static void fill_config(AVFilterContext *ctx, qc_config *config)
{
    QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;

    memset(config, 0, sizeof(*config));
    config->struct_size = sizeof(*config);
    config->renditions  = options->renditions;
    config->metrics     = options->metrics;
    config->model       = options->model;
    config->feature     = options->feature;
    config->options     = options->opts;
    config->n_subsample = options->n_subsample;
    config->backend     = options->backend;
    config->stats_format     = s->files.stats_format;
    config->skip_unsupported = options->skip_unsupported;
    config->selftest    = options->selftest;
    config->watch_contents = options->watch && !ff_qc_is_alias(ctx); /* libvmaf's filter is silent */
    config->n_threads   = options->n_threads;
    config->bitdepth    = options->bitdepth;
    config->weights     = options->mask;
    config->convert     = ff_qc_convert(ctx);
    config->hold_pictures = 1;
    config->log         = engine_log;
    config->log_opaque  = ctx;
    ff_qc_configure_map(ctx, config);
}

int ff_qc_check_options(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;
    const qcr_option_values values = { options->pool, options->stats_format, options->record, options->maps, options->mask,
                                       options->renditions, options->map_rendition, options->align == QCR_ALIGN_AUTO, options->crop,
                                       options->scale };
    qcr_option_meanings meanings;
    qc_config config;
    qc_error error = { "" };
    int ret;

    if (qc_abi_version() != QC_ABI_VERSION)
        return ff_qc_fail(ctx, AVERROR_EXTERNAL, "libquality_cuda %s has ABI %d, this filter was built for ABI %d: rebuild "
                          "FFmpeg against it", qc_version(), qc_abi_version(), QC_ABI_VERSION);
    ret = ff_qc_result(ctx, qcr_read_options(&values, &meanings, &error), error.text);
    if (ret >= 0)
        ret = ff_qc_result(ctx, qcr_read_geometry(options->scale, options->scale_to, options->roi, options->crop, &s->geometry, &error), error.text);
    if (ret < 0)
        return ret;
    s->engine.pool        = meanings.pool;
    s->files.stats_format = meanings.stats_format;
    fill_config(ctx, &config);
    return ff_qc_result(ctx, qc_request_create(&config, &s->engine.request, &error), error.text);
}

/** Decides the device: that of the frames, otherwise the option, otherwise FFmpeg's own CUDA device, otherwise number 0. */
static int choose_device(AVFilterContext *ctx, qc_config *config)
{
    QualityCudaContext *s = ctx->priv;
    const AVHWDeviceContext *device;

    config->device = FFMAX(s->options.device, 0);
    if (ff_qc_any_hw_input(ctx)) {
        if (s->options.backend == QC_BACKEND_CPU)
            return ff_qc_fail(ctx, AVERROR(EINVAL), "backend=cpu cannot read CUDA frames; put hwdownload and a format filter "
                              "before quality_cuda, or drop -hwaccel_output_format cuda");
        config->backend = QC_BACKEND_CUDA;
    } else if (s->options.device < 0 && s->options.backend != QC_BACKEND_CPU && ctx->hw_device_ctx && !s->engine.device_ref) {
        device = (const AVHWDeviceContext *)ctx->hw_device_ctx->data;
        if (device->type == AV_HWDEVICE_TYPE_CUDA && !(s->engine.device_ref = av_buffer_ref(ctx->hw_device_ctx)))
            return AVERROR(ENOMEM);
    }
    if (s->engine.device_ref)
        config->cuda_context = QC_CUDA_CONTEXT((const AVHWDeviceContext *)s->engine.device_ref->data);
    return 0;
}

int ff_qc_make_config(AVFilterContext *ctx, qc_config *config, const qcr_sink *sink)
{
    QualityCudaContext *s = ctx->priv;
    double aspect[QCR_MAX_VIDEOS];
    qc_error error;
    int ret;

    fill_config(ctx, config);
    config->reference = ff_qc_visible_format(&s->input[QC_REFERENCE]);
    for (int k = 0; k < s->options.renditions; k++)
        config->distorted[k] = ff_qc_visible_format(&s->input[qcr_input_of(k)]);
    config->frame_rate = qcr_pairs_rate(s->pairs);
    for (int i = 0; i < s->nb_inputs; i++) /* links may be gone when a log is still to be written */
        aspect[i] = s->input[i].aspect;
    ret = ff_qc_result(ctx, qcr_configure_geometry(&s->geometry, &s->names, aspect, config, sink, &error), error.text);
    return ret < 0 ? ret : choose_device(ctx, config);
}

int ff_qc_check_pictures(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    qc_error error = { "" };
    qc_config config;
    int ret = ff_qc_make_config(ctx, &config, NULL);

    return ret < 0 ? ret : ff_qc_result(ctx, qc_request_check(s->engine.request, &config, &error), error.text);
}

/* ---- session ---- */

int ff_qc_open_session(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_scoring_rules rules = scoring_rules(ctx);
    qc_error error = { "" };
    qc_config config;
    int ret = ff_qc_make_config(ctx, &config, &s->sink);

    if (ret >= 0)
        ret = ff_qc_result(ctx, qcr_open_scoring(&s->scoring, s->engine.request, &config, &rules, &s->sink, &error), error.text);
    if (ret < 0)
        return ret;
    if (s->options.realtime)
        qcr_pacing_start(&s->pacing, s->scoring.depth, s->scoring.most_under_way);
    return ff_qc_recorded(ctx, qcr_record_session(s->record, s->scoring.session, &config));
}

int ff_qc_flush_session(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qc_status status;

    if (s->run.flushed)
        return 0;
    s->run.flushed = 1;
    status = s->scoring.session ? qc_session_flush(s->scoring.session) : QC_OK;
    return status == QC_OK ? 0 :
           ff_qc_fail(ctx, ff_qc_error_of_status(status), "scoring failed: %s", qc_session_error(s->scoring.session));
}

void ff_qc_close_engine(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    qcr_close_scoring(&s->scoring);
    qc_request_destroy(s->engine.request);
    s->engine.request = NULL;
    av_buffer_unref(&s->engine.device_ref);
}
