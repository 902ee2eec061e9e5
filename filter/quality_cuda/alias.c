/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <limits.h>
#include <stddef.h>

#include "libavutil/common.h"
#include "libavutil/opt.h"

#include "state.h"

#define MOST_THREADS 1024

#define OFFSET(x) offsetof(QualityCudaContext, x)
#define GIVEN(x) OFFSET(alias.libvmaf.x)
#define FLAGS (AV_OPT_FLAG_FILTERING_PARAM | AV_OPT_FLAG_VIDEO_PARAM)
#define OLD   (FLAGS | AV_OPT_FLAG_DEPRECATED)

static const AVOption libvmaf_options[] = {
    { "model", "VMAF models joined by |, each version=NAME or path=FILE with further :key=value; NAME is vmaf_v0.6.1, vmaf_v0.6.1neg, "
               "vmaf_4k_v0.6.1, vmaf_4k_v0.6.1neg, vmaf_b_v0.6.3 or one of those that a wrong one lists",
      GIVEN(model), AV_OPT_TYPE_STRING, { .str = QCR_LIBVMAF_MODEL }, 0, 0, FLAGS },
    { "feature", "further features joined by |, each name=NAME with its options",
      GIVEN(feature), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "pool", "pooling of the final score: mean (what any other word means too), harmonic_mean or min",
      GIVEN(pool), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "log_path", "write the report of the whole run to this file at the end",
      OFFSET(options.log_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "log_fmt", "format of the report: xml (what any other word means too), json, csv or sub",
      GIVEN(log_fmt), AV_OPT_TYPE_STRING, { .str = "xml" }, 0, 0, FLAGS },
    { "n_threads", "threads of the CPU backend, 0: one per core", OFFSET(alias.n_threads), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, INT_MAX, FLAGS },
    { "n_subsample", "score every n-th pair only", OFFSET(options.n_subsample), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, INT_MAX, FLAGS },
    { "model_path", "same as model=path=FILE", GIVEN(model_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, OLD },
    { "enable_transform", "adds enable_transform=true to each model", GIVEN(enable_transform), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "phone_model", "same as enable_transform", GIVEN(phone_model), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "psnr", "same as feature=name=psnr, of luma alone", GIVEN(psnr), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "ssim", "same as feature=name=float_ssim", GIVEN(ssim), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "ms_ssim", "same as feature=name=float_ms_ssim", GIVEN(ms_ssim), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "enable_conf_interval", "no effect: models that have a confidence interval always report it",
      OFFSET(alias.enable_conf_interval), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "eof_action", "what happens when the reference ends first",
      GIVEN(eof_action), AV_OPT_TYPE_INT, { .i64 = QCR_LAVFI_REPEAT }, QCR_LAVFI_REPEAT, QCR_LAVFI_PASS, FLAGS, .unit = "eof_action" },
        { "repeat", "its last frame is used again", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_LAVFI_REPEAT }, 0, 0, FLAGS, .unit = "eof_action" },
        { "endall", "the output ends too",          0, AV_OPT_TYPE_CONST, { .i64 = QCR_LAVFI_ENDALL }, 0, 0, FLAGS, .unit = "eof_action" },
        { "pass",   "further frames pass without scores", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_LAVFI_PASS }, 0, 0, FLAGS, .unit = "eof_action" },
    { "shortest", "the output ends with the input that ends first", GIVEN(shortest), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "repeatlast", "0: same as eof_action=pass; 1: each input's last frame is used again while the other one goes on",
      GIVEN(repeatlast), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS },
    { "ts_sync_mode", "how a distorted frame finds its reference frame",
      GIVEN(ts_sync_mode), AV_OPT_TYPE_INT, { .i64 = QCR_LAVFI_NEWEST }, QCR_LAVFI_NEWEST, QCR_LAVFI_NEAREST, FLAGS, .unit = "ts_sync_mode" },
        { "default", "the newest one that is not later", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_LAVFI_NEWEST }, 0, 0, FLAGS, .unit = "ts_sync_mode" },
        { "nearest", "the one nearest in time",          0, AV_OPT_TYPE_CONST, { .i64 = QCR_LAVFI_NEAREST }, 0, 0, FLAGS, .unit = "ts_sync_mode" },
    { NULL }
};

const AVClass ff_qc_libvmaf_class = {
    .class_name = "libvmaf",
    .item_name  = av_default_item_name,
    .option     = libvmaf_options,
    .version    = LIBAVUTIL_VERSION_INT,
    .category   = AV_CLASS_CATEGORY_FILTER,
};

/* ---- the filter's own options, which lavfi does not set here ---- */

static int set_own(QualityCudaContext *s, const char *name, const char *value)
{
    const AVClass *theirs = s->class;
    int ret;

    s->class = s->alias.own_class;
    ret = av_opt_set(s, name, value, 0);
    s->class = theirs;
    return ret;
}

int ff_qc_prepare_alias(AVFilterContext *ctx, const AVClass *own_class)
{
    QualityCudaContext *s = ctx->priv;
    const AVClass *theirs = s->class;

    s->class = s->alias.own_class = own_class;
    av_opt_set_defaults(s);
    s->class = theirs;
    return 0;
}

void ff_qc_free_alias(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const AVClass *theirs = s->class;

    if (!s->alias.own_class)
        return;
    s->class = s->alias.own_class;
    av_opt_free(s);
    s->class = theirs;
}

int ff_qc_translate_options(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qcr_libvmaf_meaning meaning;
    int ret = ff_qc_error_of_status(qcr_translate_libvmaf(&s->alias.libvmaf, &s->sink, &meaning));
    const char *const own[][2] = {
        { "model", meaning.model }, { "feature", meaning.feature }, { "pool", meaning.pool }, { "log_fmt", meaning.log_fmt },
    };

    s->options.n_threads      = FFMIN(s->alias.n_threads, MOST_THREADS);
    s->options.allow_unpaired = 1;
    for (size_t i = 0; ret >= 0 && i < FF_ARRAY_ELEMS(own); i++)
        ret = own[i][1] ? set_own(s, own[i][0], own[i][1]) : 0;
    qcr_free_meaning(&meaning);
    return ret >= 0 ? 0 : ff_qc_fail(ctx, ret, "the options could not be read");
}

AVRational ff_qc_alias_clock(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const AVRational distorted = ctx->inputs[0]->time_base;

    return s->pairing.outlasts ?
           av_gcd_q(distorted, ctx->inputs[QC_REFERENCE]->time_base, AV_TIME_BASE / 2, AV_TIME_BASE_Q) : distorted;
}
