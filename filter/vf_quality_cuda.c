/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 *
 * This file is free software; you can redistribute it and/or modify it under
 * the terms of the GNU Lesser General Public License as published by the Free
 * Software Foundation; either version 2.1 of the License, or (at your option)
 * any later version. It comes WITHOUT ANY WARRANTY.
 */

/**
 * @file
 * Full-reference video quality (VMAF, PSNR, ...) through libquality_cuda.
 *
 * Input 0 is the distorted video: it passes untouched and leaves with its
 * scores as metadata. Input 1 is the reference; further inputs are more
 * distorted renditions of the same reference. Every input takes software or
 * CUDA frames in its own format. A second output, if it is asked for, has frames that show where the distorted ones are bad.
 *
 * The filter computes nothing and makes no CUDA call: contexts, streams and device
 * pointers go to the engine as they are. This file holds the options, the pads,
 * and the order in which things happen; the work is done by the files of
 * quality_cuda/, none of which depends on it. One source for FFmpeg 5.1 to 9:
 * what differs is in quality_cuda/compat.h.
 */

#include "quality_cuda/compat.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include <quality_cuda.h>

#include "libavutil/common.h"
#include "libavutil/opt.h"

#include "quality_cuda/account.h"
#include "quality_cuda/formats.h"
#include "quality_cuda/state.h"
#include "quality_cuda/submission.h"

#define OFFSET(x) offsetof(QualityCudaContext, options.x)
#define FLAGS (AV_OPT_FLAG_FILTERING_PARAM | AV_OPT_FLAG_VIDEO_PARAM)

