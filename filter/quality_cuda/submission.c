/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * From a main frame that waits to a pair in the engine; see submission.h.
 * Depends on pictures, colours, engine, maps, mask, queue, record, replay and state.
 */

#include "compat.h"

#include <math.h>
#include <string.h>

#include "libavutil/dict.h"
#include "libavutil/time.h"

#include "account.h"
#include "maps.h"
#include "mask.h"
#include "pictures.h"
#include "record.h"
#include "replay.h"
#include "state.h"
#include "submission.h"

/* ---- pictures ---- */

/** References to the frames of one submission that the engine reads later, until it has. */
typedef struct QCHold {
    AVFrame *frame[QC_MAX_INPUTS];
} QCHold;

static void release_hold(void *opaque)
{
    QCHold *hold = opaque;

    for (int i = 0; i < QC_MAX_INPUTS; i++)
        av_frame_free(&hold->frame[i]);
    av_free(hold);
}

/**
 * The engine reads hardware frames later, and the CPU backend all: keep references, so that their memory is not reused
 * meanwhile. The CUDA backend copies software frames at once.
 */
static int make_hold(AVFilterContext *ctx, AVFrame *const *frames, QCHold **out)
{
    QualityCudaContext *s = ctx->priv;
    const int on_cpu = qc_session_backend(s->engine.session) == QC_BACKEND_CPU;
    QCHold *hold;

    *out = NULL;
    if (!on_cpu && !ff_qc_any_hw_input(ctx))
        return 0;
    hold = av_mallocz(sizeof(*hold));
    if (!hold)
        return AVERROR(ENOMEM);
    for (int i = 0; i < s->nb_inputs; i++) {
        if (!frames[i] || !(on_cpu || s->input[i].is_hw))
            continue;
        hold->frame[i] = av_frame_clone(frames[i]);
        if (!hold->frame[i]) {
            release_hold(hold);
            return AVERROR(ENOMEM);
        }
    }
    *out = hold;
    return 0;
}

/** Opens the session with what the first pair says of itself, and sees that later ones do not differ. */
static int follow_properties(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    int ret = ff_qc_adopt_crop(ctx, frames);

    if (ret < 0)
        return ret;
    if (!s->engine.session) {
        ff_qc_adopt_colours(ctx, frames);
        ret = ff_qc_open_session(ctx);
        if (ret < 0)
            return ret;
        ff_qc_check_hdr(ctx);
        return ff_qc_find_alerts(ctx);
    }
    for (int i = 0; i < s->nb_inputs; i++)
        if (frames[i])
            ff_qc_warn_of_colour_change(ctx, i, frames[i]);
    return 0;
}

/* ---- pairs ---- */

/** The CPU backend's way: frames of the GPU are copied from there, one by one. @return AVERROR */
static int submit_to_cpu(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *copy[QC_MAX_INPUTS] = { NULL }, *readable[QC_MAX_INPUTS] = { NULL };
    qc_status status = QC_OK;
    int ret = 0;

    for (int i = 0; ret >= 0 && i < s->nb_inputs; i++) {
        readable[i] = frames[i];
        if (!frames[i] || !s->input[i].is_hw)
            continue;
        readable[i] = copy[i] = av_frame_alloc();
        ret = copy[i] ? av_hwframe_transfer_data(copy[i], frames[i], 0) : AVERROR(ENOMEM);
    }
    if (ret >= 0)
        status = ff_qc_submit_pictures(ctx, s->engine.session, readable, s->main.map, NULL, NULL);
    for (int i = 0; i < s->nb_inputs; i++)
        av_frame_free(&copy[i]);
    if (ret < 0)
        return ff_qc_fail(ctx, ret, "frames of a GPU that failed could not be copied from there: %s", av_err2str(ret));
    return status == QC_OK ? 0 : ff_qc_recover_session(ctx, status);
}

