/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
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
 * CUDA frames in its own format, nothing is converted.
 *
 * This filter pairs frames, keeps them until their scores are final, and
 * reports. It computes nothing and makes no CUDA call: contexts, streams and
 * device pointers go to the engine as they are.
 *
 * One source for FFmpeg 5.1 to 8.x; what differs is in the macros below.
 */

#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <quality_cuda.h>

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mathematics.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"
#include "libavutil/thread.h"
#if CONFIG_CUDA
#include "libavutil/hwcontext_cuda_internal.h"
#endif

#include "libavcodec/version_major.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "version.h"

#if LIBAVFILTER_VERSION_INT < AV_VERSION_INT(10, 4, 100)
#include "internal.h"
#define QC_LINK_RATE(link)     ((link)->frame_rate)
#define QC_LINK_HWFRAMES(link) ((link)->hw_frames_ctx)
#else
#define QC_LINK_RATE(link)     (ff_filter_link(link)->frame_rate)
#define QC_LINK_HWFRAMES(link) (ff_filter_link(link)->hw_frames_ctx)
#endif
/* From here on lavfi negotiates colour space and range like pixel formats. */
#define QC_HAS_COLOR (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(9, 15, 100))
#define QC_HAS_ALPHA (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(11, 6, 100))
#define QC_HAS_SITING (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(12, 4, 101))
#define QC_FFFILTER  (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(11, 0, 0))
/* Before libavcodec 60 a frame from NVDEC is a mapped decoder surface: each
 * one that is held is missing in the decoder's small pool. Later ones copy
 * it on the device, unless they are told not to. */
#define QC_SCARCE_SURFACES (LIBAVCODEC_VERSION_MAJOR < 60)
#ifdef AVFILTER_FLAG_HWDEVICE
#define QC_FLAG_HWDEVICE AVFILTER_FLAG_HWDEVICE
#else
#define QC_FLAG_HWDEVICE 0
#endif

#define QC_KEY_PREFIX "lavfi.quality_cuda."
#define QC_MAX_INPUTS (1 + QC_MAX_RENDITIONS)
#define QC_REFERENCE  1 /* index of the reference's input */
/* So many main frames in a row may lack a pair: a reference of a ninth of the frame rate is no row of pauses. More are a
 * pause; nothing is compared across it. */
#define QC_LONGEST_GAP 8
#define QC_STATS_LINE 1024 /* bytes that the engine needs for one */
#define QC_AUTO_DEPTH 8    /* main frames held while they are scored: two batches of four */
#define QC_LEAD       8    /* further ones, while a score waits for a later frame */

enum SyncMode { SYNC_NEAREST, SYNC_FLOOR, SYNC_INDEX };
enum EofAction { EOF_ACTION_PASS, EOF_ACTION_ENDALL, EOF_ACTION_REPEAT };
enum RangeCheck { RANGE_AUTO, RANGE_IGNORE, RANGE_ERROR };

/** What is known about the partner of the waiting main frame on one input. */
enum Choice {
    CHOICE_WAIT,   ///< more input is needed to decide
    CHOICE_FOUND,
    CHOICE_BEFORE, ///< this input has not begun yet at that time
    CHOICE_GAP,    ///< nothing near enough, but later frames exist
    CHOICE_ENDED,  ///< this input is over
};

typedef struct QCInput {
    /* fixed by the link */
    qc_format format;
    enum AVPixelFormat sw_format;
    int is_hw;
    void *cuda_context;
    size_t crop_left, crop_top;   ///< of hardware frames; software frames come cropped

    /* pairing: cur is not later than the main frame, next is (index mode: next is its partner) */
    AVFrame *cur, *next;
    int cur_uses, next_uses;      ///< pairs that used the frame
    int64_t origin;               ///< subtracted from every time stamp (align=start)
    int64_t first_pts;
    int wanted;                   ///< a frame has to be requested
    int eof, status;
    int64_t eof_pts;
    int64_t received, unused;     ///< frames that came, frames that were dropped without any pair
    int colour_checked, colour_changed;
} QCInput;

/** A main frame on its way: from pairing until it was sent and its scores have arrived. */
typedef struct QCPending {
    AVFrame *frame;               ///< NULL once sent
    int64_t row;                  ///< index of its submission, -1 if it gets no scores
    int scored;                   ///< its row has arrived
    double pts_time, ref_pts_time;
    struct QCPending *following;
} QCPending;

/** References to the hardware frames of one submission, until the engine has read them. */
typedef struct QCHold {
    AVFrame *frame[QC_MAX_INPUTS];
} QCHold;

typedef struct QualityCudaContext {
    const AVClass *class;

    /* options */
    char *metrics, *model, *feature, *opts, *pool_name;
    int n_subsample, n_threads, renditions, bitdepth;
    int sync, ts_sync_mode, align_start, eof_action, shortest;
    double max_dt;
    int range, backend, device, async_depth, skip_unsupported;
    char *stats_path, *stats_fmt, *log_path, *log_fmt;

    qc_session *session;
    AVBufferRef *device_ref;      ///< keeps the CUDA context alive as long as the session
    qc_pool pool;
    qc_log_format log_format;
    qc_stats_format stats_format;
    int accepts_rgb;              ///< all configured metrics do
    FILE *stats_file;
    char *log_file;               ///< log_path, or its variant where another filter has that one
    int log_claim, stats_claim;   ///< numbers of the claims on log_path and stats_file
    int feature_count;
    char **keys;                  ///< metadata keys, [rendition][feature]
    int depth;                    ///< main frames held, but for those whose score waits for a later frame

    QCInput input[QC_MAX_INPUTS];
    int nb_inputs;
    AVFrame *main;                ///< waits for its partners
    int main_disabled;
    QCPending *first, *last;
    int held;                     ///< entries that still have their frame
    int unpaired_row;             ///< main frames in a row that got no pair
    double tolerance;             ///< seconds
    double frame_rate;            ///< of the main input, 0: unknown
    int start_checked;

    /* state */
    int failure;                  ///< AVERROR of the first failure
    int flushed, done, reported;

    /* accounting */
    int64_t frames, paired, disabled, before, after, gaps, untimed, repeated, late_scores;
    double max_abs_dt, sum_dt;
} QualityCudaContext;

#define OFFSET(x) offsetof(QualityCudaContext, x)
#define FLAGS (AV_OPT_FLAG_FILTERING_PARAM | AV_OPT_FLAG_VIDEO_PARAM)

