/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <math.h>
#include <string.h>

#include "libavutil/dict.h"
#include "libavutil/mathematics.h"

#include "account.h"
#include "state.h"
#include "submission.h"

/* ---- pictures ---- */

/** The planes that a frame has. @param frame NULL: none */
static void fill_planes(const AVFrame *frame, qc_picture *picture)
{
    memset(picture, 0, sizeof(*picture));
    if (!frame)
        return;
    for (int i = 0; i < 3 && frame->data[i]; i++) {
        picture->plane[i]       = frame->data[i];
        picture->pitch_bytes[i] = frame->linesize[i];
    }
    picture->memory = frame->hw_frames_ctx ? QC_MEMORY_CUDA : QC_MEMORY_HOST;
    if (frame->hw_frames_ctx)
        picture->cuda_stream = QC_CUDA_STREAM(frame);
}

static void fill_picture(const QCInput *in, const AVFrame *frame, qc_picture *picture)
{
    fill_planes(frame, picture);
    qc_picture_cut(&in->format, (int)in->crop_left + in->crop.x, (int)in->crop_top + in->crop.y, picture);
}

int ff_qc_adopt_crop(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++) {
        QCInput *in = &s->input[i];
        const AVFrame *frame = frames[i];

        if (!frame || !in->is_hw || (frame->crop_left == in->crop_left && frame->crop_top == in->crop_top))
            continue;
        if (s->scoring.session || frame->crop_left + FFMAX(in->crop.x + in->crop.width, 1) > (size_t)in->format.width ||
            frame->crop_top + FFMAX(in->crop.y + in->crop.height, 1) > (size_t)in->format.height)
            return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (%s) changed its cropping at %s s", i, ff_qc_role(ctx, i),
                              QC_SECONDS(ctx, i, frame->pts));
        in->crop_left = frame->crop_left;
        in->crop_top  = frame->crop_top;
    }
    return 0;
}

qc_status ff_qc_submit_pictures(const AVFilterContext *ctx, qc_session *session, AVFrame *const *frames, const AVFrame *map,
                                void (*release)(void *opaque), void *opaque)
{
    const QualityCudaContext *s = ctx->priv;
    qc_frame frame = { .release = release, .opaque = opaque };

    fill_picture(&s->input[QC_REFERENCE], frames[QC_REFERENCE], &frame.reference);
    for (int k = 0; k < s->options.renditions; k++)
        fill_picture(&s->input[qcr_input_of(k)], frames[qcr_input_of(k)], &frame.distorted[k]);
    fill_planes(map, &frame.map);
    fill_planes(frames[s->nb_inputs], &frame.weights);
    return qc_session_submit(session, &frame);
}

void ff_qc_look_further(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    const int64_t number = qcr_search_number(&s->search, s->scoring.session, s->pairs, index, frame->pts);
    qc_picture picture;
    qc_config config = { 0 };

    if (number < 0 || !ff_qc_keeps_promise(ctx, index, frame) || (!s->search.alone[index] && ff_qc_make_config(ctx, &config, NULL) < 0))
        return;
    fill_picture(&s->input[index], frame, &picture);
    qcr_search_see(&s->search, s->scoring.session, s->engine.request, &config, index, s->input[index].is_hw, &picture, number);
}

/* ---- references ---- */

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
    const int on_cpu = qc_session_backend(s->scoring.session) == QC_BACKEND_CPU;
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

    if (ret >= 0)
        ret = ff_qc_watch_for_bars(ctx, frames);
    if (ret < 0)
        return ret;
    if (!s->scoring.session) {
        ff_qc_adopt_colours(ctx, frames);
        ret = ff_qc_open_session(ctx);
        if (ret < 0)
            return ret;
        ff_qc_check_hdr(ctx);
        return ff_qc_live_result(ctx, qcr_live_name_scores(s->live, s->scoring.names, s->options.renditions, s->scoring.features));
    }
    for (int i = 0; i < s->nb_inputs; i++)
        if (frames[i])
            ff_qc_warn_of_colour_change(ctx, i, frames[i]);
    return 0;
}

/* ---- pairs ---- */