static int submit(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    qc_status status;
    QCHold *hold;
    int ret = follow_properties(ctx, frames);

    if (ret >= 0 && s->replay)
        return ff_qc_replay_pair(ctx, frames);
    if (ret >= 0)
        ret = ff_qc_record_pair(ctx, s->counts[0].paired, frames);
    if (ret >= 0)
        ret = ff_qc_prepare_map(ctx);
    if (ret >= 0 && s->engine.left_gpu)
        return submit_to_cpu(ctx, frames);
    if (ret >= 0)
        ret = make_hold(ctx, frames, &hold);
    if (ret < 0)
        return ff_qc_fail(ctx, ret, "a pair could not be submitted");
    /* The hold is the engine's from here on. */
    status = ff_qc_submit_pictures(ctx, s->engine.session, frames, s->main.map, hold ? release_hold : NULL, hold);
    if (status == QC_OK)
        return 0;
    ret = ff_qc_recover_session(ctx, status);
    if (ret < 0 || ff_qc_frames_taken(&s->engine) > s->counts[0].paired)
        return ret;
    ret = ff_qc_prepare_map(ctx); /* one that the CPU can paint on */
    return ret < 0 ? ret : submit_to_cpu(ctx, frames);
}

/** Counts the frames that input i, the reference or a rendition, gives to a pair. */
static void count_partner(AVFilterContext *ctx, int i, const QCPair *pair, qcr_counts *counts)
{
    QualityCudaContext *s = ctx->priv;

    counts->repeated += qcr_track_use(&s->input[i].track, pair->choice[i]);
    if (s->pairing.sync != QCR_SYNC_INDEX && s->main.frame->pts != AV_NOPTS_VALUE && pair->frame[i]->pts != AV_NOPTS_VALUE)
        qcr_count_distance(counts, ff_qc_partner_distance(ctx, i, pair->frame[i]));
}

static int score_main(AVFilterContext *ctx, const QCPair *pair)
{
    QualityCudaContext *s = ctx->priv;
    const double ref_pts_time = ff_qc_seconds(ctx, QC_REFERENCE, pair->frame[QC_REFERENCE]->pts);
    int ret;

    s->counts[0].unpaired_row = 0;
    s->main.renditions = 1;
    for (int i = 1; i < s->nb_inputs; i++) {
        if (!pair->frame[i])
            continue;
        s->main.renditions |= UINT32_C(1) << (i - 1); /* input 1, the reference, is rendition 0's */
        ret = ff_qc_check_colour(ctx, i, pair->frame[i]);
        if (ret < 0)
            return ret;
        count_partner(ctx, i, pair, &s->counts[i - 1]);
    }
    ret = submit(ctx, pair->frame);
    if (ret < 0)
        return ret;
    for (int k = 0; k < s->options.renditions; k++) {
        if (pair->frame[ff_qc_input_of(k)])
            s->counts[k].paired++;
        else
            qcr_count_without_rendition(&s->counts[k], pair->choice[ff_qc_input_of(k)]);
    }
    ret = ff_qc_note_frames(ctx, pair->frame, s->counts[0].paired - 1);
    return ret < 0 ? ret : ff_qc_queue_main(ctx, s->counts[0].paired - 1, ref_pts_time);
}

/** The main frame passes without scores. Behind a long row of such the last pair's scores need not wait for the next pair. */
static int pass_main(AVFilterContext *ctx, qcr_choice choice)
{
    QualityCudaContext *s = ctx->priv;
    const int untimed = s->pairing.sync != QCR_SYNC_INDEX && s->main.frame->pts == AV_NOPTS_VALUE;
    const int pauses  = qcr_count_unpaired(&s->counts[0], choice, s->main.disabled, untimed);
    qc_status status;
    int ret;

    s->main.unscored = s->main.disabled ? "disabled" : untimed ? "untimed" : "unpaired";
    for (int k = 1; k < s->options.renditions; k++)
        qcr_count_unpaired(&s->counts[k], choice, s->main.disabled, untimed);
    ret = ff_qc_note_frames(ctx, NULL, -1);
    if (ret >= 0)
        ret = ff_qc_queue_main(ctx, -1, NAN);
    if (ret < 0)
        return ret;
    if (pauses)
        ff_qc_record_break(ctx);
    if (pauses && s->engine.session && !s->run.flushed) {
        status = qc_session_break(s->engine.session);
        ret = status == QC_OK ? 0 : ff_qc_recover_session(ctx, status);
        if (ret < 0)
            return ret;
    }
    /* No pair can follow any more: scores that wait for a successor are final now. */
    return choice == QCR_CHOICE_ENDED ? ff_qc_flush_session(ctx) : 0;
}

