/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include <string.h>

#include "libavutil/imgutils.h"

#include "libavfilter/video.h"

#include "formats.h"
#include "state.h"

int ff_qc_has_map(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return s->options.maps && s->options.maps[0];
}

static AVFilterLink *link_of_map(const AVFilterContext *ctx)
{
    return ctx->outputs[QC_OUTPUT_MAP];
}

static int is_heat(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return s->options.map_format == QC_MAP_COLOURS_HEAT;
}

/* ---- before the first frame ---- */

int ff_qc_append_map_pad(AVFilterContext *ctx, int (*configure)(AVFilterLink *link))
{
    AVFilterPad pad = { .name = "map", .type = AVMEDIA_TYPE_VIDEO, .config_props = configure };

    return ff_qc_has_map(ctx) ? ff_append_outpad(ctx, &pad) : 0;
}

static enum AVPixelFormat format_in_memory(const AVFilterContext *ctx)
{
    return is_heat(ctx) ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_GRAY8;
}

/* Gray is of full range and colours of limited; a consumer that wants the other has it converted. */
int ff_qc_offer_map_formats(AVFilterContext *ctx)
{
    const int formats[] = {
        format_in_memory(ctx),
#if CONFIG_CUDA
        AV_PIX_FMT_CUDA,
#endif
        AV_PIX_FMT_NONE
    };

    if (!ff_qc_has_map(ctx))
        return 0;
    return ff_qc_offer_one_range(&link_of_map(ctx)->incfg, formats, is_heat(ctx) ? AVCOL_RANGE_MPEG : AVCOL_RANGE_JPEG);
}

/** As the distorted input's, where its frames are of the GPU: overlay_cuda takes no two layouts. */
static enum AVPixelFormat format_on_gpu(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    return s->input[0].is_hw && s->input[0].sw_format == AV_PIX_FMT_YUV420P ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_NV12;
}

static int make_frames_context(AVFilterLink *link)
{
    AVFilterContext *ctx = link->src;
    QualityCudaContext *s = ctx->priv;
    AVHWFramesContext *frames;
    AVBufferRef *ref;
    int ret;

    if (!ff_qc_any_hw_input(ctx))
        return ff_qc_fail(ctx, AVERROR(EINVAL), "maps=%s: the filter behind the pad map takes CUDA frames only, but all inputs lie "
                          "in memory: put hwupload_cuda between them", s->options.maps);
    ref = av_hwframe_ctx_alloc(s->engine.device_ref);
    if (!ref)
        return AVERROR(ENOMEM);
    frames = (AVHWFramesContext *)ref->data;
    frames->format    = AV_PIX_FMT_CUDA;
    frames->sw_format = format_on_gpu(ctx);
    frames->width     = link->w;
    frames->height    = link->h;
    ret = av_hwframe_ctx_init(ref);
    if (ret < 0) {
        av_buffer_unref(&ref);
        return ff_qc_fail(ctx, ret, "maps=%s: no frames on the GPU: %s", s->options.maps, av_err2str(ret));
    }
    av_buffer_unref(&QC_LINK_HWFRAMES(link));
    QC_LINK_HWFRAMES(link) = ref;
    return 0;
}

static AVRational map_aspect(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const AVRational unknown = { 0, 1 };

    if (s->geometry.scaling == QC_SCALING_NONE || s->geometry.size == QCR_SIZE_OF_DISTORTED)
        return ctx->inputs[0]->sample_aspect_ratio;
    return s->geometry.size == QCR_SIZE_OF_REFERENCE ? ctx->inputs[QC_REFERENCE]->sample_aspect_ratio : unknown;
}

int ff_qc_configure_map_link(AVFilterLink *link)
{
    AVFilterContext *ctx = link->src;
    AVFilterLink *distorted = ctx->inputs[0];
    const qcr_size size = ff_qc_scored(ctx).part;

    link->w                   = size.width;
    link->h                   = size.height;
    link->time_base           = distorted->time_base;
    link->sample_aspect_ratio = map_aspect(ctx);
    QC_LINK_RATE(link)        = QC_LINK_RATE(distorted);
    return link->format == AV_PIX_FMT_CUDA ? make_frames_context(link) : 0;
}

static enum AVPixelFormat layout_format(const AVFilterContext *ctx)
{
    AVFilterLink *link = link_of_map(ctx);

    return link->format == AV_PIX_FMT_CUDA ? format_on_gpu(ctx) : link->format;
}

void ff_qc_configure_map(const AVFilterContext *ctx, qc_config *config)
{
    const QualityCudaContext *s = ctx->priv;
    enum AVPixelFormat format = format_in_memory(ctx);

    if (!ff_qc_has_map(ctx))
        return;
    if (ctx->nb_outputs > QC_OUTPUT_MAP && link_of_map(ctx) && link_of_map(ctx)->format != AV_PIX_FMT_NONE)
        format = layout_format(ctx);
    config->maps          = s->options.maps;
    config->map_rendition = s->options.map_rendition;
    config->map_colours   = s->options.map_format;
    config->map_white     = s->options.map_white;
    config->map_layout    = format == AV_PIX_FMT_GRAY8 ? QC_MAP_LAYOUT_GRAY :
                            format == AV_PIX_FMT_NV12  ? QC_MAP_LAYOUT_NV12 : QC_MAP_LAYOUT_YUV420P;
    if (ctx->nb_outputs > QC_OUTPUT_MAP && link_of_map(ctx) && link_of_map(ctx)->format == AV_PIX_FMT_CUDA)
        config->map_memory = QC_MEMORY_CUDA;
}

