/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * A look at the first pictures; see preview.h. Depends on pictures, alignment,
 * epochs and state.
 */

#include "compat.h"

#include <math.h>

#include "libavutil/common.h"

#include "account.h"
#include "arrivals.h"
#include "epochs.h"
#include "pictures.h"
#include "preview.h"
#include "state.h"

/** So many frames of an input wait at most. The engine looks at 48 pairs: one side may have twice as many frames, or begin earlier. */
#define MOST_WAITING 96

enum Look {
    LOOK_NEEDS_INPUT,
    LOOK_GOES_ON,
    LOOK_IS_OVER,
};

/* ---- frames that wait ---- */

/** A decoder that hands out its own surfaces may have too few of them for all that wait here. @return AVERROR */
static int leave_surfaces(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++) {
        QCWaiting *in = &s->preview.input[i];
        const int waiting = ff_inlink_queued_frames(ctx->inputs[i]);

        for (; in->movable < waiting; in->movable++) {
            const int ret = ff_qc_leave_surface(ctx, i, ff_inlink_peek_frame(ctx->inputs[i], in->movable));
            if (ret < 0)
                return ret;
        }
    }
    return 0;
}

/** @param frame the next one of an input, or NULL: it has ended */
static enum Look see_next(AVFilterContext *ctx, int index, const AVFrame **frame)
{
    QualityCudaContext *s = ctx->priv;
    QCWaiting *in = &s->preview.input[index];
    AVFilterLink *link = ctx->inputs[index];

    *frame = NULL;
    if (in->seen == MOST_WAITING)
        return LOOK_IS_OVER;
    if (in->seen == (int)ff_inlink_queued_frames(link)) {
        s->input[index].wanted = !ff_outlink_get_status(link);
        return s->input[index].wanted ? LOOK_NEEDS_INPUT : LOOK_GOES_ON;
    }
    *frame = ff_inlink_peek_frame(link, in->seen);
    /* What comes behind is not of the beginning, or nothing that can be compared. */
    if (!ff_qc_keeps_promise(ctx, index, *frame) || ff_qc_stamps_jump(ctx, index, in->last_pts, (*frame)->pts))
        return LOOK_IS_OVER;
    if ((*frame)->pts != AV_NOPTS_VALUE)
        in->last_pts = (*frame)->pts;
    in->seen++;
    ff_qc_end_silence(&s->input[index]);
    return LOOK_GOES_ON;
}

/* ---- pairs on trial ---- */

/** The frame itself; NULL where the choice is none. */
static AVFrame *frame_of(AVFilterContext *ctx, int index, qcr_choice choice)
{
    const QCWaiting *in = &((QualityCudaContext *)ctx->priv)->preview.input[index];

    return choice == QCR_CHOICE_CUR  ? ff_inlink_peek_frame(ctx->inputs[index], in->cur) :
           choice == QCR_CHOICE_NEXT ? ff_inlink_peek_frame(ctx->inputs[index], in->next) : NULL;
}

static void step(QCWaiting *in)
{
    qcr_track_step(&in->track);
    in->cur = in->next;
}

static enum Look find_partner(AVFilterContext *ctx, int index, int64_t pts, qcr_choice *choice)
{
    QualityCudaContext *s = ctx->priv;
    QCWaiting *in = &s->preview.input[index];
    qcr_pairing rules = s->pairing;

    rules.eof_action = QCR_EOF_PASS; /* a repeated picture tells nothing */
    for (;;) {
        const AVFrame *frame;
        enum Look look;

        *choice = qcr_choose(&rules, &in->track, &s->input[0].track.clock, pts);
        if (*choice == QCR_CHOICE_STEP) {
            step(in);
            continue;
        }
        if (*choice != QCR_CHOICE_PULL)
            return LOOK_GOES_ON;
        look = see_next(ctx, index, &frame);
        if (look != LOOK_GOES_ON)
            return look;
        in->track.ended = !frame;
        if (!frame || (frame->pts == AV_NOPTS_VALUE && rules.sync != QCR_SYNC_INDEX))
            continue;
        qcr_track_push(&in->track, frame->pts);
        in->next = in->seen - 1;
    }
}

