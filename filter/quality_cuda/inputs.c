/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/common.h"
#include "libavutil/mathematics.h"
#include "libavutil/pixdesc.h"

#include "formats.h"
#include "state.h"

#define MOST_FILTERS 24 /* that are looked through for where frames come from */

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

/** What is said of the inputs before the first frame; a record has the warnings. */
static void say_of_input(void *opaque, qcr_level level, const char *text)
{
    if (level == QCR_LEVEL_WARNING)
        ff_qc_warn_of_input(opaque, text);
    else
        av_log(opaque, AV_LOG_INFO, "%s\n", text);
}

/** lavfi puts a scaler called auto_scale_N where no common format was left: it decides the score, so say it. */
static void warn_of_conversion(AVFilterContext *ctx, int index)
{
    const AVFilterLink *link = ctx->inputs[index];
    const AVFilterContext *src = link->src;
    const qcr_sink sink = { say_of_input, ctx };

    if (src->name && av_strstart(src->name, "auto_scale", NULL) && src->nb_inputs) {
        const qcr_link_colours from = ff_qc_link_colours(src->inputs[0]), to = ff_qc_link_colours(link);
        qcr_warn_of_conversion(&((QualityCudaContext *)ctx->priv)->names, index, &from, &to, &sink);
    }
}

static int configure_input(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    const AVFilterLink *link = ctx->inputs[index];
    const char *role = ff_qc_role(ctx, index), *name;
    qc_status status;

    in->is_hw     = 0;
    in->sw_format = link->format;
    if (link->format == AV_PIX_FMT_CUDA) {
        int ret = configure_hw_input(ctx, index);
        if (ret < 0)
            return ret;
    }
    name = ff_qc_pix_fmt_name(in->sw_format);
    status = ff_qc_describe_format(in->sw_format, &in->format);
    if (status == QC_ERROR_NO_MEMORY)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    if (status != QC_OK)
        return ff_qc_fail(ctx, AVERROR(ENOSYS), "Input %d (%s) has %sformat %s; accepted: gray, YUV and RGB, of integers of "
                          "8 to 16 bits; put a format filter before it", index, role, in->is_hw ? "CUDA frames of " : "", name);
    in->format.width  = link->w;
    in->format.height = link->h;
    in->aspect        = link->sample_aspect_ratio.num > 0 && link->sample_aspect_ratio.den > 0 ? av_q2d(link->sample_aspect_ratio) : 1;
    warn_of_conversion(ctx, index);
    if (av_pix_fmt_desc_get(in->sw_format)->flags & AV_PIX_FMT_FLAG_ALPHA) {
        char text[256];
        snprintf(text, sizeof(text), "Input %d (%s) has %s frames: alpha is not scored", index, role, name);
        ff_qc_warn_of_input(ctx, text);
    }
    av_log(ctx, AV_LOG_INFO, "%s: input %d (%s), %dx%d %s%s\n", index == QC_REFERENCE ? "reference" : "distorted", index,
           link->src->name ? link->src->name : "?", link->w, link->h, in->is_hw ? "cuda/" : "", name);
    return 0;
}

static qcr_input_promise promise_of(const AVFilterContext *ctx, int index)
{
    const QCInput *in = &((const QualityCudaContext *)ctx->priv)->input[index];
    const AVRational rate = QC_LINK_RATE(ctx->inputs[index]);

    return (qcr_input_promise) { ff_qc_visible_format(in), ff_qc_pix_fmt_name(in->sw_format), rate.num, rate.den, in->aspect };
}

static int check_inputs(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_promise_rules rules = { &s->names, s->geometry.scaling != QC_SCALING_NONE, ff_qc_is_alias(ctx),
                                      s->pairing.sync == QCR_SYNC_INDEX, ff_qc_convert(ctx) != QC_CONVERT_OFF };
    const qcr_input_promise first = promise_of(ctx, 0);
    const qcr_sink sink = { say_of_input, ctx };
    qc_error error;
    int ret = 0;

    for (int i = 1; ret >= 0 && i < s->nb_inputs; i++) {
        const qcr_input_promise own = promise_of(ctx, i);

        ret = ff_qc_result(ctx, qcr_check_input(&rules, i, &own, &first, &sink, &error), error.text);
    }
    return ret;
}

