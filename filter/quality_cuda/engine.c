/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The scoring engine as the filter sees it; see engine.h. Depends on inputs,
 * maps, record, region, scaling and state.
 */

#include "compat.h"

#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"

#include "maps.h"
#include "record.h"
#include "region.h"
#include "state.h"

/* main frames held while they are scored: two batches of four, or of six with a metric that takes long */
#define AUTO_DEPTH      8
#define AUTO_DEPTH_LONG 12

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

static int fail_session(AVFilterContext *ctx, qc_status status)
{
    QualityCudaContext *s = ctx->priv;

    return ff_qc_fail(ctx, ff_qc_error_of_status(status), "scoring failed: %s", qc_session_error(s->engine.session));
}

static void leave_gpu(AVFilterContext *ctx, const char *failure)
{
    QualityCudaContext *s = ctx->priv;

    s->engine.left_gpu = 1;
    av_strlcpy(s->engine.gpu_failure, failure, sizeof(s->engine.gpu_failure));
    av_log(ctx, AV_LOG_WARNING, "scoring on the GPU failed: %s; on_error=cpu: the CPU backend goes on\n", failure);
}

int ff_qc_recover_session(AVFilterContext *ctx, qc_status status)
{
    QualityCudaContext *s = ctx->priv;
    char failure[sizeof(s->engine.gpu_failure)];

    av_strlcpy(failure, qc_session_error(s->engine.session), sizeof(failure));
    if (s->options.on_error != QC_ON_ERROR_CPU || qc_session_continue_on_cpu(s->engine.session) != QC_OK)
        return fail_session(ctx, status);
    leave_gpu(ctx, failure);
    return 0;
}

int64_t ff_qc_frames_taken(const QCEngine *engine)
{
    qc_stats stats = { .struct_size = sizeof(stats) };

    return qc_session_stats(engine->session, &stats) == QC_OK ? stats.frames_submitted : 0;
}

static void engine_log(void *opaque, qc_log_level level, const char *text)
{
    static const int levels[] = { AV_LOG_ERROR, AV_LOG_WARNING, AV_LOG_INFO, AV_LOG_DEBUG };

    av_log(opaque, levels[av_clip(level, 0, FF_ARRAY_ELEMS(levels) - 1)], "%s\n", text);
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
    config->hold_pictures = 1;
    config->log         = engine_log;
    config->log_opaque  = ctx;
    ff_qc_configure_map(ctx, config);
}

int ff_qc_check_options(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const char *pool = s->options.pool, *stats_format = s->options.stats_format;
    qc_config config;
    qc_error error = { "" };
    qc_status status;
    int ret;

    if (qc_abi_version() != QC_ABI_VERSION)
        return ff_qc_fail(ctx, AVERROR_EXTERNAL, "libquality_cuda %s has ABI %d, this filter was built for ABI %d: rebuild "
                          "FFmpeg against it", qc_version(), qc_abi_version(), QC_ABI_VERSION);
    if (qc_pool_parse(pool, &s->engine.pool) != QC_OK)
        return ff_qc_fail(ctx, AVERROR(EINVAL),
                          "pool=%s is not known; accepted: mean, harmonic_mean, min, max, p1, p5, p10, p50, stddev", pool);
    if (strcmp(stats_format, "scores") && qc_stats_format_parse(stats_format, &s->files.stats_format) != QC_OK)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "stats_format=%s is not known; accepted: scores, psnr, ssim", stats_format);
    ret = ff_qc_parse_scaling(ctx);
    if (ret >= 0)
        ret = ff_qc_parse_region(ctx);
    if (ret >= 0)
        ret = ff_qc_check_map_options(ctx);
    if (ret >= 0)
        ret = ff_qc_check_mask_option(ctx);
    if (ret < 0)
        return ret;
    fill_config(ctx, &config);
    status = qc_request_create(&config, &s->engine.request, &error);
    return status == QC_OK ? 0 : ff_qc_fail(ctx, ff_qc_error_of_status(status), "%s", error.text);
}