/** Margins that change are an error, but not this file's. */
static int crops_fit(const QualityCudaContext *s, AVFrame *const *frames)
{
    for (int i = 0; i < s->nb_inputs; i++) {
        const QCInput *in = &s->input[i];

        if (frames[i] && in->is_hw && (frames[i]->crop_left != in->crop_left || frames[i]->crop_top != in->crop_top))
            return 0;
    }
    return 1;
}

/**
 * The look fails. Where the CPU backend may go on with the scoring, or the pictures cannot be watched, that is no more than
 * said. @return AVERROR, or enum Look
 */
static int fail_look(AVFilterContext *ctx, qc_status status, const char *why)
{
    const QualityCudaContext *s = ctx->priv;
    const int may_go_on = ff_qc_is_of_device(status) && s->options.on_error == QC_ON_ERROR_CPU;

    if (s->run.failure || (status != QC_ERROR_UNSUPPORTED && !may_go_on))
        return ff_qc_fail(ctx, ff_qc_error_of_status(status), "align=auto: the first pictures could not be compared: %s", why);
    av_log(ctx, AV_LOG_WARNING, "align=auto: the first pictures could not be compared: %s\n", why);
    return LOOK_IS_OVER;
}

/** The engine sees a pair, and all that it says of it is waited for: what is told depends on the pictures, not on timing. */
static int compare(AVFilterContext *ctx, AVFrame *const *frames)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    qc_error error = { "" };
    qc_status status = QC_OK;
    qc_row row;

    if (!preview->session) {
        const int ret = ff_qc_adopt_crop(ctx, frames);

        if (ret < 0)
            return ret;
        status = ff_qc_open_watch(ctx, &preview->session, &error);
        if (status != QC_OK)
            return fail_look(ctx, status, error.text);
    }
    if (!crops_fit(s, frames))
        return LOOK_IS_OVER;
    status = ff_qc_submit_pictures(ctx, preview->session, frames, NULL, NULL, NULL);
    while (status == QC_OK)
        status = qc_session_receive(preview->session, 1, &row);
    if (status != QC_AGAIN)
        return fail_look(ctx, status, qc_session_error(preview->session));
    return LOOK_GOES_ON;
}

static int all_is_told(const QualityCudaContext *s)
{
    int offset;

    for (int k = 0; k < s->options.renditions; k++)
        if (qc_session_start_offset(s->preview.session, k, &offset) == QC_AGAIN)
            return 0;
    return 1;
}

/** The waiting main frame has its partners, as far as there are any. @return AVERROR, or enum Look */
static int pair_main(AVFilterContext *ctx, AVFrame *main, const qcr_choice *choice)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    AVFrame *frames[QC_MAX_INPUTS] = { main };
    int ret;

    preview->has_main = 0;
    for (int i = 1; i < s->nb_inputs; i++)
        frames[i] = frame_of(ctx, i, choice[i]);
    if (!frames[QC_REFERENCE])
        return choice[QC_REFERENCE] == QCR_CHOICE_ENDED || (preview->pairs && ++preview->gap > QCR_LONGEST_GAP) ? LOOK_IS_OVER :
               LOOK_GOES_ON;
    ret = compare(ctx, frames);
    if (ret != LOOK_GOES_ON)
        return ret;
    preview->last_time = ff_qc_seconds(ctx, 0, main->pts);
    if (!preview->pairs++)
        preview->first_time = preview->last_time;
    preview->gap = 0;
    for (int i = 1; i < s->nb_inputs; i++)
        if (qcr_uses_up(&s->pairing, choice[i]))
            step(&preview->input[i]);
    return all_is_told(s) ? LOOK_IS_OVER : LOOK_GOES_ON;
}

/** @return AVERROR, or enum Look */
static int look_at_pair(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    qcr_choice choice[QC_MAX_INPUTS];
    enum Look look;
    AVFrame *main;
    int waits = 0;

    if (!preview->has_main) {
        const AVFrame *frame;

        look = see_next(ctx, 0, &frame);
        if (look != LOOK_GOES_ON || !frame)
            return frame || look == LOOK_NEEDS_INPUT ? look : LOOK_IS_OVER;
        preview->has_main = frame->pts != AV_NOPTS_VALUE || s->pairing.sync == QCR_SYNC_INDEX;
        if (!preview->has_main)
            return LOOK_GOES_ON;
    }
    main = ff_inlink_peek_frame(ctx->inputs[0], preview->input[0].seen - 1);
    for (int i = 1; i < s->nb_inputs; i++) {
        look = find_partner(ctx, i, main->pts, &choice[i]);
        if (look == LOOK_IS_OVER)
            return look;
        waits |= look == LOOK_NEEDS_INPUT;
    }
    return waits ? LOOK_NEEDS_INPUT : pair_main(ctx, main, choice);
}

