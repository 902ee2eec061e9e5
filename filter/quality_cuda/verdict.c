/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Whether the pairs of a run suffice; see verdict.h. Depends on state.
 */

#include "compat.h"

#include <inttypes.h>
#include <stdio.h>

#include "state.h"
#include "verdict.h"

/** Frames that the timeline leaves out were not meant to be scored, and a consumer may want none at all. */
static int nothing_was_scored(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCCounts *counts = ff_qc_counts_of(ctx, 0);
    const int ended = s->run.end == QC_END_OF_STREAM;

    if (counts->paired || !(ended || s->run.end == QC_END_BY_CONSUMER))
        return 0;
    return counts->frames > counts->disabled || (ended && !counts->frames);
}

static void refuse_nothing(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const char *why = !s->input[0].received ? "the distorted input has no frames" :
                      !s->input[QC_REFERENCE].received ? "the reference has no frames" :
                      "the time stamps never overlap; use align=start, setpts=PTS-STARTPTS or sync=index";

    s->run.is_refused = !s->run.failure;
    ff_qc_fail(ctx, AVERROR(EINVAL), "no frame was scored: %s, or allow_unpaired=1 to accept it", why);
}

void ff_qc_judge_pairs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int k = 0; k < s->options.renditions && !s->options.allow_unpaired; k++) {
        const QCCounts *counts = ff_qc_counts_of(ctx, k);
        char whose[32] = "";

        if (!ff_qc_pairs_too_few(counts))
            continue;
        if (k)
            snprintf(whose, sizeof(whose), " of rendition %d", k);
        s->run.is_refused = !s->run.failure;
        ff_qc_fail(ctx, AVERROR(EINVAL), "only %"PRId64" of %"PRId64" frames%s found a partner within max_dt, %.6f s, while both "
                   "inputs ran; set max_dt, align=start or sync=index to what fits the inputs, or allow_unpaired=1 to accept it",
                   counts->paired, counts->paired + ff_qc_partnerless(counts), whose, s->pairing.tolerance);
        return;
    }
    if (nothing_was_scored(ctx) && !s->options.allow_unpaired)
        refuse_nothing(ctx);
}
