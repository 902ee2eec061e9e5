/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What a path stands for, and whether it can be written; see paths.h. Depends
 * on no other file of the filter.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* faccessat(), F_DUPFD_CLOEXEC: FFmpeg asks for an older POSIX */
#endif

#include "compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/random_seed.h"

#include "paths.h"

#define MOST_LINKS      40    /* as the kernel's own limit */
#define PIPE_STALLED_MS 30000 /* so long a named pipe's reader may take nothing */
#define NEW_FILE        (S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH) /* before the umask */

/* ---- names ---- */

static int is_descriptor_folder(const char *folder)
{
    static const char *const names[] = { "/proc/self/fd", "/proc/thread-self/fd" };

    for (int i = 0; i < 2; i++) {
        char real[PATH_MAX];

        if (realpath(names[i], real) && !strcmp(real, folder))
            return 1;
    }
    return 0;
}

static int parse_descriptor(const char *name)
{
    char *end;
    const long number = strtol(name, &end, 10);

    return *name >= '0' && *name <= '9' && !*end && number <= INT_MAX ? (int)number : -1;
}

/** Splits a path into its folder, as it really is, and the name in it. @return AVERROR */
static int split(const char *path, char folder[PATH_MAX], const char **name)
{
    const char *slash = strrchr(path, '/');
    char *beginning = slash ? av_strndup(path, slash - path + 1) : av_strdup(".");
    int ret = 0;

    if (!beginning)
        return AVERROR(ENOMEM);
    if (!realpath(beginning, folder))
        ret = AVERROR(errno);
    av_free(beginning);
    *name = slash ? slash + 1 : path;
    return ret;
}

static char *join(const char *folder, const char *name)
{
    return av_asprintf("%s%s%s", folder, folder[1] ? "/" : "", name);
}

/**
 * Follows links by hand: the last one may lead to what isn't there yet, or to
 * a descriptor, which has no name of its own.
 * @param canonical set to the end of the way @return AVERROR
 */
static int follow_links(const char *path, char **canonical, int *descriptor)
{
    char folder[PATH_MAX], target[PATH_MAX];
    char *at = av_strdup(path);
    int ret = AVERROR(ELOOP);

    for (int links = 0; at && links < MOST_LINKS; links++) {
        const char *name;
        ssize_t length = -1;
        char *next;

        if ((ret = split(at, folder, &name)) < 0)
            break;
        *descriptor = is_descriptor_folder(folder) ? parse_descriptor(name) : -1;
        if (*descriptor < 0)
            length = readlink(at, target, sizeof(target) - 1);
        target[FFMAX(length, 0)] = 0;
        next = *target == '/' ? av_strdup(target) : join(folder, *target ? target : name);
        av_free(at);
        at = next;
        if (!*target) {
            *canonical = at;
            return at ? 0 : AVERROR(ENOMEM);
        }
        ret = AVERROR(ELOOP);
    }
    if (!at)
        ret = AVERROR(ENOMEM);
    av_free(at);
    return ret;
}

static enum QCPathKind kind_of_file(const struct stat *info)
{
    if (S_ISFIFO(info->st_mode))
        return QC_PATH_PIPE;
    return S_ISREG(info->st_mode) ? QC_PATH_FILE : QC_PATH_DEVICE;
}

int ff_qc_resolve_path(const char *name, QCPath *path)
{
    struct stat info;
    const int exists = !stat(name, &info);
    int ret;

    if (!exists && errno != ENOENT)
        return AVERROR(errno);
    if (exists && S_ISDIR(info.st_mode))
        return AVERROR(EISDIR);
    ret = follow_links(name, &path->canonical, &path->descriptor);
    if (ret < 0)
        return ret;
    path->kind = path->descriptor >= 0 ? QC_PATH_DESCRIPTOR : exists ? kind_of_file(&info) : QC_PATH_FILE;
    return 0;
}

void ff_qc_free_path(QCPath *path)
{
    av_freep(&path->canonical);
}