static const AVOption quality_cuda_options[] = {
    { "metrics", "metrics to score, joined by + or |, e.g. vmaf+psnr, libvmaf's or FFmpeg's names, or all; a wrong name lists them (default vmaf, that is what model says)", OFFSET(metrics), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "m",       "same as metrics", OFFSET(metrics), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "model",   "VMAF models joined by |: a built-in name, auto, a path, version=NAME or path=FILE with further :key=value (default vmaf_v0.6.1)", OFFSET(model), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "bitdepth", "10: score 8-bit inputs at 10 bits, as VMAF v1's documentation recommends; 0: as they are (default)", OFFSET(bitdepth), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 10, FLAGS },
    { "feature", "further features in libvmaf's syntax: name=psnr|name=vif:vif_enhn_gain_limit=1 (default none)", OFFSET(feature), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "opts",    "options of the metrics, without any colon: METRIC.OPTION=VALUE|... (default none)", OFFSET(opts), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "pool",    "pooling of the final score: mean, harmonic_mean, min, max, p1, p5, p10, p50 or stddev", OFFSET(pool_name), AV_OPT_TYPE_STRING, { .str = "mean" }, 0, 0, FLAGS },
    { "n_subsample", "score every n-th pair only; the others pass without scores", OFFSET(n_subsample), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, INT_MAX, FLAGS },
    { "subsample",   "same as n_subsample", OFFSET(n_subsample), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, INT_MAX, FLAGS },
    { "n_threads",   "threads of the CPU backend (0: one per core), or those that copy software frames for the GPU (0: half of the cores, at most 4)", OFFSET(n_threads), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1024, FLAGS },
    { "renditions",  "number of distorted inputs that share the reference: input 0, then inputs 2, 3, ...", OFFSET(renditions), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, QC_MAX_RENDITIONS, FLAGS },
    { "sync", "how a distorted frame finds its reference frame", OFFSET(sync), AV_OPT_TYPE_INT, { .i64 = SYNC_NEAREST }, SYNC_NEAREST, SYNC_INDEX, FLAGS, .unit = "sync" },
        { "nearest", "the one nearest in time, not further than max_dt", 0, AV_OPT_TYPE_CONST, { .i64 = SYNC_NEAREST }, 0, 0, FLAGS, .unit = "sync" },
        { "floor",   "the newest one that is not later (as other two-input filters do)", 0, AV_OPT_TYPE_CONST, { .i64 = SYNC_FLOOR }, 0, 0, FLAGS, .unit = "sync" },
        { "index",   "the n-th one for the n-th frame, time stamps ignored", 0, AV_OPT_TYPE_CONST, { .i64 = SYNC_INDEX }, 0, 0, FLAGS, .unit = "sync" },
    { "ts_sync_mode", "libvmaf's name for sync; overrides it where given (default: not given)", OFFSET(ts_sync_mode), AV_OPT_TYPE_INT, { .i64 = -1 }, -1, SYNC_FLOOR, FLAGS, .unit = "ts_sync_mode" },
        { "default", "same as sync=floor",   0, AV_OPT_TYPE_CONST, { .i64 = SYNC_FLOOR }, 0, 0, FLAGS, .unit = "ts_sync_mode" },
        { "nearest", "same as sync=nearest", 0, AV_OPT_TYPE_CONST, { .i64 = SYNC_NEAREST }, 0, 0, FLAGS, .unit = "ts_sync_mode" },
    { "max_dt", "largest distance of a pair in seconds, 0: half a frame of the distorted input, 20 ms if its rate is unknown", OFFSET(max_dt), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 1e6, FLAGS },
    { "align", "correction of the time stamps", OFFSET(align_start), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1, FLAGS, .unit = "align" },
        { "none",  "use them as they are", 0, AV_OPT_TYPE_CONST, { .i64 = 0 }, 0, 0, FLAGS, .unit = "align" },
        { "start", "count each input's from its first frame", 0, AV_OPT_TYPE_CONST, { .i64 = 1 }, 0, 0, FLAGS, .unit = "align" },
    { "eof_action", "what happens when the reference ends first", OFFSET(eof_action), AV_OPT_TYPE_INT, { .i64 = EOF_ACTION_PASS }, EOF_ACTION_PASS, EOF_ACTION_REPEAT, FLAGS, .unit = "eof_action" },
        { "pass",   "further frames pass without scores", 0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_PASS }, 0, 0, FLAGS, .unit = "eof_action" },
        { "endall", "the output ends too", 0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_ENDALL }, 0, 0, FLAGS, .unit = "eof_action" },
        { "repeat", "the last reference frame is used again (scores of no worth)", 0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_REPEAT }, 0, 0, FLAGS, .unit = "eof_action" },
    { "shortest", "same as eof_action=endall", OFFSET(shortest), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "range", "what to do when the inputs' colour range or matrix tags differ; samples are never converted", OFFSET(range), AV_OPT_TYPE_INT, { .i64 = RANGE_AUTO }, RANGE_AUTO, RANGE_ERROR, FLAGS, .unit = "range" },
        { "auto",   "warn once", 0, AV_OPT_TYPE_CONST, { .i64 = RANGE_AUTO }, 0, 0, FLAGS, .unit = "range" },
        { "ignore", "nothing", 0, AV_OPT_TYPE_CONST, { .i64 = RANGE_IGNORE }, 0, 0, FLAGS, .unit = "range" },
        { "error",  "fail", 0, AV_OPT_TYPE_CONST, { .i64 = RANGE_ERROR }, 0, 0, FLAGS, .unit = "range" },
    { "on_unsupported", "what to do with a metric that does not accept the pictures (too small, without chroma, RGB)", OFFSET(skip_unsupported), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1, FLAGS, .unit = "on_unsupported" },
        { "fail", "end with an error that names it", 0, AV_OPT_TYPE_CONST, { .i64 = 0 }, 0, 0, FLAGS, .unit = "on_unsupported" },
        { "skip", "leave it out with a warning, and models that need it", 0, AV_OPT_TYPE_CONST, { .i64 = 1 }, 0, 0, FLAGS, .unit = "on_unsupported" },
    { "backend", "where scores are computed", OFFSET(backend), AV_OPT_TYPE_INT, { .i64 = QC_BACKEND_AUTO }, QC_BACKEND_AUTO, QC_BACKEND_CPU, FLAGS, .unit = "backend" },
        { "auto", "on the GPU if there is one, else on the CPU", 0, AV_OPT_TYPE_CONST, { .i64 = QC_BACKEND_AUTO }, 0, 0, FLAGS, .unit = "backend" },
        { "cuda", "on the GPU, fail without one", 0, AV_OPT_TYPE_CONST, { .i64 = QC_BACKEND_CUDA }, 0, 0, FLAGS, .unit = "backend" },
        { "cpu",  "on the CPU, never touch the driver (software frames only)", 0, AV_OPT_TYPE_CONST, { .i64 = QC_BACKEND_CPU }, 0, 0, FLAGS, .unit = "backend" },
    { "device", "index of the GPU for software frames, -1: FFmpeg's CUDA device if it has one, else 0; CUDA frames are scored where they are", OFFSET(device), AV_OPT_TYPE_INT, { .i64 = -1 }, -1, 1024, FLAGS },
    { "async_depth", "distorted frames held while their scores are computed, 0: 8, more on the CPU backend with many threads", OFFSET(async_depth), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1024, FLAGS },
    { "stats_file", "write one line per scored frame to this file while running, - for standard output (default none)", OFFSET(stats_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "f",          "same as stats_file", OFFSET(stats_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "stats_format", "lines of stats_file: scores (time stamps and every score), or psnr or ssim, as FFmpeg's filters of these names write theirs, for tools that read those", OFFSET(stats_fmt), AV_OPT_TYPE_STRING, { .str = "scores" }, 0, 0, FLAGS },
    { "log_path", "write the report of the whole run to this file at the end (default none)", OFFSET(log_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "log_fmt",  "format of the report: json (everything), xml, csv or sub (frames only), in libvmaf's layouts", OFFSET(log_fmt), AV_OPT_TYPE_STRING, { .str = "json" }, 0, 0, FLAGS },
    { NULL }
};

AVFILTER_DEFINE_CLASS(quality_cuda);

/* ---- failures and messages ---- */

/** Logs and stores the first failure; every later activation returns it again. */
static int av_printf_format(3, 4) fail(AVFilterContext *ctx, int error, const char *format, ...)
{
    QualityCudaContext *s = ctx->priv;
    char text[2048];
    va_list arguments;

    if (s->failure)
        return s->failure;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    av_log(ctx, AV_LOG_ERROR, "%s\n", text);
    return s->failure = error;
}

static int error_of_status(qc_status status)
{
    switch (status) {
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

    return fail(ctx, error_of_status(status), "scoring failed: %s", qc_session_error(s->session));
}

static void engine_log(void *opaque, qc_log_level level, const char *text)
{
    static const int levels[] = { AV_LOG_ERROR, AV_LOG_WARNING, AV_LOG_INFO, AV_LOG_DEBUG };

    av_log(opaque, levels[av_clip(level, 0, 3)], "%s\n", text);
}

/** "reference", "main", "main1", ...: the names of the pads. */
static const char *role(AVFilterContext *ctx, int index)
{
    return ctx->input_pads ? avfilter_pad_get_name(ctx->input_pads, index) : "?";
}

/** "%.6f" with a point in every locale. */
static void print_score(char *text, size_t size, double value)
{
    char *comma;

    snprintf(text, size, "%.6f", value);
    comma = strchr(text, ',');
    if (comma)
        *comma = '.';
}

/* ---- output files ---- */

/*
 * A graph that the command line re-creates in mid-stream starts a second
 * instance with the same options: it must not destroy the files of the first.
 * So each file that an instance of this process has written to is claimed, and
 * a later instance gets number 2, 3, ... of it. An instance that never saw a
 * frame gives its claims back: the command line makes one just to count pads.
 */
typedef struct QCClaim {
    char *path;
    int number;
    struct QCClaim *following;
} QCClaim;

static AVMutex claims_mutex = AV_MUTEX_INITIALIZER;
static QCClaim *claims;

static QCClaim **find_claim(const char *path, int number)
{
    QCClaim **link = &claims;

    while (*link && ((*link)->number != number || strcmp((*link)->path, path)))
        link = &(*link)->following;
    return link;
}

/** @return 1 for the first instance that uses this path, 2 for the second, ...; or AVERROR */
static int claim_path(const char *path)
{
    QCClaim *claim = av_mallocz(sizeof(*claim));

    if (!claim || !(claim->path = av_strdup(path))) {
        av_free(claim);
        return AVERROR(ENOMEM);
    }
    ff_mutex_lock(&claims_mutex);
    claim->number = 1;
    while (*find_claim(path, claim->number))
        claim->number++;
    claim->following = claims;
    claims = claim;
    ff_mutex_unlock(&claims_mutex);
    return claim->number;
}

static void give_claim_back(const char *path, int number)
{
    QCClaim **link, *claim;

    if (number <= 0)
        return;
    ff_mutex_lock(&claims_mutex);
    link  = find_claim(path, number);
    claim = *link;
    if (claim) {
        *link = claim->following;
        av_free(claim->path);
        av_free(claim);
    }
    ff_mutex_unlock(&claims_mutex);
}

/** "dir/q.json" and ".2" give "dir/q.2.json". */
static char *insert_before_extension(const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    const char *name  = slash ? slash + 1 : path;
    const char *dot   = strrchr(name, '.');
    const int stem = (int)(dot && dot != name ? dot - path : (ptrdiff_t)strlen(path));

    return av_asprintf("%.*s%s%s", stem, path, text, path + stem);
}

/** Devices and pipes are written in place; files are replaced by renaming. */
static int is_special_file(const char *path)
{
    struct stat info;

    return !stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/** The report is written beside its place and renamed: try whether that will work. */
static int check_log_writable(AVFilterContext *ctx, const char *path)
{
    struct stat info;
    char *probe;
    FILE *file;

    if (!stat(path, &info) && S_ISDIR(info.st_mode))
        return fail(ctx, AVERROR(EISDIR), "log_path=%s is a directory", path);
    probe = is_special_file(path) ? av_strdup(path) : av_asprintf("%s.probe", path);
    if (!probe)
        return AVERROR(ENOMEM);
    file = fopen(probe, "ab");
    if (!file) {
        const int error = errno;
        av_free(probe);
        return fail(ctx, AVERROR(error), "log_path=%s cannot be written: %s", path, strerror(error));
    }
    fclose(file);
    if (!is_special_file(probe))
        remove(probe);
    av_free(probe);
    return 0;
}

static int open_log(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    char suffix[16];

    if (qc_log_format_parse(s->log_fmt, &s->log_format) != QC_OK)
        return fail(ctx, AVERROR(EINVAL), "log_fmt=%s is not known; accepted: json, xml, csv, sub", s->log_fmt);
    if (!s->log_path || !*s->log_path)
        return 0;
    s->log_claim = is_special_file(s->log_path) ? 0 : claim_path(s->log_path);
    if (s->log_claim < 0)
        return s->log_claim;
    snprintf(suffix, sizeof(suffix), ".%d", s->log_claim);
    s->log_file = s->log_claim > 1 ? insert_before_extension(s->log_path, suffix) : av_strdup(s->log_path);
    if (!s->log_file)
        return AVERROR(ENOMEM);
    if (s->log_claim > 1)
        av_log(ctx, AV_LOG_WARNING, "log_path=%s belongs to an earlier filter of this run; this one writes %s\n",
               s->log_path, s->log_file);
    return check_log_writable(ctx, s->log_file);
}

static int open_stats(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    if (!s->stats_path || !*s->stats_path)
        return s->stats_format == QC_STATS_FORMAT_NONE ? 0 :
               fail(ctx, AVERROR(EINVAL), "stats_format=%s needs stats_file, the file for its lines", s->stats_fmt);
    if (!strcmp(s->stats_path, "-")) {
        s->stats_file = stdout;
        return 0;
    }
    s->stats_claim = claim_path(s->stats_path);
    if (s->stats_claim < 0)
        return s->stats_claim;
    if (s->stats_claim > 1)
        av_log(ctx, AV_LOG_WARNING, "stats_file=%s belongs to an earlier filter of this run; appending\n", s->stats_path);
    s->stats_file = fopen(s->stats_path, s->stats_claim > 1 ? "ab" : "wb");
    if (!s->stats_file) {
        const int error = errno;
        return fail(ctx, AVERROR(error), "stats_file=%s cannot be written: %s", s->stats_path, strerror(error));
    }
    return 0;
}

/* ---- init ---- */

static void fill_config(AVFilterContext *ctx, qc_config *config)
{
    QualityCudaContext *s = ctx->priv;

    memset(config, 0, sizeof(*config));
    config->struct_size = sizeof(*config);
    config->renditions  = s->renditions;
    config->metrics     = s->metrics;
    config->model       = s->model;
    config->feature     = s->feature;
    config->options     = s->opts;
    config->n_subsample = s->n_subsample;
    config->backend     = s->backend;
    config->stats_format     = s->stats_format;
    config->skip_unsupported = s->skip_unsupported;
    config->n_threads   = s->n_threads;
    config->bitdepth    = s->bitdepth;
    config->log         = engine_log;
    config->log_opaque  = ctx;
}

/** Everything that can be wrong in the options is found before the first frame is decoded. */
static int check_options(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qc_config config;
    qc_error error = { "" };
    qc_status status;

    if (qc_abi_version() != QC_ABI_VERSION)
        return fail(ctx, AVERROR_EXTERNAL, "libquality_cuda %s has ABI %d, this filter was built for ABI %d: rebuild FFmpeg "
                    "against it", qc_version(), qc_abi_version(), QC_ABI_VERSION);
    if (qc_pool_parse(s->pool_name, &s->pool) != QC_OK)
        return fail(ctx, AVERROR(EINVAL),
                    "pool=%s is not known; accepted: mean, harmonic_mean, min, max, p1, p5, p10, p50, stddev", s->pool_name);
    if (strcmp(s->stats_fmt, "scores") && qc_stats_format_parse(s->stats_fmt, &s->stats_format) != QC_OK)
        return fail(ctx, AVERROR(EINVAL), "stats_format=%s is not known; accepted: scores, psnr, ssim", s->stats_fmt);
    fill_config(ctx, &config);
    status = qc_config_check_options(&config, &error);
    if (status != QC_OK)
        return fail(ctx, error_of_status(status), "%s", error.text);
    s->accepts_rgb = qc_config_accepts_rgb(&config);
    return 0;
}

static int append_rendition_pads(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 1; i < s->renditions; i++) {
        AVFilterPad pad = { .type = AVMEDIA_TYPE_VIDEO, .name = av_asprintf("main%d", i) };
        int ret;

        if (!pad.name)
            return AVERROR(ENOMEM);
        ret = ff_append_inpad_free_name(ctx, &pad);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static av_cold int init(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    if (s->ts_sync_mode >= 0)
        s->sync = s->ts_sync_mode;
    if (s->shortest)
        s->eof_action = EOF_ACTION_ENDALL;
    s->nb_inputs = 1 + s->renditions;
    for (int i = 0; i < s->nb_inputs; i++)
        s->input[i].first_pts = AV_NOPTS_VALUE;

    ret = check_options(ctx);
    if (ret >= 0)
        ret = open_log(ctx);
    if (ret >= 0)
        ret = open_stats(ctx);
    if (ret >= 0)
        ret = append_rendition_pads(ctx);
    return ret;
}

/* ---- formats ---- */

static const int yuv_formats[] = {
#if CONFIG_CUDA
    AV_PIX_FMT_CUDA,
#endif
    AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV444P,
    AV_PIX_FMT_YUVJ420P,  AV_PIX_FMT_YUVJ422P,  AV_PIX_FMT_YUVJ444P,
    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10,
    AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12,
    AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16,
    AV_PIX_FMT_NV12, AV_PIX_FMT_NV16,
    AV_PIX_FMT_P010, AV_PIX_FMT_P016, AV_PIX_FMT_P210, AV_PIX_FMT_P216,
#ifdef AV_PIX_FMT_P012
    AV_PIX_FMT_P012,
#endif
#ifdef AV_PIX_FMT_P212
    AV_PIX_FMT_P212,
#endif
#ifdef AV_PIX_FMT_YUV444P10MSB
    AV_PIX_FMT_YUV444P10MSB, AV_PIX_FMT_YUV444P12MSB,
#endif
    AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY10, AV_PIX_FMT_GRAY12,
    AV_PIX_FMT_NONE
};

/** Offered only where every metric takes them; else lavfi converts such input, and the filter says so. */
static const int rgb_formats[] = {
    AV_PIX_FMT_GBRP, AV_PIX_FMT_GBRP10, AV_PIX_FMT_GBRP12, AV_PIX_FMT_GBRP16,
    AV_PIX_FMT_RGB24, AV_PIX_FMT_BGR24, AV_PIX_FMT_RGB48, AV_PIX_FMT_BGR48,
    AV_PIX_FMT_RGB0, AV_PIX_FMT_BGR0, AV_PIX_FMT_0RGB, AV_PIX_FMT_0BGR,
    AV_PIX_FMT_NONE
};

static AVFilterFormats *make_formats(const QualityCudaContext *s)
{
    AVFilterFormats *list = ff_make_format_list(yuv_formats);

    for (const int *format = rgb_formats; list && s->accepts_rgb && *format != AV_PIX_FMT_NONE; format++)
        if (ff_add_format(&list, *format) < 0)
            return NULL; /* no memory: as if there were no list at all */
    return list;
}

/**
 * Every input has its own lists, else lavfi would convert one input to the
 * other's format, range or matrix; the output shares those of input 0.
 */
static int query_formats(AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        AVFilterFormatsConfig *in  = &ctx->inputs[i]->outcfg;
        AVFilterFormatsConfig *out = &ctx->outputs[0]->incfg;
        AVFilterFormats *list;
        int ret;

#define SHARE(make, field)                              \
        list = make;                                    \
        ret  = ff_formats_ref(list, &in->field);        \
        if (ret >= 0 && !i)                             \
            ret = ff_formats_ref(list, &out->field);    \
        if (ret < 0)                                    \
            return ret;
        SHARE(make_formats(ctx->priv), formats)
#if QC_HAS_COLOR
        SHARE(ff_all_color_spaces(), color_spaces)
        SHARE(ff_all_color_ranges(), color_ranges)
#endif
#if QC_HAS_ALPHA
        SHARE(ff_all_alpha_modes(), alpha_modes)
#endif
#if QC_HAS_SITING
        SHARE(ff_all_chroma_locations(), chroma_locations)
#endif
#undef SHARE
    }
    return 0;
}

/** @return 0 if the engine cannot read the layout */
static int chroma_of(const AVPixFmtDescriptor *desc, qc_chroma *chroma)
{
    if (desc->nb_components == 1)
        *chroma = QC_CHROMA_400;
    else if (desc->log2_chroma_w == 1 && desc->log2_chroma_h == 1)
        *chroma = QC_CHROMA_420;
    else if (desc->log2_chroma_w == 1 && desc->log2_chroma_h == 0)
        *chroma = QC_CHROMA_422;
    else if (desc->log2_chroma_w == 0 && desc->log2_chroma_h == 0)
        *chroma = QC_CHROMA_444;
    else
        return 0;
    return 1;
}

/** Samples of both chroma components lie as the engine expects: in planes of their own, or as CbCr pairs. */
static int chroma_layout_is_known(const AVPixFmtDescriptor *desc, const qc_format *format)
{
    const AVComponentDescriptor *cb = &desc->comp[1], *cr = &desc->comp[2];
    const int bytes = format->container_bits / 8;

    if (cb->depth != format->depth || cr->depth != format->depth || cb->shift != format->shift || cr->shift != format->shift)
        return 0;
    if (!cb->plane || !cr->plane || cb->offset)
        return 0;
    return format->semi_planar ? cb->step == 2 * bytes && cr->step == 2 * bytes && cr->offset == bytes
                               : cb->step == bytes && cr->step == bytes && !cr->offset;
}

/** Green, blue and red lie in planes of their own, or side by side in whole samples. Alpha is not looked at. */
static int rgb_layout_is_known(const AVPixFmtDescriptor *desc, qc_format *format)
{
    const int bytes = format->container_bits / 8, planar = desc->flags & AV_PIX_FMT_FLAG_PLANAR;

    for (int i = 0; i < 3; i++) {
        const AVComponentDescriptor *comp = &desc->comp[(i + 1) % 3]; /* described as R, G, B; wanted as G, B, R */

        if (comp->depth != format->depth || comp->shift != format->shift || comp->step % bytes || comp->offset % bytes)
            return 0;
        if (planar ? comp->step != bytes || comp->offset : comp->shift || comp->plane || comp->step != desc->comp[0].step)
            return 0;
        format->pixel_step       = planar ? 0 : comp->step / bytes;
        format->sample_offset[i] = planar ? 0 : comp->offset / bytes;
    }
    format->rgb = 1;
    return planar || format->pixel_step == 3 || format->pixel_step == 4;
}

/** Describes a pixel format from its descriptor, so that formats that come later need no change here. */
static int describe_format(enum AVPixelFormat pix_fmt, qc_format *format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(pix_fmt);
    const uint64_t foreign = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                             AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
    const AVComponentDescriptor *first;

    memset(format, 0, sizeof(*format));
    if (!desc || (desc->flags & foreign) || desc->nb_components == 2 || !chroma_of(desc, &format->chroma))
        return 0;
    first = &desc->comp[0];
    if (first->depth != 8 && first->depth != 10 && first->depth != 12 && first->depth != 16)
        return 0;
    format->depth          = first->depth;
    format->shift          = first->shift;
    format->container_bits = first->depth + first->shift > 8 ? 16 : 8;
    if (desc->flags & AV_PIX_FMT_FLAG_RGB)
        return desc->nb_components >= 3 && rgb_layout_is_known(desc, format);
    format->semi_planar = desc->nb_components > 1 && desc->comp[1].plane == desc->comp[2].plane;
    if (first->plane || first->offset || first->step != format->container_bits / 8)
        return 0;
    return format->chroma == QC_CHROMA_400 || chroma_layout_is_known(desc, format);
}

/* ---- configuration ---- */

static const char *pix_fmt_name(enum AVPixelFormat pix_fmt)
{
    const char *name = av_get_pix_fmt_name(pix_fmt);

    return name ? name : "unknown";
}

#if CONFIG_CUDA
static void *cuda_context_of(const AVHWDeviceContext *device)
{
    return ((AVCUDADeviceContext *)device->hwctx)->cuda_ctx;
}

static void *cuda_stream_of(const AVFrame *frame)
{
    const AVHWFramesContext *frames = (const AVHWFramesContext *)frame->hw_frames_ctx->data;

    return ((AVCUDADeviceContext *)frames->device_ctx->hwctx)->stream;
}
#else
static void *cuda_context_of(const AVHWDeviceContext *device)
{
    return NULL;
}

static void *cuda_stream_of(const AVFrame *frame)
{
    return NULL;
}
#endif

static int configure_hw_input(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    AVBufferRef *ref = QC_LINK_HWFRAMES(ctx->inputs[index]);
    const AVHWFramesContext *frames;

    if (!ref)
        return fail(ctx, AVERROR(EINVAL), "Input %d (%s) has CUDA frames without a frames context", index, role(ctx, index));
    frames = (const AVHWFramesContext *)ref->data;
    in->is_hw        = 1;
    in->sw_format    = frames->sw_format;
    in->cuda_context = cuda_context_of(frames->device_ctx);
    if (s->device_ref) {
        const AVHWDeviceContext *device = (const AVHWDeviceContext *)s->device_ref->data;
        if (cuda_context_of(device) != in->cuda_context)
            return fail(ctx, AVERROR(EINVAL), "Input %d (%s) uses another CUDA context than the inputs before it; use "
                        "-init_hw_device cuda=cu:0 -hwaccel_device cu before both inputs, or drop -hwaccel_device",
                        index, role(ctx, index));
        return 0;
    }
    s->device_ref = av_buffer_ref(frames->device_ref);
    return s->device_ref ? 0 : AVERROR(ENOMEM);
}

/** lavfi puts a scaler called auto_scale_N where no common format was left: it decides the score, so say it. */
static void warn_of_conversion(AVFilterContext *ctx, int index)
{
    const AVFilterLink *link = ctx->inputs[index];
    const AVFilterContext *src = link->src;

    if (src->name && av_strstart(src->name, "auto_scale", NULL) && src->nb_inputs)
        av_log(ctx, AV_LOG_WARNING, "Input %d (%s) was converted by lavfi from %s to %s; add an explicit format or scale "
               "filter to choose the conversion\n", index, role(ctx, index),
               pix_fmt_name(src->inputs[0]->format), pix_fmt_name(link->format));
}

static int configure_input(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const AVFilterLink *link = ctx->inputs[index];

    in->is_hw     = 0;
    in->sw_format = link->format;
    if (link->format == AV_PIX_FMT_CUDA) {
        int ret = configure_hw_input(ctx, index);
        if (ret < 0)
            return ret;
    }
    if (!describe_format(in->sw_format, &in->format))
        return fail(ctx, AVERROR(ENOSYS), "Input %d (%s) has %sformat %s; accepted: planar or semi-planar YUV 4:2:0, 4:2:2 and "
                    "4:4:4, gray, and RGB, with 8, 10, 12 or 16 bits; put a format filter before it", index, role(ctx, index),
                    in->is_hw ? "CUDA frames of " : "", pix_fmt_name(in->sw_format));
    in->format.width  = link->w;
    in->format.height = link->h;
    warn_of_conversion(ctx, index);
    if (av_pix_fmt_desc_get(in->sw_format)->flags & AV_PIX_FMT_FLAG_ALPHA)
        av_log(ctx, AV_LOG_WARNING, "Input %d (%s) has %s frames: alpha is not scored\n", index, role(ctx, index),
               pix_fmt_name(in->sw_format));
    av_log(ctx, AV_LOG_INFO, "%s: input %d (%s), %dx%d %s%s\n", index == QC_REFERENCE ? "reference" : "distorted", index,
           link->src->name ? link->src->name : "?", link->w, link->h, in->is_hw ? "cuda/" : "", pix_fmt_name(in->sw_format));
    return 0;
}

static const char *components_of(const qc_format *format)
{
    static const char *const chroma_names[] = { "no chroma", "4:2:0", "4:2:2", "4:4:4" };

    return format->rgb ? "RGB" : chroma_names[format->chroma];
}

static int check_geometry(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *main = &s->input[0], *in = &s->input[index];

    if (in->format.width != main->format.width || in->format.height != main->format.height)
        return fail(ctx, AVERROR(EINVAL), "Input %d (%s) is %dx%d, main is %dx%d; scale first, e.g. "
                    "[0:v]scale=%d:%d:flags=bicubic[d];[d][%d:v]quality_cuda (GPU: scale_cuda=%d:%d:interp_algo=bicubic)",
                    index, role(ctx, index), in->format.width, in->format.height, main->format.width, main->format.height,
                    in->format.width, in->format.height, index, in->format.width, in->format.height);
    if (in->format.chroma != main->format.chroma || in->format.rgb != main->format.rgb)
        return fail(ctx, AVERROR(EINVAL), "Input %d (%s) is %s (%s), main is %s (%s); convert one of them first, e.g. with "
                    "[0:v]format=%s[d];[d][%d:v]quality_cuda", index, role(ctx, index), pix_fmt_name(in->sw_format),
                    components_of(&in->format), pix_fmt_name(main->sw_format), components_of(&main->format),
                    pix_fmt_name(in->sw_format), index);
    return 0;
}

static void report_differences(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *main = &s->input[0], *in = &s->input[index];
    const AVRational rate = QC_LINK_RATE(ctx->inputs[index]), main_rate = QC_LINK_RATE(ctx->inputs[0]);

    if (in->format.depth != main->format.depth)
        av_log(ctx, AV_LOG_INFO, "Input %d (%s) has %d bits, main has %d: both are scored at %d bits, the smaller samples "
               "shifted left\n", index, role(ctx, index), in->format.depth, main->format.depth,
               FFMAX(in->format.depth, main->format.depth));
    if (s->sync != SYNC_INDEX && rate.num > 0 && main_rate.num > 0 && av_cmp_q(rate, main_rate))
        av_log(ctx, AV_LOG_WARNING, "Input %d (%s) has %d/%d frames per second, main has %d/%d: frames are paired by time, the "
               "counts follow at the end\n", index, role(ctx, index), rate.num, rate.den, main_rate.num, main_rate.den);
}

static void choose_tolerance(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const AVRational rate = QC_LINK_RATE(ctx->inputs[0]);

    s->frame_rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
    s->tolerance  = s->max_dt > 0 ? s->max_dt : s->frame_rate > 0 ? 0.5 / s->frame_rate : 0.02;
}

static int any_hw_input(const QualityCudaContext *s)
{
    for (int i = 0; i < s->nb_inputs; i++)
        if (s->input[i].is_hw)
            return 1;
    return 0;
}

/** Decides the device: that of the frames, else the option, else FFmpeg's own CUDA device, else number 0. */
static int choose_device(AVFilterContext *ctx, qc_config *config)
{
    QualityCudaContext *s = ctx->priv;
    const AVHWDeviceContext *device;

    config->device = FFMAX(s->device, 0);
    if (any_hw_input(s)) {
        if (s->backend == QC_BACKEND_CPU)
            return fail(ctx, AVERROR(EINVAL), "backend=cpu cannot read CUDA frames; put hwdownload and a format filter before "
                        "quality_cuda, or drop -hwaccel_output_format cuda");
        config->backend = QC_BACKEND_CUDA;
    } else if (s->device < 0 && s->backend != QC_BACKEND_CPU && ctx->hw_device_ctx && !s->device_ref) {
        device = (const AVHWDeviceContext *)ctx->hw_device_ctx->data;
        if (device->type == AV_HWDEVICE_TYPE_CUDA && !(s->device_ref = av_buffer_ref(ctx->hw_device_ctx)))
            return AVERROR(ENOMEM);
    }
    if (s->device_ref)
        config->cuda_context = cuda_context_of((const AVHWDeviceContext *)s->device_ref->data);
    return 0;
}

/** The CPU backend works on several frames at once: hold enough of them to keep its threads busy. */
static int cpu_depth(const QualityCudaContext *s)
{
    const int threads = s->n_threads > 0 ? s->n_threads : av_cpu_count();

    return av_clip(2 * threads, 8, 64);
}

static int make_keys(QualityCudaContext *s)
{
    s->feature_count = qc_session_feature_count(s->session);
    s->keys = av_calloc((size_t)s->renditions * s->feature_count, sizeof(*s->keys));
    if (!s->keys)
        return AVERROR(ENOMEM);
    for (int k = 0; k < s->renditions; k++) {
        for (int f = 0; f < s->feature_count; f++) {
            qc_feature feature;
            char *key;

            if (qc_session_feature(s->session, f, &feature) != QC_OK)
                return AVERROR_BUG;
            key = k ? av_asprintf(QC_KEY_PREFIX "%d.%s", k, feature.key) : av_asprintf(QC_KEY_PREFIX "%s", feature.key);
            if (!key)
                return AVERROR(ENOMEM);
            s->keys[k * s->feature_count + f] = key;
        }
    }
    return 0;
}

static void free_session(QualityCudaContext *s)
{
    qc_session_destroy(s->session);
    s->session = NULL;
    for (int i = 0; s->keys && i < s->renditions * s->feature_count; i++)
        av_free(s->keys[i]);
    av_freep(&s->keys);
}

/** Visible part of an input: hardware frames keep their left and top margin inside the link's size. */
static qc_format visible_format(const QCInput *in)
{
    qc_format format = in->format;

    format.width  -= in->crop_left;
    format.height -= in->crop_top;
    return format;
}

/** The whole configuration, with the pictures' formats and the device. */
static int make_config(AVFilterContext *ctx, qc_config *config)
{
    QualityCudaContext *s = ctx->priv;

    fill_config(ctx, config);
    config->reference    = visible_format(&s->input[QC_REFERENCE]);
    config->distorted[0] = visible_format(&s->input[0]);
    for (int k = 1; k < s->renditions; k++)
        config->distorted[k] = visible_format(&s->input[1 + k]);
    config->frame_rate = s->frame_rate;
    return choose_device(ctx, config);
}

/** What the metrics say of the pictures is known before the first frame comes. */
static int check_pictures(AVFilterContext *ctx)
{
    qc_error error = { "" };
    qc_status status;
    qc_config config;
    int ret = make_config(ctx, &config);

    if (ret < 0)
        return ret;
    status = qc_config_check(&config, &error);
    return status == QC_OK ? 0 : fail(ctx, error_of_status(status), "%s", error.text);
}

/** The session is opened with the first pair: only frames know all of their colour tags, and their cropping. */
static int open_session(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qc_error error = { "" };
    qc_status status;
    qc_config config;
    int ret = make_config(ctx, &config);

    if (ret < 0)
        return ret;
    s->depth = s->async_depth ? s->async_depth : QC_AUTO_DEPTH;
    /* Frames come as fast as they are decoded: half of those held make a batch, so that two can be under way. */
    config.batch         = av_clip((s->depth + 1) / 2 * s->renditions, 1, 64);
    config.latency_first = 1;
    status = qc_session_create(&config, &s->session, &error);
    if (status == QC_ERROR_NO_MEMORY && config.batch > s->renditions && !s->async_depth) {
        av_log(ctx, AV_LOG_WARNING, "%s; trying again with fewer frames at once\n", error.text);
        s->depth     = FFMIN(s->depth, 2);
        config.batch = s->renditions;
        config.slots = 2;
        status = qc_session_create(&config, &s->session, &error);
    }
    if (status != QC_OK)
        return fail(ctx, error_of_status(status), "%s", error.text);

    if (!s->async_depth && qc_session_backend(s->session) == QC_BACKEND_CPU)
        s->depth = cpu_depth(s);
    av_log(ctx, AV_LOG_VERBOSE, "%s; up to %d distorted frames are held\n", qc_session_description(s->session), s->depth);
    return make_keys(s);
}

static int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    QualityCudaContext *s = ctx->priv;
    AVFilterLink *main = ctx->inputs[0];
    int ret;

    for (int i = 0; i < s->nb_inputs; i++) {
        ret = configure_input(ctx, i);
        if (ret < 0)
            return ret;
    }
    for (int i = 1; i < s->nb_inputs; i++) {
        ret = check_geometry(ctx, i);
        if (ret < 0)
            return ret;
        report_differences(ctx, i);
    }
    choose_tolerance(ctx);
    ret = check_pictures(ctx);
    if (ret < 0)
        return ret;

    outlink->w                   = main->w;
    outlink->h                   = main->h;
    outlink->time_base           = main->time_base;
    outlink->sample_aspect_ratio = main->sample_aspect_ratio;
    QC_LINK_RATE(outlink)        = QC_LINK_RATE(main);
    av_buffer_unref(&QC_LINK_HWFRAMES(outlink));
    if (QC_LINK_HWFRAMES(main)) {
        QC_LINK_HWFRAMES(outlink) = av_buffer_ref(QC_LINK_HWFRAMES(main));
        if (!QC_LINK_HWFRAMES(outlink))
            return AVERROR(ENOMEM);
    }
    return 0;
}

/* ---- frames come in ---- */

static double seconds(const AVFilterContext *ctx, int index, int64_t pts)
{
    return pts == AV_NOPTS_VALUE ? NAN : pts * av_q2d(ctx->inputs[index]->time_base);
}

/** With "-reinit_filter 0" frames of any size can arrive: the link's size must not be trusted. */
static int check_frame(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[index];
    const AVFilterLink *link = ctx->inputs[index];
    enum AVPixelFormat format = frame->format;

    if (in->is_hw && frame->format == AV_PIX_FMT_CUDA && frame->hw_frames_ctx) {
        const AVHWFramesContext *frames = (const AVHWFramesContext *)frame->hw_frames_ctx->data;
        if (cuda_context_of(frames->device_ctx) != in->cuda_context)
            return fail(ctx, AVERROR(EINVAL), "Input %d (%s) changed its CUDA context at %.3f s", index, role(ctx, index),
                        seconds(ctx, index, frame->pts));
        format = frames->sw_format;
    }
    if (frame->width == link->w && frame->height == link->h && frame->format == link->format && format == in->sw_format)
        return 0;
    return fail(ctx, AVERROR(EINVAL), "Input %d (%s) changed from %dx%d %s to %dx%d %s at %.3f s; to score such a stream put "
                "-reinit_filter 0 before the input and scale=%d:%d,format=%s before quality_cuda", index, role(ctx, index),
                link->w, link->h, pix_fmt_name(in->sw_format), frame->width, frame->height, pix_fmt_name(format),
                seconds(ctx, index, frame->pts), link->w, link->h, pix_fmt_name(in->sw_format));
}

/**
 * Moves a frame out of its decoder's surface, by a copy on the device, so that it may be held: the copy is in the order of
 * the stream that the decoder fills its surfaces on. Does nothing to frames that are nobody else's.
 */
static int leave_surface(AVFilterContext *ctx, int index, AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    const int height = frame->height;
    int ret;

    if (!QC_SCARCE_SURFACES || !s->input[index].is_hw)
        return 0;
    /* Halved and rounded down it would lose the last chroma row of an odd height; surfaces have an even one. */
    frame->height = FFALIGN(height, 2);
    ret = av_frame_make_writable(frame);
    frame->height = height;
    return ret < 0 ? fail(ctx, ret, "Input %d (%s): the frame at %.3f s could not be copied out of its decoder's surface",
                          index, role(ctx, index), seconds(ctx, index, frame->pts)) : 0;
}

/** Takes the next frame of an input, if there is one; notes the end of the input, or that a frame must be requested. */
static int pull(AVFilterContext *ctx, int index, AVFrame **frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    int ret;

    *frame = NULL;
    if (in->eof)
        return 0;
    ret = ff_inlink_consume_frame(ctx->inputs[index], frame);
    if (ret < 0)
        return fail(ctx, ret, "Input %d (%s) could not be read", index, role(ctx, index));
    if (ret > 0) {
        in->received++;
        if (in->first_pts == AV_NOPTS_VALUE && (*frame)->pts != AV_NOPTS_VALUE) {
            in->first_pts = (*frame)->pts;
            in->origin    = s->align_start ? in->first_pts : 0;
        }
        ret = check_frame(ctx, index, *frame);
        return ret < 0 ? ret : leave_surface(ctx, index, *frame);
    }
    if (ff_inlink_acknowledge_status(ctx->inputs[index], &in->status, &in->eof_pts))
        in->eof = 1;
    else
        in->wanted = 1;
    return 0;
}

/* ---- pairing ---- */

static int compare_time(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;

    return av_compare_ts(frame->pts - s->input[index].origin, ctx->inputs[index]->time_base,
                         s->main->pts - s->input[0].origin, ctx->inputs[0]->time_base);
}

/** Time of a frame minus the waiting main frame's, in seconds. */
static double time_difference(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;

    return (frame->pts - s->input[index].origin) * av_q2d(ctx->inputs[index]->time_base) -
           (s->main->pts - s->input[0].origin) * av_q2d(ctx->inputs[0]->time_base);
}

/** next is nearer than cur exactly if twice the main time is later than the sum of theirs: no rounding. */
static int next_is_nearer(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[index];

    if (!in->next || !in->cur)
        return !in->cur;
    return av_compare_ts(2 * (s->main->pts - s->input[0].origin), ctx->inputs[0]->time_base,
                         in->cur->pts + in->next->pts - 2 * in->origin, ctx->inputs[index]->time_base) > 0;
}

static void drop_cur(QCInput *in)
{
    if (in->cur && !in->cur_uses)
        in->unused++;
    av_frame_free(&in->cur);
}

/** The looked-ahead frame becomes the current one. */
static void step(QCInput *in)
{
    drop_cur(in);
    in->cur       = in->next;
    in->cur_uses  = in->next_uses;
    in->next      = NULL;
    in->next_uses = 0;
}

/** Brings cur and next to both sides of the main frame's time. @return AVERROR, 0 if more input is needed, 1 when there */
static int seek_to_main(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];

    /* A frame of exactly the same time cannot be beaten: do not wait for the one after it. */
    while (!in->cur || compare_time(ctx, index, in->cur)) {
        if (!in->next) {
            int ret = pull(ctx, index, &in->next);
            if (ret < 0)
                return ret;
            if (!in->next)
                return in->eof;
            if (in->next->pts == AV_NOPTS_VALUE) {
                if (!in->unused++)
                    av_log(ctx, AV_LOG_WARNING, "Input %d (%s) has frames without time stamps, they are not used; "
                           "sync=index pairs by number\n", index, role(ctx, index));
                av_frame_free(&in->next);
                continue;
            }
        }
        if (compare_time(ctx, index, in->next) > 0)
            break;
        step(in);
    }
    return 1;
}

/**
 * sync=floor keeps a frame until the next one, as framesync does, and its last
 * one for as long as a frame lasts; only an explicit max_dt limits it further.
 */
static int is_near_enough(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[index];
    const double rounding = 1e-6; /* of doubles and of nominal rates; far below any frame distance */
    double limit = s->tolerance;

    if (s->sync == SYNC_FLOOR && s->max_dt <= 0) {
        if (in->next || !in->eof)
            return 1;
        limit = 2 * s->tolerance - 2 * rounding;
    }
    return fabs(time_difference(ctx, index, frame)) <= limit + rounding;
}

static enum Choice choose_by_time(AVFilterContext *ctx, int index, AVFrame **partner)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    AVFrame *candidate = s->sync == SYNC_NEAREST && next_is_nearer(ctx, index) ? in->next : in->cur;

    if (candidate && is_near_enough(ctx, index, candidate)) {
        *partner = candidate;
        return CHOICE_FOUND;
    }
    if (!in->next && in->eof) {
        if (s->eof_action != EOF_ACTION_REPEAT || !in->cur)
            return CHOICE_ENDED;
        *partner = in->cur;
        return CHOICE_FOUND;
    }
    return in->cur ? CHOICE_GAP : CHOICE_BEFORE;
}

static enum Choice choose_by_index(QualityCudaContext *s, QCInput *in, AVFrame **partner)
{
    if (in->next)
        *partner = in->next;
    else if (s->eof_action == EOF_ACTION_REPEAT)
        *partner = in->cur;
    return *partner ? CHOICE_FOUND : CHOICE_ENDED;
}

/** Finds the waiting main frame's partner on one input. @return enum Choice or AVERROR */
static int choose_partner(AVFilterContext *ctx, int index, AVFrame **partner)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    int ret = 1;

    *partner = NULL;
    if (s->sync == SYNC_INDEX) {
        if (!in->next)
            ret = pull(ctx, index, &in->next);
        if (ret < 0)
            return ret;
        return in->next || in->eof ? choose_by_index(s, in, partner) : CHOICE_WAIT;
    }
    if (s->main->pts == AV_NOPTS_VALUE)
        return CHOICE_GAP;
    ret = seek_to_main(ctx, index);
    if (ret < 0)
        return ret;
    return ret ? choose_by_time(ctx, index, partner) : CHOICE_WAIT;
}