/* ---- what was told ---- */

/** From one pair to the next: main frames without a partner may lie between them, where the reference's rate is lower. */
static double seconds_of_pair(const QualityCudaContext *s)
{
    const QCPreview *preview = &s->preview;
    const double rate = s->engine.frame_rate;
    const double measured = (preview->last_time - preview->first_time) / FFMAX(preview->pairs - 1, 1);

    if (s->pairing.sync == QCR_SYNC_INDEX)
        return rate > 0 ? 1 / rate : NAN;
    return rate > 0 ? fmax(round(measured * rate), 1) / rate : measured;
}

static void take_offsets(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const double seconds = seconds_of_pair(s);

    if (!s->preview.session || qc_session_flush(s->preview.session) != QC_OK)
        return;
    for (int k = 0; k < s->options.renditions; k++) {
        qcr_start *start = &s->alignment.start[k];

        start->is_told = qc_session_start_offset(s->preview.session, k, &start->offset) == QC_OK;
        start->seconds = start->is_told ? start->offset * seconds : NAN;
    }
}

/** A clock that is moved lets frames come so many seconds later. */
static void move_clock(qcr_clock *clock, double seconds)
{
    clock->origin -= llrint(seconds * clock->den / clock->num);
}

/** The main video's time is the output's, so the reference is moved unless it is the others' too. */
static void correct_times(QualityCudaContext *s)
{
    const qcr_start *start = s->alignment.start;

    if (s->options.renditions == 1 && start->is_told)
        move_clock(&s->input[QC_REFERENCE].track.clock, start->seconds);
    for (int k = 0; s->options.renditions > 1 && k < s->options.renditions; k++)
        if (start[k].is_told)
            move_clock(&s->input[ff_qc_input_of(k)].track.clock, -start[k].seconds);
}

/** Whoever is ahead begins with a later frame of the reference; whoever is behind leaves out its own first frames. */
static void correct_indices(QualityCudaContext *s)
{
    const int of_main = s->alignment.start[0].offset;
    const int main_waits = FFMAX(of_main, 0);

    s->input[QC_REFERENCE].left_out    = FFMAX(-of_main, 0);
    s->input[QC_REFERENCE].track.delay = main_waits;
    for (int k = 1; k < s->options.renditions; k++) {
        QCInput *in = &s->input[ff_qc_input_of(k)];
        const int first = s->alignment.start[k].offset + s->input[QC_REFERENCE].left_out; /* its frame for the first pair */

        in->left_out    = FFMAX(first, 0);
        in->track.delay = main_waits + FFMAX(-first, 0);
    }
}

static void conclude(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    take_offsets(ctx);
    ff_qc_free_preview(ctx);
    if (s->pairing.sync == QCR_SYNC_INDEX)
        correct_indices(s);
    else
        correct_times(s);
    for (int k = 0; k < s->options.renditions; k++)
        ff_qc_say_start(ctx, k);
}

int ff_qc_look_ahead(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCPreview *preview = &s->preview;
    int ret;

    if (s->options.align != QC_ALIGN_AUTO || preview->is_over)
        return 1;
    if (!preview->input[0].track.clock.den) {
        for (int i = 0; i < s->nb_inputs; i++) {
            preview->input[i].track.clock = s->input[i].track.clock;
            preview->input[i].last_pts    = AV_NOPTS_VALUE;
        }
    }
    ret = leave_surfaces(ctx);
    if (ret >= 0)
        do
            ret = look_at_pair(ctx);
        while (ret == LOOK_GOES_ON);
    if (ret == LOOK_NEEDS_INPUT)
        return 0;
    preview->is_over = 1;
    if (ret == LOOK_IS_OVER)
        conclude(ctx);
    else
        ff_qc_free_preview(ctx);
    return FFMIN(ret, 1);
}

void ff_qc_free_preview(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    qc_session_destroy(s->preview.session);
    s->preview.session = NULL;
}
