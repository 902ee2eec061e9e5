/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The inputs: links, frames, partners; see inputs.h. Depends on formats,
 * outputs, pairing and state.
 */

#include "compat.h"

#include <math.h>
#include <stdio.h>

#include "libavutil/avstring.h"
#include "libavutil/common.h"
#include "libavutil/mathematics.h"
#include "libavutil/pixdesc.h"

#include "arrivals.h"
#include "epochs.h"
#include "formats.h"
#include "outputs.h"
#include "record.h"
#include "state.h"

/** So many frames more are read behind the main input's end, to learn whether an input goes on. */
#define LONGEST_TAIL 100

int ff_qc_append_rendition_pads(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 1; i < s->options.renditions; i++) {
        AVFilterPad pad = { .type = AVMEDIA_TYPE_VIDEO, .name = av_asprintf("main%d", i) };
        int ret;

        if (!pad.name)
            return AVERROR(ENOMEM);
        ret = ff_append_inpad_free_name(ctx, &pad);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* ---- what the links say ---- */

static int configure_hw_input(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    AVBufferRef *ref = QC_LINK_HWFRAMES(ctx->inputs[index]);
    const AVHWFramesContext *frames;

    if (!ref)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (%s) has CUDA frames without a frames context", index,
                          ff_qc_role(ctx, index));
    frames = (const AVHWFramesContext *)ref->data;
    in->is_hw        = 1;
    in->sw_format    = frames->sw_format;
    in->cuda_context = QC_CUDA_CONTEXT(frames->device_ctx);
    if (s->engine.device_ref) {
        const AVHWDeviceContext *device = (const AVHWDeviceContext *)s->engine.device_ref->data;
        if (QC_CUDA_CONTEXT(device) != in->cuda_context)
            return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (%s) uses another CUDA context than the inputs before it; use "
                              "-init_hw_device cuda=cu:0 -hwaccel_device cu before both inputs, or drop -hwaccel_device",
                              index, ff_qc_role(ctx, index));
        return 0;
    }
    s->engine.device_ref = av_buffer_ref(frames->device_ref);
    return s->engine.device_ref ? 0 : AVERROR(ENOMEM);
}

/** lavfi puts a scaler called auto_scale_N where no common format was left: it decides the score, so say it. */
static void warn_of_conversion(AVFilterContext *ctx, int index)
{
    const AVFilterLink *link = ctx->inputs[index];
    const AVFilterContext *src = link->src;

    if (src->name && av_strstart(src->name, "auto_scale", NULL) && src->nb_inputs)
        av_log(ctx, AV_LOG_WARNING, "Input %d (%s) was converted by lavfi from %s to %s; add an explicit format or scale "
               "filter to choose the conversion\n", index, ff_qc_role(ctx, index),
               ff_qc_pix_fmt_name(src->inputs[0]->format), ff_qc_pix_fmt_name(link->format));
}

static int configure_input(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const AVFilterLink *link = ctx->inputs[index];
    const char *role = ff_qc_role(ctx, index), *name;

    in->is_hw     = 0;
    in->sw_format = link->format;
    if (link->format == AV_PIX_FMT_CUDA) {
        int ret = configure_hw_input(ctx, index);
        if (ret < 0)
            return ret;
    }
    name = ff_qc_pix_fmt_name(in->sw_format);
    if (!ff_qc_describe_format(in->sw_format, &in->format))
        return ff_qc_fail(ctx, AVERROR(ENOSYS), "Input %d (%s) has %sformat %s; accepted: planar or semi-planar YUV 4:2:0, "
                          "4:2:2 and 4:4:4, gray, and RGB, with 8, 10, 12 or 16 bits; put a format filter before it", index,
                          role, in->is_hw ? "CUDA frames of " : "", name);
    in->format.width    = link->w;
    in->format.height   = link->h;
    in->track.clock.num = link->time_base.num;
    in->track.clock.den = link->time_base.den;
    warn_of_conversion(ctx, index);
    if (av_pix_fmt_desc_get(in->sw_format)->flags & AV_PIX_FMT_FLAG_ALPHA)
        ff_qc_warn_of_input(ctx, "Input %d (%s) has %s frames: alpha is not scored", index, role, name);
    av_log(ctx, AV_LOG_INFO, "%s: input %d (%s), %dx%d %s%s\n", index == QC_REFERENCE ? "reference" : "distorted", index,
           link->src->name ? link->src->name : "?", link->w, link->h, in->is_hw ? "cuda/" : "", name);
    return 0;
}