static void note_use(QCInput *in, const AVFrame *partner, int64_t *repeated)
{
    int *uses = partner == in->next ? &in->next_uses : &in->cur_uses;

    if ((*uses)++ && repeated)
        (*repeated)++;
}

static void warn_of_start(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const double main_start = seconds(ctx, 0, s->input[0].first_pts);
    const double ref_start  = seconds(ctx, QC_REFERENCE, s->input[QC_REFERENCE].first_pts);

    if (s->start_checked || isnan(main_start) || isnan(ref_start))
        return;
    s->start_checked = 1;
    if (s->sync != SYNC_INDEX && !s->align_start && fabs(main_start - ref_start) > s->tolerance)
        av_log(ctx, AV_LOG_WARNING, "main begins at %.6f s, the reference at %.6f s; if both show the same picture then, use "
               "align=start\n", main_start, ref_start);
}

/* ---- colour tags ---- */

static enum AVColorRange range_of(const AVFrame *frame, enum AVPixelFormat format)
{
    if (format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P || format == AV_PIX_FMT_YUVJ444P)
        return AVCOL_RANGE_JPEG;
    return frame->color_range;
}

/** Tags are compared at the first pair; samples are scored as they are. */
static int check_colour(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const enum AVColorRange range = range_of(frame, in->sw_format), main_range = range_of(s->main, s->input[0].sw_format);
    const int range_differs  = range && main_range && range != main_range;
    const int matrix_differs = frame->colorspace != AVCOL_SPC_UNSPECIFIED && s->main->colorspace != AVCOL_SPC_UNSPECIFIED &&
                               frame->colorspace != s->main->colorspace;
    char text[256];

    if (in->colour_checked++ || s->range == RANGE_IGNORE || !(range_differs || matrix_differs))
        return 0;
    snprintf(text, sizeof(text), "Input %d (%s) is tagged range %s, matrix %s; main range %s, matrix %s", index,
             role(ctx, index), av_color_range_name(range), av_color_space_name(frame->colorspace),
             av_color_range_name(main_range), av_color_space_name(s->main->colorspace));
    if (s->range == RANGE_ERROR)
        return fail(ctx, AVERROR(EINVAL), "%s (range=error)", text);
    av_log(ctx, AV_LOG_WARNING, "%s; samples are scored as they are\n", text);
    return 0;
}

