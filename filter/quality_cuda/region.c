/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The rectangle that is scored; see region.h. Depends on state.
 */

#include "compat.h"

#include <stdio.h>
#include <string.h>

#include "region.h"
#include "state.h"

int ff_qc_parse_region(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCRegion *region = &s->region;
    const char *roi = s->options.roi;
    char rest;

    if (!roi || !roi[0])
        return 0;
    /* Digits alone: no signs, and no numbers that an int does not hold. */
    if (strspn(roi, "0123456789:|") == strlen(roi) &&
        sscanf(roi, "%5d%*1[:|]%5d%*1[:|]%5d%*1[:|]%5d%c", &region->x, &region->y, &region->width, &region->height, &rest) == 4 &&
        region->width > 0 && region->height > 0)
        return 0;
    return ff_qc_fail(ctx, AVERROR(EINVAL), "roi=%s is not known; accepted: X:Y:WIDTH:HEIGHT in luma samples of the scored picture, "
                      "the last two at least 1 (or X|Y|WIDTH|HEIGHT, which needs no escapes)", roi);
}

void ff_qc_configure_region(const AVFilterContext *ctx, qc_config *config)
{
    const QualityCudaContext *s = ctx->priv;

    config->roi_x      = s->region.x;
    config->roi_y      = s->region.y;
    config->roi_width  = s->region.width;
    config->roi_height = s->region.height;
}