static int check_geometry(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *main = &s->input[0], *in = &s->input[index];
    const qc_format *format = &in->format, *main_format = &main->format;
    const char *role = ff_qc_role(ctx, index), *name = ff_qc_pix_fmt_name(in->sw_format);

    if ((format->width != main_format->width || format->height != main_format->height) && s->scaling.kernel == QC_SCALING_NONE)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (%s) is %dx%d, main is %dx%d; scale first, e.g. "
                          "[0:v]scale=%d:%d:flags=bicubic[d];[d][%d:v]quality_cuda "
                          "(GPU: scale_cuda=%d:%d:interp_algo=bicubic)%s",
                          index, role, format->width, format->height, main_format->width, main_format->height,
                          format->width, format->height, index, format->width, format->height,
                          ff_qc_is_alias(ctx) ? "" : ", or have it scaled here: quality_cuda=scale=bicubic");
    if (format->rgb != main_format->rgb)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (%s) is %s (%s), main is %s (%s); convert one of them first, e.g. "
                          "with [0:v]format=%s[d];[d][%d:v]quality_cuda", index, role, name, ff_qc_components_of(format),
                          ff_qc_pix_fmt_name(main->sw_format), ff_qc_components_of(main_format), name, index);
    return 0;
}

static int is_a_rate(AVRational rate)
{
    return rate.num > 0 && rate.den > 0 && av_q2d(rate) <= QCR_HIGHEST_RATE;
}

/** What is measured stays as it is: where chroma is to be compared, the reference is what should be converted. */
static void report_chroma(AVFilterContext *ctx, int index)
{
    const QualityCudaContext *s = ctx->priv;
    const QCInput *main = &s->input[0], *in = &s->input[index];
    char advice[128] = "";

    if (index == QC_REFERENCE)
        snprintf(advice, sizeof(advice), "; for chroma convert the reference first, e.g. [1:v]format=%s[r];[0:v][r]quality_cuda",
                 ff_qc_format_with_chroma(&in->format, main->format.chroma));
    av_log(ctx, AV_LOG_INFO, "Input %d (%s) is %s (%s), main is %s (%s): only luma can be compared%s\n", index,
           ff_qc_role(ctx, index), ff_qc_pix_fmt_name(in->sw_format), ff_qc_components_of(&in->format),
           ff_qc_pix_fmt_name(main->sw_format), ff_qc_components_of(&main->format), advice);
}

static void report_differences(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *main = &s->input[0], *in = &s->input[index];
    const AVRational rate = QC_LINK_RATE(ctx->inputs[index]), main_rate = QC_LINK_RATE(ctx->inputs[0]);

    if (in->format.chroma != main->format.chroma)
        report_chroma(ctx, index);
    if (in->format.depth != main->format.depth)
        av_log(ctx, AV_LOG_INFO, "Input %d (%s) has %d bits, main has %d: both are scored at %d bits, the smaller samples "
               "shifted left\n", index, ff_qc_role(ctx, index), in->format.depth, main->format.depth,
               FFMAX(in->format.depth, main->format.depth));
    if (s->pairing.sync != QCR_SYNC_INDEX && is_a_rate(rate) && is_a_rate(main_rate) && av_cmp_q(rate, main_rate))
        ff_qc_warn_of_input(ctx, "Input %d (%s) has %d/%d frames per second, main has %d/%d: frames are paired by time, the "
                            "counts follow at the end", index, ff_qc_role(ctx, index), rate.num, rate.den, main_rate.num, main_rate.den);
}

