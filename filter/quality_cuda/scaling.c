/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Inputs of different sizes; see scaling.h. Depends on inputs and state.
 */

#include "compat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/common.h"
#include "libavutil/rational.h"

#include "scaling.h"
#include "state.h"

/** Samples by which an encoder's size may miss the exact ratio: sides are even, and the reference's may be rounded as well. */
#define ROUNDING 2.0

#define LONGEST_SIDE 32768

/* ---- options ---- */

static int parse_kernel(AVFilterContext *ctx)
{
    static const char *const names[] = {
        [QC_SCALING_NONE] = "none", [QC_SCALING_BICUBIC] = "bicubic", [QC_SCALING_LANCZOS] = "lanczos",
        [QC_SCALING_BILINEAR] = "bilinear", [QC_SCALING_AREA] = "area",
    };
    QualityCudaContext *s = ctx->priv;
    const char *scale = s->options.scale;

    for (size_t i = 0; i < FF_ARRAY_ELEMS(names); i++) {
        if (!scale || !strcmp(scale, names[i])) {
            s->scaling.kernel = i;
            return 0;
        }
    }
    return ff_qc_fail(ctx, AVERROR(EINVAL), "scale=%s is not known; accepted: none, bicubic, lanczos, bilinear, area", scale);
}

static int parse_target(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCScaling *scaling = &s->scaling;
    const char *to = s->options.scale_to;
    char rest;

    scaling->to = QC_SCALE_TO_REFERENCE;
    if (!to || !strcmp(to, "reference"))
        return 0;
    scaling->to = QC_SCALE_TO_MAIN;
    if (!strcmp(to, "main"))
        return 0;
    scaling->to = QC_SCALE_TO_SIZE;
    if (strspn(to, "0123456789x") == strlen(to) && sscanf(to, "%5dx%5d%c", &scaling->width, &scaling->height, &rest) == 2 &&
        scaling->width > 0 && scaling->height > 0 && FFMAX(scaling->width, scaling->height) <= LONGEST_SIDE)
        return 0;
    return ff_qc_fail(ctx, AVERROR(EINVAL), "scale_to=%s is not known; accepted: reference, main, or WIDTHxHEIGHT with sides of 1 to %d",
                      to, LONGEST_SIDE);
}

int ff_qc_parse_scaling(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret = parse_kernel(ctx);

    if (ret >= 0)
        ret = parse_target(ctx);
    if (ret < 0 || s->scaling.kernel != QC_SCALING_NONE || s->scaling.to == QC_SCALE_TO_REFERENCE)
        return ret;
    return ff_qc_fail(ctx, AVERROR(EINVAL), "scale_to=%s: without scale, reference is accepted; add scale=bicubic, lanczos, bilinear "
                      "or area", s->options.scale_to);
}

/* ---- shapes ---- */

/** What a picture shows: its samples, and their shape. */
typedef struct Shape {
    int width, height;
    double aspect; ///< of a sample: width / height, 1 if it is not known
} Shape;

static Shape shape_of(const AVFilterContext *ctx, int index)
{
    const QualityCudaContext *s = ctx->priv;
    const qc_format format = ff_qc_visible_format(&s->input[index]);
    const AVRational sample = ctx->inputs[index]->sample_aspect_ratio;

    return (Shape) { format.width, format.height, sample.num > 0 && sample.den > 0 ? av_q2d(sample) : 1 };
}

static double display_aspect(const Shape *shape)
{
    return shape->width * shape->aspect / shape->height;
}

/** Whether the one could be the other scaled, with its sides rounded. */
static int is_alike(const Shape *one, const Shape *other)
{
    const double ratio = display_aspect(other) / one->aspect; /* of one's width to its height, if it were exact */

    return FFMIN(fabs(one->width - one->height * ratio), fabs(one->height - one->width / ratio)) <= ROUNDING;
}

