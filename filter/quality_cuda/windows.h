/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Scores of a stretch of the stream: frames with their times in, mean, minimum
 * and 5th percentile out.
 *
 * Knows numbers and times only, and depends on the C library alone: not on
 * FFmpeg.
 *
 * A window is a half-open stretch of the stream's time: the first one begins
 * with the first frame, and each of the others a whole number of lengths later.
 * Where the time jumps back, a new first one begins. Windows without any frame
 * do not exist. Whoever has a frame asks ff_qc_window_closes() first, reads and
 * clears the window if it does, and then adds the frame:
 *
 *     if (ff_qc_window_closes(&window, time)) {
 *         ... ff_qc_window_pool() ...
 *         ff_qc_window_clear(&window);
 *     }
 *     ff_qc_window_add(&window, time, value, present);
 */

#ifndef AVFILTER_QUALITY_CUDA_WINDOWS_H
#define AVFILTER_QUALITY_CUDA_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

/** A window of more frames closes early: what it holds is bounded, whatever the time stamps say. */
#define QC_WINDOW_FRAMES 65536

typedef struct QCWindow {
    int64_t length;         ///< microseconds, above 0
    int columns;            ///< scores of a frame, set before the first that has any
    int64_t origin, number; ///< where the first window began, microseconds; the window's number from there
    int is_open, was_open;  ///< it has a frame; there has been a frame
    int frames, scored;     ///< all of its frames, and those with any score
    double *value;          ///< [column][capacity]
    int *count;             ///< values of each column
    int capacity;
} QCWindow;

typedef struct QCWindowScore {
    int count;              ///< 0: the others are NaN
    double mean, min, p5;
} QCWindowScore;

/** Whether a frame of that time, in microseconds, comes behind the window. */
int ff_qc_window_closes(const QCWindow *window, int64_t time);

/** Where the window begins and ends, in microseconds of the stream. */
int64_t ff_qc_window_start(const QCWindow *window);
int64_t ff_qc_window_end(const QCWindow *window);

/**
 * Adds a frame; ff_qc_window_closes() has been asked.
 * @param value NULL: it has no scores @param present which of them there are
 * @return 0, or -1 without memory: then it counts, and has no scores
 */
int ff_qc_window_add(QCWindow *window, int64_t time, const double *value, const unsigned char *present);

/** Pools a column as the engine pools a run. Sorts its values. */
QCWindowScore ff_qc_window_pool(QCWindow *window, int column);

/** The next frame begins another window. */
void ff_qc_window_clear(QCWindow *window);

void ff_qc_window_free(QCWindow *window);

#endif /* AVFILTER_QUALITY_CUDA_WINDOWS_H */