/**
 * What follows from the frame rate. One that was measured is of the first frames only: it makes the tolerance of pairs
 * smaller than that of an unknown rate, never larger.
 */
static void adopt_rate(QualityCudaContext *s, double rate)
{
    s->engine.frame_rate = rate;
    s->pairing.tolerance = qcr_tolerance(s->options.max_dt, rate);
    if (rate != s->input[0].claimed_rate)
        s->pairing.tolerance = FFMIN(s->pairing.tolerance, qcr_tolerance(s->options.max_dt, 0));
}

int ff_qc_configure_inputs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const AVRational rate = QC_LINK_RATE(ctx->inputs[0]);
    int ret;

    if (ff_qc_is_alias(ctx))
        ff_qc_choose_alias_clock(ctx);
    for (int i = 0; i < s->nb_inputs; i++) {
        ret = configure_input(ctx, i);
        if (ret < 0)
            return ret;
    }
    for (int i = 1; i < s->nb_inputs; i++) {
        ret = check_geometry(ctx, i);
        if (ret < 0)
            return ret;
        report_differences(ctx, i);
    }
    s->input[0].claimed_rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
    adopt_rate(s, qcr_plausible_rate(s->input[0].claimed_rate, NULL, 0, &s->input[0].track.clock));
    return 0;
}

/** So many of the main input's first frames are waited for: not more than its decoder can spare surfaces for. */
static int rate_frames(const QualityCudaContext *s)
{
    return QC_SCARCE_SURFACES && s->input[0].is_hw ? 3 : QCR_RATE_FRAMES;
}

/** The main input's first frames wait in its queue: nobody has to hold them. @return how many stamps were read */
static int peek_stamps(AVFilterContext *ctx, int64_t *pts)
{
    const int count = FFMIN(ff_inlink_queued_frames(ctx->inputs[0]), rate_frames(ctx->priv));

    for (int i = 0; i < count; i++)
        pts[i] = ff_inlink_peek_frame(ctx->inputs[0], i)->pts;
    return count;
}

int ff_qc_settle_rate(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const double claimed = s->input[0].claimed_rate;
    int64_t pts[QCR_RATE_FRAMES];
    int count;
    double rate;

    if (s->run.rate_settled)
        return 1;
    if (s->options.rate >= 0) {
        s->run.rate_settled  = 1;
        s->engine.frame_rate = s->options.rate;
        s->pairing.tolerance = qcr_tolerance(s->options.max_dt, s->options.rate);
        return 1;
    }
    count = s->pairing.sync == QCR_SYNC_INDEX ? 0 : peek_stamps(ctx, pts);
    if (claimed > 0 && s->pairing.sync != QCR_SYNC_INDEX && count < rate_frames(s) && !ff_outlink_get_status(ctx->inputs[0])) {
        s->input[0].wanted = 1;
        return 0;
    }
    s->run.rate_settled = 1;
    rate = qcr_plausible_rate(claimed, pts, count, &s->input[0].track.clock);
    adopt_rate(s, rate);
    if (rate != claimed && !qcr_is_lavfi(&s->pairing)) /* which has no use for it */
        av_log(ctx, AV_LOG_WARNING, "Input 0 (%s) claims %s frames per second, which %s: %s%s is taken; pairs may be %s s "
               "apart (max_dt)\n", ff_qc_role(ctx, 0), QC_BRIEF_NUMBER(claimed),
               rate > 0 ? "the time stamps of its first frames refute" : "no video has", rate > 0 ? "" : "an unknown rate, ",
               QC_BRIEF_NUMBER(rate), QC_NUMBER(6, s->pairing.tolerance));
    return 1;
}

int ff_qc_any_hw_input(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++)
        if (s->input[i].is_hw)
            return 1;
    return 0;
}

qc_format ff_qc_visible_format(const QCInput *in)
{
    qc_format format = in->format;

    format.width  -= in->crop_left;
    format.height -= in->crop_top;
    return format;
}

/* ---- frames come in ---- */

