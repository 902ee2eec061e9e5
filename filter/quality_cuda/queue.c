/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libavfilter/buffersink.h"
#include "libavutil/dict.h"

#include "account.h"
#include "state.h"

#define MOST_STEPS 64 /* from filter to filter: links may lead back */
#define LEAD 8 /* frames held beyond the depth, while a score waits for a later frame */

/* ---- both outputs ---- */

int ff_qc_is_awaited(AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (ff_outlink_frame_wanted(ctx->outputs[i]) && !ff_outlink_get_status(ctx->outputs[i]))
            return 1;
    return 0;
}

int ff_qc_consumers_status(AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (!ff_outlink_get_status(ctx->outputs[i]))
            return 0;
    return ff_outlink_get_status(ctx->outputs[QC_OUTPUT_MAIN]);
}

void ff_qc_end_outputs(AVFilterContext *ctx, int status, int64_t end)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        ff_outlink_set_status(ctx->outputs[i], status, end);
}

/* ---- frames come ---- */

int ff_qc_queue(AVFilterContext *ctx, qcr_row *row)
{
    QualityCudaContext *s = ctx->priv;

    row->pts_time = ff_qc_seconds(ctx, 0, ((const AVFrame *)row->frame)->pts);
    if (qcr_rows_append(s->queue.rows, row, s->counts) != QC_OK)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    if (row->number >= 0)
        qcr_note_pair(&s->alignment, row->number, row->pts_time);
    row->frame = row->map = NULL;
    return 0;
}

/* ---- scores that do not come ---- */

/** So that nobody takes the frame for one that was not to be scored. */
static void mark_failed(AVFilterContext *ctx, AVFrame *frame, AVFrame *map)
{
    ff_qc_keep_map(ctx, &map);
    if (frame && av_dict_set(&frame->metadata, QC_KEY_PREFIX "unscored", "failure", 0) < 0)
        av_log(ctx, AV_LOG_WARNING, "out of memory: a frame without scores is not marked\n");
}

int ff_qc_queue_unscored(AVFilterContext *ctx, qcr_row *row)
{
    mark_failed(ctx, row->frame, row->map);
    row->map          = NULL;
    row->number       = -1;
    row->ref_pts_time = NAN;
    row->renditions   = UINT32_MAX;
    row->unscored     = NULL;
    row->failed       = 1;
    return ff_qc_queue(ctx, row);
}

void ff_qc_give_up_rows(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qcr_row row;

    while (qcr_rows_fail(s->queue.rows, &row))
        mark_failed(ctx, row.frame, row.map);
}

/* ---- scores come back ---- */

static int set_metadata(const QualityCudaContext *s, const qcr_row *row)
{
    AVDictionary **metadata = &((AVFrame *)row->frame)->metadata;
    /* Looking for an entry to replace costs more than all the rest, so it's done only if there are any. */
    const int flags = av_dict_get(*metadata, QC_KEY_PREFIX, NULL, AV_DICT_IGNORE_SUFFIX) ? 0 : AV_DICT_MULTIKEY;
    char value[64];
    int ret;

    for (int i = 0; i < s->options.renditions * s->scoring.features; i++) {
        if (!row->present[i])
            continue;
        qcr_number(value, sizeof(value), 6, row->value[i]);
        ret = av_dict_set(metadata, s->scoring.keys[i], value, flags);
        if (ret < 0)
            return ret;
    }
    qcr_number(value, sizeof(value), 6, row->ref_pts_time);
    ret = av_dict_set(metadata, QC_KEY_PREFIX "ref_pts_time", value, flags);
    return ret < 0 ? ret : av_dict_set_int(metadata, QC_KEY_PREFIX "n", row->number, flags);
}

/** Puts onto a frame what its row says. @return AVERROR */
static int tag_frame(AVFilterContext *ctx, const qcr_row *row)
{
    const QualityCudaContext *s = ctx->priv;
    AVFrame *frame = row->frame;

    if (row->failed)
        mark_failed(ctx, frame, row->map);
    else if (frame && row->present)
        return set_metadata(s, row);
    else if (frame && row->unscored && !strcmp(row->unscored, "masked"))
        return av_dict_set(&frame->metadata, QC_KEY_PREFIX "unscored", "masked", 0);
    return 0;
}