/** The numbers are the engine's, but that 0 is what is not known. */
static qc_colour colour_of(const AVFrame *frame, enum AVPixelFormat format)
{
    return (qc_colour) {
        .matrix          = frame->colorspace == AVCOL_SPC_UNSPECIFIED ? 0 : frame->colorspace,
        .range           = range_of(frame, format),
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

/** Those of the first pair count. A rendition that is missing there has those of its next frame, or main's. */
static void adopt_colour(QualityCudaContext *s, AVFrame *const *frames)
{
    for (int i = 0; i < s->nb_inputs; i++) {
        QCInput *in = &s->input[i];
        const AVFrame *frame = frames[i] ? frames[i] : in->next ? in->next : in->cur;

        in->format.colour = frame ? colour_of(frame, in->sw_format) : s->input[0].format.colour;
    }
}

static void warn_of_colour_change(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const qc_colour colour = colour_of(frame, in->sw_format);

    if (s->range == RANGE_IGNORE || in->colour_changed || same_colour(&colour, &in->format.colour))
        return;
    in->colour_changed = 1;
    av_log(ctx, AV_LOG_WARNING, "Input %d (%s) changes its colour tags at %.3f s; those of the first pair go on being used\n",
           index, role(ctx, index), seconds(ctx, index, frame->pts));
}

/* ---- submission ---- */

static void release_hold(void *opaque)
{
    QCHold *hold = opaque;

    for (int i = 0; i < QC_MAX_INPUTS; i++)
        av_frame_free(&hold->frame[i]);
    av_free(hold);
}

/** The engine reads hardware frames later: keep references, so that their surfaces are not reused meanwhile. */
static int make_hold(QualityCudaContext *s, AVFrame *const *frames, QCHold **out)
{
    QCHold *hold;

    *out = NULL;
    if (!any_hw_input(s))
        return 0;
    hold = av_mallocz(sizeof(*hold));
    if (!hold)
        return AVERROR(ENOMEM);
    for (int i = 0; i < s->nb_inputs; i++) {
        if (!frames[i] || !s->input[i].is_hw)
            continue;
        hold->frame[i] = av_frame_clone(frames[i]);
        if (!hold->frame[i]) {
            release_hold(hold);
            return AVERROR(ENOMEM);
        }
    }
    *out = hold;
    return 0;
}

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
    picture->memory = in->is_hw ? QC_MEMORY_CUDA : QC_MEMORY_HOST;
    if (in->is_hw)
        picture->cuda_stream = cuda_stream_of(frame);
}

/** Left and top margins of hardware frames are only known with the first frame; they must stay. */
static int adopt_crop(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++) {
        QCInput *in = &s->input[i];
        const AVFrame *frame = frames[i];

        if (!frame || !in->is_hw || (frame->crop_left == in->crop_left && frame->crop_top == in->crop_top))
            continue;
        if (s->session || frame->crop_left >= (size_t)in->format.width || frame->crop_top >= (size_t)in->format.height)
            return fail(ctx, AVERROR(EINVAL), "Input %d (%s) changed its cropping at %.3f s", i, role(ctx, i),
                        seconds(ctx, i, frame->pts));
        in->crop_left = frame->crop_left;
        in->crop_top  = frame->crop_top;
    }
    return 0;
}