static const AVOption quality_cuda_options[] = {
    { "metrics", "metrics to score, joined by + or |, e.g. vmaf+psnr, libvmaf's or FFmpeg's names, or all; a wrong name lists them (default vmaf, that is what model says)", OFFSET(metrics), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "m",       "same as metrics", OFFSET(metrics), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "model",   "VMAF models joined by |: a built-in name, auto, a path, version=NAME or path=FILE with further :key=value (default vmaf_v0.6.1)", OFFSET(model), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "bitdepth", "10: score 8-bit inputs at 10 bits, as VMAF v1's documentation recommends; 0: as they are (default)", OFFSET(bitdepth), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 10, FLAGS },
    { "feature", "further features in libvmaf's syntax: name=psnr|name=vif:vif_enhn_gain_limit=1 (default none)", OFFSET(feature), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "opts",    "options of the metrics, without any colon: METRIC.OPTION=VALUE|... (default none)", OFFSET(opts), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "pool",    "pooling of the final score: mean, harmonic_mean, min, max, p1, p5, p10, p50 or stddev", OFFSET(pool), AV_OPT_TYPE_STRING, { .str = "mean" }, 0, 0, FLAGS },
    { "n_subsample", "score every n-th pair only; the others pass without scores", OFFSET(n_subsample), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, INT_MAX, FLAGS },
    { "subsample",   "same as n_subsample", OFFSET(n_subsample), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, INT_MAX, FLAGS },
    { "n_threads",   "threads of the CPU backend (0: one per core), or those that copy software frames for the GPU (0: half of the cores, at most 4)", OFFSET(n_threads), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1024, FLAGS },
    { "renditions",  "number of distorted inputs that share the reference: input 0, then inputs 2, 3, ...", OFFSET(renditions), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, QC_MAX_RENDITIONS, FLAGS },
    { "scale", "how the engine scales inputs of another size than the one that is scored: bicubic, lanczos, bilinear or area; none: they are refused", OFFSET(scale), AV_OPT_TYPE_STRING, { .str = "none" }, 0, 0, FLAGS },
    { "scale_to", "the size that is scored, with scale: that of reference or main, or WIDTHxHEIGHT", OFFSET(scale_to), AV_OPT_TYPE_STRING, { .str = "reference" }, 0, 0, FLAGS },
    { "crop", "the part of each input that is compared, W:H:X:Y or WxH+X+Y in its luma samples, joined by | in the order of the inputs, an empty one is the whole picture (default); or auto: what all inputs show, without black bars, by their first pictures", OFFSET(crop), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "roi", "the rectangle that is scored, X:Y:WIDTH:HEIGHT in luma samples (default: the whole picture)", OFFSET(roi), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "mask", "1: a last input, pad mask, has gray frames of the scored size that say how much each sample counts: 255 whole, 0 not at all; some metrics have such scores, a wrong one lists them (default 0)", OFFSET(mask), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "sync", "how a distorted frame finds its reference frame", OFFSET(sync), AV_OPT_TYPE_INT, { .i64 = QCR_SYNC_NEAREST }, QCR_SYNC_NEAREST, QCR_SYNC_INDEX, FLAGS, .unit = "sync" },
        { "nearest", "the one nearest in time, not further than max_dt", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_SYNC_NEAREST }, 0, 0, FLAGS, .unit = "sync" },
        { "floor",   "the newest one that is not later (as other two-input filters do)", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_SYNC_FLOOR }, 0, 0, FLAGS, .unit = "sync" },
        { "index",   "the n-th one for the n-th frame, time stamps ignored", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_SYNC_INDEX }, 0, 0, FLAGS, .unit = "sync" },
    { "ts_sync_mode", "libvmaf's name for sync; overrides it where given (default: not given)", OFFSET(ts_sync_mode), AV_OPT_TYPE_INT, { .i64 = -1 }, -1, QCR_SYNC_FLOOR, FLAGS, .unit = "ts_sync_mode" },
        { "default", "same as sync=floor",   0, AV_OPT_TYPE_CONST, { .i64 = QCR_SYNC_FLOOR }, 0, 0, FLAGS, .unit = "ts_sync_mode" },
        { "nearest", "same as sync=nearest", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_SYNC_NEAREST }, 0, 0, FLAGS, .unit = "ts_sync_mode" },
    { "max_dt", "largest distance of a pair in seconds, 0: half a frame of the distorted input, 20 ms if its rate is unknown", OFFSET(max_dt), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 1e6, FLAGS },
    { "allow_unpaired", "1: do not fail where less than half of the frames have a partner while both inputs run (default 0)", OFFSET(allow_unpaired), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "align", "correction of the time stamps", OFFSET(align), AV_OPT_TYPE_INT, { .i64 = QCR_ALIGN_DELAY }, QCR_ALIGN_NONE, QCR_ALIGN_DELAY, FLAGS, .unit = "align" },
        { "delay", "correct a delay of less than a frame, if both inputs keep step", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_ALIGN_DELAY }, 0, 0, FLAGS, .unit = "align" },
        { "none",  "use them as they are", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_ALIGN_NONE }, 0, 0, FLAGS, .unit = "align" },
        { "start", "count each input's from its first frame", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_ALIGN_START }, 0, 0, FLAGS, .unit = "align" },
        { "auto",  "move each rendition by the constant offset that its first pictures have from the reference's, if they tell one", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_ALIGN_AUTO }, 0, 0, FLAGS, .unit = "align" },
    { "watch", "1: warn where the pictures of a pair do not show the same moment: an offset, dropped or repeated frames, another rate (default 1)", OFFSET(watch), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS },
    { "strict", "1: a run in which anything was warned of fails, once scores and logs are written (default 0)", OFFSET(strict), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "same_file", "1: compare two streams of one file; 0: that is an error, as the pads without labels may have been given them (default 0)", OFFSET(same_file), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "eof_action", "what happens when the reference ends first", OFFSET(eof_action), AV_OPT_TYPE_INT, { .i64 = QCR_EOF_PASS }, QCR_EOF_PASS, QCR_EOF_REPEAT, FLAGS, .unit = "eof_action" },
        { "pass",   "further frames pass without scores", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_EOF_PASS }, 0, 0, FLAGS, .unit = "eof_action" },
        { "endall", "the output ends too", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_EOF_ENDALL }, 0, 0, FLAGS, .unit = "eof_action" },
        { "repeat", "the last reference frame is used again (scores of no worth)", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_EOF_REPEAT }, 0, 0, FLAGS, .unit = "eof_action" },
    { "shortest", "same as eof_action=endall", OFFSET(shortest), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "repeatlast", "1: same as eof_action=repeat, 0: same as eof_action=pass, where neither endall nor shortest is given (default: not given)", OFFSET(repeatlast), AV_OPT_TYPE_BOOL, { .i64 = -1 }, -1, 1, FLAGS },
    { "rate", "frame rate of the distorted input to go by, 0: unknown; -1: the one that it claims, if its time stamps bear it out", OFFSET(rate), AV_OPT_TYPE_DOUBLE, { .dbl = -1 }, -1, QCR_HIGHEST_RATE, FLAGS },
    { "convert", "what to do with inputs of another range or depth than the reference's, and with RGB beside YUV or for metrics of luma and chroma", OFFSET(convert), AV_OPT_TYPE_INT, { .i64 = QC_CONVERT_AUTO }, QC_CONVERT_AUTO, QC_CONVERT_ERROR, FLAGS, .unit = "convert" },
        { "auto",  "bring them to one format by their tags, and say so", 0, AV_OPT_TYPE_CONST, { .i64 = QC_CONVERT_AUTO }, 0, 0, FLAGS, .unit = "convert" },
        { "off",   "score samples as they are; RGB is converted by lavfi where a metric does not take it", 0, AV_OPT_TYPE_CONST, { .i64 = QC_CONVERT_OFF }, 0, 0, FLAGS, .unit = "convert" },
        { "error", "fail", 0, AV_OPT_TYPE_CONST, { .i64 = QC_CONVERT_ERROR }, 0, 0, FLAGS, .unit = "convert" },
    { "range", "what to do when the inputs' colour range or matrix tags differ and convert leaves them", OFFSET(range), AV_OPT_TYPE_INT, { .i64 = QCR_RANGE_TAGS }, QCR_RANGE_TAGS, QCR_RANGE_ERROR, FLAGS, .unit = "range" },
        { "tags",   "warn once", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_RANGE_TAGS }, 0, 0, FLAGS, .unit = "range" },
        { "auto",   "the same, and go by the first pictures where nobody tagged the range", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_RANGE_AUTO }, 0, 0, FLAGS, .unit = "range" },
        { "ignore", "nothing; ranges are not converted either", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_RANGE_IGNORE }, 0, 0, FLAGS, .unit = "range" },
        { "error",  "fail, also if the first pictures show another range than is tagged by nobody", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_RANGE_ERROR }, 0, 0, FLAGS, .unit = "range" },
    { "on_unsupported", "what to do with a metric that does not accept the pictures (too small, without chroma, RGB)", OFFSET(skip_unsupported), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1, FLAGS, .unit = "on_unsupported" },
        { "fail", "end with an error that names it", 0, AV_OPT_TYPE_CONST, { .i64 = 0 }, 0, 0, FLAGS, .unit = "on_unsupported" },
        { "skip", "leave it out with a warning, and models that need it", 0, AV_OPT_TYPE_CONST, { .i64 = 1 }, 0, 0, FLAGS, .unit = "on_unsupported" },
    { "on_error", "what becomes of the video when scoring fails in the middle of a run", OFFSET(on_error), AV_OPT_TYPE_INT, { .i64 = QCR_ON_ERROR_FAIL }, QCR_ON_ERROR_FAIL, QCR_ON_ERROR_CPU, FLAGS, .unit = "on_error" },
        { "fail", "it ends with an error", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_ON_ERROR_FAIL }, 0, 0, FLAGS, .unit = "on_error" },
        { "pass", "it goes on: frames without scores are marked and counted, the log says why", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_ON_ERROR_PASS }, 0, 0, FLAGS, .unit = "on_error" },
        { "cpu",  "it goes on and is scored by the CPU backend; if that fails too, as with pass", 0, AV_OPT_TYPE_CONST, { .i64 = QCR_ON_ERROR_CPU }, 0, 0, FLAGS, .unit = "on_error" },
    { "backend", "where scores are computed", OFFSET(backend), AV_OPT_TYPE_INT, { .i64 = QC_BACKEND_AUTO }, QC_BACKEND_AUTO, QC_BACKEND_CPU, FLAGS, .unit = "backend" },
        { "auto", "on the GPU if there is one, otherwise on the CPU", 0, AV_OPT_TYPE_CONST, { .i64 = QC_BACKEND_AUTO }, 0, 0, FLAGS, .unit = "backend" },
        { "cuda", "on the GPU, fail without one", 0, AV_OPT_TYPE_CONST, { .i64 = QC_BACKEND_CUDA }, 0, 0, FLAGS, .unit = "backend" },
        { "cpu",  "on the CPU, never touch the driver (software frames only)", 0, AV_OPT_TYPE_CONST, { .i64 = QC_BACKEND_CPU }, 0, 0, FLAGS, .unit = "backend" },
    { "device", "index of the GPU for software frames, -1: FFmpeg's CUDA device if it has one, otherwise 0; CUDA frames are scored where they are", OFFSET(device), AV_OPT_TYPE_INT, { .i64 = -1 }, -1, 1024, FLAGS },
    { "async_depth", "distorted frames held while their scores are computed, 0: 8, or 12 with a metric that takes long, more on the CPU backend with many threads", OFFSET(async_depth), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1024, FLAGS },
    { "realtime", "1: where scoring is slower than the stream, frames pass without scores; the stream never waits (default 0)", OFFSET(realtime), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "selftest", "score known pictures on the GPU before the first pair, and refuse a GPU that computes wrongly", OFFSET(selftest), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "stats_file", "write one line per scored frame to this file while running, - for standard output (default none)", OFFSET(stats_file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "f",          "same as stats_file", OFFSET(stats_file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "stats_format", "lines of stats_file: scores (time stamps and every score), or psnr or ssim, as FFmpeg's filters of these names write theirs, for tools that read those", OFFSET(stats_format), AV_OPT_TYPE_STRING, { .str = "scores" }, 0, 0, FLAGS },
    { "log_path", "write the report of the whole run to this file at the end (default none)", OFFSET(log_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "log_fmt",  "format of the report: json (everything), xml, csv or sub (frames only), in libvmaf's layouts; or jsonl: lines while the run goes on, to a file, a pipe or a URL (default: that of log_path's ending .xml, .csv, .sub or .jsonl, otherwise json)", OFFSET(log_fmt), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "window",   "length of the windows of which jsonl has one line each and metrics_file the latest one; 0: jsonl has a line for each frame, metrics_file windows of a second (default 0)", OFFSET(window), AV_OPT_TYPE_DURATION, { .i64 = 0 }, 0, 300000000, FLAGS },
    { "log_queue", "lines of jsonl that wait for a receiver that takes none; then the oldest are dropped", OFFSET(log_queue), AV_OPT_TYPE_INT, { .i64 = 1024 }, 1, 1000000, FLAGS },
    { "alert",    "conditions joined by |, each SCORE<NUMBER:SECONDS or mean(SCORE)<NUMBER:SECONDS (min, max, p5, p95; <= > >=), and maybe >NUMBER where it ends: marks the frames while one has held for so long, and says when it begins and ends (default none)", OFFSET(alert), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "metrics_file", "replace this file with each window by one of Prometheus' text format (default none)", OFFSET(metrics_file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "maps", "second output, pad map: frames that show where the distorted ones are bad, by this metric: difference, ssim, vif, ...; a wrong name lists them (default none)", OFFSET(maps), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "map_format", "how maps tell how bad", OFFSET(map_format), AV_OPT_TYPE_INT, { .i64 = QC_MAP_COLOURS_GRAY }, QC_MAP_COLOURS_GRAY, QC_MAP_COLOURS_HEAT, FLAGS, .unit = "map_format" },
        { "gray", "black where nothing is wrong, brighter where more is", 0, AV_OPT_TYPE_CONST, { .i64 = QC_MAP_COLOURS_GRAY }, 0, 0, FLAGS, .unit = "map_format" },
        { "heat", "black, blue, red, orange, white", 0, AV_OPT_TYPE_CONST, { .i64 = QC_MAP_COLOURS_HEAT }, 0, 0, FLAGS, .unit = "map_format" },
    { "map_white", "value of the metric's map that is painted white, 0: its own, see docs/reference/maps.md", OFFSET(map_white), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 1e6, FLAGS },
    { "map_rendition", "whose map it is, counted from 0", OFFSET(map_rendition), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, QC_MAX_RENDITIONS - 1, FLAGS },
    { "record", "write what was seen and measured to this file, which must not exist, for a merge of parts (default none)", OFFSET(record), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { NULL }
};

AVFILTER_DEFINE_CLASS(quality_cuda);

static int configure_map(AVFilterLink *link);

/* ---- before the first frame ---- */

static av_cold int preinit_alias(AVFilterContext *ctx)
{
    return ff_qc_prepare_alias(ctx, &quality_cuda_class);
}

static av_cold int init(AVFilterContext *ctx)
{
    static int (*const steps[])(AVFilterContext *ctx) = {
        ff_qc_check_options, ff_qc_check_live, ff_qc_open_record, ff_qc_open_files, ff_qc_connect_live,
        ff_qc_append_rendition_pads, ff_qc_open_account, ff_qc_append_weights_pad,
    };
    QualityCudaContext *s = ctx->priv;
    const QCOptions *options = &s->options;
    int ret;

    qcr_name_program(QCR_VERSION, av_version_info());
    s->sink   = ff_qc_plain_sink(ctx);
    s->doubts = qcr_doubts_create(&s->sink);
    s->sink   = qcr_doubting(s->doubts);
    ret = !s->doubts ? AVERROR(ENOMEM) : ff_qc_is_alias(ctx) ? ff_qc_translate_options(ctx) : 0;
    if (ret < 0)
        return ret;
    s->pairing = (qcr_rules) {
        .sync        = options->ts_sync_mode >= 0 ? options->ts_sync_mode : options->sync,
        .eof_action  = qcr_eof_action_of(options->eof_action, options->shortest, options->repeatlast),
        .max_dt      = options->max_dt,
        .rate        = options->rate,
        .align_start = options->align == QCR_ALIGN_START,
        .mends_delay = options->align == QCR_ALIGN_DELAY,
    };
    if (ff_qc_is_alias(ctx))
        qcr_pair_as_libvmaf(&s->alias.libvmaf, &s->pairing);
    s->nb_inputs = 1 + options->renditions;
    qcr_interrupts_watch(&s->run.interrupts);

    for (size_t i = 0; i < FF_ARRAY_ELEMS(steps); i++)
        if ((ret = steps[i](ctx)) < 0)
            return ret;
    return ff_qc_append_map_pad(ctx, configure_map);
}

static int query_formats(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    int ret;

    if (ff_qc_is_alias(ctx))
        return ff_qc_offer_common_formats(ctx);
    ret = ff_qc_offer_formats(ctx, s->nb_inputs, ff_qc_convert(ctx) != QC_CONVERT_OFF || qc_request_accepts_rgb(s->engine.request));
    if (ret >= 0 && ff_qc_has_weights(ctx))
        ret = ff_qc_offer_weights_formats(ctx, s->nb_inputs);
    return ret < 0 ? ret : ff_qc_offer_map_formats(ctx);
}

/** Comes after all inputs were configured, by way of the output that is configured first: the only place to look at them together. */
static int configure_inputs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    if (s->run.configured)
        return 0;
    s->run.configured = 1;
    ret = ff_qc_configure_inputs(ctx);
    if (ret >= 0)
        ret = ff_qc_configure_weights(ctx);
    return ret < 0 || qcr_bars_awaits(s->bars) ? ret : ff_qc_check_pictures(ctx);
}

static int configure_map(AVFilterLink *link)
{
    const int ret = configure_inputs(link->src);

    return ret < 0 ? ret : ff_qc_configure_map_link(link);
}

static int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    AVFilterLink *distorted = ctx->inputs[0];
    int ret = configure_inputs(ctx);

    if (ret < 0)
        return ret;

    outlink->w                   = distorted->w;
    outlink->h                   = distorted->h;
    outlink->time_base           = distorted->time_base;
    outlink->sample_aspect_ratio = distorted->sample_aspect_ratio;
    QC_LINK_RATE(outlink)        = QC_LINK_RATE(distorted);
    av_buffer_unref(&QC_LINK_HWFRAMES(outlink));
    if (QC_LINK_HWFRAMES(distorted)) {
        QC_LINK_HWFRAMES(outlink) = av_buffer_ref(QC_LINK_HWFRAMES(distorted));
        if (!QC_LINK_HWFRAMES(outlink))
            return AVERROR(ENOMEM);
    }
    return ff_qc_open_queue(ctx);
}

/* ---- frames ---- */

/** Nothing leaves any more: decides what counts, and reports. A report that fails is the filter's failure, unless it has one. */
static void conclude(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int recorded, reported;

    ff_qc_confirm_rows(ctx, 0);
    qcr_pairs_count_unused(s->pairs);
    qcr_search_end(&s->search, s->scoring.session);
    s->run.end = qcr_end_of(!!s->run.failure, !!qcr_interrupted_by(&s->run.interrupts), s->run.done, QC_UNASKED_IS_LAST && s->run.is_awaited);
    s->run.only_left_counts = s->run.end == QCR_END_BY_CONSUMER;
    ff_qc_judge_pairs(ctx);
    if (s->run.failure)
        s->run.end = QCR_END_BY_FAILURE;
    ff_qc_settle_queue(ctx);
    if (s->options.record && !s->scoring.session && !s->run.failure)
        ff_qc_open_session(ctx); /* a record tells its session even if there was no pair */
    recorded = ff_qc_recorded(ctx, qcr_record_finish(s->record, qcr_pairs_rate(s->pairs), qcr_pairs_tolerance(s->pairs),
                                                     s->run.end != QCR_END_BY_FAILURE));
    reported = ff_qc_report(ctx);
    if (!s->run.failure)
        s->run.failure = FFMIN3(recorded, reported, 0);
}

/** Everything was sent and reported: the output ends, for the distorted input's reason. */
static int end_output(AVFilterContext *ctx, int64_t end)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *distorted = &s->input[0];
    const int status = qcr_pairs_input(s->pairs, 0).ended && distorted->status ? distorted->status : AVERROR_EOF;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        ff_inlink_set_status(ctx->inputs[i], AVERROR_EOF);
    ff_qc_end_outputs(ctx, status, end);
    return 0;
}

/** Everything is submitted: waits for all scores, sends all frames, reports, and only then ends the output. @param last QCR_END */
static int drain(AVFilterContext *ctx, const qcr_decision *last)
{
    QualityCudaContext *s = ctx->priv;
    qcr_decision tails;
    int ret = ff_qc_flush_session(ctx);

    if (ret >= 0)
        ret = ff_qc_receive_rows(ctx, QC_WAIT_FOR_ALL);
    if (ret >= 0)
        ret = ff_qc_push_ready(ctx);
    if (ret)
        return FFMIN(ret, 0);
    if (!ff_qc_may_end(ctx))
        return FFERROR_NOT_READY;
    if (s->queue.tally->held)
        return ff_qc_fail(ctx, AVERROR_BUG, "the engine kept scores back");
    qcr_search_begin(s->scoring.session, s->pairs);
    ff_qc_decide_rest(ctx, &tails);
    if (tails.needs)
        return ff_qc_request_if_awaited(ctx, tails.needs);
    s->run.done = 1;
    conclude(ctx);
    if (s->run.failure && !ff_qc_may_give_up(ctx))
        return s->run.failure;
    return end_output(ctx, last->is_early ? last->input[0].pts : s->input[0].eof_pts);
}

/** Works until something was sent or input is missing: lavfi does not call again after an activation without effect. */
static int advance(AVFilterContext *ctx)
{
    for (;;) {
        qcr_decision decision;
        uint32_t needs;
        int ret;

        if (!ff_qc_queue_wants_more(ctx))
            return FFERROR_NOT_READY;
        if ((needs = ff_qc_settle_start(ctx)))
            return ff_qc_request_if_awaited(ctx, needs);
        ret = ff_qc_look_for_bars(ctx, &needs);
        if (ret > 0)
            ret = ff_qc_look_ahead(ctx, &needs);
        if (ret <= 0)
            return ret < 0 ? ret : ff_qc_request_if_awaited(ctx, needs);
        ret = ff_qc_decide(ctx, &decision);
        if (ret < 0)
            return ret;
        if (decision.kind == QCR_NEEDS_INPUT)
            return ff_qc_request_if_awaited(ctx, decision.needs);
        if (decision.kind == QCR_END)
            return drain(ctx, &decision);
        ret = ff_qc_act(ctx, &decision);
        if (ret >= 0)
            ret = ff_qc_bound_queue(ctx);
        if (ret >= 0)
            ret = ff_qc_push_ready(ctx);
        if (ret)
            return FFMIN(ret, 0);
    }
}

/* ---- without scores ---- */

/** Nothing is scored any more, but what is finished stays. */
static void give_up(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    ff_qc_warn(ctx, "on_error=%s: the video goes on without scores", s->options.on_error == QCR_ON_ERROR_CPU ? "cpu" : "pass");
    s->run.gave_up = 1;
    qcr_pairs_abandon(s->pairs);
    ff_qc_flush_session(ctx);
    ff_qc_receive_rows(ctx, QC_WAIT_FOR_ALL);
    ff_qc_give_up_rows(ctx);
}

/** Sends a frame, or takes the next one: as long as there are any, whatever becomes of the other inputs. */
static int pass_on(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (;;) {
        qcr_decision decision;
        int ret = ff_qc_push_ready(ctx);

        if (ret)
            return FFMIN(ret, 0);
        if (!ff_qc_may_end(ctx))
            return FFERROR_NOT_READY;
        ff_qc_drop_weights(ctx);
        ff_qc_decide_rest(ctx, &decision);
        if (decision.kind == QCR_NEEDS_INPUT)
            return ff_qc_request_if_awaited(ctx, decision.needs);
        if (decision.kind == QCR_END)
            break;
        ret = ff_qc_act(ctx, &decision);
        if (ret < 0)
            return ret;
    }
    s->run.done = 1;
    conclude(ctx);
    return end_output(ctx, s->input[0].eof_pts);
}

/** An early stop or a failure can leave pairs in flight: what counts of them is scored, logged and reported. */
static void settle_rest(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    if (s->run.reported || !(s->counts[0].frames || (s->run.failure && s->scoring.session)))
        return;
    ff_qc_flush_session(ctx);
    ff_qc_receive_rows(ctx, QC_WAIT_FOR_ALL);
    conclude(ctx);
}

/** The consumer wants no more: an error of the report can still be the filter's. */
static int close_inputs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const int status = ff_qc_consumers_status(ctx);

    s->run.is_awaited = 0;
    settle_rest(ctx);
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        ff_inlink_set_status(ctx->inputs[i], status);
    return ff_qc_may_give_up(ctx) ? 0 : s->run.failure;
}

