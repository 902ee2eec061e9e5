/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Alerts: a score beyond a threshold for some time. Conditions as text and
 * scores with their times in, beginnings and ends out.
 *
 * Knows numbers and times only, and depends on the C library alone: not on
 * FFmpeg.
 */

#ifndef AVFILTER_QUALITY_CUDA_ALERTS_H
#define AVFILTER_QUALITY_CUDA_ALERTS_H

#include <stddef.h>

#define QC_MAX_ALERTS 32
#define QC_ALERT_NAME 128 /* bytes of a condition, the end among them */

enum QCComparison { QC_BELOW, QC_NOT_ABOVE, QC_ABOVE, QC_NOT_BELOW };

typedef struct QCAlert {
    /* what was asked for */
    char name[QC_ALERT_NAME];  ///< the condition as it was written, without its duration: "vmaf<80"
    char score[QC_ALERT_NAME]; ///< "vmaf"
    int comparison;            ///< enum QCComparison
    double threshold;
    double duration;           ///< seconds that it has to hold
    int column;                ///< of the score; set by whoever knows the scores

    /* what has been seen */
    int is_met;                ///< at the latest scored frame
    int is_active;
    double since, latest;      ///< times of the first and the latest frame that met it, seconds
    double worst;              ///< score that is furthest beyond the threshold since then
    long long times;           ///< how often it has begun
} QCAlert;

enum QCAlertChange { QC_ALERT_UNCHANGED, QC_ALERT_BEGINS, QC_ALERT_ENDS };

/**
 * Reads SCORE, one of < <= > >=, a number, and a duration behind a colon or an
 * at sign: "vmaf<80:2s". The duration is in seconds (s or nothing) or ms, and 0
 * if there is none.
 * @return NULL, or what is wrong with it
 */
const char *ff_qc_alert_parse(const char *text, size_t length, QCAlert *alert);

/**
 * Takes the score of a further frame into account. An alert begins with the
 * first frame that meets the condition at least its duration after the first
 * one of a row that do, and ends with the first one that does not. Between two
 * scores there may be frames without any, but not more than the duration, or
 * the row begins anew: nobody knows what was there.
 * @param time seconds; where it jumps back, the row begins anew
 */
enum QCAlertChange ff_qc_alert_update(QCAlert *alert, double value, double time);

#endif /* AVFILTER_QUALITY_CUDA_ALERTS_H */