/** Opens the session with what the first pair says of itself, and sees that later ones do not differ. */
static int follow_properties(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    int ret = adopt_crop(ctx, frames);

    if (ret < 0)
        return ret;
    if (!s->session) {
        adopt_colour(s, frames);
        return open_session(ctx);
    }
    for (int i = 0; i < s->nb_inputs; i++)
        if (frames[i])
            warn_of_colour_change(ctx, i, frames[i]);
    return 0;
}

static int submit(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    qc_picture reference, distorted[QC_MAX_RENDITIONS];
    qc_status status;
    QCHold *hold;
    int ret = follow_properties(ctx, frames);

    if (ret >= 0)
        ret = make_hold(s, frames, &hold);
    if (ret < 0)
        return fail(ctx, ret, "a pair could not be submitted");
    fill_picture(&s->input[QC_REFERENCE], frames[QC_REFERENCE], &reference);
    fill_picture(&s->input[0], frames[0], &distorted[0]);
    for (int k = 1; k < s->renditions; k++)
        fill_picture(&s->input[1 + k], frames[1 + k], &distorted[k]);
    status = qc_session_submit(s->session, &reference, distorted, hold ? release_hold : NULL, hold);
    return status == QC_OK ? 0 : fail_session(ctx, status);
}

static int append_pending(AVFilterContext *ctx, int64_t row, double ref_pts_time)
{
    QualityCudaContext *s = ctx->priv;
    QCPending *entry = av_mallocz(sizeof(*entry));

    if (!entry)
        return fail(ctx, AVERROR(ENOMEM), "out of memory");
    entry->frame        = s->main;
    entry->row          = row;
    entry->pts_time     = seconds(ctx, 0, s->main->pts);
    entry->ref_pts_time = ref_pts_time;
    s->main = NULL;
    if (s->last)
        s->last->following = entry;
    else
        s->first = entry;
    s->last = entry;
    s->held++;
    return 0;
}

