/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What a run saw and measured, in a file; see record.h. Depends on state.
 */

#include "compat.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/mem.h"

#include "record.h"
#include "state.h"

#define LONGEST_TEXT 128 /* words */

static int fail(AVFilterContext *ctx, int error)
{
    QCRecord *record = &((QualityCudaContext *)ctx->priv)->record;

    if (!record->error)
        record->error = ff_qc_fail(ctx, error, "record=%s could not be written: %s",
                                   ((const QualityCudaContext *)ctx->priv)->options.record, av_err2str(error));
    return record->error;
}

/** @param more further words behind `words` */
static int write_entry(AVFilterContext *ctx, enum QCEntryKind kind, const int64_t *words, size_t count, const uint64_t *more,
                       size_t more_count)
{
    const QCRecord *record = &((const QualityCudaContext *)ctx->priv)->record;
    const uint32_t head[2] = { kind, (uint32_t)(count + more_count) };

    if (record->error)
        return record->error;
    errno = 0;
    if (fwrite(head, sizeof(head), 1, record->file) == 1 && fwrite(words, sizeof(*words), count, record->file) == count &&
        (!more_count || fwrite(more, sizeof(*more), more_count, record->file) == more_count))
        return 0;
    return fail(ctx, errno ? AVERROR(errno) : AVERROR(EIO));
}

/** A text behind some words, filled up with zeros. */
static int write_text(AVFilterContext *ctx, enum QCEntryKind kind, const int64_t *words, size_t count, const char *text)
{
    uint64_t padded[LONGEST_TEXT] = { 0 };
    const size_t length = FFMIN(strlen(text), sizeof(padded) - 1);

    memcpy(padded, text, length);
    return write_entry(ctx, kind, words, count, padded, length / sizeof(*padded) + 1);
}

static int write_links(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const int64_t head[] = { QC_RECORD_VERSION, LIBAVUTIL_VERSION_INT, s->nb_inputs };
    int ret = write_text(ctx, QC_ENTRY_HEAD, head, FF_ARRAY_ELEMS(head), qc_version());

    for (int i = 0; ret >= 0 && i < s->nb_inputs; i++) {
        const AVFilterLink *link = ctx->inputs[i];
        const AVRational rate = QC_LINK_RATE(ctx->inputs[i]);
        const int64_t words[QC_LINK_WORDS] = {
            [QC_LINK_INDEX]     = i,
            [QC_LINK_WIDTH]     = link->w,
            [QC_LINK_HEIGHT]    = link->h,
            [QC_LINK_FORMAT]    = s->input[i].sw_format,
            [QC_LINK_CLOCK_NUM] = link->time_base.num,
            [QC_LINK_CLOCK_DEN] = link->time_base.den,
            [QC_LINK_RATE_NUM]  = rate.num,
            [QC_LINK_RATE_DEN]  = rate.den,
            [QC_LINK_SHAPE_NUM] = link->sample_aspect_ratio.num,
            [QC_LINK_SHAPE_DEN] = link->sample_aspect_ratio.den,
        };

        ret = write_entry(ctx, QC_ENTRY_LINK, words, QC_LINK_WORDS, NULL, 0);
    }
    return ret;
}

/**
 * A record that exists is another one's: that of an instance before this one, too, whose graph the command line ended
 * since a stream changed. @return AVERROR, 0: nobody wants one, 1
 */
static int open_record(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;

    if (!s->options.record)
        return 0;
    if (s->record.error)
        return s->record.error;
    if (s->record.file)
        return 1;
    s->record.unfinished = av_asprintf("%s.unfinished", s->options.record);
    if (!s->record.unfinished)
        return fail(ctx, AVERROR(ENOMEM));
    if (!access(s->options.record, F_OK))
        return fail(ctx, AVERROR(EEXIST));
    errno = 0;
    s->record.file = fopen(s->record.unfinished, "wbx");
    if (!s->record.file)
        return fail(ctx, errno ? AVERROR(errno) : AVERROR(EIO));
    return write_links(ctx) < 0 ? s->record.error : 1;
}

static int64_t format_of(const AVFrame *frame)
{
    return frame->hw_frames_ctx ? ((const AVHWFramesContext *)frame->hw_frames_ctx->data)->sw_format : frame->format;
}

