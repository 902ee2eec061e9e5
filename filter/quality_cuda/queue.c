/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Main frames on their way; see queue.h. Depends on engine, live, maps, outputs,
 * reports and state.
 */

#include "compat.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libavutil/dict.h"
#include "libavutil/time.h"

#include "alignment.h"
#include "arrivals.h"
#include "live.h"
#include "maps.h"
#include "outputs.h"
#include "reports.h"
#include "state.h"

#define REPLAYED_FRAMES 256 /* of a replay, one of so many leaves */
#define LEAD 8 /* frames held beyond the depth, while a score waits for a later frame */

int ff_qc_queue_main(AVFilterContext *ctx, int64_t row, double ref_pts_time)
{
    QualityCudaContext *s = ctx->priv;
    QCQueue *queue = &s->queue;
    QCPending *entry = av_mallocz(sizeof(*entry) + s->options.renditions * sizeof(*entry->counts));

    if (!entry)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    memcpy(entry->counts, s->counts, s->options.renditions * sizeof(*entry->counts));
    if (row >= 0)
        ff_qc_note_pair(&s->alignment, row, ff_qc_seconds(ctx, 0, s->main.frame->pts));
    entry->frame        = s->main.frame;
    entry->map          = s->main.map;
    entry->row          = row;
    entry->pts_time     = ff_qc_seconds(ctx, 0, s->main.frame->pts);
    entry->ref_pts_time = ref_pts_time;
    entry->renditions   = s->main.renditions;
    entry->corrupt      = s->main.corrupt;
    entry->unscored     = row < 0 ? s->main.unscored : NULL;
    s->main.frame   = NULL;
    s->main.map     = NULL;
    s->main.counted = 0;
    s->main.corrupt = 0;
    if (queue->last)
        queue->last->following = entry;
    else
        queue->first = entry;
    queue->last = entry;
    queue->held++;
    return 0;
}

/** Oldest entry whose frame was not sent yet. */
static QCPending *oldest_held(const QCQueue *queue)
{
    QCPending *entry = queue->first;

    while (entry && !entry->frame)
        entry = entry->following;
    return entry;
}

static int is_settled(const QCPending *entry)
{
    return entry->row < 0 || entry->settled;
}

static void free_entry(QCPending *entry)
{
    av_frame_free(&entry->frame);
    av_frame_free(&entry->map);
    av_free(entry->value);
    av_free(entry->present);
    av_free(entry);
}

/* ---- scores that do not come ---- */

/** So that nobody takes the frame for one that was not to be scored. */
static void mark_failed(AVFilterContext *ctx, QCPending *entry)
{
    entry->failed   = 1;
    entry->unscored = "failure";
    ff_qc_keep_map(ctx, &entry->map);
    if (entry->frame && av_dict_set(&entry->frame->metadata, QC_KEY_PREFIX "unscored", "failure", 0) < 0)
        av_log(ctx, AV_LOG_WARNING, "out of memory: a frame without scores is not marked\n");
}

int ff_qc_queue_unscored(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    s->main.renditions = UINT32_MAX;
    ret = ff_qc_queue_main(ctx, -1, NAN);
    if (ret >= 0)
        mark_failed(ctx, s->queue.last);
    return ret;
}

void ff_qc_give_up_rows(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (QCPending *entry = s->queue.first; entry; entry = entry->following) {
        if (is_settled(entry))
            continue;
        entry->settled = 1;
        mark_failed(ctx, entry);
    }
}

/* ---- scores come back ---- */

static int set_metadata(const QualityCudaContext *s, const QCPending *entry)
{
    AVDictionary **metadata = &entry->frame->metadata;
    /* Looking for an entry to replace costs more than all the rest, so it's done only if there are any. */
    const int flags = av_dict_get(*metadata, QC_KEY_PREFIX, NULL, AV_DICT_IGNORE_SUFFIX) ? 0 : AV_DICT_MULTIKEY;
    char value[64];
    int ret;

    for (int i = 0; i < ff_qc_nb_scores(s); i++) {
        if (!entry->present[i])
            continue;
        ff_qc_print_score(value, sizeof(value), entry->value[i]);
        ret = av_dict_set(metadata, s->engine.keys[i], value, flags);
        if (ret < 0)
            return ret;
    }
    ff_qc_print_score(value, sizeof(value), entry->ref_pts_time);
    ret = av_dict_set(metadata, QC_KEY_PREFIX "ref_pts_time", value, flags);
    return ret < 0 ? ret : av_dict_set_int(metadata, QC_KEY_PREFIX "n", entry->row, flags);
}