static void count_unscored(QualityCudaContext *s, enum Choice choice)
{
    if (s->main_disabled)
        s->disabled++;
    else if (s->sync != SYNC_INDEX && s->main->pts == AV_NOPTS_VALUE)
        s->untimed++;
    else if (choice == CHOICE_BEFORE)
        s->before++;
    else if (choice == CHOICE_GAP)
        s->gaps++;
    else
        s->after++;
}

static int score_main(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    double ref_pts_time = seconds(ctx, QC_REFERENCE, frames[QC_REFERENCE]->pts);
    int ret;

    for (int i = 1; i < s->nb_inputs; i++) {
        if (!frames[i])
            continue;
        ret = check_colour(ctx, i, frames[i]);
        if (ret < 0)
            return ret;
        note_use(&s->input[i], frames[i], i == QC_REFERENCE ? &s->repeated : NULL);
    }
    if (s->sync != SYNC_INDEX) {
        const double dt = time_difference(ctx, QC_REFERENCE, frames[QC_REFERENCE]);
        s->max_abs_dt = FFMAX(s->max_abs_dt, fabs(dt));
        s->sum_dt    += dt;
    }
    ret = submit(ctx, frames);
    if (ret < 0)
        return ret;
    return append_pending(ctx, s->paired++, ref_pts_time);
}

static int flush_session(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qc_status status;

    if (s->flushed)
        return 0;
    s->flushed = 1;
    if (!s->session)
        return 0;
    status = qc_session_flush(s->session);
    return status == QC_OK ? 0 : fail_session(ctx, status);
}

/** Counts the frames of a gap. Behind a long one the last pair's scores need not wait for the next pair. */
static int note_gap(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qc_status status;

    if (++s->unpaired_row != QC_LONGEST_GAP + 1 || !s->session || s->flushed)
        return 0;
    status = qc_session_break(s->session);
    return status == QC_OK ? 0 : fail_session(ctx, status);
}

enum Settled { SETTLED_NEEDS_INPUT, SETTLED_APPENDED, SETTLED_END };

/** Decides about the waiting main frame, and if that is possible moves it into the queue. @return enum Settled or AVERROR */
static int settle_main(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *frames[QC_MAX_INPUTS] = { s->main };
    int choice = CHOICE_WAIT, waits = 0, ret;

    for (int i = 1; i < s->nb_inputs; i++) {
        ret = choose_partner(ctx, i, &frames[i]);
        if (ret < 0)
            return ret;
        waits |= ret == CHOICE_WAIT;
        if (i == QC_REFERENCE)
            choice = ret;
    }
    if (waits)
        return SETTLED_NEEDS_INPUT;
    warn_of_start(ctx);
    if (choice == CHOICE_ENDED && s->eof_action == EOF_ACTION_ENDALL)
        return SETTLED_END;

    s->frames++;
    if (choice == CHOICE_FOUND && !s->main_disabled && !s->flushed) {
        s->unpaired_row = 0;
        ret = score_main(ctx, frames);
    } else {
        count_unscored(s, choice);
        ret = append_pending(ctx, -1, NAN);
        if (ret >= 0)
            ret = note_gap(ctx);
        /* No pair can follow any more: scores that wait for a successor are final now. */
        if (ret >= 0 && choice == CHOICE_ENDED)
            ret = flush_session(ctx);
    }
    for (int i = 1; s->sync == SYNC_INDEX && i < s->nb_inputs; i++)
        if (s->input[i].next)
            step(&s->input[i]);
    return ret < 0 ? ret : SETTLED_APPENDED;
}

/* ---- scores come back ---- */

static void write_scores_line(QualityCudaContext *s, const QCPending *entry, const qc_row *row)
{
    char value[64];

    fprintf(s->stats_file, "n:%"PRId64, row->frame);
    print_score(value, sizeof(value), entry->pts_time);
    fprintf(s->stats_file, " pts_time:%s", value);
    print_score(value, sizeof(value), entry->ref_pts_time);
    fprintf(s->stats_file, " ref_pts_time:%s", value);
    for (int i = 0; i < s->renditions * s->feature_count; i++) {
        if (!row->present[i])
            continue;
        print_score(value, sizeof(value), row->value[i]);
        fprintf(s->stats_file, " %s:%s", s->keys[i] + strlen(QC_KEY_PREFIX), value);
    }
    fputc('\n', s->stats_file);
}

static void write_stats_line(QualityCudaContext *s, const QCPending *entry, const qc_row *row)
{
    char line[QC_STATS_LINE] = "";

    if (s->stats_format == QC_STATS_FORMAT_NONE)
        write_scores_line(s, entry, row);
    else if (qc_session_stats_line(s->session, row, line, sizeof(line)) == QC_OK && *line)
        fprintf(s->stats_file, "%s\n", line);
    fflush(s->stats_file);
}

