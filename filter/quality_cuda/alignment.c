/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What the engine's watch of the contents has found; see alignment.h. Depends
 * on engine and state.
 */

#include "compat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libavutil/macros.h"

#include "alignment.h"
#include "json.h"
#include "state.h"

void ff_qc_note_pair(QCAlignment *alignment, int64_t row, double time)
{
    if (!row)
        alignment->first_time = time;
    alignment->time[row % QC_NOTED_TIMES] = time;
    alignment->noted = row + 1;
}

/** Time of a pair's main frame, NaN if it is too long ago. */
static double time_of(const QCAlignment *alignment, int64_t row)
{
    if (!row && alignment->noted)
        return alignment->first_time;
    return row < alignment->noted && row >= alignment->noted - QC_NOTED_TIMES ? alignment->time[row % QC_NOTED_TIMES] : NAN;
}

/* ---- warnings ---- */

/** "at 4.000 s (frame 100)" */
static void print_place(const AVFilterContext *ctx, int64_t frame, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const double time = time_of(&s->alignment, frame);

    if (isnan(time))
        av_bprintf(out, "frame %"PRId64, frame);
    else
        av_bprintf(out, "%s s (frame %"PRId64")", QC_NUMBER(3, time), frame);
}

/** "the distorted video", or the rendition of a ladder. */
static void print_subject(const AVFilterContext *ctx, int rendition, AVBPrint *out)
{
    if (rendition)
        av_bprintf(out, "rendition %d", rendition);
    else
        av_bprintf(out, "the distorted video");
}

/**
 * The filter that corrects an offset, and its place: the main video's time is the output's, so the reference is moved
 * unless it is the others' too.
 */
static void print_shift(const AVFilterContext *ctx, int rendition, int offset, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const int moves_reference = s->options.renditions == 1;
    const int trims_reference = offset < 0;
    const int moved = moves_reference ? QC_REFERENCE : ff_qc_input_of(rendition);
    const int trimmed = trims_reference ? QC_REFERENCE : ff_qc_input_of(rendition);
    const int shift = moves_reference ? offset : -offset;

    if (s->pairing.sync == QCR_SYNC_INDEX)
        av_bprintf(out, "trim=start_frame=%d before input %d (%s)", abs(offset), trimmed, ff_qc_role(ctx, trimmed));
    else if (s->engine.frame_rate > 0)
        av_bprintf(out, "setpts=PTS%s%s/TB before input %d (%s)", shift > 0 ? "+" : "-",
                   QC_NUMBER(6, abs(shift) / s->engine.frame_rate), moved, ff_qc_role(ctx, moved));
    else
        av_bprintf(out, "setpts before input %d (%s)", moved, ff_qc_role(ctx, moved));
}

static void print_offset(const AVFilterContext *ctx, int rendition, const qc_finding *finding, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;

    print_subject(ctx, rendition, out);
    av_bprintf(out, " is %d frame%s %s the reference from its start on: each frame is compared with another one; if that is "
               "not meant, put ", abs(finding->offset), abs(finding->offset) == 1 ? "" : "s",
               finding->offset > 0 ? "behind" : "ahead of");
    print_shift(ctx, rendition, finding->offset, out);
    if (s->options.align != QC_ALIGN_AUTO)
        av_bprintf(out, ", or use align=auto");
}

static void print_step(const AVFilterContext *ctx, int rendition, const qc_finding *finding, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const int more = finding->offset - finding->former_offset;
    const double time = time_of(&s->alignment, finding->frame);

    av_bprintf(out, "from ");
    print_place(ctx, finding->frame, out);
    av_bprintf(out, " on ");
    print_subject(ctx, rendition, out);
    av_bprintf(out, " has %d frame%s too %s, and is %d %s the reference; make it without dropping or repeating frames "
               "(-fps_mode passthrough)", abs(more), abs(more) == 1 ? "" : "s", more > 0 ? "many" : "few", abs(finding->offset),
               finding->offset > 0 ? "behind" : finding->offset < 0 ? "ahead of" : "apart from");
    if (!finding->offset || isnan(time) || s->pairing.sync == QCR_SYNC_INDEX)
        return;
    av_bprintf(out, ", or compare that part on its own: trim=start=%s before input %d (%s), and ", QC_NUMBER(6, time),
               ff_qc_input_of(rendition), ff_qc_role(ctx, ff_qc_input_of(rendition)));
    print_shift(ctx, rendition, finding->offset, out);
}