/* ---- frames ---- */

/** A frame of the link, or, where that has frames of the GPU, one that it can be filled from. */
static AVFrame *new_frame(AVFilterLink *link, int in_memory)
{
    AVFrame *frame;

    if (!in_memory || link->format != AV_PIX_FMT_CUDA)
        return ff_get_video_buffer(link, link->w, link->h);
    frame = av_frame_alloc();
    if (!frame)
        return NULL;
    frame->format = layout_format(link->src);
    frame->width  = link->w;
    frame->height = link->h;
    if (av_frame_get_buffer(frame, 0) < 0)
        av_frame_free(&frame);
    return frame;
}

int ff_qc_prepare_map(AVFilterContext *ctx, AVFrame **map)
{
    QualityCudaContext *s = ctx->priv;
    AVFilterLink *link;
    qcr_size size;

    if (!ff_qc_has_map(ctx))
        return 0;
    link = link_of_map(ctx);
    size = ff_qc_scored(ctx).part;
    if (size.width != link->w || size.height != link->h)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "maps=%s: frames that are cropped by %dx%d samples here are not accepted: crop "
                          "them before", s->options.maps, link->w - size.width, link->h - size.height);
    av_frame_free(map);
    *map = new_frame(link, s->scoring.left_gpu);
    return *map ? 0 : ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
}

void ff_qc_keep_map(AVFilterContext *ctx, AVFrame **map)
{
    QualityCudaContext *s = ctx->priv;

    if (!*map)
        return;
    if (av_reallocp_array(&s->map.kept, s->map.nb_kept + 1, sizeof(*s->map.kept)) < 0)
        s->map.nb_kept = 0; /* what was in there is lost, and stays taken: better than to be written on when it is another's */
    else
        s->map.kept[s->map.nb_kept++] = *map;
    *map = NULL;
}

/** Up to the GPU, where a frame in memory was painted or is black. */
static int upload(AVFilterContext *ctx, AVFrame **frame)
{
    AVFilterLink *link = link_of_map(ctx);
    AVFrame *raised;
    int ret;

    if (link->format != AV_PIX_FMT_CUDA || (*frame)->hw_frames_ctx)
        return 0;
    raised = ff_get_video_buffer(link, link->w, link->h);
    ret = raised ? av_hwframe_transfer_data(raised, *frame, 0) : AVERROR(ENOMEM);
    av_frame_free(frame);
    *frame = raised;
    if (ret < 0)
        av_frame_free(frame);
    return ret;
}

static int make_black(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    AVFrame *black = new_frame(link_of_map(ctx), 1);
    const int is_gray = black && black->format == AV_PIX_FMT_GRAY8;
    int ret;

    if (!black)
        return AVERROR(ENOMEM);
    for (int i = 0; i < 3 && black->data[i]; i++)
        memset(black->data[i], is_gray ? 0 : i ? 128 : 16, (size_t)black->linesize[i] * (i ? (black->height + 1) / 2 : black->height));
    ret = upload(ctx, &black);
    s->map.black = black;
    return ret;
}

/** Of the distorted frame it has the time and the scores, but none of its colours. */
static int copy_properties(AVFilterContext *ctx, const AVFrame *distorted, AVFrame *map)
{
    const AVFilterLink *link = link_of_map(ctx);
    const int is_gray = layout_format(ctx) == AV_PIX_FMT_GRAY8;
    const int ret = av_frame_copy_props(map, distorted);

    while (map->nb_side_data)
        av_frame_remove_side_data(map, map->side_data[0]->type);
    map->crop_left = map->crop_right = map->crop_top = map->crop_bottom = 0;
    map->sample_aspect_ratio = link->sample_aspect_ratio;
    map->color_range     = is_gray ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    map->colorspace      = is_gray ? AVCOL_SPC_UNSPECIFIED : AVCOL_SPC_BT709;
    map->color_primaries = AVCOL_PRI_UNSPECIFIED;
    map->color_trc       = AVCOL_TRC_UNSPECIFIED;
    map->chroma_location = AVCHROMA_LOC_UNSPECIFIED;
#if QC_HAS_COLOR
    map->color_range = link->color_range;
    map->colorspace  = link->colorspace;
#endif
    return ret;
}

int ff_qc_finish_map(AVFilterContext *ctx, const AVFrame *distorted, AVFrame **map)
{
    QualityCudaContext *s = ctx->priv;
    int ret = 0;

    if (!ff_qc_has_map(ctx))
        return 0;
    if (*map) {
        ret = upload(ctx, map);
    } else {
        if (!s->map.black)
            ret = make_black(ctx);
        if (ret >= 0)
            *map = av_frame_clone(s->map.black);
    }
    if (ret >= 0)
        ret = *map ? copy_properties(ctx, distorted, *map) : AVERROR(ENOMEM);
    if (ret < 0)
        av_frame_free(map);
    return ret;
}

void ff_qc_free_maps(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    av_frame_free(&s->map.black);
    for (int i = 0; i < s->map.nb_kept; i++)
        av_frame_free(&s->map.kept[i]);
    av_freep(&s->map.kept);
}