static void release_frame(void *opaque, void *frame)
{
    av_frame_free((AVFrame **)&frame);
}

static qcr_clock clock_of(AVRational time_base)
{
    return (qcr_clock) { time_base.num, time_base.den, 0 };
}

static int make_pairs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const AVRational rate = QC_LINK_RATE(ctx->inputs[0]);
    qcr_pairs_config config = {
        .rules        = s->pairing,
        .renditions   = s->options.renditions,
        .has_weights  = s->options.mask,
        .claimed_rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0,
        .rate_frames  = QC_SCARCE_SURFACES && s->input[0].is_hw ? 3 : QCR_RATE_FRAMES, /* not more than its decoder can spare */
        .sink         = s->sink,
        .release      = release_frame,
    };

    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        config.name[i]  = ff_qc_role(ctx, i);
        config.clock[i] = clock_of(ctx->inputs[i]->time_base);
    }
    if (ff_qc_is_alias(ctx))
        config.common = clock_of(ff_qc_alias_clock(ctx));
    if (qcr_pairs_create(&config, s->counts, &s->pairs) != QC_OK)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    return 0;
}

/** Notes where the frames of a link come from, by way of so many filters. */
static void find_sources(const AVFilterLink *link, int input, int filters, qcr_sources *sources)
{
    const AVFilterContext *src = link->src;
    const AVRational rate = QC_LINK_RATE((AVFilterLink *)link);

    if (!strcmp(src->filter->name, "buffer"))
        qcr_add_source(sources, input, src, &(qcr_source_facts) { src->name, link->w, link->h, ff_qc_pix_fmt_name(link->format),
                                                                  rate.num, rate.den });
    for (unsigned i = 0; filters && i < src->nb_inputs; i++)
        find_sources(src->inputs[i], input, filters - 1, sources);
}

qcr_source_rules ff_qc_source_rules(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return (qcr_source_rules) { &s->names, s->options.mask, s->options.same_file, ff_qc_is_alias(ctx) };
}

static int check_sources(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_source_rules rules = ff_qc_source_rules(ctx);
    const qcr_sink sink = { say_of_input, ctx };
    qc_error error;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        find_sources(ctx->inputs[i], i, MOST_FILTERS, &s->sources);
    return ff_qc_result(ctx, qcr_check_sources(&s->sources, &rules, &sink, &error), error.text);
}

int ff_qc_configure_inputs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    qcr_crop crop[QCR_MAX_VIDEOS];
    qc_error error;
    int ret = check_sources(ctx);

    if (!s->bars && (s->options.crop ? !strcmp(s->options.crop, "auto") : s->options.watch && !ff_qc_is_alias(ctx)) &&
        !(s->bars = qcr_bars_create(s->options.crop != NULL)))
        ret = ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    if (ret >= 0)
        ret = ff_qc_result(ctx, qcr_read_crops(s->options.crop, s->nb_inputs, crop, &error), error.text);
    if (ret < 0)
        return ret;
    for (int i = 0; i < s->nb_inputs; i++) {
        s->input[i].crop = crop[i];
        ret = configure_input(ctx, i);
        if (ret >= 0)
            ret = ff_qc_result(ctx, qcr_check_crop(&s->names, i, &crop[i], &s->input[i].format, &error), error.text);
        if (ret < 0)
            return ret;
    }
    ret = qcr_bars_awaits(s->bars) ? 0 : check_inputs(ctx);
    if (ret >= 0)
        ret = make_pairs(ctx);
    return ret < 0 ? ret : ff_qc_record_inputs(ctx);
}