static int set_metadata(QualityCudaContext *s, QCPending *entry, const qc_row *row)
{
    AVDictionary **metadata = &entry->frame->metadata;
    /* Looking for an entry to replace costs more than all the rest, so it's done only if there are any. */
    const int flags = av_dict_get(*metadata, QC_KEY_PREFIX, NULL, AV_DICT_IGNORE_SUFFIX) ? 0 : AV_DICT_MULTIKEY;
    char value[64];
    int ret;

    for (int i = 0; i < s->renditions * s->feature_count; i++) {
        if (!row->present[i])
            continue;
        print_score(value, sizeof(value), row->value[i]);
        ret = av_dict_set(metadata, s->keys[i], value, flags);
        if (ret < 0)
            return ret;
    }
    print_score(value, sizeof(value), entry->ref_pts_time);
    ret = av_dict_set(metadata, QC_KEY_PREFIX "ref_pts_time", value, flags);
    return ret < 0 ? ret : av_dict_set_int(metadata, QC_KEY_PREFIX "n", row->frame, flags);
}

static int row_has_scores(const QualityCudaContext *s, const qc_row *row)
{
    for (int i = 0; i < s->renditions * s->feature_count; i++)
        if (row->present[i])
            return 1;
    return 0;
}

static int deliver_row(AVFilterContext *ctx, const qc_row *row)
{
    QualityCudaContext *s = ctx->priv;
    QCPending *entry = s->first;

    while (entry && (entry->row < 0 || entry->scored))
        entry = entry->following;
    if (!entry || entry->row != row->frame)
        return fail(ctx, AVERROR_BUG, "scores of frame %"PRId64" came out of order", row->frame);
    entry->scored = 1;
    if (!row_has_scores(s, row))
        return 0;
    if (s->stats_file)
        write_stats_line(s, entry, row);
    if (!entry->frame) {
        s->late_scores++;
        return 0;
    }
    return set_metadata(s, entry, row) < 0 ? fail(ctx, AVERROR(ENOMEM), "out of memory") : 0;
}

/** Oldest entry whose frame was not sent yet. */
static QCPending *oldest_held(const QualityCudaContext *s)
{
    QCPending *entry = s->first;

    while (entry && !entry->frame)
        entry = entry->following;
    return entry;
}

static int is_settled(const QCPending *entry)
{
    return entry->row < 0 || entry->scored;
}

enum Wait { WAIT_NEVER, WAIT_FOR_OLDEST, WAIT_FOR_ALL };

static int receive_rows(AVFilterContext *ctx, enum Wait wait)
{
    QualityCudaContext *s = ctx->priv;

    while (s->session) {
        const QCPending *oldest = wait == WAIT_FOR_OLDEST ? oldest_held(s) : NULL;
        const int block = wait == WAIT_FOR_ALL || (oldest && !is_settled(oldest));
        qc_row row;
        qc_status status = qc_session_receive(s->session, block, &row);
        int ret;

        if (status == QC_AGAIN || status == QC_END)
            return 0;
        if (status != QC_OK)
            return fail_session(ctx, status);
        ret = deliver_row(ctx, &row);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static void drop_finished(QualityCudaContext *s)
{
    QCPending **link = &s->first;

    s->last = NULL;
    while (*link) {
        QCPending *entry = *link;

        if (!entry->frame && is_settled(entry)) {
            *link = entry->following;
            av_free(entry);
        } else {
            s->last = entry;
            link = &entry->following;
        }
    }
}

/** Sends every frame that waits for nothing, in order. @return how many, or AVERROR */
static int push_ready(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCPending *entry;
    int pushed = 0;

    while ((entry = oldest_held(s)) && is_settled(entry)) {
        AVFrame *frame = entry->frame;
        int ret;

        entry->frame = NULL;
        s->held--;
        drop_finished(s);
        ret = ff_filter_frame(ctx->outputs[0], frame);
        if (ret < 0)
            return ret;
        pushed++;
    }
    return pushed;
}

/**
 * The oldest frame's score waits for a later pair, and none has come for long
 * (a gap in the reference, or the filter is disabled): holding ever more frames
 * would exhaust memory, so it leaves without scores. They still reach the log.
 */
static void let_oldest_go(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCPending *entry = oldest_held(s), **link = &s->first, *ghost;

    if (!entry || is_settled(entry))
        return;
    ghost = av_mallocz(sizeof(*ghost));
    if (!ghost)
        return;
    /* Split it: the frame goes on as one without scores, the row keeps its place before it. */
    *ghost = *entry;
    ghost->frame     = NULL;
    ghost->following = entry;
    entry->row = -1;
    while (*link != entry)
        link = &(*link)->following;
    *link = ghost;
    av_log(ctx, AV_LOG_WARNING, "the frame at %.3f s leaves without its scores: they depend on the next pair, which does not "
           "come; log and stats_file will have them\n", ghost->pts_time);
}

static int bound_queue(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    if (s->held <= s->depth)
        return 0;
    ret = receive_rows(ctx, WAIT_FOR_OLDEST);
    if (ret < 0)
        return ret;
    if (s->held > s->depth + QC_LEAD)
        let_oldest_go(ctx);
    return 0;
}

/* ---- reports ---- */

static void json_string(AVBPrint *out, const char *text)
{
    av_bprint_chars(out, '"', 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            av_bprint_chars(out, '\\', 1);
        av_bprint_chars(out, (unsigned char)*text < ' ' ? ' ' : *text, 1);
    }
    av_bprint_chars(out, '"', 1);
}

static int64_t unused_references(const QualityCudaContext *s)
{
    const QCInput *in = &s->input[QC_REFERENCE];

    return in->unused + (in->cur && !in->cur_uses) + (in->next && !in->next_uses);
}

static int64_t unscored_frames(const QualityCudaContext *s)
{
    return s->disabled + s->before + s->after + s->gaps + s->untimed;
}

static int64_t scored_frames(const QualityCudaContext *s)
{
    return s->session ? qc_session_scored_frames(s->session) : 0;
}

static double mean_dt(const QualityCudaContext *s)
{
    return s->paired ? s->sum_dt / s->paired : 0;
}

static void pairing_json(const QualityCudaContext *s, AVBPrint *out)
{
    char max_abs[64], mean[64];

    print_score(max_abs, sizeof(max_abs), s->max_abs_dt);
    print_score(mean, sizeof(mean), mean_dt(s));
    av_bprintf(out, "{\"frames\": %"PRId64", \"paired\": %"PRId64", \"scored\": %"PRId64", \"unscored\": %"PRId64
               ", \"before_reference\": %"PRId64", \"after_reference\": %"PRId64", \"gaps\": %"PRId64", \"disabled\": %"PRId64
               ", \"untimed\": %"PRId64", \"reference_repeated\": %"PRId64", \"reference_unused\": %"PRId64
               ", \"max_abs_dt\": %s, \"mean_dt\": %s}",
               s->frames, s->paired, scored_frames(s), unscored_frames(s), s->before, s->after, s->gaps,
               s->disabled, s->untimed, s->repeated, unused_references(s), max_abs, mean);
}

static const char *end_of_run(const QualityCudaContext *s)
{
    if (s->failure)
        return "failure";
    return s->done ? "end of stream" : "stopped early";
}

static qc_status write_one_log(QualityCudaContext *s, int rendition, const char *path, int complete)
{
    enum { EXTRA_PAIRING, EXTRA_END, EXTRA_ENGINE, EXTRA_DISTORTED, EXTRA_REFERENCE, EXTRA_COUNT };
    static const char *const keys[EXTRA_COUNT] = { "pairing", "end", "engine", "distorted_format", "reference_format" };
    qc_log_extra extra[EXTRA_COUNT];
    AVBPrint text[EXTRA_COUNT];
    qc_status status;

    for (int i = 0; i < EXTRA_COUNT; i++)
        av_bprint_init(&text[i], 0, AV_BPRINT_SIZE_UNLIMITED);
    pairing_json(s, &text[EXTRA_PAIRING]);
    json_string(&text[EXTRA_END], end_of_run(s));
    json_string(&text[EXTRA_ENGINE], qc_session_description(s->session));
    json_string(&text[EXTRA_DISTORTED], pix_fmt_name(s->input[rendition ? 1 + rendition : 0].sw_format));
    json_string(&text[EXTRA_REFERENCE], pix_fmt_name(s->input[QC_REFERENCE].sw_format));
    for (int i = 0; i < EXTRA_COUNT; i++) {
        extra[i].key        = keys[i];
        extra[i].json_value = av_bprint_is_complete(&text[i]) ? text[i].str : "null";
    }
    status = qc_session_write_log(s->session, rendition, path, s->log_format, complete, extra, EXTRA_COUNT);
    for (int i = 0; i < EXTRA_COUNT; i++)
        av_bprint_finalize(&text[i], NULL);
    return status;
}

/** One file per rendition: q.json, q.rendition1.json, ... */
static int write_logs(AVFilterContext *ctx, int complete)
{
    QualityCudaContext *s = ctx->priv;

    for (int k = 0; s->log_file && s->session && k < s->renditions; k++) {
        char suffix[32];
        char *path;
        qc_status status;

        snprintf(suffix, sizeof(suffix), ".rendition%d", k);
        path = k ? insert_before_extension(s->log_file, suffix) : av_strdup(s->log_file);
        if (!path)
            return AVERROR(ENOMEM);
        status = write_one_log(s, k, path, complete);
        if (status != QC_OK) {
            av_log(ctx, AV_LOG_ERROR, "log %s could not be written: %s\n", path, qc_session_error(s->session));
            av_free(path);
            return error_of_status(status);
        }
        av_log(ctx, AV_LOG_VERBOSE, "log written to %s\n", path);
        av_free(path);
    }
    return 0;
}

static void append_pooled(QualityCudaContext *s, AVBPrint *line, int rendition, int feature, qc_pool pool)
{
    char text[64];
    double value;

    if (qc_session_pooled(s->session, rendition, feature, pool, &value) != QC_OK)
        return;
    print_score(text, sizeof(text), value);
    av_bprintf(line, " %s:%s", qc_pool_name(pool), text);
}

static void print_feature(AVFilterContext *ctx, int rendition, int index, int level)
{
    static const qc_pool pools[] = { QC_POOL_MEAN, QC_POOL_HARMONIC_MEAN, QC_POOL_MIN, QC_POOL_MAX, QC_POOL_P5 };
    QualityCudaContext *s = ctx->priv;
    const char *key = s->keys[rendition * s->feature_count + index] + strlen(QC_KEY_PREFIX);
    int listed = 0;
    AVBPrint line;

    av_bprint_init(&line, 0, AV_BPRINT_SIZE_AUTOMATIC);
    for (size_t i = 0; i < FF_ARRAY_ELEMS(pools); i++) {
        append_pooled(s, &line, rendition, index, pools[i]);
        listed |= pools[i] == s->pool;
    }
    if (!listed)
        append_pooled(s, &line, rendition, index, s->pool);
    av_log(ctx, level, "quality_cuda %s%s frames:%"PRId64" scored:%"PRId64"\n", key,
           line.len ? line.str : " no value, or not in every scored frame;", s->frames, scored_frames(s));
}

/** A bootstrap collection's spread is a model output too, but no score. */
static int is_headline(const qc_feature *feature)
{
    static const char *const spreads[] = { "_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi" };
    const size_t length = strlen(feature->key);

    for (size_t i = 0; i < FF_ARRAY_ELEMS(spreads); i++) {
        const size_t tail = strlen(spreads[i]);
        if (length > tail && !strcmp(feature->key + length - tail, spreads[i]))
            return 0;
    }
    return feature->is_model;
}

static void print_vmaf_score(AVFilterContext *ctx, int rendition, int index, const qc_feature *feature)
{
    QualityCudaContext *s = ctx->priv;
    char text[64], where[32] = "";
    double value;

    if (!is_headline(feature) || qc_session_pooled(s->session, rendition, index, s->pool, &value) != QC_OK)
        return;
    print_score(text, sizeof(text), value);
    if (rendition)
        snprintf(where, sizeof(where), ", rendition %d", rendition);
    if (rendition || strcmp(feature->key, "vmaf"))
        av_log(ctx, AV_LOG_INFO, "VMAF score: %s (%s%s)\n", text, feature->name, where);
    else
        av_log(ctx, AV_LOG_INFO, "VMAF score: %s\n", text);
}

/** Features that only feed the default model would drown its score: they are shown with -v verbose. */
static int features_were_asked_for(const QualityCudaContext *s)
{
    return s->feature || (s->metrics && strcmp(s->metrics, "vmaf"));
}

static void print_scores(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qc_feature feature;

    for (int k = 0; k < s->renditions; k++)
        for (int f = 0; f < s->feature_count; f++)
            if (qc_session_feature(s->session, f, &feature) == QC_OK)
                print_feature(ctx, k, f, feature.is_model || features_were_asked_for(s) ? AV_LOG_INFO : AV_LOG_VERBOSE);
    for (int k = 0; k < s->renditions; k++)
        for (int f = 0; f < s->feature_count; f++)
            if (qc_session_feature(s->session, f, &feature) == QC_OK)
                print_vmaf_score(ctx, k, f, &feature);
}

static void print_pairing(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const int64_t unused = unused_references(s), unscored = unscored_frames(s);
    const int exact = unscored == s->disabled && !s->repeated && !unused && !s->late_scores;

    av_log(ctx, exact ? AV_LOG_INFO : AV_LOG_WARNING, "frames:%"PRId64" scored:%"PRId64" unscored:%"PRId64
           " (before the reference:%"PRId64" after it:%"PRId64" in gaps:%"PRId64" disabled:%"PRId64" without time stamp:%"PRId64
           ") reference frames repeated:%"PRId64" unused:%"PRId64" max |dt|:%.6f mean dt:%.6f\n",
           s->frames, scored_frames(s), unscored, s->before, s->after, s->gaps, s->disabled, s->untimed,
           s->repeated, unused, s->max_abs_dt, mean_dt(s));
}

static void print_summary(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    print_pairing(ctx);
    if (s->failure) {
        av_log(ctx, AV_LOG_WARNING, "INCOMPLETE after %"PRId64" frames\n", scored_frames(s));
        return;
    }
    if (!s->done)
        av_log(ctx, AV_LOG_INFO, "stopped before the inputs ended; the scores are those of the frames up to there\n");
    if (s->paired)
        print_scores(ctx);
    else
        av_log(ctx, AV_LOG_ERROR, "no frame was scored%s\n", s->frames > s->disabled && s->input[QC_REFERENCE].received ?
               ": the time stamps never overlap; use align=start, setpts=PTS-STARTPTS or sync=index" : "");
}

/** Once: writes the logs and says what came out. */
static int report(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret = 0;

    if (s->reported)
        return 0;
    s->reported = 1;
    /* Without any pair there was no session; the log has to say so all the same. */
    if (!s->session && !s->failure && s->log_file) {
        ret = open_session(ctx);
        if (ret >= 0)
            qc_session_flush(s->session);
    }
    if (ret >= 0)
        ret = write_logs(ctx, !s->failure);
    print_summary(ctx);
    return ret;
}

/* ---- the filter ---- */

static void count_leftovers(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 1; i < s->nb_inputs; i++)
        if (!s->input[i].eof)
            s->input[i].unused += ff_inlink_queued_frames(ctx->inputs[i]);
}

/** Everything is submitted: wait for all scores, send all frames, report, and only then end the output. */
static int drain(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const int64_t end = s->main ? s->main->pts : s->input[0].eof_pts;
    const int status  = s->input[0].eof && s->input[0].status ? s->input[0].status : AVERROR_EOF;
    int ret = flush_session(ctx);

    if (ret >= 0)
        ret = receive_rows(ctx, WAIT_FOR_ALL);
    if (ret < 0)
        return ret;
    ret = push_ready(ctx);
    if (ret < 0)
        return ret;
    if (s->held)
        return fail(ctx, AVERROR_BUG, "the engine kept scores back");
    s->done = 1;
    count_leftovers(ctx);
    ret = report(ctx);
    if (ret < 0)
        return s->failure = ret;
    for (int i = 0; i < s->nb_inputs; i++)
        ff_inlink_set_status(ctx->inputs[i], AVERROR_EOF);
    ff_outlink_set_status(ctx->outputs[0], status, end);
    return 0;
}

static int request_inputs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    if (!ff_outlink_frame_wanted(ctx->outputs[0]))
        return FFERROR_NOT_READY;
    for (int i = 0; i < s->nb_inputs; i++)
        if (s->input[i].wanted)
            ff_inlink_request_frame(ctx->inputs[i]);
    return 0;
}

