/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Where logs and lines of statistics go; see files.h. Depends on receiver,
 * paths and state.
 */

#include "compat.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/thread.h"

#include "paths.h"
#include "receiver.h"
#include "state.h"

/*
 * Two filters with one file would destroy each other's work, be they in one
 * graph or in two that follow each other: a graph that the command line
 * re-creates in mid-stream starts a second instance with the same options. So
 * each file that an instance of this process writes to is claimed, and another
 * instance gets number 2, 3, ... of it; only lines of statistics go on where
 * an earlier instance has ended. An instance that never saw a frame gives its
 * claims back: the command line makes one just to count pads.
 */
typedef struct QCClaim {
    char *canonical;
    const AVFilterContext *owner; ///< NULL: it has ended
    const char *option;
    int is_log;                   ///< a report of the whole run
    int was_used;                 ///< by an owner that has ended
    struct QCClaim *following;
} QCClaim;

static AVMutex claims_mutex = AV_MUTEX_INITIALIZER;
static QCClaim *claims;

static QCClaim *find_claim(const char *canonical)
{
    QCClaim *claim = claims;

    while (claim && !ff_qc_is_same_file(claim->canonical, canonical))
        claim = claim->following;
    return claim;
}

static int add_claim(const AVFilterContext *owner, const char *canonical, const char *option, int is_log)
{
    QCClaim *claim = av_mallocz(sizeof(*claim));

    if (!claim || !(claim->canonical = av_strdup(canonical))) {
        av_free(claim);
        return AVERROR(ENOMEM);
    }
    claim->owner     = owner;
    claim->option    = option;
    claim->is_log    = is_log;
    claim->following = claims;
    claims = claim;
    return 0;
}

static void end_claims(const AVFilterContext *owner, int used)
{
    ff_mutex_lock(&claims_mutex);
    for (QCClaim **link = &claims; *link;) {
        QCClaim *claim = *link;

        if (claim->owner == owner) {
            claim->owner     = NULL;
            claim->was_used |= used;
        }
        if (claim->owner || claim->was_used) {
            link = &claim->following;
            continue;
        }
        *link = claim->following;
        av_free(claim->canonical);
        av_free(claim);
    }
    ff_mutex_unlock(&claims_mutex);
}

/** "dir/q.json" and ".2" give "dir/q.2.json". @return to be freed, NULL without memory */
static char *insert_before_extension(const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    const char *name  = slash ? slash + 1 : path;
    const char *dot   = strrchr(name, '.');
    const int stem = (int)(dot && dot != name ? dot - path : (ptrdiff_t)strlen(path));

    return av_asprintf("%.*s%s%s", stem, path, text, path + stem);
}

/** The name that an option's file has for its number-th filter. */
static char *numbered(const char *path, int number)
{
    char suffix[16] = "";

    if (number > 1)
        snprintf(suffix, sizeof(suffix), ".%d", number);
    return insert_before_extension(path, suffix);
}

static int fail_path(AVFilterContext *ctx, const char *option, const char *name, int error)
{
    if (error == AVERROR(ENOMEM))
        return ff_qc_fail(ctx, error, "out of memory");
    if (ff_qc_is_alias(ctx)) {
        av_log(ctx, AV_LOG_ERROR, "%s=%s cannot be written: %s; there will be no log\n", option, name, av_err2str(error));
        return error;
    }
    if (error == AVERROR(EISDIR))
        return ff_qc_fail(ctx, error, "%s=%s is a directory", option, name);
    return ff_qc_fail(ctx, error, "%s=%s cannot be written: %s", option, name, av_err2str(error));
}

/* ---- logs ---- */

static void free_logs(QCFiles *files)
{
    for (int k = 0; k < QC_MAX_RENDITIONS; k++)
        av_freep(&files->log[k]);
}