/** Shows what looks for bars a picture, in memory. @return AVERROR */
static int see_picture(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    const QualityCudaContext *s = ctx->priv;
    AVFrame *seen = av_frame_alloc();
    qc_error error = { "out of memory" };
    int ret = !seen ? AVERROR(ENOMEM) : s->input[index].is_hw ? av_hwframe_transfer_data(seen, frame, 0) : av_frame_ref(seen, frame);

    if (ret < 0 && !qcr_bars_awaits(s->bars))
        ret = 0; /* what is only told of is no reason to fail */
    else if (ret < 0)
        ff_qc_fail(ctx, ret, "crop=auto: a picture of input %d (%s) could not be looked at", index, ff_qc_role(ctx, index));
    else
        ret = ff_qc_result(ctx, qcr_bars_see(s->bars, index, &s->input[index].format, seen->data[0], seen->linesize[0], &error),
                           error.text);
    av_frame_free(&seen);
    return ret;
}

int ff_qc_look_for_bars(AVFilterContext *ctx, uint32_t *needs)
{
    QualityCudaContext *s = ctx->priv;
    const size_t pictures = qcr_bars_awaits(s->bars);
    qcr_crop crop[QCR_MAX_VIDEOS] = { { 0 } };
    AVFrame *frame;
    int ret = 0;

    *needs = 0;
    for (int i = 0; i < s->nb_inputs; i++)
        if (ff_inlink_queued_frames(ctx->inputs[i]) < pictures && !ff_outlink_get_status(ctx->inputs[i]))
            *needs |= 1u << i;
    if (!pictures || *needs)
        return !*needs;
    for (int i = 0; i < s->nb_inputs; i++)
        for (size_t n = 0; ret >= 0 && n < FFMIN(ff_inlink_queued_frames(ctx->inputs[i]), pictures); n++)
            if (ff_qc_keeps_promise(ctx, i, frame = ff_inlink_peek_frame(ctx->inputs[i], n)))
                ret = see_picture(ctx, i, frame);
    if (ret >= 0 && qcr_bars_decide(s->bars, &s->names, crop, &s->sink) != QC_OK)
        ret = ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    for (int i = 0; i < s->nb_inputs; i++)
        s->input[i].crop = crop[i];
    ret = ret < 0 ? ret : check_inputs(ctx);
    return ret < 0 ? ret : 1;
}

int ff_qc_watch_for_bars(AVFilterContext *ctx, AVFrame *const *frames)
{
    const QualityCudaContext *s = ctx->priv;
    int ret = 0;

    if (qcr_bars_wants_pair(s->bars, s->nb_inputs))
        for (int i = 0; ret >= 0 && i < s->nb_inputs; i++)
            ret = frames[i] ? see_picture(ctx, i, frames[i]) : 0;
    return ret;
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

    format.width  = in->crop.width  ? in->crop.width  : format.width  - (int)in->crop_left;
    format.height = in->crop.height ? in->crop.height : format.height - (int)in->crop_top;
    return format;
}

qcr_scored ff_qc_scored(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const qc_format distorted = ff_qc_visible_format(&s->input[0]), reference = ff_qc_visible_format(&s->input[QC_REFERENCE]);

    return qcr_sizes_scored(&s->geometry, &distorted, &reference);
}

/* ---- what frames are ---- */

/** A frame that does not fit: a further rendition ends with it, and takes nobody along. @return AVERROR, 0: it has ended */
static int refuse_frame(AVFilterContext *ctx, int index, const char *why)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];

    if (index <= QC_REFERENCE)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "%s", why);
    qcr_say_no_further(why, &s->sink);
    av_strlcpy(in->refusal, why, sizeof(in->refusal));
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