/** A replay's frames are blank: its scores are for the log, and keys would cost it more than all the rest. */
static int wants_metadata(const QualityCudaContext *s, const QCPending *entry)
{
    return entry->frame && entry->present && !s->replay;
}

/** Its mask left nothing to be scored. */
static int mark_masked_out(QCPending *entry)
{
    entry->unscored = "masked";
    return entry->frame ? FFMIN(0, av_dict_set(&entry->frame->metadata, QC_KEY_PREFIX "unscored", "masked", 0)) : 0;
}

/** Keeps a row, if it has any scores, until its frame leaves. */
static int keep_scores(AVFilterContext *ctx, QCPending *entry, const qc_row *row)
{
    const QualityCudaContext *s = ctx->priv;
    const size_t count = ff_qc_nb_scores(s);

    entry->settled = 1;
    if (!memchr(row->present, 1, count)) {
        if (row->weightless)
            return mark_masked_out(entry);
        if (row->frame % s->options.n_subsample == 0)
            mark_failed(ctx, entry);
        else
            entry->unscored = "subsample";
        return 0;
    }
    entry->value   = av_memdup(row->value, count * sizeof(*row->value));
    entry->present = av_memdup(row->present, count);
    if (entry->value && entry->present)
        return 0;
    av_freep(&entry->value); // one without the other would be taken for both
    av_freep(&entry->present);
    return AVERROR(ENOMEM);
}

static int deliver_row(AVFilterContext *ctx, const qc_row *row)
{
    QualityCudaContext *s = ctx->priv;
    QCPending *entry = s->queue.first;

    while (entry && is_settled(entry))
        entry = entry->following;
    if (!entry || entry->row != row->frame)
        return ff_qc_fail(ctx, AVERROR_BUG, "scores of frame %"PRId64" came out of order", row->frame);
    if (keep_scores(ctx, entry, row) < 0 || (wants_metadata(s, entry) && set_metadata(s, entry) < 0))
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    s->queue.late_scores += !entry->frame && entry->present;
    return 0;
}