int ff_qc_record_frame(AVFilterContext *ctx, int index, const AVFrame *frame)
{
    const int64_t words[QC_FRAME_WORDS] = {
        [QC_FRAME_INPUT]         = index,
        [QC_FRAME_PTS]           = frame->pts,
        [QC_FRAME_WIDTH]         = frame->width,
        [QC_FRAME_HEIGHT]        = frame->height,
        [QC_FRAME_FORMAT]        = format_of(frame),
        [QC_FRAME_IS_CORRUPT]    = !!(frame->flags & AV_FRAME_FLAG_CORRUPT),
        [QC_FRAME_IS_INTERLACED] = QC_IS_INTERLACED(frame),
        [QC_FRAME_ERRORS]        = frame->decode_error_flags,
        [QC_FRAME_RANGE]         = frame->color_range,
        [QC_FRAME_MATRIX]        = frame->colorspace,
        [QC_FRAME_PRIMARIES]     = frame->color_primaries,
        [QC_FRAME_TRANSFER]      = frame->color_trc,
        [QC_FRAME_SITING]        = frame->chroma_location,
        [QC_FRAME_BYTES]         = QC_PACKET_BYTES(frame),
    };
    const int ret = open_record(ctx);

    return ret <= 0 ? ret : write_entry(ctx, QC_ENTRY_FRAME, words, QC_FRAME_WORDS, NULL, 0);
}

int ff_qc_record_end(AVFilterContext *ctx, int index)
{
    const QCInput *in = &((const QualityCudaContext *)ctx->priv)->input[index];
    const int64_t words[] = { index, in->status, in->eof_pts };
    const int ret = open_record(ctx);

    return ret <= 0 ? ret : write_entry(ctx, QC_ENTRY_END, words, FF_ARRAY_ELEMS(words), NULL, 0);
}

/** Within a call on the session, where nothing can fail: the next entry will say so. */
static void write_measured(void *opaque, int64_t row, const uint64_t *words, int64_t count)
{
    write_entry(opaque, QC_ENTRY_MEASURED, &row, 1, words, count);
}

int ff_qc_record_session(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;

    if (!s->record.file)
        return 0;
    if (qc_session_on_measured(s->engine.session, write_measured, ctx) != QC_OK)
        return fail(ctx, AVERROR_BUG);
    return write_text(ctx, QC_ENTRY_ENGINE, NULL, 0, qc_session_description(s->engine.session));
}

int ff_qc_record_pair(AVFilterContext *ctx, int64_t row, uint32_t renditions, AVFrame *const *frames)
{
    const QualityCudaContext *s = ctx->priv;
    int64_t words[QC_PAIR_STAMPS + QC_MAX_INPUTS] = { row, renditions, s->record.broke };

    if (!s->record.file)
        return 0;
    for (int i = 0; i < s->nb_inputs; i++)
        words[QC_PAIR_STAMPS + i] = frames[i] ? frames[i]->pts : AV_NOPTS_VALUE;
    return write_entry(ctx, QC_ENTRY_PAIR, words, QC_PAIR_STAMPS + s->nb_inputs, NULL, 0);
}

void ff_qc_record_break(AVFilterContext *ctx)
{
    ((QualityCudaContext *)ctx->priv)->record.broke = 1;
}

int ff_qc_finish_record(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    double rate[2];
    int64_t words[2];
    int ret;

    if (!s->record.file)
        return s->record.error;
    rate[0] = s->engine.frame_rate;
    rate[1] = qcr_pairs_tolerance(s->pairs);
    memcpy(words, rate, sizeof(words));
    ret = write_entry(ctx, QC_ENTRY_RATE, words, 2, NULL, 0);
    if (fflush(s->record.file) && ret >= 0)
        ret = fail(ctx, AVERROR(errno));
    if (ret >= 0 && s->run.end != QCR_END_BY_FAILURE && rename(s->record.unfinished, s->options.record))
        ret = fail(ctx, AVERROR(errno));
    ff_qc_close_record(ctx);
    return ret;
}

void ff_qc_close_record(AVFilterContext *ctx)
{
    QCRecord *record = &((QualityCudaContext *)ctx->priv)->record;

    if (record->file)
        fclose(record->file);
    record->file = NULL;
    av_freep(&record->unfinished);
}
