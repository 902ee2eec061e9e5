/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include "libavutil/avstring.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/formats.h"

#include "formats.h"

/** All that the engine reads, in FFmpeg's order: common formats come first. */
static AVFilterFormats *make_formats(int with_rgb)
{
    const AVPixFmtDescriptor *desc = NULL;
    AVFilterFormats *list = NULL;
    qc_format format;

#if CONFIG_CUDA
    if (ff_add_format(&list, AV_PIX_FMT_CUDA) < 0)
        return NULL;
#endif
    while ((desc = av_pix_fmt_desc_next(desc)))
        if (qc_format_from_name(desc->name, 0, 0, &format) == QC_OK && (with_rgb || !format.rgb) &&
            ff_add_format(&list, av_pix_fmt_desc_get_id(desc)) < 0)
            return NULL; /* no memory: as if there were no list at all */
    return list;
}

/** Gives pads the same lists. @param out may be NULL @param range AVCOL_RANGE_NB: any */
static int offer(AVFilterFormatsConfig *in, AVFilterFormatsConfig *out, AVFilterFormats *formats, enum AVColorRange range)
{
    const int ranges[] = { range, AVCOL_RANGE_UNSPECIFIED, -1 };
    AVFilterFormats *list;
    int ret;

#define SHARE(make, field)                              \
        list = make;                                    \
        ret  = ff_formats_ref(list, &in->field);        \
        if (ret >= 0 && out)                            \
            ret = ff_formats_ref(list, &out->field);    \
        if (ret < 0)                                    \
            return ret;
    SHARE(formats, formats)
#if QC_HAS_COLOR
    SHARE(ff_all_color_spaces(), color_spaces)
    SHARE(range == AVCOL_RANGE_NB ? ff_all_color_ranges() : ff_make_format_list(ranges), color_ranges)
#else
    (void)ranges;
#endif
#if QC_HAS_ALPHA
    SHARE(ff_all_alpha_modes(), alpha_modes)
#endif
#if QC_HAS_SITING
    SHARE(ff_all_chroma_locations(), chroma_locations)
#endif
#undef SHARE
    return 0;
}

int ff_qc_offer_one_range(AVFilterFormatsConfig *config, const int *formats, enum AVColorRange range)
{
    return offer(config, NULL, ff_make_format_list(formats), range);
}

int ff_qc_offer_weights_formats(AVFilterContext *ctx, unsigned index)
{
    const int formats[] = { AV_PIX_FMT_GRAY8, AV_PIX_FMT_NONE };

    return ff_qc_offer_one_range(&ctx->inputs[index]->outcfg, formats, AVCOL_RANGE_JPEG);
}

int ff_qc_offer_formats(AVFilterContext *ctx, unsigned nb_inputs, int with_rgb)
{
    int ret = 0;

    for (unsigned i = 0; ret >= 0 && i < nb_inputs; i++)
        ret = offer(&ctx->inputs[i]->outcfg, i ? NULL : &ctx->outputs[0]->incfg, make_formats(with_rgb), AVCOL_RANGE_NB);
    return ret;
}

/* In the order of libvmaf's filter: it decides what lavfi converts to. */
static const int common_formats[] = {
    AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV420P,
    AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV420P10,
    AV_PIX_FMT_YUV444P12, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV420P12,
    AV_PIX_FMT_YUV444P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV420P16,
#if CONFIG_CUDA
    AV_PIX_FMT_CUDA,
#endif
    AV_PIX_FMT_NONE
};

int ff_qc_offer_common_formats(AVFilterContext *ctx)
{
    return ff_set_common_formats(ctx, ff_make_format_list(common_formats)); /* lavfi adds the rest */
}

qc_status ff_qc_describe_format(enum AVPixelFormat pix_fmt, qc_format *format)
{
    const qc_status status = qc_format_from_name(av_get_pix_fmt_name(pix_fmt), 0, 0, format);

    if (status == QC_OK)
        format->colour.range = 0; /* frames have tags of their own */
    return status;
}

enum AVColorRange ff_qc_range_of(const AVFrame *frame, enum AVPixelFormat format)
{
    return av_strstart(ff_qc_pix_fmt_name(format), "yuvj", NULL) ? AVCOL_RANGE_JPEG : frame->color_range;
}

qcr_link_colours ff_qc_link_colours(const AVFilterLink *link)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(link->format);

    return (qcr_link_colours) {
        .format_name = ff_qc_pix_fmt_name(link->format),
#if QC_HAS_COLOR
        .matrix      = av_color_space_name(link->colorspace),
        .range       = av_color_range_name(link->color_range),
#endif
        .is_rgb      = desc && desc->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL),
    };
}

const char *ff_qc_pix_fmt_name(enum AVPixelFormat pix_fmt)
{
    const char *name = av_get_pix_fmt_name(pix_fmt);

    return name ? name : "unknown";
}

qcr_frame_facts ff_qc_facts_of_frame(const AVFrame *frame, enum AVPixelFormat format)
{
    return (qcr_frame_facts) {
        .held            = 1,
        .is_corrupt      = frame->decode_error_flags || (frame->flags & AV_FRAME_FLAG_CORRUPT),
        .is_concealed    = !!(frame->decode_error_flags & FF_DECODE_ERROR_CONCEALMENT_ACTIVE),
        .is_interlaced   = QC_IS_INTERLACED(frame),
        .has_grain       = !!av_frame_get_side_data(frame, AV_FRAME_DATA_FILM_GRAIN_PARAMS),
        .range           = ff_qc_range_of(frame, format),
        .matrix          = frame->colorspace,
        .primaries       = frame->color_primaries,
        .transfer        = frame->color_trc,
        .chroma_location = frame->chroma_location,
    };
}
