/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Scores of a stretch of the stream; see windows.h. Depends on the C library
 * alone.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "windows.h"

#define PERCENT 5

static int64_t number_of(const QCWindow *window, int64_t time)
{
    return (time - window->origin) / window->length;
}

int ff_qc_window_closes(const QCWindow *window, int64_t time)
{
    if (!window->is_open)
        return 0;
    return time < ff_qc_window_start(window) || number_of(window, time) != window->number || window->frames >= QC_WINDOW_FRAMES;
}

int64_t ff_qc_window_start(const QCWindow *window)
{
    return window->origin + window->number * window->length;
}

int64_t ff_qc_window_end(const QCWindow *window)
{
    return ff_qc_window_start(window) + window->length;
}

static void open_window(QCWindow *window, int64_t time)
{
    if (!window->was_open || time < ff_qc_window_start(window))
        window->origin = time;
    window->number  = number_of(window, time);
    window->is_open = window->was_open = 1;
}

/** Room for one value more in each column. */
static int reserve(QCWindow *window)
{
    const int capacity = window->capacity ? 2 * window->capacity : 64;
    double *value;

    if (!window->count && !(window->count = calloc(window->columns, sizeof(*window->count))))
        return -1;
    if (window->scored < window->capacity)
        return 0;
    value = malloc((size_t)window->columns * capacity * sizeof(*value));
    if (!value)
        return -1;
    for (int i = 0; i < window->columns; i++)
        if (window->count[i])
            memcpy(value + (size_t)i * capacity, window->value + (size_t)i * window->capacity, window->count[i] * sizeof(*value));
    free(window->value);
    window->value    = value;
    window->capacity = capacity;
    return 0;
}

int ff_qc_window_add(QCWindow *window, int64_t time, const double *value, const unsigned char *present)
{
    if (!window->is_open)
        open_window(window, time);
    window->frames++;
    if (!value)
        return 0;
    if (reserve(window))
        return -1;
    window->scored++;
    for (int i = 0; i < window->columns; i++)
        if (present[i])
            window->value[(size_t)i * window->capacity + window->count[i]++] = value[i];
    return 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/** Between the two nearest ranks, in proportion; equal neighbours as they are, for both may be infinite. */
static double percentile(const double *sorted, int count)
{
    const double rank = PERCENT * (double)(count - 1) / 100;
    const double low = floor(rank), high = ceil(rank);
    const double at_low = sorted[(int)low], at_high = sorted[(int)high];

    return low == high || at_low == at_high ? at_low : at_low * (high - rank) + at_high * (rank - low);
}

QCWindowScore ff_qc_window_pool(QCWindow *window, int column)
{
    QCWindowScore score = { 0, NAN, NAN, NAN };
    double sum = 0, *value;

    if (!window->count || !window->count[column])
        return score;
    score.count = window->count[column];
    value = window->value + (size_t)column * window->capacity;
    for (int i = 0; i < score.count; i++)
        sum += value[i];
    qsort(value, score.count, sizeof(*value), compare);
    score.mean = sum / score.count;
    score.min  = value[0];
    score.p5   = percentile(value, score.count);
    return score;
}

void ff_qc_window_clear(QCWindow *window)
{
    window->is_open = 0;
    window->frames  = window->scored = 0;
    if (window->count)
        memset(window->count, 0, window->columns * sizeof(*window->count));
}

void ff_qc_window_free(QCWindow *window)
{
    free(window->value);
    free(window->count);
    window->value = NULL;
    window->count = NULL;
    window->capacity = 0;
}
