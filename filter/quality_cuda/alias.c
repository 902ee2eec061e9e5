/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The filter under libvmaf's names; see alias.h. Depends on pairing and state.
 */

#include "compat.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include <quality_cuda.h>

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/common.h"
#include "libavutil/opt.h"

#include "alias.h"
#include "state.h"

#define DEFAULT_MODEL "version=vmaf_v0.6.1"
#define MOST_THREADS 1024

/* Numbers of framesync's words, which may be given instead of them. */
enum { EOF_REPEAT, EOF_ENDALL, EOF_PASS };
enum { TS_NEWEST, TS_NEAREST };

#define OFFSET(x) offsetof(QualityCudaContext, x)
#define FLAGS (AV_OPT_FLAG_FILTERING_PARAM | AV_OPT_FLAG_VIDEO_PARAM)
#define OLD   (FLAGS | AV_OPT_FLAG_DEPRECATED)

static const AVOption libvmaf_options[] = {
    { "model", "VMAF models joined by |, each version=NAME or path=FILE with further :key=value; NAME is vmaf_v0.6.1, vmaf_v0.6.1neg, "
               "vmaf_4k_v0.6.1, vmaf_4k_v0.6.1neg, vmaf_b_v0.6.3 or one of those that a wrong one lists",
      OFFSET(alias.model), AV_OPT_TYPE_STRING, { .str = DEFAULT_MODEL }, 0, 0, FLAGS },
    { "feature", "further features joined by |, each name=NAME with its options",
      OFFSET(alias.feature), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "pool", "pooling of the final score: mean (what any other word means too), harmonic_mean or min",
      OFFSET(alias.pool), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "log_path", "write the report of the whole run to this file at the end",
      OFFSET(options.log_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "log_fmt", "format of the report: xml (what any other word means too), json, csv or sub",
      OFFSET(alias.log_fmt), AV_OPT_TYPE_STRING, { .str = "xml" }, 0, 0, FLAGS },
    { "n_threads", "threads of the CPU backend, 0: one per core", OFFSET(alias.n_threads), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, INT_MAX, FLAGS },
    { "n_subsample", "score every n-th pair only", OFFSET(options.n_subsample), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, INT_MAX, FLAGS },
    { "model_path", "same as model=path=FILE", OFFSET(alias.model_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, OLD },
    { "enable_transform", "adds enable_transform=true to each model", OFFSET(alias.enable_transform), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "phone_model", "same as enable_transform", OFFSET(alias.phone_model), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "psnr", "same as feature=name=psnr, of luma alone", OFFSET(alias.psnr), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "ssim", "same as feature=name=float_ssim", OFFSET(alias.ssim), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "ms_ssim", "same as feature=name=float_ms_ssim", OFFSET(alias.ms_ssim), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "enable_conf_interval", "no effect: models that have a confidence interval always report it",
      OFFSET(alias.enable_conf_interval), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, OLD },
    { "eof_action", "what happens when the reference ends first",
      OFFSET(alias.eof_action), AV_OPT_TYPE_INT, { .i64 = EOF_REPEAT }, EOF_REPEAT, EOF_PASS, FLAGS, .unit = "eof_action" },
        { "repeat", "its last frame is used again", 0, AV_OPT_TYPE_CONST, { .i64 = EOF_REPEAT }, 0, 0, FLAGS, .unit = "eof_action" },
        { "endall", "the output ends too",          0, AV_OPT_TYPE_CONST, { .i64 = EOF_ENDALL }, 0, 0, FLAGS, .unit = "eof_action" },
        { "pass",   "further frames pass without scores", 0, AV_OPT_TYPE_CONST, { .i64 = EOF_PASS }, 0, 0, FLAGS, .unit = "eof_action" },
    { "shortest", "the output ends with the input that ends first", OFFSET(alias.shortest), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "repeatlast", "0: same as eof_action=pass; 1: each input's last frame is used again while the other one goes on",
      OFFSET(alias.repeatlast), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS },
    { "ts_sync_mode", "how a distorted frame finds its reference frame",
      OFFSET(alias.ts_sync_mode), AV_OPT_TYPE_INT, { .i64 = TS_NEWEST }, TS_NEWEST, TS_NEAREST, FLAGS, .unit = "ts_sync_mode" },
        { "default", "the newest one that is not later", 0, AV_OPT_TYPE_CONST, { .i64 = TS_NEWEST }, 0, 0, FLAGS, .unit = "ts_sync_mode" },
        { "nearest", "the one nearest in time",          0, AV_OPT_TYPE_CONST, { .i64 = TS_NEAREST }, 0, 0, FLAGS, .unit = "ts_sync_mode" },
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

/* ---- models ---- */

/** Length of the text up to the first of some separators that no backslash or quote protects. */
static size_t span_until(const char *text, const char *separators)
{
    size_t length = 0;
    int is_quoted = 0;

    for (; text[length]; length++) {
        if (text[length] == '\\' && !is_quoted && text[length + 1])
            length++;
        else if (text[length] == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && strchr(separators, text[length]))
            break;
    }
    return length;
}

static int is_key(const char *key, size_t length, const char *name)
{
    return length == strlen(name) && !strncmp(key, name, length);
}

/** libvmaf's filter takes any key of a model, and uses those that it knows. */
static void append_model_entry(AVFilterContext *ctx, const char *entry, size_t length, AVBPrint *out)
{
    const size_t key_length = FFMIN(span_until(entry, "="), length);
    const int is_flag  = is_key(entry, key_length, "enable_transform") || is_key(entry, key_length, "disable_clip");
    const int is_known = is_flag || is_key(entry, key_length, "version") || is_key(entry, key_length, "path") ||
                         is_key(entry, key_length, "name") || memchr(entry, '.', key_length) || key_length == length;
    const char *value = entry + FFMIN(key_length + 1, length);

    if (!is_known) {
        av_log(ctx, AV_LOG_WARNING, "model: %.*s is not among its keys, and has no effect\n", (int)length, entry);
        return;
    }
    if (is_flag && !is_key(value, entry + length - value, "true")) {
        if (!is_key(value, entry + length - value, "false"))
            av_log(ctx, AV_LOG_WARNING, "model: %.*s is taken for false; accepted: true, false\n", (int)length, entry);
        return;
    }
    av_bprintf(out, "%s%.*s", out->len && out->str[FFMIN(out->len, out->size) - 1] != '|' ? ":" : "", (int)length, entry);
}

/** The models with what the engine knows of them. */
static void append_models(AVFilterContext *ctx, const char *models, AVBPrint *out)
{
    const QCAlias *alias = &((const QualityCudaContext *)ctx->priv)->alias;
    const char *at = models;

    for (;;) {
        const size_t length = span_until(at, ":|");

        if (length)
            append_model_entry(ctx, at, length, out);
        at += length;
        if (*at == ':') {
            at++;
            continue;
        }
        if (alias->enable_transform || alias->phone_model)
            av_bprintf(out, ":enable_transform=true");
        if (!*at++)
            return;
        av_bprint_chars(out, '|', 1);
    }
}

/** The built-in model that a file of libvmaf is, "" if none: files of its first versions (.pkl) nobody reads any more. */
static const char *builtin_of(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *known, *ending;

    for (int i = 0; (known = qc_model_name(i)); i++)
        if (av_strstart(name, known, &ending) && !strcmp(ending, ".pkl"))
            return known;
    return "";
}

/** Of a path without any escapes, as an option of its own has it. */
static void append_model_file(AVFilterContext *ctx, const char *path, AVBPrint *out)
{
    const char *name = builtin_of(path);

    if (*name) {
        av_log(ctx, AV_LOG_INFO, "model_path=%s: the built-in model %s is taken for it\n", path, name);
        av_bprintf(out, "version=%s", name);
    } else {
        av_bprintf(out, "path=");
        av_bprint_escape(out, path, ":|=", AV_ESCAPE_MODE_BACKSLASH, 0);
    }
}

static int translate_models(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const QCAlias *alias = &s->alias;
    const int is_default = !alias->model || !*alias->model || !strcmp(alias->model, DEFAULT_MODEL);
    AVBPrint text, models;
    int ret;

    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    av_bprint_init(&models, 0, AV_BPRINT_SIZE_UNLIMITED);
    if (alias->model_path && *alias->model_path && is_default)
        append_model_file(ctx, alias->model_path, &text);
    else
        av_bprintf(&text, "%s", is_default ? DEFAULT_MODEL : alias->model);
    if (alias->model_path && *alias->model_path && !is_default)
        av_log(ctx, AV_LOG_WARNING, "model_path=%s has no effect, model is given too\n", alias->model_path);
    append_models(ctx, text.str, &models);
    ret = av_bprint_is_complete(&text) && av_bprint_is_complete(&models) ? set_own(s, "model", models.str) : AVERROR(ENOMEM);
    av_bprint_finalize(&text, NULL);
    av_bprint_finalize(&models, NULL);
    return ret;
}

/* ---- all options ---- */

static int translate_features(QualityCudaContext *s)
{
    const QCAlias *alias = &s->alias;
    AVBPrint text;
    int ret = 0;

    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    if (alias->psnr)
        av_bprintf(&text, "|name=psnr:enable_chroma=false");
    if (alias->ssim)
        av_bprintf(&text, "|name=float_ssim");
    if (alias->ms_ssim)
        av_bprintf(&text, "|name=float_ms_ssim");
    if (alias->feature && *alias->feature)
        av_bprintf(&text, "|%s", alias->feature);
    if (text.len)
        ret = av_bprint_is_complete(&text) ? set_own(s, "feature", text.str + 1) : AVERROR(ENOMEM);
    av_bprint_finalize(&text, NULL);
    return ret;
}

/** @param words ends with NULL; the first one is what any other word means too */
static int translate_word(AVFilterContext *ctx, const char *option, const char *value, const char *const *words)
{
    const char *meant = words[0];
    int is_known = !value || !*value;

    for (int i = 0; !is_known && words[i]; i++) {
        is_known = !av_strcasecmp(value, words[i]);
        if (is_known)
            meant = words[i];
    }
    if (!is_known)
        av_log(ctx, AV_LOG_WARNING, "%s=%s is not known, %s is taken\n", option, value, meant);
    return set_own(ctx->priv, option, meant);
}

int ff_qc_translate_options(AVFilterContext *ctx)
{
    static const char *const pools[] = { "mean", "harmonic_mean", "min", NULL };
    static const char *const formats[] = { "xml", "json", "csv", "sub", NULL };
    QualityCudaContext *s = ctx->priv;
    const QCAlias *alias = &s->alias;
    int ret;

    s->options.n_threads      = FFMIN(alias->n_threads, MOST_THREADS);
    s->options.allow_unpaired = 1;
    ret = translate_models(ctx);
    if (ret >= 0)
        ret = translate_features(s);
    if (ret >= 0)
        ret = translate_word(ctx, "pool", alias->pool, pools);
    if (ret >= 0)
        ret = translate_word(ctx, "log_fmt", alias->log_fmt, formats);
    return ret >= 0 ? 0 : ff_qc_fail(ctx, ret, "the options could not be read");
}

/* ---- pairing ---- */

void ff_qc_pair_as_libvmaf(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const QCAlias *alias = &s->alias;
    const int repeats = alias->repeatlast && alias->eof_action != EOF_PASS;

    s->pairing.sync          = alias->ts_sync_mode == TS_NEAREST ? QCR_SYNC_LAVFI_NEAREST : QCR_SYNC_LAVFI;
    s->pairing.eof_action    = alias->shortest || (repeats && alias->eof_action == EOF_ENDALL) ? QCR_EOF_ENDALL :
                               repeats ? QCR_EOF_REPEAT : QCR_EOF_PASS;
    s->pairing.outlasts      = repeats;
}

AVRational ff_qc_alias_clock(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const AVRational distorted = ctx->inputs[0]->time_base;

    return s->pairing.outlasts ?
           av_gcd_q(distorted, ctx->inputs[QC_REFERENCE]->time_base, AV_TIME_BASE / 2, AV_TIME_BASE_Q) : distorted;
}