/** q.json, q.rendition1.json, ...; of the second filter q.2.json, q.2.rendition1.json, ... */
static int name_logs(AVFilterContext *ctx, int number, int one_for_all)
{
    QualityCudaContext *s = ctx->priv;
    char *base = numbered(s->options.log_path, number);

    free_logs(&s->files);
    for (int k = 0; base && k < s->options.renditions; k++) {
        char suffix[32];

        snprintf(suffix, sizeof(suffix), ".rendition%d", k);
        s->files.log[k] = k && !one_for_all ? insert_before_extension(base, suffix) : av_strdup(base);
        if (!s->files.log[k])
            break;
    }
    av_free(base);
    return s->files.log[s->options.renditions - 1] ? 0 : ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
}

/** Claims one log's file. @return 1: another filter has it, 0: it is claimed, AVERROR */
static int claim_log(AVFilterContext *ctx, const char *name)
{
    QCPath path = { 0 };
    int ret = ff_qc_resolve_path(name, &path);

    if (ret >= 0 && find_claim(path.canonical))
        ret = 1;
    if (!ret)
        ret = ff_qc_check_writable(&path, 1, 1);
    if (!ret)
        ret = add_claim(ctx, path.canonical, "log_path", 1);
    ff_qc_free_path(&path);
    return ret < 0 ? fail_path(ctx, "log_path", name, ret) : ret;
}

/** All of one number, or none. */
static int claim_logs(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    int ret = 0;

    ff_mutex_lock(&claims_mutex);
    for (int k = 0; !ret && k < s->options.renditions; k++)
        ret = claim_log(ctx, s->files.log[k]);
    ff_mutex_unlock(&claims_mutex);
    if (ret)
        end_claims(ctx, 0);
    return ret;
}

/** Pipes and devices belong to whoever writes to them. @return AVERROR */
static int open_special_log(AVFilterContext *ctx, const QCPath *path)
{
    const QualityCudaContext *s = ctx->priv;
    const char *name = s->options.log_path;
    int ret = ff_qc_check_writable(path, 0, 1);

    if (ret < 0)
        return fail_path(ctx, "log_path", name, ret);
    if (path->kind == QC_PATH_PIPE && s->options.renditions > 1)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "log_path=%s is a pipe, which takes the log of one rendition; renditions=%d "
                          "needs a file", name, s->options.renditions);
    return name_logs(ctx, 1, 1);
}

/** That of the path's ending, JSON for any other. */
static qc_log_format format_of_ending(const char *path)
{
    const char *dot = strrchr(path, '.');
    qc_log_format format = QC_LOG_FORMAT_JSON;
    char ending[8];

    if (!dot)
        return format;
    av_strlcpy(ending, dot + 1, sizeof(ending));
    for (char *at = ending; *at; at++)
        *at = av_tolower(*at);
    return qc_log_format_parse(ending, &format) == QC_OK ? format : QC_LOG_FORMAT_JSON;
}

/** An unescaped colon ends a value: of "log_path=C:/x.json" log_path gets the C, and the option that follows it the rest. */
static int fail_format(AVFilterContext *ctx, const char *wish, const char *path)
{
    if (path && path[0] && !path[1] && (*wish == '/' || *wish == '\\'))
        return ff_qc_fail(ctx, AVERROR(EINVAL), "log_path=%s ends at a colon, and log_fmt=%s is not known: escape the colon, "
                          "log_path=%s\\\\:%s (in the quotes of a shell)", path, wish, path, wish);
    return ff_qc_fail(ctx, AVERROR(EINVAL), "log_fmt=%s is not known; accepted: json, xml, csv, sub, jsonl", wish);
}

static int choose_log_format(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const char *wish = s->options.log_fmt, *path = s->options.log_path;

    if (wish && !strcmp(wish, "jsonl"))
        s->files.is_stream = 1;
    else if (!wish)
        s->files.log_format = path ? format_of_ending(path) : QC_LOG_FORMAT_JSON;
    else if (qc_log_format_parse(wish, &s->files.log_format) != QC_OK)
        return fail_format(ctx, wish, path);
    return 0;
}