/** Receives, sends, takes in. */
static int score(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    if (s->scoring.session)
        qc_session_collect(s->scoring.session);
    ret = ff_qc_receive_rows(ctx, QC_WAIT_NEVER);
    if (ret >= 0)
        ret = ff_qc_push_ready(ctx);
    if (ret)
        return FFMIN(ret, 0);
    return advance(ctx);
}

static int proceed(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    if (ff_qc_consumers_status(ctx))
        return close_inputs(ctx);
    if (s->run.done)
        return ff_qc_may_give_up(ctx) ? 0 : s->run.failure;
    if (!s->run.failure) {
        ret = score(ctx);
        if (!s->run.failure || s->run.done || !ff_qc_may_give_up(ctx))
            return ret;
        give_up(ctx);
    }
    return s->run.gave_up ? pass_on(ctx) : s->run.failure;
}

/**
 * After the first request, what comes unasked may be all that comes: so the command line empties its decoders when it has
 * enough, up to FFmpeg 6. It frees the filter next, which can't fail any more then: a report that cannot be written would be
 * missed with an exit code of 0. So that's looked at before.
 */
static int activate(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const int asked = ff_qc_is_awaited(ctx);
    int ret, error;

    if (asked && !s->run.was_asked)
        ff_qc_be_freed_early(ctx);
    s->run.was_asked |= asked;
    ff_qc_confirm_rows(ctx, asked);
    ret = proceed(ctx);
    /* Noted now, for the links may be gone when the filter is freed. */
    s->run.is_awaited = ff_qc_is_awaited(ctx);
    if (!QC_UNASKED_IS_LAST || asked || !s->run.was_asked || s->run.reported || ff_qc_may_give_up(ctx) || (ret < 0 && ret != FFERROR_NOT_READY))
        return ret;
    error = ff_qc_recheck_files(ctx);
    return error < 0 ? error : ret;
}