int ff_qc_check_frame(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    QualityCudaContext *s = ctx->priv;
    const QCInput *in = &s->input[index];
    const AVFilterLink *link = ctx->inputs[index];
    const AVHWFramesContext *frames = frames_context(in, frame);
    const qcr_shape from = { link->w, link->h, ff_qc_pix_fmt_name(in->sw_format) };
    const qcr_shape to = { frame->width, frame->height, ff_qc_pix_fmt_name(frames ? frames->sw_format : frame->format) };
    char why[sizeof(in->refusal)];

    if (ff_qc_keeps_promise(ctx, index, frame))
        return 1;
    if (is_elsewhere(in, frames))
        snprintf(why, sizeof(why), "Input %d (%s) changed its CUDA context at %s s", index, ff_qc_role(ctx, index),
                 QC_SECONDS(ctx, index, frame->pts));
    else
        qcr_tell_change(&s->names, index, &from, &to, ff_qc_seconds(ctx, index, frame->pts), why);
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
                                "surface", index, ff_qc_role(ctx, index), QC_SECONDS(ctx, index, frame->pts)) : 0;
}

/* ---- masks ---- */

int ff_qc_has_weights(const AVFilterContext *ctx)
{
    return ((const QualityCudaContext *)ctx->priv)->options.mask;
}

/** The pad comes behind those of the videos. */
static int weights_index(const AVFilterContext *ctx)
{
    return ((const QualityCudaContext *)ctx->priv)->nb_inputs;
}

int ff_qc_append_weights_pad(AVFilterContext *ctx)
{
    AVFilterPad pad = { .name = "mask", .type = AVMEDIA_TYPE_VIDEO };

    return ff_qc_has_weights(ctx) ? ff_append_inpad(ctx, &pad) : 0;
}

/** @return AVERROR if that is not the size of what is scored */
static int check_weights_size(AVFilterContext *ctx, int width, int height)
{
    const qcr_size scored = ff_qc_scored(ctx).part;

    if (width == scored.width && height == scored.height)
        return 0;
    return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (mask) is %dx%d, but %dx%d is scored, and the mask has to have that size: "
                      "put scale=%d:%d before it", weights_index(ctx), width, height, scored.width, scored.height, scored.width,
                      scored.height);
}

int ff_qc_configure_weights(AVFilterContext *ctx)
{
    const AVFilterLink *link = ff_qc_has_weights(ctx) ? ctx->inputs[weights_index(ctx)] : NULL;

    return link ? check_weights_size(ctx, link->w, link->h) : 0;
}

/** Offers the next mask, or tells the end of them. @return 1 if there was either, 0, or AVERROR */
static int offer_weights(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const int index = weights_index(ctx);
    qcr_offer offer = { .input = index };
    AVFrame *frame = NULL;
    int64_t pts;
    int status, ret = ff_inlink_consume_frame(ctx->inputs[index], &frame);

    if (ret < 0)
        return ff_qc_fail(ctx, ret, "Input %d (mask) could not be read", index);
    if (frame) {
        offer.frame = frame;
        offer.pts   = frame->pts;
        ret = check_weights_size(ctx, frame->width, frame->height);
        qcr_pairs_offer(s->pairs, &offer);
        return ret < 0 ? ret : 1;
    }
    if (!ff_inlink_acknowledge_status(ctx->inputs[index], &status, &pts))
        return 0;
    qcr_pairs_end(s->pairs, index, ff_qc_now());
    if (!qcr_pairs_input(s->pairs, index).received)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (mask) ended without a frame: one is the least", index);
    return 1;
}

int ff_qc_offer_weights(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    int ret = 1;

    while (ff_qc_has_weights(ctx) && ret > 0 && qcr_pairs_needs(s->pairs, weights_index(ctx)))
        ret = offer_weights(ctx);
    return FFMIN(ret, 0);
}

void ff_qc_drop_weights(AVFilterContext *ctx)
{
    AVFrame *nobodys = NULL;

    while (ff_qc_has_weights(ctx) && ff_inlink_consume_frame(ctx->inputs[weights_index(ctx)], &nobodys) > 0)
        av_frame_free(&nobodys);
}
