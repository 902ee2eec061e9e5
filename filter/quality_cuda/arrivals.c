/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Frames as they come; see arrivals.h. Depends on epochs, record, replay and
 * state.
 */

#include "compat.h"

#include <string.h>

#include "libavutil/time.h"

#include "arrivals.h"
#include "epochs.h"
#include "record.h"
#include "replay.h"
#include "state.h"

/** Microseconds without a frame that was asked for; less is a decoder's or a network's pause. */
#define STALL (2 * INT64_C(1000000))

int ff_qc_request_inputs(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    int ret = 0;

    for (int i = 0; ret >= 0 && i < s->nb_inputs; i++) {
        QCInput *in = &s->input[i];

        if (!in->wanted)
            continue;
        if (!in->asked_at)
            in->asked_at = av_gettime_relative();
        if (s->replay)
            ret = ff_qc_replay_next(ctx, i);
        else
            ff_inlink_request_frame(ctx->inputs[i]);
    }
    if (ret >= 0 && s->mask.wanted)
        ff_inlink_request_frame(ctx->inputs[s->nb_inputs]);
    return ret;
}

static void stop_clock(QCInput *in)
{
    if (in->asked_at)
        in->silence += av_gettime_relative() - in->asked_at;
    in->asked_at = 0;
}

void ff_qc_interrupt_silence(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    for (int i = 0; i < s->nb_inputs; i++)
        stop_clock(&s->input[i]);
}

void ff_qc_end_silence(QCInput *in)
{
    in->asked_at = 0;
    in->silence  = 0;
}

int ff_qc_is_stalled(const QCInput *in)
{
    return in->silence + (in->asked_at ? av_gettime_relative() - in->asked_at : 0) >= STALL;
}

/** Filters may drop or repeat frames, with what their packets were. */
static void count_packet(const AVFilterContext *ctx, const AVFilterLink *link, QCInput *in, const AVFrame *frame)
{
    const int bytes = QC_PACKET_BYTES(frame), is_replayed = ((const QualityCudaContext *)ctx->priv)->replay != NULL;

    if (bytes <= 0 || (!is_replayed && strcmp(link->src->filter->name, "buffer")))
        in->packet_bytes = -1;
    if (in->packet_bytes >= 0)
        in->packet_bytes += bytes;
}

int ff_qc_consume(AVFilterContext *ctx, int index, AVFrame **frame)
{
    QualityCudaContext *s = ctx->priv;
    QCInput *in = &s->input[index];
    int ret;

    if (!ff_qc_follow_stamp(ctx, index)) {
        in->wanted = 1;
        return 0;
    }
    ret = ff_inlink_consume_frame(ctx->inputs[index], frame);
    if (ret > 0) {
        const int recorded = ff_qc_record_frame(ctx, index, *frame);

        ff_qc_end_silence(in);
        count_packet(ctx, ctx->inputs[index], in, *frame);
        if (recorded < 0) {
            av_frame_free(frame);
            return recorded;
        }
    } else if (!ret && ff_inlink_acknowledge_status(ctx->inputs[index], &in->status, &in->eof_pts)) {
        in->track.ended = 1;
        in->cut_off     = !!qcr_interrupted_by(&s->run.interrupts);
        stop_clock(in);
        ret = ff_qc_record_end(ctx, index);
    } else if (!ret) {
        in->wanted = 1;
    }
    return ret;
}

AVFrame *ff_qc_take_frame(AVFilterContext *ctx, int index)
{
    const QCInput *in = &((QualityCudaContext *)ctx->priv)->input[index];
    AVFrame *frame = NULL;

    return !in->track.ended && ff_qc_consume(ctx, index, &frame) > 0 ? frame : NULL;
}
