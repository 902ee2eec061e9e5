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

#include "libavutil/avstring.h"

#include "state.h"
#include "verdict.h"

/** Frames that the timeline leaves out were not meant to be scored, and a consumer may want none at all. */
static int nothing_was_scored(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const qcr_counts *counts = ff_qc_counts_of(ctx, 0);
    const int ended = s->run.end == QC_END_OF_STREAM;

    if (counts->paired || !(ended || s->run.end == QC_END_BY_CONSUMER))
        return 0;
    return counts->frames > counts->disabled || (ended && !counts->frames);
}

static void refuse_nothing(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    const char *why = !qcr_pairs_input(s->pairs, 0).received ? "the distorted input has no frames" :
                      !qcr_pairs_input(s->pairs, QC_REFERENCE).received ? "the reference has no frames" :
                      "the time stamps never overlap; use align=start, setpts=PTS-STARTPTS or sync=index";

    s->run.is_refused = !s->run.failure;
    ff_qc_fail(ctx, AVERROR(EINVAL), "no frame was scored: %s, or allow_unpaired=1 to accept it", why);
}

/** A further rendition's failure is its own: the others have their scores, and the exit code tells. */
static void refuse_rendition(AVFilterContext *ctx, int rendition, const char *why)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[ff_qc_input_of(rendition)];

    in->mispaired = 1;
    av_strlcpy(in->refusal, why, sizeof(in->refusal));
    s->run.refused_rendition = AVERROR(EINVAL);
    av_log(ctx, AV_LOG_ERROR, "%s\n", why);
}

static void judge_rendition(AVFilterContext *ctx, int rendition)
{
    QualityCudaContext *s = ctx->priv;
    const qcr_counts *counts = ff_qc_counts_of(ctx, rendition);
    char whose[32] = "", why[sizeof(s->input[0].refusal)];

    if (!qcr_pairs_too_few(counts))
        return;
    if (rendition)
        snprintf(whose, sizeof(whose), " of rendition %d", rendition);
    snprintf(why, sizeof(why), "only %"PRId64" of %"PRId64" frames%s found a partner within max_dt, %s s, while both inputs ran; set max_dt, "
             "align=start or sync=index to what fits the inputs, or allow_unpaired=1 to accept it", counts->paired,
             counts->paired + qcr_partnerless(counts), whose, QC_NUMBER(6, qcr_pairs_tolerance(s->pairs)));
    if (rendition) {
        refuse_rendition(ctx, rendition, why);
    } else {
        s->run.is_refused = 1;
        ff_qc_fail(ctx, AVERROR(EINVAL), "%s", why);
    }
}

void ff_qc_judge_pairs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    if (s->options.allow_unpaired || s->run.failure)
        return;
    for (int k = 0; k < s->options.renditions && !s->run.is_refused; k++)
        judge_rendition(ctx, k);
    if (!s->run.is_refused && nothing_was_scored(ctx))
        refuse_nothing(ctx);
}