/** A frame that does not fit: a further rendition ends with it, and takes nobody along. @return AVERROR, 0: it has ended */
static int refuse_frame(AVFilterContext *ctx, int index, const char *why)
{
    QCInput *in = &((QualityCudaContext *)ctx->priv)->input[index];

    if (index <= QC_REFERENCE)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "%s", why);
    av_log(ctx, AV_LOG_ERROR, "%s; this rendition is scored no further, the others go on\n", why);
    av_strlcpy(in->refusal, why, sizeof(in->refusal));
    in->track.ended = 1;
    ff_inlink_set_status(ctx->inputs[index], AVERROR_EOF);
    return 0;
}

/** Of a hardware frame; NULL for others. */
static const AVHWFramesContext *frames_context(const QCInput *in, const AVFrame *frame)
{
    const int is_cuda = in->is_hw && frame->format == AV_PIX_FMT_CUDA && frame->hw_frames_ctx;

    return is_cuda ? (const AVHWFramesContext *)frame->hw_frames_ctx->data : NULL;
}

static int is_elsewhere(const QCInput *in, const AVHWFramesContext *frames)
{
    return frames && QC_CUDA_CONTEXT(frames->device_ctx) != in->cuda_context;
}

int ff_qc_keeps_promise(const AVFilterContext *ctx, int index, const AVFrame *frame)
{
    const QCInput *in = &((const QualityCudaContext *)ctx->priv)->input[index];
    const AVFilterLink *link = ctx->inputs[index];
    const AVHWFramesContext *frames = frames_context(in, frame);
    const enum AVPixelFormat format = frames ? frames->sw_format : frame->format;

    return frame->width == link->w && frame->height == link->h && frame->format == link->format && format == in->sw_format &&
           !is_elsewhere(in, frames);
}

/** @return 1 if the frame is what its link promises, 0, or AVERROR */
static int check_frame(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[index];
    const AVFilterLink *link = ctx->inputs[index];
    const AVHWFramesContext *frames = frames_context(in, frame);
    const char *expected = ff_qc_pix_fmt_name(in->sw_format);
    char why[sizeof(in->refusal)];

    if (ff_qc_keeps_promise(ctx, index, frame))
        return 1;
    if (is_elsewhere(in, frames)) {
        snprintf(why, sizeof(why), "Input %d (%s) changed its CUDA context at %s s", index, ff_qc_role(ctx, index),
                 QC_NUMBER(3, ff_qc_seconds(ctx, index, frame->pts)));
        return refuse_frame(ctx, index, why);
    }
    snprintf(why, sizeof(why), "Input %d (%s) changed from %dx%d %s to %dx%d %s at %s s; to score such a stream "
             "put -reinit_filter 0 before the input and scale=%d:%d,format=%s before quality_cuda", index,
             ff_qc_role(ctx, index), link->w, link->h, expected, frame->width, frame->height,
             ff_qc_pix_fmt_name(frames ? frames->sw_format : frame->format),
             QC_NUMBER(3, ff_qc_seconds(ctx, index, frame->pts)), link->w, link->h, expected);
    return refuse_frame(ctx, index, why);
}

int ff_qc_leave_surface(AVFilterContext *ctx, int index, AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    const int height = frame->height;
    int ret;

    if (!s->input[index].is_hw)
        return 0;
    /* Halved and rounded down it would lose the last chroma row of an odd height; surfaces have an even one. */
    frame->height = FFALIGN(height, 2);
    ret = av_frame_make_writable(frame);
    frame->height = height;
    return ret < 0 ? ff_qc_fail(ctx, ret, "Input %d (%s): the frame at %s s could not be copied out of its decoder's "
                                "surface", index, ff_qc_role(ctx, index), QC_NUMBER(3, ff_qc_seconds(ctx, index, frame->pts))) : 0;
}