/** A ratio of frame rates that are in use, where the measured one is near; else that one. */
static double usual_rate(double measured)
{
    static const double rates[] = { 24, 25, 30, 50, 60 };
    double nearest = measured, distance = 0.004 * measured;

    for (size_t i = 0; i < FF_ARRAY_ELEMS(rates); i++) {
        for (size_t k = 0; k < FF_ARRAY_ELEMS(rates); k++) {
            const double rate = rates[i] / rates[k];

            if (rate == 1 || fabs(rate - measured) >= distance)
                continue;
            nearest  = rate;
            distance = fabs(rate - measured);
        }
    }
    return nearest;
}

static void print_rate(const AVFilterContext *ctx, int rendition, const qc_finding *finding, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const double rate = usual_rate(finding->rate);
    const int is_ladder = s->options.renditions > 1;
    const int moved = is_ladder ? ff_qc_input_of(rendition) : QC_REFERENCE;

    print_subject(ctx, rendition, out);
    av_bprintf(out, " runs at another rate than the reference: from ");
    print_place(ctx, finding->frame, out);
    av_bprintf(out, " on one of its frames takes %s of the reference's; give both inputs the rate of their pictures (-r or "
               "-framerate before -i)", QC_NUMBER(4, finding->rate));
    if (s->pairing.sync == QCR_SYNC_INDEX)
        av_bprintf(out, " and pair by time (sync=nearest)");
    else
        av_bprintf(out, ", or put setpts=PTS%s%s before input %d (%s)", is_ladder ? "*" : "/", QC_NUMBER(6, rate), moved,
                   ff_qc_role(ctx, moved));
}

static void print_repeats(const AVFilterContext *ctx, int rendition, const qc_finding *finding, AVBPrint *out)
{
    const int input = ff_qc_input_of(rendition);

    print_subject(ctx, rendition, out);
    av_bprintf(out, " repeats pictures while the reference moves, first at ");
    print_place(ctx, finding->frame, out);
    av_bprintf(out, ": such frames are scored as they are; make it without repeating frames (-fps_mode passthrough), or put "
               "mpdecimate before input %d (%s), which takes most of them out", input, ff_qc_role(ctx, input));
}

static void print_frozen_end(const AVFilterContext *ctx, int rendition, const qc_finding *finding, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const double time = time_of(&s->alignment, finding->frame);
    const int input = ff_qc_input_of(rendition);

    print_subject(ctx, rendition, out);
    av_bprintf(out, " ends with %"PRId64" repeated picture%s, from ", finding->count, finding->count == 1 ? "" : "s");
    print_place(ctx, finding->frame, out);
    av_bprintf(out, " on, while the reference moves: these frames are scored as they are");
    if (!isnan(time))
        av_bprintf(out, "; put trim=end=%s before input %d (%s) to leave them out", QC_NUMBER(6, time), input,
                   ff_qc_role(ctx, input));
}

static void say_finding(AVFilterContext *ctx, int rendition, const qc_finding *finding)
{
    AVBPrint text;

    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    switch ((int)finding->kind) {
    case QC_FINDING_OFFSET:     print_offset(ctx, rendition, finding, &text);     break;
    case QC_FINDING_STEP:       print_step(ctx, rendition, finding, &text);       break;
    case QC_FINDING_RATE:       print_rate(ctx, rendition, finding, &text);       break;
    case QC_FINDING_REPEATS:    print_repeats(ctx, rendition, finding, &text);    break;
    case QC_FINDING_FROZEN_END: print_frozen_end(ctx, rendition, finding, &text); break;
    }
    if (text.len)
        av_log(ctx, AV_LOG_WARNING, "alignment: %s\n", text.str);
    av_bprint_finalize(&text, NULL);
}

/** What tells of frames that do not count is no finding: a consumer that had enough did not get them. */
static int counts(const QualityCudaContext *s, const qc_finding *finding, int64_t rows_left)
{
    return finding->frame < rows_left && (finding->kind != QC_FINDING_FROZEN_END || s->run.end == QC_END_OF_STREAM);
}

void ff_qc_say_findings(AVFilterContext *ctx, int64_t rows_left)
{
    QualityCudaContext *s = ctx->priv;
    qc_finding finding;

    if (!s->engine.session)
        return;
    for (int k = 0; k < s->options.renditions; k++) {
        int *said = &s->alignment.said[k];

        while (*said < QC_MOST_FINDINGS && qc_session_finding(s->engine.session, k, *said, &finding) == QC_OK &&
               counts(s, &finding, rows_left)) {
            say_finding(ctx, k, &finding);
            s->alignment.said_time[k][(*said)++] = time_of(&s->alignment, finding.frame);
        }
    }
}

/* ---- what begins ---- */