/* ---- pairs that pass ---- */

/** Whether the waiting main frame has to pass without scores, since scoring is slower than the stream. @return 1, 0, AVERROR */
static int is_too_slow(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const int was_passing = s->pacing.is_passing;
    const double time = ff_qc_seconds(ctx, 0, s->main.frame->pts);
    qcr_pace_change change;
    qc_status status;
    int ret, passes;

    if (!s->options.realtime || !s->engine.session)
        return 0;
    qc_session_collect(s->engine.session);
    ret = ff_qc_receive_rows(ctx, QC_WAIT_NEVER);
    if (ret < 0)
        return ret;
    passes = qcr_pace(&s->pacing, time, av_gettime_relative() / 1e6, qcr_rows_under_way(s->queue.rows), &change);
    if (change != QCR_PACE_UNCHANGED)
        qcr_live_pace_changes(s->live.run, change == QCR_PACE_OVERLOADED, time, s->pacing.passed);
    if (!passes || was_passing)
        return passes;
    status = qc_session_break(s->engine.session);
    ret = status == QC_OK ? 0 : ff_qc_recover_session(ctx, status);
    return ret < 0 ? ret : 1;
}

/** Its partners are used, for they were there. */
static int let_main_pass(AVFilterContext *ctx, const QCPair *pair)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    for (int i = 1; i < s->nb_inputs; i++)
        if (pair->frame[i])
            qcr_track_use(&s->input[i].track, pair->choice[i]);
    for (int k = 0; k < s->options.renditions; k++)
        s->counts[k].passed++;
    s->main.unscored = "realtime";
    ret = ff_qc_note_frames(ctx, NULL, -1);
    if (ret < 0)
        return ret;
    if (av_dict_set(&s->main.frame->metadata, QC_KEY_PREFIX "unscored", s->main.unscored, 0) < 0)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    return ff_qc_queue_main(ctx, -1, NAN);
}

/** @param pair with a frame of the reference */
static int score_or_pass(AVFilterContext *ctx, const QCPair *pair)
{
    const int passes = is_too_slow(ctx);

    if (passes < 0)
        return passes;
    return passes ? let_main_pass(ctx, pair) : score_main(ctx, pair);
}

int ff_qc_settle_main(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCPair pair = { { s->main.frame } };
    qcr_choice choice;
    int waits = 0, ret;

    for (int i = 1; i < s->nb_inputs; i++) {
        ret = ff_qc_find_partner(ctx, i, &pair);
        if (ret < 0)
            return ret;
        waits |= !ret;
    }
    ret = ff_qc_find_mask(ctx);
    if (ret < 0)
        return ret;
    waits |= !ret;
    if (waits)
        return QC_SETTLED_NEEDS_INPUT;
    choice = pair.choice[QC_REFERENCE];
    ff_qc_warn_of_start(ctx);
    if (choice == QCR_CHOICE_ENDED && s->pairing.eof_action == QCR_EOF_ENDALL)
        return QC_SETTLED_END;

    s->main.counted = 1;
    for (int k = 0; k < s->options.renditions; k++) {
        qcr_count_frame(&s->counts[k], s->main.disabled);
        s->counts[k].unused = s->input[k + 1].track.unused;
    }
    if (pair.frame[QC_REFERENCE] && !s->main.disabled && !s->run.flushed)
        ret = score_or_pass(ctx, &pair);
    else
        ret = pass_main(ctx, choice);
    for (int i = 1; i < s->nb_inputs; i++)
        if (qcr_uses_up(&s->pairing, pair.choice[i]))
            ff_qc_step_input(&s->input[i]);
        else if (s->input[i].track.delay)
            s->input[i].track.delay--;
    return ret < 0 ? ret : QC_SETTLED_APPENDED;
}