/** Decides the device: that of the frames, else the option, else FFmpeg's own CUDA device, else number 0. */
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

/** The whole configuration, with the pictures' formats and the device. */
static int make_config(AVFilterContext *ctx, qc_config *config)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    fill_config(ctx, config);
    config->reference    = ff_qc_visible_format(&s->input[QC_REFERENCE]);
    config->distorted[0] = ff_qc_visible_format(&s->input[0]);
    for (int k = 1; k < s->options.renditions; k++)
        config->distorted[k] = ff_qc_visible_format(&s->input[1 + k]);
    config->frame_rate = s->engine.frame_rate;
    ff_qc_configure_region(ctx, config);
    ret = ff_qc_configure_scaling(ctx, config);
    return ret < 0 ? ret : choose_device(ctx, config);
}

int ff_qc_check_pictures(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    qc_error error = { "" };
    qc_status status;
    qc_config config;
    int ret = make_config(ctx, &config);

    if (ret < 0)
        return ret;
    status = qc_request_check(s->engine.request, &config, &error);
    return status == QC_OK ? 0 : ff_qc_fail(ctx, ff_qc_error_of_status(status), "%s", error.text);
}

/* ---- session ---- */

static int cpu_threads(const QCOptions *options)
{
    return options->n_threads > 0 ? options->n_threads : av_cpu_count();
}

/** The CPU backend works on several frames at once: hold enough of them to keep its threads busy. */
static int cpu_depth(const QCOptions *options)
{
    return av_clip(2 * cpu_threads(options), 8, 64);
}

const char *ff_qc_score_name(const QCEngine *engine, int index)
{
    return engine->keys[index] + strlen(QC_KEY_PREFIX);
}

int ff_qc_is_asked_for(const AVFilterContext *ctx, int feature)
{
    const QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;
    qc_feature score;

    if (options->feature || (options->metrics && strcmp(options->metrics, "vmaf")))
        return 1;
    return qc_session_feature(s->engine.session, feature, &score) == QC_OK && score.is_model;
}

static int make_keys(QCEngine *engine, int renditions)
{
    engine->feature_count = qc_session_feature_count(engine->session);
    engine->keys = av_calloc((size_t)renditions * engine->feature_count, sizeof(*engine->keys));
    if (!engine->keys)
        return AVERROR(ENOMEM);
    for (int k = 0; k < renditions; k++) {
        for (int f = 0; f < engine->feature_count; f++) {
            qc_feature feature;
            char *key;

            if (qc_session_feature(engine->session, f, &feature) != QC_OK)
                return AVERROR_BUG;
            key = k ? av_asprintf(QC_KEY_PREFIX "%d.%s", k, feature.key) : av_asprintf(QC_KEY_PREFIX "%s", feature.key);
            if (!key)
                return AVERROR(ENOMEM);
            engine->keys[k * engine->feature_count + f] = key;
        }
    }
    return 0;
}

/** With realtime=1: no more than can be held, or than the CPU backend takes in without waiting. */
static int most_under_way(const QualityCudaContext *s)
{
    const int is_cpu = qc_session_backend(s->engine.session) == QC_BACKEND_CPU;

    return is_cpu ? FFMIN(s->engine.depth, 2 * cpu_threads(&s->options)) : s->engine.depth;
}

static qc_status open_on_cpu(AVFilterContext *ctx, qc_config *config, qc_error *error)
{
    QualityCudaContext *s = ctx->priv;

    config->backend      = QC_BACKEND_CPU;
    config->cuda_context = NULL;
    config->batch        = config->slots = 0;
    return qc_request_open(s->engine.request, config, &s->engine.session, error);
}