/** What is moved, which is as print_shift() has it. */
static void print_correction(const AVFilterContext *ctx, int rendition, const QCStart *start, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    const int moves_reference = s->options.renditions == 1;
    const int moved = moves_reference ? QC_REFERENCE : ff_qc_input_of(rendition);
    const int is_later = moves_reference == (start->offset > 0);

    if (s->pairing.sync == QCR_SYNC_INDEX)
        av_bprintf(out, "its frame %d meets the reference's frame %d", FFMAX(start->offset, 0), FFMAX(-start->offset, 0));
    else
        av_bprintf(out, "input %d (%s) counts as %s s %s", moved, ff_qc_role(ctx, moved), QC_NUMBER(6, fabs(start->seconds)),
                   is_later ? "later" : "earlier");
}

void ff_qc_say_start(AVFilterContext *ctx, int rendition)
{
    const QualityCudaContext *s = ctx->priv;
    const QCStart *start = &s->alignment.start[rendition];
    AVBPrint text;

    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    print_subject(ctx, rendition, &text);
    if (!start->is_told) {
        av_bprintf(&text, ": its first %d pairs do not tell beyond doubt which offset it has from the reference, nothing is moved",
                   s->preview.pairs);
    } else if (!start->offset) {
        av_bprintf(&text, " begins with the reference, nothing is moved");
    } else {
        av_bprintf(&text, " is %d frame%s ", abs(start->offset), abs(start->offset) == 1 ? "" : "s");
        if (!isnan(start->seconds))
            av_bprintf(&text, "(%s s) ", QC_NUMBER(6, fabs(start->seconds)));
        av_bprintf(&text, "%s the reference from its start on: ", start->offset > 0 ? "behind" : "ahead of");
        print_correction(ctx, rendition, start, &text);
    }
    av_log(ctx, AV_LOG_INFO, "align=auto: %s\n", text.str);
    av_bprint_finalize(&text, NULL);
}

/* ---- log ---- */

static void finding_json(const qc_finding *finding, double time, AVBPrint *out)
{
    static const char *const kinds[] = {
        [QC_FINDING_OFFSET]     = "offset",
        [QC_FINDING_STEP]       = "step",
        [QC_FINDING_RATE]       = "rate",
        [QC_FINDING_REPEATS]    = "repeats",
        [QC_FINDING_FROZEN_END] = "frozen_end",
    };
    const int kind = finding->kind;
    char number[64];

    ff_qc_json_number(number, sizeof(number), time);
    av_bprintf(out, "{\"kind\": \"%s\", \"frame\": %"PRId64", \"time\": %s",
               kind > 0 && kind < (int)FF_ARRAY_ELEMS(kinds) ? kinds[kind] : "", finding->frame, number);
    if (kind == QC_FINDING_OFFSET || kind == QC_FINDING_STEP)
        av_bprintf(out, ", \"offset\": %d", finding->offset);
    if (kind == QC_FINDING_STEP)
        av_bprintf(out, ", \"former_offset\": %d", finding->former_offset);
    ff_qc_json_number(number, sizeof(number), finding->rate);
    if (kind == QC_FINDING_RATE)
        av_bprintf(out, ", \"rate\": %s", number);
    if (kind == QC_FINDING_REPEATS || kind == QC_FINDING_FROZEN_END)
        av_bprintf(out, ", \"count\": %"PRId64, finding->count);
    av_bprintf(out, "}");
}

static void start_json(const QCStart *start, int pairs, AVBPrint *out)
{
    char number[64];

    ff_qc_json_number(number, sizeof(number), start->seconds);
    av_bprintf(out, "\"auto\": {\"pairs\": %d, \"offset\": ", pairs);
    if (start->is_told)
        av_bprintf(out, "%d", start->offset);
    else
        av_bprintf(out, "null");
    av_bprintf(out, ", \"seconds\": %s}, ", number);
}

void ff_qc_alignment_json(const AVFilterContext *ctx, int rendition, AVBPrint *out)
{
    const QualityCudaContext *s = ctx->priv;
    qc_finding finding;

    av_bprintf(out, "{");
    if (s->options.align == QC_ALIGN_AUTO)
        start_json(&s->alignment.start[rendition], s->preview.pairs, out);
    av_bprintf(out, "\"watched\": %"PRId64", \"findings\": [", qc_session_watched_frames(s->engine.session, rendition));
    for (int i = 0; i < s->alignment.said[rendition] && qc_session_finding(s->engine.session, rendition, i, &finding) == QC_OK; i++) {
        av_bprintf(out, "%s", i ? ", " : "");
        finding_json(&finding, s->alignment.said_time[rendition][i], out);
    }
    av_bprintf(out, "]}");
}