/** Takes the next main frame. is_disabled is only right until another frame is taken. */
static int take_main(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret = pull(ctx, 0, &s->main);

    s->main_disabled = ctx->is_disabled;
    return ret;
}

/** Works until something was sent or input is missing: lavfi does not call again after an activation without effect. */
static int advance(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (;;) {
        int ret = 0;

        for (int i = 0; i < s->nb_inputs; i++)
            s->input[i].wanted = 0;
        if (!s->main)
            ret = take_main(ctx);
        if (ret < 0)
            return ret;
        if (!s->main)
            return s->input[0].eof ? drain(ctx) : request_inputs(ctx);
        ret = settle_main(ctx);
        if (ret < 0)
            return ret;
        if (ret == SETTLED_NEEDS_INPUT)
            return request_inputs(ctx);
        if (ret == SETTLED_END)
            return drain(ctx);
        ret = bound_queue(ctx);
        if (ret >= 0)
            ret = push_ready(ctx);
        if (ret)
            return FFMIN(ret, 0);
    }
}

static int activate(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    FF_FILTER_FORWARD_STATUS_BACK_ALL(ctx->outputs[0], ctx);
    if (s->failure)
        return s->failure;
    if (s->done)
        return 0;
    if (s->session)
        qc_session_collect(s->session);
    ret = receive_rows(ctx, WAIT_NEVER);
    if (ret >= 0)
        ret = push_ready(ctx);
    if (ret)
        return FFMIN(ret, 0);
    return advance(ctx);
}

static void running_scores(QualityCudaContext *s, AVBPrint *out)
{
    for (int i = 0; i < s->renditions * s->feature_count; i++) {
        double value;
        char text[64];

        if (qc_session_pooled(s->session, i / s->feature_count, i % s->feature_count, s->pool, &value) != QC_OK)
            continue;
        print_score(text, sizeof(text), value);
        av_bprintf(out, "%s%s:%s", out->len ? " " : "", s->keys[i] + strlen(QC_KEY_PREFIX), text);
    }
}

static int process_command(AVFilterContext *ctx, const char *cmd, const char *arg, char *res, int res_len, int flags)
{
    QualityCudaContext *s = ctx->priv;

    if (!strcmp(cmd, "score") && s->session) {
        AVBPrint text;

        av_bprint_init_for_buffer(&text, res, res && res_len > 0 ? res_len : 0);
        running_scores(s, &text);
        return 0;
    }
    if (!strcmp(cmd, "flush_log") && s->session)
        return write_logs(ctx, 0);
    return ff_filter_process_command(ctx, cmd, arg, res, res_len, flags);
}

/** An early stop or a failure can leave pairs in flight: what was submitted is still scored, logged and reported. */
static void settle_rest(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    if (s->reported || !(s->frames || (s->failure && s->session)))
        return;
    flush_session(ctx);
    receive_rows(ctx, WAIT_FOR_ALL);
    report(ctx);
}

static av_cold void uninit(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    settle_rest(ctx);
    free_session(s);
    for (int i = 0; i < QC_MAX_INPUTS; i++) {
        av_frame_free(&s->input[i].cur);
        av_frame_free(&s->input[i].next);
    }
    av_frame_free(&s->main);
    while (s->first) {
        QCPending *entry = s->first;

        s->first = entry->following;
        av_frame_free(&entry->frame);
        av_free(entry);
    }
    if (s->stats_file && s->stats_file != stdout)
        fclose(s->stats_file);
    s->stats_file = NULL;
    if (!s->reported) {
        give_claim_back(s->log_path, s->log_claim);
        give_claim_back(s->stats_path, s->stats_claim);
    }
    av_freep(&s->log_file);
    av_buffer_unref(&s->device_ref);
}

static const AVFilterPad quality_cuda_inputs[] = {
    {
        .name = "main",
        .type = AVMEDIA_TYPE_VIDEO,
    },
    {
        .name = "reference",
        .type = AVMEDIA_TYPE_VIDEO,
    },
};

static const AVFilterPad quality_cuda_outputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .config_props = config_output,
    },
};

#define QC_DESCRIPTION "Score the quality of a video (input 0) against its reference (input 1): VMAF, PSNR and more, " \
                       "on the GPU or the CPU."
#define QC_FLAGS (AVFILTER_FLAG_DYNAMIC_INPUTS | AVFILTER_FLAG_METADATA_ONLY | AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL | \
                  QC_FLAG_HWDEVICE)

#if QC_FFFILTER
const FFFilter ff_vf_quality_cuda = {
    .p.name          = "quality_cuda",
    .p.description   = NULL_IF_CONFIG_SMALL(QC_DESCRIPTION),
    .p.priv_class    = &quality_cuda_class,
    .p.flags         = QC_FLAGS,
#else
const AVFilter ff_vf_quality_cuda = {
    .name            = "quality_cuda",
    .description     = NULL_IF_CONFIG_SMALL(QC_DESCRIPTION),
    .priv_class      = &quality_cuda_class,
    .flags           = QC_FLAGS,
#endif
    .priv_size       = sizeof(QualityCudaContext),
    .init            = init,
    .uninit          = uninit,
    .activate        = activate,
    .process_command = process_command,
    .flags_internal  = FF_FILTER_FLAG_HWFRAME_AWARE,
    FILTER_INPUTS(quality_cuda_inputs),
    FILTER_OUTPUTS(quality_cuda_outputs),
    FILTER_QUERY_FUNC(query_formats),
};
