/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

#include "compat.h"

#include "libavutil/pixdesc.h"

#include "libavfilter/formats.h"

#include "formats.h"

static const int yuv_formats[] = {
#if CONFIG_CUDA
    AV_PIX_FMT_CUDA,
#endif
    AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV444P,
    AV_PIX_FMT_YUVJ420P,  AV_PIX_FMT_YUVJ422P,  AV_PIX_FMT_YUVJ444P,
    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10,
    AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12,
    AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16,
    AV_PIX_FMT_NV12, AV_PIX_FMT_NV16,
    AV_PIX_FMT_P010, AV_PIX_FMT_P016, AV_PIX_FMT_P210, AV_PIX_FMT_P216,
#ifdef AV_PIX_FMT_P012
    AV_PIX_FMT_P012,
#endif
#ifdef AV_PIX_FMT_P212
    AV_PIX_FMT_P212,
#endif
#ifdef AV_PIX_FMT_YUV444P10MSB
    AV_PIX_FMT_YUV444P10MSB, AV_PIX_FMT_YUV444P12MSB,
#endif
    AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY10, AV_PIX_FMT_GRAY12, AV_PIX_FMT_GRAY16,
    AV_PIX_FMT_NONE
};

static const int rgb_formats[] = {
    AV_PIX_FMT_GBRP, AV_PIX_FMT_GBRP10, AV_PIX_FMT_GBRP12, AV_PIX_FMT_GBRP16,
    AV_PIX_FMT_RGB24, AV_PIX_FMT_BGR24, AV_PIX_FMT_RGB48, AV_PIX_FMT_BGR48,
    AV_PIX_FMT_RGB0, AV_PIX_FMT_BGR0, AV_PIX_FMT_0RGB, AV_PIX_FMT_0BGR,
    AV_PIX_FMT_NONE
};

static AVFilterFormats *make_formats(int with_rgb)
{
    AVFilterFormats *list = ff_make_format_list(yuv_formats);

    for (const int *format = rgb_formats; list && with_rgb && *format != AV_PIX_FMT_NONE; format++)
        if (ff_add_format(&list, *format) < 0)
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
    if (format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P || format == AV_PIX_FMT_YUVJ444P)
        return AVCOL_RANGE_JPEG;
    return frame->color_range;
}

enum AVColorSpace ff_qc_matrix_of(const AVFrame *frame, enum AVPixelFormat format)
{
    return av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB ? AVCOL_SPC_RGB : frame->colorspace;
}

const char *ff_qc_pix_fmt_name(enum AVPixelFormat pix_fmt)
{
    const char *name = av_get_pix_fmt_name(pix_fmt);

    return name ? name : "unknown";
}