/** The CPU backend's way: frames of the GPU are copied from there, one by one. @return AVERROR */
static int submit_to_cpu(AVFilterContext *ctx, AVFrame *const *frames, const AVFrame *map)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *copy[QC_MAX_INPUTS] = { NULL }, *readable[QC_MAX_INPUTS];
    qc_status status = QC_OK;
    int ret = 0;

    memcpy(readable, frames, sizeof(readable));
    for (int i = 0; ret >= 0 && i < s->nb_inputs; i++) {
        if (!frames[i] || !s->input[i].is_hw)
            continue;
        readable[i] = copy[i] = av_frame_alloc();
        ret = copy[i] ? av_hwframe_transfer_data(copy[i], frames[i], 0) : AVERROR(ENOMEM);
    }
    if (ret >= 0)
        status = ff_qc_submit_pictures(ctx, s->scoring.session, readable, map, NULL, NULL);
    for (int i = 0; i < s->nb_inputs; i++)
        av_frame_free(&copy[i]);
    if (ret < 0)
        return ff_qc_fail(ctx, ret, "frames of a GPU that failed could not be copied from there: %s", av_err2str(ret));
    return status == QC_OK ? 0 : ff_qc_recover_session(ctx, status);
}

/** Makes a map for the row, in the place of one that it has. @return AVERROR */
static int prepare_map(AVFilterContext *ctx, qcr_row *row)
{
    AVFrame *map = row->map;
    const int ret = ff_qc_prepare_map(ctx, &map);

    row->map = map;
    return ret;
}

/** Hands a pair to the engine; the row gets the map that is painted. @return AVERROR */
static int submit(AVFilterContext *ctx, qcr_row *row, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    qc_status status;
    QCHold *hold;
    int ret = follow_properties(ctx, frames);

    if (ret >= 0)
        ret = ff_qc_record_pair(ctx, row->number, row->renditions, frames);
    if (ret >= 0)
        ret = prepare_map(ctx, row);
    if (ret >= 0 && s->scoring.left_gpu)
        return submit_to_cpu(ctx, frames, row->map);
    if (ret >= 0)
        ret = make_hold(ctx, frames, &hold);
    if (ret < 0)
        return ff_qc_fail(ctx, ret, "a pair could not be submitted");
    /* The hold is the engine's from here on. */
    status = ff_qc_submit_pictures(ctx, s->scoring.session, frames, row->map, hold ? release_hold : NULL, hold);
    if (status == QC_OK)
        return 0;
    ret = ff_qc_recover_session(ctx, status);
    if (ret < 0 || qcr_frames_taken(&s->scoring) > row->number)
        return ret;
    ret = prepare_map(ctx, row); /* one that the CPU can paint on */
    return ret < 0 ? ret : submit_to_cpu(ctx, frames, row->map);
}

static int score_pair(AVFilterContext *ctx, const qcr_decision *decision, qcr_row *row)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *frames[QC_MAX_INPUTS] = { row->frame };
    int ret = 0;

    for (int i = 1; ret >= 0 && i < QC_MAX_INPUTS; i++)
        if ((frames[i] = decision->input[i].frame) && i < s->nb_inputs)
            ret = ff_qc_check_colour(ctx, i, frames[i], row->frame);
    if (ret < 0)
        return ret;
    row->number          = decision->row;
    row->renditions   = decision->renditions;
    row->ref_pts_time = ff_qc_seconds(ctx, QC_REFERENCE, decision->input[QC_REFERENCE].pts);
    qcr_pairs_take(s->pairs);
    ret = submit(ctx, row, frames);
    if (ret < 0) {
        qcr_pairs_fail(s->pairs);
        return ret;
    }
    ret = ff_qc_note_frames(ctx, row, frames);
    return ret < 0 ? ret : ff_qc_queue(ctx, row);
}

/* ---- frames without a pair ---- */

/** What comes now is not compared with what came before. @return AVERROR */
static int break_session(AVFilterContext *ctx)
{
    const qc_status status = qc_session_break(((QualityCudaContext *)ctx->priv)->scoring.session);

    return status == QC_OK ? 0 : ff_qc_recover_session(ctx, status);
}