int ff_qc_is_same_file(const char *canonical, const char *other)
{
    struct stat a, b;

    return !strcmp(canonical, other) ||
           (!stat(canonical, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* ---- may it be written? ---- */

/** Makes a file of a name that cannot be foreseen and was not there, and takes it away again; or makes none. */
static int check_folder(const char *folder, int try_it)
{
    char *name;
    int file, ret = 0;

    if (!try_it)
        return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) ? AVERROR(errno) : 0;
    name = join(folder, "quality_cuda-check-XXXXXX");
    if (!name)
        return AVERROR(ENOMEM);
    file = mkstemp(name);
    if (file < 0) {
        ret = AVERROR(errno);
    } else {
        close(file);
        unlink(name);
    }
    av_free(name);
    return ret;
}

/** Of a file that must not be written itself: whether the log may be renamed to its name. */
static int may_be_replaced(const struct stat *file, const char *folder, int try_it)
{
    struct stat info;
    const uid_t user = geteuid();

    if (stat(folder, &info) || check_folder(folder, try_it) < 0)
        return 0;
    return !(info.st_mode & S_ISVTX) || !user || user == file->st_uid || user == info.st_uid;
}

static int check_file(const QCPath *path, int replaceable, int try_it)
{
    char folder[PATH_MAX];
    struct stat info;
    const char *name;
    int ret, lost;

    if (!faccessat(AT_FDCWD, path->canonical, W_OK, AT_EACCESS))
        return 0;
    ret = AVERROR(errno);
    if ((lost = split(path->canonical, folder, &name)) < 0)
        return lost;
    if (ret == AVERROR(ENOENT))
        return check_folder(folder, try_it);
    if (replaceable && ret == AVERROR(EACCES) && !lstat(path->canonical, &info) &&
        may_be_replaced(&info, folder, try_it))
        return 0;
    return ret;
}

int ff_qc_check_writable(const QCPath *path, int replaceable, int try_it)
{
    int flags;

    if (path->kind == QC_PATH_FILE)
        return check_file(path, replaceable, try_it);
    if (path->kind != QC_PATH_DESCRIPTOR)
        return faccessat(AT_FDCWD, path->canonical, W_OK, AT_EACCESS) ? AVERROR(errno) : 0;
    flags = fcntl(path->descriptor, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? AVERROR(EBADF) : 0;
}

int ff_qc_check_replaceable(const QCPath *path)
{
    char folder[PATH_MAX];
    const char *name;
    struct stat info;
    int ret = split(path->canonical, folder, &name);

    if (ret >= 0)
        ret = check_folder(folder, 1);
    if (ret >= 0 && !lstat(path->canonical, &info) && !may_be_replaced(&info, folder, 0))
        ret = AVERROR(EPERM);
    return ret;
}

int ff_qc_is_always_full(const QCPath *path)
{
    struct stat full, info;
    const int known = path->kind == QC_PATH_DESCRIPTOR ? !fstat(path->descriptor, &info) : !stat(path->canonical, &info);

    return known && S_ISCHR(info.st_mode) && !stat("/dev/full", &full) && S_ISCHR(full.st_mode) &&
           info.st_rdev == full.st_rdev;
}

/* ---- lines ---- */

/** What waits in open() could not be ended by a signal whose handler restarts it. */
static int open_pipe(const char *path, int reader_ms)
{
    const int step_ms = 20;
    int file = -1;

    for (int waited = 0; waited <= reader_ms; waited += step_ms) {
        file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0 || errno != ENXIO)
            break;
        poll(NULL, 0, step_ms);
        errno = ENXIO;
    }
    return file;
}

static int open_file(const char *path, int append)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : O_TRUNC);
    const int file = open(path, flags);

    return file < 0 && errno == ENOENT ? open(path, flags | O_CREAT, NEW_FILE) : file;
}

int ff_qc_open_for_lines(const QCPath *path, int append, int reader_ms)
{
    int file;

    if (path->kind == QC_PATH_DESCRIPTOR)
        file = fcntl(path->descriptor, F_DUPFD_CLOEXEC, 0);
    else if (path->kind == QC_PATH_PIPE)
        file = open_pipe(path->canonical, reader_ms);
    else
        file = open_file(path->canonical, append);
    return file < 0 ? AVERROR(errno) : file;
}

int ff_qc_write_all(int descriptor, const char *text, size_t size)
{
    while (size) {
        const ssize_t count = write(descriptor, text, size);

        if (count > 0) {
            text += count;
            size -= count;
        } else if (count < 0 && errno == EAGAIN) {
            struct pollfd asked = { descriptor, POLLOUT };

            if (!poll(&asked, 1, PIPE_STALLED_MS))
                return AVERROR(ETIMEDOUT);
        } else if (!count || errno != EINTR) {
            return count ? AVERROR(errno) : AVERROR(ENOSPC);
        }
    }
    return 0;
}

/* ---- all at once ---- */

#define MOST_NAMES 16 /* that may be taken before one is free */

/** A new file in the folder, which nobody can have laid there. @param name set to its name, to be freed @return descriptor, AVERROR */
static int create_beside(const char *folder, char **name)
{
    int file = AVERROR(EEXIST);

    for (int i = 0; file == AVERROR(EEXIST) && i < MOST_NAMES; i++) {
        char last[48];

        snprintf(last, sizeof(last), "quality_cuda-new-%08x", av_get_random_seed());
        *name = join(folder, last);
        if (!*name)
            return AVERROR(ENOMEM);
        file = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, NEW_FILE);
        if (file < 0) {
            file = AVERROR(errno);
            av_freep(name);
        }
    }
    return file;
}

int ff_qc_replace_file(const QCPath *path, const char *text, size_t size)
{
    char folder[PATH_MAX], *name = NULL;
    const char *last;
    struct stat info;
    int ret = split(path->canonical, folder, &last), file;

    if (ret < 0)
        return ret;
    file = create_beside(folder, &name);
    if (file < 0)
        return file;
    if (!lstat(path->canonical, &info) && S_ISREG(info.st_mode) && fchmod(file, info.st_mode & 07777))
        ret = AVERROR(errno);
    if (ret >= 0)
        ret = ff_qc_write_all(file, text, size);
    if (close(file) && ret >= 0)
        ret = AVERROR(errno);
    if (ret >= 0 && rename(name, path->canonical))
        ret = AVERROR(errno);
    if (ret < 0)
        unlink(name);
    av_free(name);
    return ret;
}