/** The reference without what another shape does not show, if that lies at its borders. */
static void suggest_crop(const Shape *reference, const Shape *other, char *text, size_t size)
{
    const double ratio = display_aspect(other) / reference->aspect;
    int width = reference->width, height = reference->height;

    if (height * ratio < width)
        width = lrint(height * ratio / 2) * 2;
    else
        height = lrint(width / ratio / 2) * 2;
    snprintf(text, size, "crop=%d:%d", width, height);
}

static int check_shape(AVFilterContext *ctx, int index)
{
    const Shape reference = shape_of(ctx, QC_REFERENCE), shape = shape_of(ctx, index);
    char crop[64];

    if ((shape.width == reference.width && shape.height == reference.height) || is_alike(&shape, &reference))
        return 0;
    suggest_crop(&reference, &shape, crop, sizeof(crop));
    return ff_qc_fail(ctx, AVERROR(EINVAL), "Input %d (%s) is %dx%d with a display aspect ratio of %s, the reference %dx%d with %s: "
                      "scaling would distort what is compared; crop or pad one of them first, e.g. "
                      "[1:v]%s[r];[0:v][r]quality_cuda, or put setsar before an input whose sample aspect ratio is wrong",
                      index, ff_qc_role(ctx, index), shape.width, shape.height, QC_NUMBER(4, display_aspect(&shape)),
                      reference.width, reference.height, QC_NUMBER(4, display_aspect(&reference)), crop);
}

/** A size without a sample aspect ratio: square samples, or those of the reference. */
static int check_target(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const Shape reference = shape_of(ctx, QC_REFERENCE);
    const Shape square = { s->scaling.width, s->scaling.height, 1 }, same = { square.width, square.height, reference.aspect };

    if (is_alike(&square, &reference) || is_alike(&same, &reference))
        return 0;
    return ff_qc_fail(ctx, AVERROR(EINVAL), "scale_to=%dx%d would distort the reference, which is %dx%d with a display aspect ratio of "
                      "%s; accepted is a size of that ratio, e.g. %ldx%d", square.width, square.height, reference.width,
                      reference.height, QC_NUMBER(4, display_aspect(&reference)),
                      FFMAX(lrint(square.height * display_aspect(&reference) / 2) * 2, 1), square.height);
}

int ff_qc_configure_scaling(AVFilterContext *ctx, qc_config *config)
{
    const QualityCudaContext *s = ctx->priv;
    int ret = 0;

    config->scaling = s->scaling.kernel;
    if (s->scaling.kernel == QC_SCALING_NONE)
        return 0;
    if (s->scaling.to == QC_SCALE_TO_MAIN) {
        config->scoring_width  = config->distorted[0].width;
        config->scoring_height = config->distorted[0].height;
    } else if (s->scaling.to == QC_SCALE_TO_SIZE) {
        config->scoring_width  = s->scaling.width;
        config->scoring_height = s->scaling.height;
        ret = check_target(ctx);
    }
    for (int k = 0; ret >= 0 && k < s->options.renditions; k++)
        ret = check_shape(ctx, ff_qc_input_of(k));
    return ret;
}

void ff_qc_scored_size(const AVFilterContext *ctx, int *width, int *height)
{
    const QualityCudaContext *s = ctx->priv;
    const QCScaling *scaling = &s->scaling;
    const qc_format whose = ff_qc_visible_format(&s->input[scaling->to == QC_SCALE_TO_MAIN ? 0 : QC_REFERENCE]);

    *width  = scaling->to == QC_SCALE_TO_SIZE ? scaling->width : whose.width;
    *height = scaling->to == QC_SCALE_TO_SIZE ? scaling->height : whose.height;
}

void ff_qc_scored_part(const AVFilterContext *ctx, int *width, int *height)
{
    const QualityCudaContext *s = ctx->priv;

    ff_qc_scored_size(ctx, width, height);
    if (s->region.width) {
        *width  = s->region.width;
        *height = s->region.height;
    }
}