int ff_qc_pull(AVFilterContext *ctx, int index, AVFrame **frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    int ret;

    *frame = NULL;
    if (in->track.ended)
        return 0;
    ret = ff_qc_consume(ctx, index, frame);
    if (ret < 0)
        return ff_qc_fail(ctx, ret, "Input %d (%s) could not be read", index, ff_qc_role(ctx, index));
    if (!ret)
        return 0;
    in->received++;
    if (in->first_pts == AV_NOPTS_VALUE && (*frame)->pts != AV_NOPTS_VALUE) {
        in->first_pts = (*frame)->pts;
        if (s->options.align == QC_ALIGN_START)
            in->track.clock.origin = in->first_pts;
    }
    ret = check_frame(ctx, index, *frame);
    if (ret > 0)
        return QC_SCARCE_SURFACES ? ff_qc_leave_surface(ctx, index, *frame) : 0;
    if (!ret)
        av_frame_free(frame);
    return ret;
}

void ff_qc_pull_unpaired(AVFilterContext *ctx, AVFrame **frame)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 1; i < s->nb_inputs; i++) {
        AVFrame *nobodys;

        while ((nobodys = ff_qc_take_frame(ctx, i))) {
            av_frame_free(&nobodys);
            s->input[i].track.unused++;
        }
    }
    *frame = ff_qc_take_frame(ctx, 0);
}

/* ---- partners ---- */

/** Gives the track its next frame or its end. @return AVERROR, 0 if the input has to deliver one first, 1 if it did */
static int push_next(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    int ret = ff_qc_pull(ctx, index, &in->next);

    if (ret < 0) {
        in->track.unused += in->next != NULL; /* it was refused */
        return ret;
    }
    if (!in->next)
        return in->track.ended;
    if (in->left_out) {
        in->left_out--;
        in->track.unused++;
        av_frame_free(&in->next);
        return 1;
    }
    in->next_epoch = in->epoch;
    if ((in->next->pts != AV_NOPTS_VALUE && !in->is_outlier) || s->pairing.sync == QCR_SYNC_INDEX || qcr_is_lavfi(&s->pairing)) {
        qcr_track_push(&in->track, ff_qc_stamp(ctx, index, in->next));
        return 1;
    }
    if (!in->track.unused++ && !in->is_outlier)
        av_log(ctx, AV_LOG_WARNING, "Input %d (%s) has frames without time stamps, they are not used; "
               "sync=index pairs by number\n", index, ff_qc_role(ctx, index));
    av_frame_free(&in->next);
    return 1;
}

int64_t ff_qc_stamp(const AVFilterContext *ctx, int index, const AVFrame *frame)
{
    const QualityCudaContext *s = ctx->priv;

    if (frame->pts == AV_NOPTS_VALUE || !qcr_is_lavfi(&s->pairing))
        return frame->pts;
    return av_rescale_q(frame->pts, ctx->inputs[index]->time_base, s->alias.clock);
}

int ff_qc_repeat_main(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_track *track = &s->input[QC_REFERENCE].track;
    int ret = 1;

    if (!s->main.last)
        return 1;
    while (ret > 0 && !track->next.held && !track->ended)
        ret = push_next(ctx, QC_REFERENCE);
    if (ret <= 0 || !qcr_outlasts_main(&s->pairing, track, s->main.stamp))
        return ret;
    s->main.frame = av_frame_clone(s->main.last);
    if (!s->main.frame)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    s->main.stamp      = track->next.pts;
    s->main.frame->pts = track->next.pts == QCR_NO_PTS ? AV_NOPTS_VALUE :
                         av_rescale_q(track->next.pts, s->alias.clock, ctx->inputs[0]->time_base);
    s->input[0].eof_pts = FFMAX(s->input[0].eof_pts, s->main.frame->pts);
    return 1;
}

void ff_qc_step_input(QCInput *in)
{
    qcr_track_step(&in->track);
    av_frame_free(&in->cur);
    in->cur       = in->next;
    in->next      = NULL;
    in->cur_epoch = in->next_epoch;
}

