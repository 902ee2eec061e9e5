/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Where logs and all kinds of lines go: what a path stands for, whether it can be written, which instance of this
 * process it belongs to. Asked before the run, without touching any file that is there, and without waiting for
 * anybody.
 *
 * Results are 0 or more, or an errno below 0: -ENOENT.
 */
#ifndef QUALITY_CUDA_RUN_FILES_H
#define QUALITY_CUDA_RUN_FILES_H

#include <stddef.h>
#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/engine.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef QC_ENUM(qcr_path_kind) {
    QCR_PATH_FILE,       ///< a regular file, or none yet
    QCR_PATH_PIPE,       ///< a named pipe
    QCR_PATH_DEVICE,     ///< any other special file
    QCR_PATH_DESCRIPTOR, ///< an open descriptor of this process: /dev/stdout, /dev/fd/3
} qcr_path_kind;

#define QCR_PIPE_READER_MS 5000 ///< what a named pipe's reader has to come

/** What a path leads to. */
typedef struct qcr_path {
    qcr_path_kind kind;
    int descriptor;  ///< which one; otherwise -1
    char* canonical; ///< absolute, all links followed; two names of a file have the same. Freed with its owner
} qcr_path;

/** A file that is written while the run goes on. Belongs to the qcr_files that it is in. */
typedef struct qcr_target {
    const char* option; ///< that asks for it: "stats_file"
    char* name;         ///< the option's value, or a variant of it; NULL: it is not wanted
    qcr_path path;      ///< without a canonical name: it is a URL
    int append;         ///< it goes on with the lines of an earlier instance
} qcr_target;

/** The files of a run; zeroed at the start. */
typedef struct qcr_files {
    qc_log_format log_format;
    int is_stream;                ///< qcr_wants_lines(): no report at the end, but lines
    qc_stats_format stats_format; ///< set before the files are opened; QC_STATS_FORMAT_NONE: lines of scores
    char* log[QC_MAX_RENDITIONS]; ///< where each rendition's log goes: log_path, or a variant of it; NULL: no log
    int log_failed;               ///< one could not be written
    qcr_target stats;             ///< lines of statistics
    qcr_target stream;            ///< log_path, if it gets lines
    qcr_target metrics;           ///< metrics_file
    int stats_open;
    int stats_descriptor; ///< if it is open
    int stats_error;      ///< of the first line that could not be written
} qcr_files;

/** What the user asked for; NULL or "": nothing of it. */
typedef struct qcr_file_wishes {
    const char *log_path, *log_fmt;
    const char* protocol; ///< of lines: what FFmpeg finds for log_path, "file" for a path; NULL: it has none
    const char* stats_file;
    const char* stats_format; ///< the word for it
    const char* metrics_file;
    int renditions;
    int spares_log; ///< where the log cannot be written there is none, and the run goes on
} qcr_file_wishes;

/** What went wrong, for the user. */
typedef struct qcr_failure {
    int error;       ///< errno below 0
    char text[2048]; ///< one line without its end
} qcr_failure;

/** Whether log_path gets lines while the run goes on: log_fmt is jsonl, or not given where the path ends in .jsonl. */
QC_API int qcr_wants_lines(const char* log_path, const char* log_fmt);

/** Decides where the files are, and whether they can be written. Changes no file. @return 0; failure->error */
QC_API int qcr_open_files(qcr_files* files, const qcr_file_wishes* wishes, const qcr_sink* sink, qcr_failure* failure);

/** Whether the logs can still be written, as far as that shows without writing them. Says nothing. */
QC_API int qcr_recheck_logs(const qcr_files* files);

/**
 * Writes into stats_file; the first lines open it. A failure is reported once, and later lines are dropped: the scores
 * are still in the log.
 */
QC_API void qcr_write_stats(qcr_files* files, const char* text, size_t size, const qcr_sink* sink);

/** Makes stats_file if there was no line for it, and closes it. @return 0, or its first failure */
QC_API int qcr_finish_stats(qcr_files* files, const qcr_sink* sink);

/** Closes them. @param used 0: nothing was written, a later instance may have the paths */
QC_API void qcr_close_files(qcr_files* files, int used);

/**
 * Opens for writing line by line: what a file held is cut off unless append is set; a named pipe without a reader is
 * given so many milliseconds to get one. @return a descriptor to be closed
 */
QC_API int qcr_open_for_lines(const qcr_path* path, int append, int reader_ms);

/** Gives a file a new content, at once: whoever reads it sees the old one or the new one. A file that is there keeps
 * its mode. */
QC_API int qcr_replace_file(const qcr_path* path, const char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_FILES_H */
