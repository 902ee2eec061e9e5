/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What a path stands for, and whether it can be written: asked before the run,
 * without touching any file that is there, and without waiting for anybody.
 *
 * Knows the file system, nothing of the filter.
 */

#ifndef AVFILTER_QUALITY_CUDA_PATHS_H
#define AVFILTER_QUALITY_CUDA_PATHS_H

#include "compat.h"

#include <stddef.h>

enum QCPathKind {
    QC_PATH_FILE,       ///< a regular file, or none yet
    QC_PATH_PIPE,       ///< a named pipe
    QC_PATH_DEVICE,     ///< any other special file
    QC_PATH_DESCRIPTOR, ///< an open descriptor of this process: /dev/stdout, /dev/fd/3
};

#define QC_PIPE_READER_MS 5000 /* what a named pipe's reader has to come */

typedef struct QCPath {
    enum QCPathKind kind;
    int descriptor;  ///< which one; else -1
    char *canonical; ///< absolute, all links followed, also one that leads to no file yet; two names of a file have the same
} QCPath;

/** @param path zeroed @return AVERROR, with nothing to be freed */
int ff_qc_resolve_path(const char *name, QCPath *path);

void ff_qc_free_path(QCPath *path);

/** Whether two paths are one file: by name, or by hard links. */
int ff_qc_is_same_file(const char *canonical, const char *other);

/**
 * @param replaceable 1: a file that must not be written will do if another one may take its name
 * @param try_it      1: finds out by making, and deleting, a file of its own; 0: by what the system says, at no cost
 * @return AVERROR if it is plain already that writing will fail
 */
int ff_qc_check_writable(const QCPath *path, int replaceable, int try_it);

/** Whether another file may take its name, which is tried in its folder. @return AVERROR */
int ff_qc_check_replaceable(const QCPath *path);

/** /dev/full: opens like any other device, and takes nothing. */
int ff_qc_is_always_full(const QCPath *path);

/**
 * Opens for writing line by line: what a file held is cut off unless append is
 * set; a named pipe without a reader is given so many milliseconds to get one.
 * @return a descriptor to be closed, AVERROR
 */
int ff_qc_open_for_lines(const QCPath *path, int append, int reader_ms);

/** Writes all of it. @return AVERROR; AVERROR(ETIMEDOUT) if a named pipe's reader takes nothing for long */
int ff_qc_write_all(int descriptor, const char *text, size_t size);

/**
 * Gives a file a new content, at once: whoever reads it sees the old one or the
 * new one. A file that is there keeps its mode.
 * @return AVERROR; then the file is as it was
 */
int ff_qc_replace_file(const QCPath *path, const char *text, size_t size);

#endif /* AVFILTER_QUALITY_CUDA_PATHS_H */
