/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Both outputs; see outputs.h. Depends on compat only.
 */

#include "compat.h"

#include "outputs.h"

int ff_qc_is_awaited(AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (ff_outlink_frame_wanted(ctx->outputs[i]) && !ff_outlink_get_status(ctx->outputs[i]))
            return 1;
    return 0;
}

int ff_qc_consumers_status(AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (!ff_outlink_get_status(ctx->outputs[i]))
            return 0;
    return ff_outlink_get_status(ctx->outputs[QC_OUTPUT_MAIN]);
}

static int send(AVFilterLink *link, AVFrame *frame)
{
    if (!ff_outlink_get_status(link))
        return ff_filter_frame(link, frame);
    av_frame_free(&frame);
    return 0;
}

int ff_qc_send(AVFilterContext *ctx, AVFrame *frame, AVFrame *map)
{
    const int ret = send(ctx->outputs[QC_OUTPUT_MAIN], frame);
    const int of_map = map ? send(ctx->outputs[QC_OUTPUT_MAP], map) : 0;

    return ret < 0 ? ret : of_map;
}

void ff_qc_end_outputs(AVFilterContext *ctx, int status, int64_t end)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        ff_outlink_set_status(ctx->outputs[i], status, end);
}