static int deliver_row(AVFilterContext *ctx, const qc_row *scores)
{
    QualityCudaContext *s = ctx->priv;
    qcr_row row;
    const qc_status status = qcr_rows_deliver(s->queue.rows, scores, s->scoring.features, &row);

    if (status == QC_ERROR_INVALID)
        return ff_qc_fail(ctx, AVERROR_BUG, "scores of frame %"PRId64" came out of order", scores->frame);
    if (status != QC_OK || tag_frame(ctx, &row) < 0)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    return 0;
}

int ff_qc_receive_rows(AVFilterContext *ctx, enum QCWait wait)
{
    QualityCudaContext *s = ctx->priv;

    while (s->scoring.session) {
        const int block = wait == QC_WAIT_FOR_ALL || (wait == QC_WAIT_FOR_OLDEST && qcr_rows_oldest_waits(s->queue.rows));
        qc_row row;
        qc_status status = qc_session_receive(s->scoring.session, block, &row);
        int ret;

        if (status == QC_AGAIN || status == QC_END)
            return 0;
        ret = status == QC_OK ? deliver_row(ctx, &row) : ff_qc_recover_session(ctx, status);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* ---- frames leave ---- */

static AVFilterContext *sink_behind(AVFilterContext *filter, const char *name, unsigned steps)
{
    AVFilterContext *sink = filter->nb_outputs || strcmp(filter->filter->name, name) ? NULL : filter;

    for (unsigned i = 0; !sink && steps && i < filter->nb_outputs; i++)
        if (filter->outputs[i])
            sink = sink_behind(filter->outputs[i]->dst, name, steps - 1);
    return sink;
}

/** Whether the latest frame waits for the program to take it. If the next filter ended the link, it looked at that frame. */
static int lies_in_sink(AVFilterContext *ctx)
{
    AVFilterLink *link = ctx->outputs[QC_OUTPUT_MAIN];
    AVFilterContext *sink = link && !ff_outlink_get_status(link) ? sink_behind(ctx, "buffersink", MOST_STEPS) : NULL;

    return sink && (ff_inlink_queued_frames(sink->inputs[0]) ||
           av_buffersink_get_frame_flags(sink, NULL, AV_BUFFERSINK_FLAG_PEEK | AV_BUFFERSINK_FLAG_NO_REQUEST) >= 0);
}

void ff_qc_be_freed_early(AVFilterContext *ctx)
{
    AVFilterContext **filters = ctx->graph->filters;
    const unsigned to = filters[0] != ctx && filters[0]->filter == ctx->filter ? ctx->graph->nb_filters - 1 : 0;

    for (unsigned i = 0; filters[to] != ctx; i++)
        if (filters[i] == ctx)
            FFSWAP(AVFilterContext *, filters[i], filters[to]);
}

int ff_qc_open_queue(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    s->queue.feeds_nullsink = !!sink_behind(ctx, "nullsink", MOST_STEPS);
    if (!s->queue.rows)
        s->queue.rows = qcr_rows_create(s->options.renditions, s->options.n_subsample);
    if (!s->queue.rows)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    s->queue.tally = qcr_rows_tally(s->queue.rows);
    return 0;
}

int ff_qc_may_end(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return ff_qc_is_awaited(ctx) || (s->queue.feeds_nullsink && !s->queue.tally->held);
}

/** Rows count: their frames have left, or failure keeps them from leaving. @param rest all that there are */
static void account(AVFilterContext *ctx, int rest)
{
    QualityCudaContext *s = ctx->priv;
    qcr_row row;

    while (qcr_rows_account(s->queue.rows, rest, &row)) {
        const qc_row scores = { .frame = row.number, .value = row.value, .present = row.present };
        const qcr_stats_row line = { &scores, row.pts_time, row.ref_pts_time, row.corrupt, s->options.renditions };
        AVFrame *map = row.map;

        av_frame_free(&map);
        if (!row.was_taken || !qcr_live_has_alerts(s->live))
            ff_qc_live_result(ctx, qcr_live_frame_leaves(s->live, &row));
        if (row.number >= 0)
            ff_qc_say_findings(ctx, row.number + 1);
        if (row.present)
            qcr_write_stats_line(&s->files, s->scoring.session, &line, &s->sink);
    }
}

void ff_qc_confirm_rows(AVFilterContext *ctx, int is_asked)
{
    const QualityCudaContext *s = ctx->priv;

    if (!QC_UNASKED_IS_LAST && !is_asked && lies_in_sink(ctx))
        return;
    qcr_rows_confirm(s->queue.rows);
    account(ctx, 0);
}

/** Puts the names of the alerts that are active onto a frame; without any, that of a filter before this one goes. @return AVERROR */
static int tag_alerts(const QualityCudaContext *s, AVFrame *frame)
{
    const char *names = qcr_live_active_alerts(s->live);

    return !qcr_live_has_alerts(s->live) ? 0 :
           av_dict_set(&frame->metadata, QC_KEY_PREFIX "alert", *names ? names : NULL, 0);
}

static int send(AVFilterLink *link, AVFrame *frame)
{
    if (!ff_outlink_get_status(link))
        return ff_filter_frame(link, frame);
    av_frame_free(&frame);
    return 0;
}

/** Both are gone then. @return AVERROR */
static int send_both(AVFilterContext *ctx, AVFrame *frame, AVFrame *map)
{
    const int ret = send(ctx->outputs[QC_OUTPUT_MAIN], frame);
    const int of_map = map ? send(ctx->outputs[QC_OUTPUT_MAP], map) : 0;

    return ret < 0 ? ret : of_map;
}

int ff_qc_push_ready(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *frame, *map;
    qcr_row row;
    int ret;

    if (!ff_qc_is_awaited(ctx) || !qcr_rows_take(s->queue.rows, &row))
        return 0;
    frame = row.frame;
    map   = row.map;
    if (qcr_live_has_alerts(s->live)) /* the frame itself has them */
        ff_qc_live_result(ctx, qcr_live_frame_leaves(s->live, &row));
    ret = tag_alerts(s, frame);
    if (ret >= 0)
        ret = ff_qc_finish_map(ctx, frame, &map);
    if (ret < 0) {
        av_frame_free(&frame);
        av_frame_free(&map);
        return ff_qc_fail(ctx, ret, ret == AVERROR(ENOMEM) ? "out of memory" : "a map could not be copied to the GPU");
    }
    ret = send_both(ctx, frame, map);
    qcr_pairs_interrupt(s->pairs, ff_qc_now());
    return ret < 0 ? ret : !ff_qc_may_end(ctx);
}

int ff_qc_queue_wants_more(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return s->queue.tally->held <= s->scoring.depth || ff_qc_is_awaited(ctx);
}

/**
 * The oldest frame's score waits for a later pair, and none has come for long (a gap in the reference, or the filter is
 * disabled): holding ever more frames would exhaust memory, so it leaves without scores. They still reach the log.
 * So it is where the scoring is slow and nobody may wait for it.
 */
static void let_oldest_go(AVFilterContext *ctx, int is_slow)
{
    QualityCudaContext *s = ctx->priv;
    qcr_row row;

    if (!qcr_rows_let_go(s->queue.rows, &row))
        return;
    av_log(ctx, is_slow ? AV_LOG_VERBOSE : AV_LOG_WARNING, "the frame at %s s leaves without its scores: %s; log and stats_file "
           "will have them\n", qcr_number((char[64]){ "" }, 64, 3, row.pts_time),
           is_slow ? "they come too late" : "they depend on the next pair, which does not come");
}

int ff_qc_bound_queue(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int is_slow, ret;

    if (s->queue.tally->held <= s->scoring.depth)
        return 0;
    is_slow = s->options.realtime && qcr_pace_is_behind(&s->pacing, ff_qc_now());
    ret = ff_qc_receive_rows(ctx, is_slow ? QC_WAIT_NEVER : QC_WAIT_FOR_OLDEST);
    if (ret < 0)
        return ret;
    if (is_slow || s->queue.tally->held > s->scoring.depth + LEAD)
        let_oldest_go(ctx, is_slow);
    return 0;
}

void ff_qc_settle_queue(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    account(ctx, !s->run.only_left_counts);
    if (s->run.only_left_counts && s->scoring.session)
        qc_session_truncate(s->scoring.session, s->queue.tally->left[0].paired);
}

void ff_qc_free_queue(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qcr_row row;

    while (s->queue.rows && qcr_rows_pop(s->queue.rows, &row)) {
        AVFrame *frame = row.frame, *map = row.map;

        av_frame_free(&frame);
        av_frame_free(&map);
    }
    qcr_rows_destroy(s->queue.rows);
    s->queue.rows = NULL;
}