static int open_log(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCFiles *files = &s->files;
    const char *name = s->options.log_path;
    QCPath path = { 0 };
    int number = 0, ret;

    if (!name || !*name)
        return 0;
    ret = ff_qc_resolve_path(name, &path);
    if (ret < 0)
        return fail_path(ctx, "log_path", name, ret);
    if (path.kind != QC_PATH_FILE)
        ret = open_special_log(ctx, &path);
    ff_qc_free_path(&path);
    if (ret < 0 || files->log[0])
        return ret;
    do {
        ret = name_logs(ctx, ++number, 0);
        if (ret >= 0)
            ret = claim_logs(ctx);
    } while (ret > 0);
    if (ret >= 0 && number > 1)
        av_log(ctx, AV_LOG_WARNING, "log_path=%s belongs to an earlier filter of this run; this one writes %s\n",
               name, files->log[0]);
    return ret;
}

/* ---- what is written while the run goes on ---- */

/** Claims such a file. @return 1: another filter has it, 0: it is claimed, AVERROR */
static int claim_target(AVFilterContext *ctx, QCTarget *target, int replaceable)
{
    QCClaim *claim = find_claim(target->path.canonical);
    int ret;

    if (claim && claim->owner == ctx)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "%s=%s is the same file as %s", target->option, target->name, claim->option);
    if (claim && (claim->owner || claim->is_log || strcmp(claim->option, target->option)))
        return 1;
    ret = ff_qc_check_writable(&target->path, replaceable, 1);
    if (ret >= 0 && !claim)
        ret = add_claim(ctx, target->path.canonical, target->option, 0);
    if (ret < 0)
        return fail_path(ctx, target->option, target->name, ret);
    if (claim)
        claim->owner = ctx;
    target->append = !!claim;
    return 0;
}

/** Tries the number-th name. @return as claim_target() */
static int take_target(AVFilterContext *ctx, QCTarget *target, const char *wish, int number, int replaceable)
{
    int ret;

    av_freep(&target->name);
    ff_qc_free_path(&target->path);
    target->name = numbered(wish, number);
    ret = target->name ? 0 : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = ff_qc_resolve_path(strcmp(target->name, "-") ? target->name : "/dev/stdout", &target->path);
    if (ret >= 0 && target->path.kind != QC_PATH_FILE)
        ret = ff_qc_check_writable(&target->path, 0, 1);
    if (ret < 0)
        return fail_path(ctx, target->option, wish, ret);
    if (target->path.kind != QC_PATH_FILE)
        return 0;
    ff_mutex_lock(&claims_mutex);
    ret = claim_target(ctx, target, replaceable);
    ff_mutex_unlock(&claims_mutex);
    return ret;
}

/** @param replaceable it is replaced as a whole, again and again @return AVERROR */
static int open_target(AVFilterContext *ctx, QCTarget *target, const char *option, const char *wish, int replaceable)
{
    int number = 0, ret;

    target->option = option;
    do {
        ret = take_target(ctx, target, wish, ++number, replaceable);
    } while (ret > 0);
    if (ret >= 0 && number > 1)
        av_log(ctx, AV_LOG_WARNING, "%s=%s belongs to another filter of this run; this one writes %s\n", option, wish, target->name);
    if (ret >= 0 && target->append && !replaceable)
        av_log(ctx, AV_LOG_WARNING, "%s=%s belongs to an earlier filter of this run; appending\n", option, target->name);
    return ret;
}

static void close_target(QCTarget *target)
{
    av_freep(&target->name);
    ff_qc_free_path(&target->path);
}

/** Of a URL only the protocol can be checked: its receiver may come later. */
static int open_stream(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCTarget *target = &s->files.stream;
    const char *wish = s->options.log_path;
    char *path = NULL;
    int ret;

    if (!wish || !*wish)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "log_fmt=jsonl needs log_path, the file or URL for its lines");
    target->option = "log_path";
    ret = ff_qc_receiver_path(wish, &path);
    if (ret == AVERROR_PROTOCOL_NOT_FOUND)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "log_path=%s: this FFmpeg has no such protocol; accepted: a path (./%s), or what "
                          "ffmpeg -protocols lists as output, such as tcp://HOST:PORT", wish, wish);
    if (ret >= 0 && path)
        ret = open_target(ctx, target, "log_path", path, 0);
    else if (ret >= 0 && !(target->name = av_strdup(wish)))
        ret = AVERROR(ENOMEM);
    av_free(path);
    return ret == AVERROR(ENOMEM) ? ff_qc_fail(ctx, ret, "out of memory") : ret;
}

