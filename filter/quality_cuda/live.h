/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What watches the scores while the run goes on: lines for a receiver, alerts,
 * a file for Prometheus.
 *
 * Knows each main frame, with its scores, in the order in which they leave.
 * Depends on stream, windows, alerts, metrics_file, engine, files and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_LIVE_H
#define AVFILTER_QUALITY_CUDA_LIVE_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda_run.h>

#include "alerts.h"
#include "stream.h"
#include "windows.h"

typedef struct QCLive {
    QCStream stream;             ///< of log_fmt=jsonl
    QCWindow window;             ///< without a length: none is wanted
    QCAlert alert[QC_MAX_ALERTS];
    int nb_alerts;
    int64_t time;                ///< of the latest frame, microseconds
    int64_t frames, scored, realtime; ///< of those that left: all, with scores, without because scoring was too slow
    int is_finished;

    /* for metrics_file */
    QCWindowScore *latest;       ///< the scores of the latest window, [rendition][feature]; NULL: there is none yet
    int64_t latest_start, latest_end;
    int metrics_error;           ///< AVERROR of the first time that it could not be written
} QCLive;

/** Everything that can be wrong in the options of this. @return AVERROR */
int ff_qc_check_live(AVFilterContext *ctx);

/** Finds the scores that alerts name; they are known once there is a session. @return AVERROR */
int ff_qc_find_alerts(AVFilterContext *ctx);

/** A main frame counts, with the scores that it has. */
void ff_qc_watch_frame(AVFilterContext *ctx, const qcr_row *entry);

/** Puts the names of the alerts that are active onto a frame. @return AVERROR */
int ff_qc_tag_alerts(const AVFilterContext *ctx, AVFrame *frame);

/** Scoring has become too slow for the stream (realtime=1), or is fast enough again. @param time seconds */
void ff_qc_announce_pace(AVFilterContext *ctx, int is_overloaded, double time, int64_t passed);

/**
 * No frame follows: ends what is active, hands over all lines.
 * @param end members of the last line's object: how the run ended @return AVERROR of files that are not complete
 */
int ff_qc_finish_live(AVFilterContext *ctx, const char *end);

/** Says how it went, at the end. */
void ff_qc_print_live(AVFilterContext *ctx);

void ff_qc_free_live(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_LIVE_H */