int ff_qc_receive_rows(AVFilterContext *ctx, enum QCWait wait)
{
    QualityCudaContext *s = ctx->priv;

    while (s->engine.session) {
        const QCPending *oldest = wait == QC_WAIT_FOR_OLDEST ? oldest_held(&s->queue) : NULL;
        const int block = wait == QC_WAIT_FOR_ALL || (oldest && !is_settled(oldest));
        qc_row row;
        qc_status status = qc_session_receive(s->engine.session, block, &row);
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

/** Links may lead back (feedback), so the steps are counted. */
static int leads_to_nullsink(const AVFilterContext *filter, unsigned steps)
{
    if (!filter->nb_outputs)
        return !strcmp(filter->filter->name, "nullsink");
    for (unsigned i = 0; steps && i < filter->nb_outputs; i++)
        if (filter->outputs[i] && leads_to_nullsink(filter->outputs[i]->dst, steps - 1))
            return 1;
    return 0;
}

void ff_qc_watch_consumer(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    s->queue.feeds_nullsink = leads_to_nullsink(ctx, ctx->graph->nb_filters);
}

int ff_qc_may_end(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return ff_qc_is_awaited(ctx) || (s->queue.feeds_nullsink && !s->queue.held);
}

/** The frame counts: it has left, or failure keeps it from leaving. */
static void account_for(AVFilterContext *ctx, const QCPending *entry)
{
    QualityCudaContext *s = ctx->priv;
    const int features = s->engine.feature_count;
    const qc_row row = { .frame = entry->row, .value = entry->value, .present = entry->present };

    for (int k = 0; entry->failed && k < s->options.renditions; k++)
        s->queue.failed[k] += entry->renditions >> k & 1;
    ff_qc_watch_frame(ctx, entry);
    if (entry->row >= 0)
        ff_qc_say_findings(ctx, entry->row + 1);
    if (!entry->present)
        return;
    for (int k = 0; k < s->options.renditions; k++)
        s->queue.scored[k] += memchr(entry->present + k * features, 1, features) != NULL;
    ff_qc_write_stats_line(ctx, &row, entry->pts_time, entry->ref_pts_time, entry->corrupt);
}

static void drop_finished(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCPending **link = &s->queue.first;

    s->queue.last = NULL;
    while (*link) {
        QCPending *entry = *link;

        if (!entry->frame && is_settled(entry)) {
            *link = entry->following;
            account_for(ctx, entry);
            free_entry(entry);
        } else {
            s->queue.last = entry;
            link = &entry->following;
        }
    }
}

/** Takes the oldest frame from the queue, with its map, if it may leave. */
static int take_ready(AVFilterContext *ctx, AVFrame **frame, AVFrame **map)
{
    QualityCudaContext *s = ctx->priv;
    QCPending *entry = oldest_held(&s->queue);

    if (!entry || !is_settled(entry) || !ff_qc_is_awaited(ctx))
        return 0;
    *frame = entry->frame;
    *map   = entry->map;
    entry->frame = entry->map = NULL;
    s->queue.held--;
    memcpy(s->queue.left, entry->counts, s->options.renditions * sizeof(*entry->counts));
    drop_finished(ctx);
    return 1;
}

/** A replay's frames are blank: few leave, for it is between frames that ffmpeg hears signals. */
static int is_of_no_use(const QualityCudaContext *s)
{
    return s->replay && s->queue.left[0].frames % REPLAYED_FRAMES;
}

int ff_qc_push_ready(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *frame, *map;
    int ret;

    do {
        if (!take_ready(ctx, &frame, &map))
            return 0;
        ret = ff_qc_tag_alerts(ctx, frame);
        if (ret >= 0)
            ret = ff_qc_finish_map(ctx, frame, &map);
        if (ret < 0) {
            av_frame_free(&frame);
            av_frame_free(&map);
            return ff_qc_fail(ctx, ret, ret == AVERROR(ENOMEM) ? "out of memory" : "a map could not be copied to the GPU");
        }
        if (is_of_no_use(s))
            av_frame_free(&frame);
    } while (!frame);
    ret = ff_qc_send(ctx, frame, map);
    ff_qc_interrupt_silence(ctx);
    return ret < 0 ? ret : !ff_qc_may_end(ctx);
}

int ff_qc_queue_wants_more(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return s->queue.held <= s->engine.depth || ff_qc_is_awaited(ctx);
}

int ff_qc_under_way(const QCQueue *queue)
{
    int count = 0;

    for (const QCPending *entry = queue->first; entry; entry = entry->following)
        count += !is_settled(entry);
    return count;
}

/**
 * The oldest frame's score waits for a later pair, and none has come for long
 * (a gap in the reference, or the filter is disabled): holding ever more frames
 * would exhaust memory, so it leaves without scores. They still reach the log.
 * So it is where the scoring is slow and nobody may wait for it.
 */
static void let_oldest_go(AVFilterContext *ctx, int is_slow)
{
    QualityCudaContext *s = ctx->priv;
    QCPending *entry = oldest_held(&s->queue), **link = &s->queue.first, *ghost;

    if (!entry || is_settled(entry))
        return;
    ghost = av_mallocz(sizeof(*ghost) + s->options.renditions * sizeof(*ghost->counts));
    if (!ghost)
        return;
    /* Split it: the frame goes on as one without scores, the row keeps its place before it. */
    *ghost = *entry;
    ghost->frame     = NULL;
    ghost->following = entry;
    entry->row = -1;
    entry->map = NULL; /* it may be under the brush */
    entry->has_ghost = 1;
    while (*link != entry)
        link = &(*link)->following;
    *link = ghost;
    av_log(ctx, is_slow ? AV_LOG_VERBOSE : AV_LOG_WARNING, "the frame at %s s leaves without its scores: %s; log and stats_file "
           "will have them\n", QC_NUMBER(3, ghost->pts_time),
           is_slow ? "they come too late" : "they depend on the next pair, which does not come");
}

int ff_qc_bound_queue(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int is_slow, ret;

    if (s->queue.held <= s->engine.depth)
        return 0;
    is_slow = s->options.realtime && qcr_pace_is_behind(&s->pacing, av_gettime_relative() / 1e6);
    ret = ff_qc_receive_rows(ctx, is_slow ? QC_WAIT_NEVER : QC_WAIT_FOR_OLDEST);
    if (ret < 0)
        return ret;
    if (is_slow || s->queue.held > s->engine.depth + LEAD)
        let_oldest_go(ctx, is_slow);
    return 0;
}

void ff_qc_settle_queue(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    drop_finished(ctx);
    if (!s->run.only_left_counts)
        for (QCPending *entry = s->queue.first; entry; entry = entry->following)
            account_for(ctx, entry);
    else if (s->engine.session)
        qc_session_truncate(s->engine.session, s->queue.left[0].paired);
}

void ff_qc_free_queue(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    while (s->queue.first) {
        QCPending *entry = s->queue.first;

        s->queue.first = entry->following;
        free_entry(entry);
    }
}
