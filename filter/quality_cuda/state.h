/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The filter's context: one struct per concern, each declared by the file that
 * it belongs to, and what all files need of the whole: how it fails, how it
 * names its inputs, how it writes numbers.
 *
 * May depend on everything whose struct it holds; knows none of their workings.
 * Which file uses which is a table of docs/design/design.md, which a test holds.
 */

#ifndef AVFILTER_QUALITY_CUDA_STATE_H
#define AVFILTER_QUALITY_CUDA_STATE_H

#include "compat.h"

#include <stddef.h>
#include <stdint.h>

#include <quality_cuda_run.h>

#include "alias.h"
#include "arrivals.h"
#include "engine.h"
#include "inputs.h"
#include "maps.h"
#include "queue.h"
#include "record.h"
#include "reports.h"

/** What the user asked for; the table of options in vf_quality_cuda.c says what each means. */
typedef struct QCOptions {
    char *metrics, *model, *feature, *opts, *pool, *scale, *scale_to, *roi, *crop;
    int n_subsample, n_threads, renditions, bitdepth;
    int sync, ts_sync_mode, align, eof_action, shortest, repeatlast;
    double max_dt, rate;
    int allow_unpaired, watch, strict, same_file;
    int range, convert, backend, device, async_depth, skip_unsupported, selftest, on_error;
    char *stats_file, *stats_format, *log_path, *log_fmt;
    int log_queue, realtime;
    int64_t window;
    char *alert, *metrics_file;
    char *record;
    int mask;
    char *maps;
    int map_format, map_rendition;
    double map_white;
} QCOptions;

/** How far the run is. */
typedef struct QCRun {
    int failure;          ///< AVERROR of the first failure
    char reason[2048];    ///< what the first failure said
    int configured;       ///< what the inputs' links say was looked at
    int start_settled;    ///< the frame rate to go by, and where inputs begin, have been decided
    int flushed;          ///< the engine knows that no pair follows
    int was_asked;        ///< the output has wanted a frame
    int is_awaited;       ///< the next filter waits for a frame
    int done;             ///< the output has ended
    int reported;         ///< logs and summary have been written
    qcr_end end;
    int only_left_counts; ///< the consumer wanted no more: what it did not get is forgotten
    int refused_rendition;///< AVERROR of a further rendition with too few pairs, which is its own failure
    int is_refused;       ///< the pairs are too few: a failure, but of nothing that scores
    int gave_up;          ///< there was a failure, and the frames go on without scores
    qcr_interrupts interrupts;
} QCRun;

typedef struct QualityCudaContext {
    const AVClass *class;
    QCOptions options;
    QCAlias alias;
    qcr_rules pairing;                    ///< that pairs is made by
    qcr_pairs *pairs;                     ///< from the configuration of the links on
    AVFrame *latest;                      ///< a reference to the latest distorted frame, where it may have to come again; or NULL
    qcr_geometry geometry;
    qcr_bars *bars;                       ///< NULL where they were said, and by the alias
    qcr_names names;
    qcr_sources sources;
    qcr_conditions *conditions;
    qcr_doubts *doubts;                   ///< from the beginning of init() on
    qcr_sink sink;                        ///< av_log(), by way of the doubts: what is warned of is in the log, and strict=1 fails for it
    qcr_pacing pacing;                    ///< with realtime=1
    qcr_counts counts[QC_MAX_RENDITIONS]; ///< of all frames that were decided about
    QCInput input[QC_MAX_INPUTS];
    int nb_inputs;
    QCEngine engine;
    qcr_scoring scoring;                  ///< from the first pair on
    qcr_alignment alignment;
    QCPreview preview;                  ///< with align=auto
    qcr_search search;                  ///< behind the last pair
    QCQueue queue;
    QCMap map;
    qcr_record *record;                   ///< with record=FILE
    qcr_files files;
    qcr_live *live; ///< NULL before the options were looked at
    QCRun run;
} QualityCudaContext;

/** Logs and stores the first failure; every later activation returns it again. */
int ff_qc_fail(AVFilterContext *ctx, int error, const char *format, ...) av_printf_format(3, 4);

/** The AVERROR of a status. */
int ff_qc_error_of_status(qc_status status);

/** The same; a failure becomes the filter's. @param why what it says */
int ff_qc_result(AVFilterContext *ctx, qc_status status, const char *why);

/** Where goes what others say that is no matter of the scores: av_log(). */
qcr_sink ff_qc_plain_sink(const AVFilterContext *ctx);

/** Says a warning by way of the context's sink. */
void ff_qc_warn(const AVFilterContext *ctx, const char *format, ...) av_printf_format(2, 3);

/** Whether the filter goes by the name of libvmaf's. */
int ff_qc_is_alias(const AVFilterContext *ctx);

/** Whether the video outlives its scoring. */
int ff_qc_may_give_up(const AVFilterContext *ctx);

/** What became of the distorted frames, as far as they count: where the consumer wanted no more, those that left, for how
 *  many were read ahead by then is a matter of timing. */
const qcr_counts *ff_qc_counts_of(const AVFilterContext *ctx, int rendition);

/** "reference", "main", "main1", ...: the names of the pads. */
const char *ff_qc_role(const AVFilterContext *ctx, int index);

/** A time stamp of an input in seconds, NaN for none. */
double ff_qc_seconds(const AVFilterContext *ctx, int index, int64_t pts);

/** The same for a message's "%s", with three decimals; it lasts to the end of the block. */
#define QC_SECONDS(ctx, index, pts) qcr_number((char[64]){ "" }, 64, 3, ff_qc_seconds(ctx, index, pts))

/** Seconds on a clock that does not jump. */
double ff_qc_now(void);

/** What the options say of pictures that have another range or depth, or are RGB. */
qc_convert ff_qc_convert(const AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_STATE_H */
