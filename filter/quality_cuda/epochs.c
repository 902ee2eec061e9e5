/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Time stamps that restart; see epochs.h. Depends on pairing and state.
 */

#include "compat.h"

#include <string.h>

#include "epochs.h"
#include "state.h"

/** Seconds from one frame to the next; more is a jump. FFmpeg's demuxers mend such ones from here on. */
#define LONGEST_STEP 10.0

/** So many frames may be between the restarts of two inputs; behind them, the other one is taken not to restart. */
#define LONGEST_WAIT 100

static int goes_by_stamps(const QualityCudaContext *s)
{
    return s->pairing.sync != QCR_SYNC_INDEX && !qcr_is_lavfi(&s->pairing);
}

/* ---- as they come ---- */

static int is_jump(const AVFilterContext *ctx, int index, int64_t from, int64_t to)
{
    return to < from || ff_qc_seconds(ctx, index, to) - ff_qc_seconds(ctx, index, from) > LONGEST_STEP;
}

int ff_qc_stamps_jump(const AVFilterContext *ctx, int index, int64_t from, int64_t to)
{
    return from != AV_NOPTS_VALUE && to != AV_NOPTS_VALUE && goes_by_stamps(ctx->priv) && is_jump(ctx, index, from, to);
}

static void warn_of_jump(AVFilterContext *ctx, int index, int64_t from, int64_t to)
{
    QualityCudaContext *s = ctx->priv;

    if (s->run.warned_jump++)
        return;
    av_log(ctx, AV_LOG_WARNING, "Input %d (%s): the time stamps jump from %s s to %s s, and pairs are made by stamps; drop -copyts, or put "
           "setpts=N/FRAME_RATE/TB before all inputs, or use sync=index\n", index, ff_qc_role(ctx, index),
           QC_NUMBER(3, ff_qc_seconds(ctx, index, from)), QC_NUMBER(3, ff_qc_seconds(ctx, index, to)));
}

int ff_qc_follow_stamp(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    AVFilterLink *link = ctx->inputs[index];
    const size_t waiting = ff_inlink_queued_frames(link);
    const int64_t before = in->last_pts, pts = waiting ? ff_inlink_peek_frame(link, 0)->pts : AV_NOPTS_VALUE;
    int64_t following = AV_NOPTS_VALUE;

    in->is_outlier = 0;
    if (!waiting || pts == AV_NOPTS_VALUE)
        return 1;
    if (!ff_qc_stamps_jump(ctx, index, before, pts)) {
        in->last_pts = pts;
        return 1;
    }
    if (waiting < 2 && !ff_outlink_get_status(link))
        return 0;
    if (waiting >= 2)
        following = ff_inlink_peek_frame(link, 1)->pts;
    in->jumps++;
    warn_of_jump(ctx, index, before, pts);
    /* Where the next one goes on as if this one were not there, it is this one that is wrong. */
    in->is_outlier = following != AV_NOPTS_VALUE && !is_jump(ctx, index, before, following);
    if (in->is_outlier)
        return 1;
    in->epoch   += pts < before;
    in->last_pts = pts;
    return 1;
}

/* ---- partners ---- */

/** The one does not restart as the other did: what is held, and what follows, counts as of the main frame's epoch all the same. */
static void stop_waiting(QCInput *in, int64_t epoch)
{
    in->epoch  = in->cur_epoch = in->next_epoch = epoch;
    in->passed = in->kept_back = 0;
}

/** Whether the next frame is of an earlier epoch than the main frame, or has to be known for that. */
static int lags_behind(const QCInput *in, int64_t epoch)
{
    const qcr_track *track = &in->track;

    if (track->next.held)
        return in->next_epoch < epoch;
    return !track->ended && track->cur.held && in->cur_epoch < epoch;
}

/** The input restarted first: for the waiting main frame, what it has of that one's epoch is all that there is. */
static qcr_choice choose_before_restart(const QualityCudaContext *s, qcr_track track)
{
    qcr_pairing rules = s->pairing;
    qcr_choice choice;

    memset(&track.next, 0, sizeof(track.next));
    track.ended      = 1;
    rules.eof_action = QCR_EOF_PASS;
    choice = qcr_choose(&rules, &track, &s->input[0].track.clock, s->main.stamp);
    return choice == QCR_CHOICE_ENDED ? QCR_CHOICE_GAP : choice;
}

qcr_choice ff_qc_choose_in_epoch(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const int64_t epoch = s->input[0].epoch;
    qcr_track track;

    if (!goes_by_stamps(s) || s->main.stamp == QCR_NO_PTS)
        return qcr_choose(&s->pairing, &in->track, &s->input[0].track.clock, s->main.stamp);
    if (lags_behind(in, epoch)) {
        if (!in->track.next.held)
            return QCR_CHOICE_PULL;
        if (in->passed++ < LONGEST_WAIT)
            return QCR_CHOICE_STEP;
        stop_waiting(in, epoch);
    }
    if (in->track.next.held && in->next_epoch > epoch && s->main.stamp != in->kept_back_at) {
        in->kept_back_at = s->main.stamp;
        if (in->kept_back++ == LONGEST_WAIT)
            stop_waiting(in, epoch);
    }
    track = in->track;
    if (track.cur.held && in->cur_epoch < epoch)
        memset(&track.cur, 0, sizeof(track.cur));
    if (track.next.held && in->next_epoch > epoch)
        return choose_before_restart(s, track);
    in->passed = in->kept_back = 0;
    return qcr_choose(&s->pairing, &track, &s->input[0].track.clock, s->main.stamp);
}