static int open_metrics(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const char *wish = s->options.metrics_file;
    int ret;

    if (!wish || !*wish)
        return 0;
    ret = open_target(ctx, &s->files.metrics, "metrics_file", wish, 1);
    if (ret >= 0 && s->files.metrics.path.kind == QC_PATH_FILE)
        return (ret = ff_qc_check_replaceable(&s->files.metrics.path)) < 0 ? fail_path(ctx, "metrics_file", wish, ret) : 0;
    if (ret >= 0)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "metrics_file=%s is no regular file, and cannot be replaced by one", wish);
    return ret;
}

/* ---- lines of statistics ---- */

static int open_stats(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const char *path = s->options.stats_file;

    if (path && *path)
        return open_target(ctx, &s->files.stats, "stats_file", path, 0);
    return s->files.stats_format == QC_STATS_FORMAT_NONE ? 0 :
           ff_qc_fail(ctx, AVERROR(EINVAL), "stats_format=%s needs stats_file, the file for its lines", s->options.stats_format);
}

static void fail_stats(AVFilterContext *ctx, QCFiles *files, int error)
{
    files->stats_error = error;
    av_log(ctx, AV_LOG_ERROR, "stats_file=%s cannot be written: %s; its lines end here, scoring goes on\n", files->stats.name,
           error == AVERROR(ENXIO) ? "no process reads from it" : av_err2str(error));
}

void ff_qc_write_stats(AVFilterContext *ctx, const char *text, size_t size)
{
    QualityCudaContext *s = ctx->priv;
    QCFiles *files = &s->files;
    int ret = 0;

    if (!files->stats.name || files->stats_error)
        return;
    if (!files->stats_open) {
        ret = files->stats_descriptor = ff_qc_open_for_lines(&files->stats.path, files->stats.append, QC_PIPE_READER_MS);
        files->stats_open = ret >= 0;
    }
    if (ret >= 0)
        ret = ff_qc_write_all(files->stats_descriptor, text, size);
    if (ret < 0)
        fail_stats(ctx, files, ret);
}

int ff_qc_finish_stats(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCFiles *files = &s->files;

    ff_qc_write_stats(ctx, "", 0);
    if (files->stats_open && !files->stats_error) {
        files->stats_open = 0;
        if (close(files->stats_descriptor))
            fail_stats(ctx, files, AVERROR(errno)); // such as a quota that is noticed late
    }
    return files->stats_error;
}

/* ---- both ---- */

int ff_qc_open_files(AVFilterContext *ctx)
{
    int ret = choose_log_format(ctx);

    if (ret >= 0)
        ret = ((const QualityCudaContext *)ctx->priv)->files.is_stream ? open_stream(ctx) : open_log(ctx);
    if (ret < 0 && ff_qc_is_alias(ctx) && !((const QualityCudaContext *)ctx->priv)->run.failure) {
        /* libvmaf's filter finds out at the end, and tells nobody. */
        free_logs(&((QualityCudaContext *)ctx->priv)->files);
        ret = 0;
    }
    if (ret >= 0)
        ret = open_stats(ctx);
    return ret < 0 ? ret : open_metrics(ctx);
}

int ff_qc_recheck_files(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    int ret = s->files.stats_error;

    for (int k = 0; !ret && !ff_qc_is_alias(ctx) && k < s->options.renditions && s->files.log[k]; k++) {
        QCPath path = { 0 };

        ret = ff_qc_resolve_path(s->files.log[k], &path);
        if (ret >= 0)
            ret = ff_qc_check_writable(&path, 1, 0);
        if (ret >= 0 && ff_qc_is_always_full(&path))
            ret = AVERROR(ENOSPC);
        ff_qc_free_path(&path);
    }
    return ret;
}

void ff_qc_close_files(AVFilterContext *ctx, int used)
{
    QualityCudaContext *s = ctx->priv;
    QCFiles *files = &s->files;

    if (files->stats_open)
        close(files->stats_descriptor);
    files->stats_open = 0;
    free_logs(files);
    close_target(&files->stats);
    close_target(&files->stream);
    close_target(&files->metrics);
    end_claims(ctx, used);
}