static int process_command(AVFilterContext *ctx, const char *cmd, const char *arg, char *res, int res_len, int flags)
{
    QualityCudaContext *s = ctx->priv;

    if (!strcmp(cmd, "score") && s->scoring.session) {
        if (res && res_len > 0)
            qcr_running_scores(s->scoring.session, s->options.renditions, s->engine.pool, res, res_len);
        return 0;
    }
    if (!strcmp(cmd, "flush_log") && s->scoring.session)
        return s->run.reported ? 0 : ff_qc_write_logs(ctx); /* the log of the whole run stays */
    return ff_filter_process_command(ctx, cmd, arg, res, res_len, flags);
}

static av_cold void uninit(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    settle_rest(ctx);
    qcr_interrupts_unwatch(&s->run.interrupts);
    ff_qc_free_preview(ctx);
    ff_qc_close_engine(ctx);
    qcr_pairs_destroy(s->pairs);
    av_frame_free(&s->latest);
    ff_qc_free_queue(ctx);
    ff_qc_free_maps(ctx);
    qcr_live_destroy(s->live);
    qcr_record_destroy(s->record);
    s->record = NULL;
    qcr_conditions_destroy(s->conditions);
    qcr_bars_destroy(s->bars);
    s->conditions = NULL;
    qcr_doubts_destroy(s->doubts);
    s->doubts = NULL;
    qcr_close_files(&s->files, s->run.reported);
    ff_qc_free_alias(ctx);
}