qc_status ff_qc_open_watch(AVFilterContext *ctx, qc_session **session, qc_error *error)
{
    QualityCudaContext *s = ctx->priv;
    qc_config config;

    if (make_config(ctx, &config) < 0) {
        av_strlcpy(error->text, s->run.failure ? s->run.reason : "out of memory", sizeof(error->text));
        return s->run.failure ? QC_ERROR_INVALID : QC_ERROR_NO_MEMORY;
    }
    config.watch_contents = 2;
    config.batch          = config.renditions;
    config.slots          = 2;
    config.latency_first  = 1;
    config.log            = NULL;
    if (!ff_qc_any_hw_input(ctx)) { /* that little is not worth a GPU */
        config.backend      = QC_BACKEND_CPU;
        config.cuda_context = NULL;
        config.slots        = 0;
    }
    return qc_request_open(s->engine.request, &config, session, error);
}

int ff_qc_is_of_device(qc_status status)
{
    return status == QC_ERROR_NO_DEVICE || status == QC_ERROR_NO_MEMORY || status == QC_ERROR_DEVICE;
}

/* A ladder's frames are several pairs each, and its batches long enough. */
static int auto_depth(const QualityCudaContext *s)
{
    return s->options.renditions == 1 && qc_request_takes_long(s->engine.request) ? AUTO_DEPTH_LONG : AUTO_DEPTH;
}

int ff_qc_open_session(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCEngine *engine = &s->engine;
    const int wanted_depth = s->options.async_depth, renditions = s->options.renditions;
    qc_error error = { "" };
    qc_status status;
    qc_config config;
    int ret = make_config(ctx, &config);

    if (ret < 0)
        return ret;
    engine->depth = wanted_depth ? wanted_depth : auto_depth(s);
    /* Frames come as fast as they are decoded: half of those held make a batch, so that two can be under way. */
    config.batch         = av_clip((engine->depth + 1) / 2 * renditions, 1, 64);
    config.latency_first = 1;
    status = qc_request_open(engine->request, &config, &engine->session, &error);
    if (status == QC_ERROR_NO_MEMORY && config.batch > renditions && !wanted_depth) {
        av_log(ctx, AV_LOG_WARNING, "%s; trying again with fewer frames at once\n", error.text);
        engine->depth = FFMIN(engine->depth, 2);
        config.batch  = renditions;
        config.slots  = 2;
        status = qc_request_open(engine->request, &config, &engine->session, &error);
    }
    if (ff_qc_is_of_device(status) && s->options.on_error == QC_ON_ERROR_CPU) {
        leave_gpu(ctx, error.text);
        status = open_on_cpu(ctx, &config, &error);
    }
    if (status != QC_OK && s->run.gave_up) /* for the log alone */
        status = open_on_cpu(ctx, &config, &error);
    if (status != QC_OK)
        return ff_qc_fail(ctx, ff_qc_error_of_status(status), "%s", error.text);

    if (!wanted_depth && qc_session_backend(engine->session) == QC_BACKEND_CPU)
        engine->depth = cpu_depth(&s->options);
    if (s->options.realtime)
        qcr_pacing_start(&s->pacing, engine->depth, most_under_way(s));
    av_log(ctx, AV_LOG_VERBOSE, "%s; up to %d distorted frames are held\n", qc_session_description(engine->session),
           engine->depth);
    ret = ff_qc_record_session(ctx, &config);
    return ret < 0 ? ret : make_keys(engine, renditions);
}

int ff_qc_flush_session(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qc_status status;

    if (s->run.flushed)
        return 0;
    s->run.flushed = 1;
    if (!s->engine.session)
        return 0;
    status = qc_session_flush(s->engine.session);
    return status == QC_OK ? 0 : fail_session(ctx, status);
}

void ff_qc_close_engine(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCEngine *engine = &s->engine;

    qc_session_destroy(engine->session);
    engine->session = NULL;
    qc_request_destroy(engine->request);
    engine->request = NULL;
    for (int i = 0; engine->keys && i < ff_qc_nb_scores(s); i++)
        av_free(engine->keys[i]);
    av_freep(&engine->keys);
    av_buffer_unref(&engine->device_ref);
}