/** The frame goes on without scores. Behind a long row of such the last pair's scores need not wait for the next pair. */
static int pass_frame(AVFilterContext *ctx, const qcr_decision *decision, qcr_row *row)
{
    static const char *const reasons[] = {
        [QCR_WHY_DISABLED] = "disabled", [QCR_WHY_UNTIMED] = "untimed", [QCR_WHY_UNPAIRED] = "unpaired",
    };
    QualityCudaContext *s = ctx->priv;
    int ret = decision->is_last ? ff_qc_flush_session(ctx) : 0; /* scores that wait for a successor are final now */

    if (decision->is_last)
        ff_qc_look_further(ctx, 0, row->frame);
    row->unscored = reasons[decision->why];
    if (ret >= 0)
        ret = ff_qc_note_frames(ctx, row, NULL);
    if (ret >= 0)
        ret = ff_qc_queue(ctx, row);
    if (ret < 0)
        return ret;
    if (decision->begins_pause)
        qcr_record_break(s->record);
    return decision->begins_pause && s->scoring.session && !s->run.flushed ? break_session(ctx) : 0;
}

/* ---- pairs that pass ---- */

/** Whether a pair has to pass without scores, since scoring is slower than the stream. @return 1, 0, AVERROR */
static int is_too_slow(AVFilterContext *ctx, int64_t pts)
{
    QualityCudaContext *s = ctx->priv;
    const int was_passing = s->pacing.is_passing;
    const double time = ff_qc_seconds(ctx, 0, pts);
    qcr_pace_change change;
    int ret, passes;

    if (!s->options.realtime || !s->scoring.session)
        return 0;
    qc_session_collect(s->scoring.session);
    ret = ff_qc_receive_rows(ctx, QC_WAIT_NEVER);
    if (ret < 0)
        return ret;
    passes = qcr_pace(&s->pacing, time, ff_qc_now(), qcr_rows_under_way(s->queue.rows), &change);
    if (change != QCR_PACE_UNCHANGED)
        qcr_live_pace_changes(s->live, change == QCR_PACE_OVERLOADED, time, s->pacing.passed);
    if (!passes || was_passing)
        return passes;
    ret = break_session(ctx);
    return ret < 0 ? ret : 1;
}

/** Its partners are used, for they were there. */
static int let_pair_pass(AVFilterContext *ctx, qcr_row *row)
{
    QualityCudaContext *s = ctx->priv;
    int ret;

    qcr_pairs_leave(s->pairs);
    row->unscored = "realtime";
    ret = ff_qc_note_frames(ctx, row, NULL);
    if (ret < 0)
        return ret;
    if (av_dict_set(&((AVFrame *)row->frame)->metadata, QC_KEY_PREFIX "unscored", row->unscored, 0) < 0)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    return ff_qc_queue(ctx, row);
}

static int score_or_pass(AVFilterContext *ctx, const qcr_decision *decision, qcr_row *row)
{
    int passes;

    if (decision->kind == QCR_PASS)
        return pass_frame(ctx, decision, row);
    passes = is_too_slow(ctx, decision->input[0].pts);
    return passes < 0 ? passes : passes ? let_pair_pass(ctx, row) : score_pair(ctx, decision, row);
}

/* ---- decisions ---- */

/** The distorted frame; under FFmpeg's own rules the latest one may come again. @return NULL without memory */
static AVFrame *take_distorted(AVFilterContext *ctx, const qcr_decision *decision)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *frame = decision->is_repeat ? av_frame_clone(s->latest) : decision->input[0].frame;

    if (!frame)
        return NULL;
    if (decision->is_repeat) {
        frame->pts = decision->input[0].pts;
        s->input[0].eof_pts = FFMAX(s->input[0].eof_pts, frame->pts);
    } else if (s->pairing.outlasts) {
        av_frame_free(&s->latest);
        s->latest = av_frame_clone(frame);
        if (!s->latest)
            av_frame_free(&frame);
    }
    return frame;
}

int ff_qc_act(AVFilterContext *ctx, const qcr_decision *decision)
{
    const QualityCudaContext *s = ctx->priv;
    qcr_row row = { .frame = take_distorted(ctx, decision), .number = -1, .ref_pts_time = NAN };
    AVFrame *frame, *map;
    int ret;

    if (!row.frame)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    ret = decision->why == QCR_WHY_ABANDONED ? ff_qc_queue_unscored(ctx, &row) : score_or_pass(ctx, decision, &row);
    if (ret < 0 && row.frame && ff_qc_may_give_up(ctx) && !s->run.gave_up)
        ff_qc_queue_unscored(ctx, &row); /* the video goes on */
    frame = row.frame;
    map   = row.map;
    av_frame_free(&frame);
    ff_qc_keep_map(ctx, &map);
    return ret;
}