/* ---- registration ---- */

static const AVFilterPad quality_cuda_inputs[] = {
    { .name = "main",      .type = AVMEDIA_TYPE_VIDEO },
    { .name = "reference", .type = AVMEDIA_TYPE_VIDEO },
};

static const AVFilterPad quality_cuda_outputs[] = {
    { .name = "default", .type = AVMEDIA_TYPE_VIDEO, .config_props = config_output },
};

#define QC_DESCRIPTION "Score the quality of a video (input 0) against its reference (input 1): VMAF, PSNR and more, " \
                       "on the GPU or the CPU."
#define QC_ALIAS_DESCRIPTION "Score the quality of a video (input 0) against its reference (input 1): quality_cuda with " \
                             "libvmaf's options."
#define QC_FLAGS (AVFILTER_FLAG_METADATA_ONLY | AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL | QC_FLAG_HWDEVICE)

#if QC_FFFILTER
#define QC_FILTER FFFilter
#define QC_PUBLIC(field) .p.field
#else
#define QC_FILTER AVFilter
#define QC_PUBLIC(field) .field
#endif

#define QC_DEFINE_FILTER(symbol, filter_name, text, options_class, own_flags, ...) \
const QC_FILTER symbol = {                                  \
    QC_PUBLIC(name)        = filter_name,                   \
    QC_PUBLIC(description) = NULL_IF_CONFIG_SMALL(text),    \
    QC_PUBLIC(priv_class)  = &options_class,                \
    QC_PUBLIC(flags)       = QC_FLAGS | (own_flags),        \
    .priv_size       = sizeof(QualityCudaContext),          \
    .init            = init,                                \
    .uninit          = uninit,                              \
    .activate        = activate,                            \
    .process_command = process_command,                     \
    .flags_internal  = FF_FILTER_FLAG_HWFRAME_AWARE,        \
    FILTER_INPUTS(quality_cuda_inputs),                     \
    FILTER_OUTPUTS(quality_cuda_outputs),                   \
    FILTER_QUERY_FUNC(query_formats),                       \
    __VA_ARGS__                                             \
}

QC_DEFINE_FILTER(ff_vf_quality_cuda, "quality_cuda", QC_DESCRIPTION, quality_cuda_class, AVFILTER_FLAG_DYNAMIC_INPUTS | AVFILTER_FLAG_DYNAMIC_OUTPUTS, );

/* Listed by configure with --enable-libquality-cuda-aliases, and only where FFmpeg's own filter of that name is not. */
QC_DEFINE_FILTER(ff_vf_quality_cuda_libvmaf, "libvmaf", QC_ALIAS_DESCRIPTION, ff_qc_libvmaf_class, 0, .preinit = preinit_alias);
QC_DEFINE_FILTER(ff_vf_quality_cuda_libvmaf_cuda, "libvmaf_cuda", QC_ALIAS_DESCRIPTION, ff_qc_libvmaf_class, 0,
                 .preinit = preinit_alias);