int ff_qc_find_partner(AVFilterContext *ctx, int index, QCPair *pair)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];

    for (;;) {
        const qcr_choice choice = ff_qc_choose_in_epoch(ctx, index);

        if (choice == QCR_CHOICE_PULL) {
            const int ret = push_next(ctx, index);
            if (ret <= 0)
                return ret;
        } else if (choice == QCR_CHOICE_STEP) {
            ff_qc_step_input(in);
        } else {
            pair->choice[index] = choice;
            pair->frame[index]  = choice == QCR_CHOICE_CUR ? in->cur : choice == QCR_CHOICE_NEXT ? in->next : NULL;
            return 1;
        }
    }
}

double ff_qc_partner_distance(const AVFilterContext *ctx, int index, const AVFrame *partner)
{
    const QualityCudaContext *s = ctx->priv;

    return qcr_distance(&s->input[index].track.clock, partner->pts, &s->input[0].track.clock, s->main.frame->pts);
}

void ff_qc_warn_of_start(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const double main_start = ff_qc_seconds(ctx, 0, s->input[0].first_pts);
    const double ref_start  = ff_qc_seconds(ctx, QC_REFERENCE, s->input[QC_REFERENCE].first_pts);

    if (s->run.start_checked || isnan(main_start) || isnan(ref_start))
        return;
    s->run.start_checked = 1;
    if (s->pairing.sync != QCR_SYNC_INDEX && !qcr_is_lavfi(&s->pairing) && s->options.align != QC_ALIGN_START &&
        !s->alignment.start[0].is_told && fabs(main_start - ref_start) > s->pairing.tolerance)
        av_log(ctx, AV_LOG_WARNING, "main begins at %s s, the reference at %s s; if both show the same picture then, use "
               "align=start\n", QC_NUMBER(6, main_start), QC_NUMBER(6, ref_start));
}

/** Whether a frame that no pair used comes when the main input's last one is over, whose rate may be lower. */
static int is_behind(const AVFilterContext *ctx, int index, int64_t pts)
{
    const QualityCudaContext *s = ctx->priv;
    const QCInput *main = &s->input[0];
    double frame = 0;

    if (s->pairing.sync == QCR_SYNC_INDEX)
        return 1;
    if (pts == AV_NOPTS_VALUE || main->first_pts == AV_NOPTS_VALUE || main->last_pts == AV_NOPTS_VALUE)
        return 0;
    if (main->received > 1)
        frame = (ff_qc_seconds(ctx, 0, main->last_pts) - ff_qc_seconds(ctx, 0, main->first_pts)) / (main->received - 1);
    return qcr_distance(&s->input[index].track.clock, pts, &main->track.clock, main->last_pts) >
           FFMAX(s->pairing.tolerance, frame - s->pairing.tolerance) + 1e-6;
}

/** Reads on in one input. @return 0 if it has to deliver first */
static int read_tail(AVFilterContext *ctx, int index)
{
    QCInput *in = &((QualityCudaContext *)ctx->priv)->input[index];
    AVFrame *frame;

    for (; !in->track.ended && in->tail < LONGEST_TAIL; in->tail++) {
        frame = ff_qc_take_frame(ctx, index);
        if (!frame)
            return in->track.ended;
        in->behind += is_behind(ctx, index, frame->pts);
        av_frame_free(&frame);
        in->track.unused++;
    }
    return 1;
}

int ff_qc_read_tails(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    int finished = 1;

    for (int i = 1; i < s->nb_inputs; i++)
        finished &= read_tail(ctx, i);
    return finished;
}

void ff_qc_want_nothing(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++)
        s->input[i].wanted = 0;
    s->mask.wanted = 0;
}

int ff_qc_request_if_awaited(AVFilterContext *ctx)
{
    return ff_qc_is_awaited(ctx) ? ff_qc_request_inputs(ctx) : FFERROR_NOT_READY;
}

void ff_qc_count_leftovers(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int k = 0; k < s->options.renditions; k++)
        s->counts[k].unused = qcr_track_unused(&s->input[k + 1].track);
}

void ff_qc_free_inputs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < QC_MAX_INPUTS; i++) {
        av_frame_free(&s->input[i].cur);
        av_frame_free(&s->input[i].next);
    }
}
