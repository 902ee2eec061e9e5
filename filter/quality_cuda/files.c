/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * @file
 * Where logs and lines of statistics go; see files.h. Depends on state.
 */

#include "compat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "libavutil/avstring.h"
#include "libavutil/thread.h"

#include "state.h"

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

char *ff_qc_insert_before_extension(const char *path, const char *text)
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
        return ff_qc_fail(ctx, AVERROR(EISDIR), "log_path=%s is a directory", path);
    probe = is_special_file(path) ? av_strdup(path) : av_asprintf("%s.probe", path);
    if (!probe)
        return AVERROR(ENOMEM);
    file = fopen(probe, "ab");
    if (!file) {
        const int error = errno;
        av_free(probe);
        return ff_qc_fail(ctx, AVERROR(error), "log_path=%s cannot be written: %s", path, strerror(error));
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
    QCFiles *files = &s->files;
    const char *path = s->options.log_path;
    char suffix[16];

    if (qc_log_format_parse(s->options.log_fmt, &files->log_format) != QC_OK)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "log_fmt=%s is not known; accepted: json, xml, csv, sub",
                          s->options.log_fmt);
    if (!path || !*path)
        return 0;
    files->log_claim = is_special_file(path) ? 0 : claim_path(path);
    if (files->log_claim < 0)
        return files->log_claim;
    snprintf(suffix, sizeof(suffix), ".%d", files->log_claim);
    files->log = files->log_claim > 1 ? ff_qc_insert_before_extension(path, suffix) : av_strdup(path);
    if (!files->log)
        return AVERROR(ENOMEM);
    if (files->log_claim > 1)
        av_log(ctx, AV_LOG_WARNING, "log_path=%s belongs to an earlier filter of this run; this one writes %s\n",
               path, files->log);
    return check_log_writable(ctx, files->log);
}

static int open_stats(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCFiles *files = &s->files;
    const char *path = s->options.stats_file;

    if (!path || !*path)
        return files->stats_format == QC_STATS_FORMAT_NONE ? 0 :
               ff_qc_fail(ctx, AVERROR(EINVAL), "stats_format=%s needs stats_file, the file for its lines",
                          s->options.stats_format);
    if (!strcmp(path, "-")) {
        files->stats = stdout;
        return 0;
    }
    files->stats_claim = claim_path(path);
    if (files->stats_claim < 0)
        return files->stats_claim;
    if (files->stats_claim > 1)
        av_log(ctx, AV_LOG_WARNING, "stats_file=%s belongs to an earlier filter of this run; appending\n", path);
    files->stats = fopen(path, files->stats_claim > 1 ? "ab" : "wb");
    if (!files->stats) {
        const int error = errno;
        return ff_qc_fail(ctx, AVERROR(error), "stats_file=%s cannot be written: %s", path, strerror(error));
    }
    return 0;
}

int ff_qc_open_files(AVFilterContext *ctx)
{
    int ret = open_log(ctx);

    return ret < 0 ? ret : open_stats(ctx);
}

void ff_qc_close_files(AVFilterContext *ctx, int used)
{
    QualityCudaContext *s = ctx->priv;
    QCFiles *files = &s->files;

    if (files->stats && files->stats != stdout)
        fclose(files->stats);
    files->stats = NULL;
    if (!used) {
        give_claim_back(s->options.log_path, files->log_claim);
        give_claim_back(s->options.stats_file, files->stats_claim);
    }
    av_freep(&files->log);
}
