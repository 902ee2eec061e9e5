/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * A run over what other runs recorded; see replay.h. Depends on record and
 * state.
 */

#include "compat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/time.h"

#include "libavfilter/video.h"

#include "replay.h"
#include "state.h"

#define LONGEST_LINE  8192
#define MOST_WORDS    (1u << 24) /* of an entry: more is no record */
#define KEPT_PAIRS    8          /* of the part before, to be held against those that the next one saw too */
#define READ_AT_ONCE  (1 << 17)  /* bytes of a record */
#define PASSED_WORDS  512        /* at once, of an entry that is none of the reader's */
#define PAUSE         5000       /* microseconds between two looks for a record that is to come */

typedef struct QCPart {
    int64_t from[QC_MAX_INPUTS];
    char *path;
} QCPart;

/** Reads the entries of one kind, part by part. */
typedef struct QCReader {
    FILE *file;
    int part;
    int64_t *words;     ///< of the latest entry
    uint32_t count, room;
} QCReader;

/** A pair and what was measured of it. */
typedef struct QCMeasuredPair {
    int64_t *words;     ///< QC_ENTRY_PAIR's, then QC_ENTRY_MEASURED's
    uint32_t pair, measured;
} QCMeasuredPair;

typedef struct QCReplay {
    QCPart *parts;
    int nb_parts;
    QCReader input[QC_MAX_INPUTS];
    int64_t sent[QC_MAX_INPUTS];     ///< stamp of the latest frame that came
    int64_t lead[QC_MAX_INPUTS];     ///< of the latest one that its part saw, but that was the part's before
    int is_joined[QC_MAX_INPUTS];    ///< these two were held against each other
    QCReader pairs, measured;
    QCMeasuredPair kept[KEPT_PAIRS]; ///< the latest ones, in a ring
    int64_t nb_kept;
    AVFrame *blank[QC_MAX_INPUTS];   ///< pixels that nobody looks at
    char engine[1024];
} QCReplay;

static int is_last(const QCReplay *replay, int part)
{
    return part == replay->nb_parts - 1;
}

static int fail_record(AVFilterContext *ctx, int part, const char *why)
{
    const QualityCudaContext *s = ctx->priv;

    return ff_qc_fail(ctx, AVERROR_INVALIDDATA, "replay=%s: the record of part %d, %s, %s", s->options.replay, part,
                      s->replay->parts[part].path, why);
}

/* ---- the list ---- */

static int add_part(AVFilterContext *ctx, char *line)
{
    QualityCudaContext *s = ctx->priv;
    QCReplay *replay = s->replay;
    QCPart *parts = av_realloc_array(replay->parts, replay->nb_parts + 1, sizeof(*parts)), *part;

    if (!parts)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    replay->parts = parts;
    part = &parts[replay->nb_parts];
    memset(part, 0, sizeof(*part));
    for (int i = 0; i < s->nb_inputs; i++) {
        char *end;

        part->from[i] = strtoll(line, &end, 10);
        if (end == line || *end != ' ')
            return ff_qc_fail(ctx, AVERROR(EINVAL), "replay=%s: line %d does not begin with a time stamp for each of %d inputs",
                              s->options.replay, replay->nb_parts + 1, s->nb_inputs);
        line = end + 1;
    }
    part->path = av_strdup(line);
    replay->nb_parts += part->path != NULL;
    return part->path ? 0 : ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
}

int ff_qc_open_replay(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    char line[LONGEST_LINE];
    FILE *list;
    int ret = 0;

    if ((s->options.record || s->options.replay) && s->options.align == QC_ALIGN_AUTO)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "align=auto: with record or replay none and start are accepted");
    if (!s->options.replay)
        return 0;
    s->replay = av_mallocz(sizeof(*s->replay));
    if (!s->replay)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    list = fopen(s->options.replay, "r");
    if (!list)
        return ff_qc_fail(ctx, AVERROR(errno), "replay=%s: %s", s->options.replay, av_err2str(AVERROR(errno)));
    while (ret >= 0 && fgets(line, sizeof(line), list)) {
        line[strcspn(line, "\n")] = 0;
        ret = add_part(ctx, line);
    }
    fclose(list);
    for (int i = 0; i < QC_MAX_INPUTS; i++)
        s->replay->sent[i] = s->replay->lead[i] = AV_NOPTS_VALUE;
    if (ret >= 0 && !s->replay->nb_parts)
        return ff_qc_fail(ctx, AVERROR(EINVAL), "replay=%s: the list is empty", s->options.replay);
    return ret;
}

/* ---- entries ---- */

/**
 * With replay_wait=1 a record may be one that is to come: it appears whole, by being renamed, and who makes it ends this
 * run if it never will.
 */
static FILE *open_record(AVFilterContext *ctx, const char *path)
{
    QualityCudaContext *s = ctx->priv;
    FILE *file;

    while (!(file = fopen(path, "rb")) && errno == ENOENT && s->options.replay_wait && !qcr_interrupted_by(&s->run.interrupts)) {
        av_usleep(PAUSE);
        for (int i = 0; s->pairs && i < s->nb_inputs; i++)
            qcr_pairs_hear(s->pairs, i); /* who waits for a record is not kept waiting by an input */
    }
    return file;
}

/** Reads on, for seeking would have the file read anew from there. */
static int pass_words(QCReader *reader, uint32_t count)
{
    int64_t passed[PASSED_WORDS];

    while (count) {
        const uint32_t some = FFMIN(count, PASSED_WORDS);

        if (fread(passed, sizeof(*passed), some, reader->file) != some)
            return AVERROR_INVALIDDATA;
        count -= some;
    }
    return 0;
}

/** The next entry of a kind in this part, of whatever is of two kinds the next of either. @return AVERROR, 0 behind the last, or the kind */
static int read_entry(AVFilterContext *ctx, QCReader *reader, int kind, int other)
{
    uint32_t head[2];
    int ret = 0;

    while (ret >= 0) {
        if (fread(head, sizeof(head), 1, reader->file) != 1)
            return 0;
        if (head[1] > MOST_WORDS)
            return fail_record(ctx, reader->part, "is none, or damaged");
        if ((int)head[0] != kind && (int)head[0] != other) {
            ret = pass_words(reader, head[1]) ? fail_record(ctx, reader->part, "ends in mid of an entry") : 0;
            continue;
        }
        if (head[1] >= reader->room) {
            int64_t *words = av_realloc_array(reader->words, head[1] + 1, sizeof(*words));

            if (!words)
                return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
            reader->words = words;
            reader->room  = head[1] + 1;
        }
        reader->count = head[1];
        reader->words[head[1]] = 0; /* ends a text */
        if (fread(reader->words, sizeof(*reader->words), head[1], reader->file) != head[1])
            return fail_record(ctx, reader->part, "ends in mid of an entry");
        return head[0];
    }
    return ret;
}

static int check_head(AVFilterContext *ctx, const QCReader *reader)
{
    const QualityCudaContext *s = ctx->priv;
    const int64_t *words = reader->words;

    if (reader->count < 3 || words[0] != QC_RECORD_VERSION || strcmp((const char *)(words + 2), qc_version()))
        return fail_record(ctx, reader->part, "was made by another version");
    return words[1] == s->nb_inputs ? 0 : fail_record(ctx, reader->part, "has another number of inputs");
}

static int open_part(AVFilterContext *ctx, QCReader *reader, int part)
{
    const QCReplay *replay = ((const QualityCudaContext *)ctx->priv)->replay;
    int ret;

    if (reader->file)
        fclose(reader->file);
    reader->part = part;
    reader->file = open_record(ctx, replay->parts[part].path);
    if (!reader->file)
        return fail_record(ctx, part, "cannot be opened");
    setvbuf(reader->file, NULL, _IOFBF, READ_AT_ONCE);
    ret = read_entry(ctx, reader, QC_ENTRY_HEAD, QC_ENTRY_HEAD);
    return ret < 0 ? ret : ret ? check_head(ctx, reader) : fail_record(ctx, part, "is none");
}

static int next_entry(AVFilterContext *ctx, QCReader *reader, int kind, int other)
{
    const int ret = reader->file ? 0 : open_part(ctx, reader, reader->part);

    return ret < 0 ? ret : read_entry(ctx, reader, kind, other);
}

static void free_reader(QCReader *reader)
{
    if (reader->file)
        fclose(reader->file);
    reader->file = NULL;
    av_freep(&reader->words);
}

/* ---- links ---- */

static int adopt_link(AVFilterContext *ctx, const QCReader *reader)
{
    const int64_t *words = reader->words;
    AVFilterLink *link;

    if (reader->count != QC_LINK_WORDS || words[QC_LINK_INDEX] < 0 || words[QC_LINK_INDEX] >= ctx->nb_inputs)
        return fail_record(ctx, reader->part, "is damaged");
    link = ctx->inputs[words[QC_LINK_INDEX]];
    link->w                   = words[QC_LINK_WIDTH];
    link->h                   = words[QC_LINK_HEIGHT];
    link->format              = words[QC_LINK_FORMAT];
    link->time_base           = (AVRational) { words[QC_LINK_CLOCK_NUM], words[QC_LINK_CLOCK_DEN] };
    link->sample_aspect_ratio = (AVRational) { words[QC_LINK_SHAPE_NUM], words[QC_LINK_SHAPE_DEN] };
    QC_LINK_RATE(link)        = (AVRational) { words[QC_LINK_RATE_NUM], words[QC_LINK_RATE_DEN] };
    return 0;
}

/** The head of every record that is there by now, and of the first one what else comes before the frames. */
int ff_qc_replay_links(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    QCReader reader = { 0 };
    int ret = 0;

    const int nb_parts = !s->replay ? 0 : s->options.replay_wait ? 1 : s->replay->nb_parts;

    for (int part = 0; ret >= 0 && part < nb_parts; part++) {
        ret = open_part(ctx, &reader, part);
        for (int i = 0; !part && ret >= 0 && i < s->nb_inputs; i++) {
            ret = read_entry(ctx, &reader, QC_ENTRY_LINK, QC_ENTRY_LINK);
            if (ret >= 0)
                ret = ret ? adopt_link(ctx, &reader) : fail_record(ctx, part, "ends early");
        }
        if (!part && ret >= 0 && read_entry(ctx, &reader, QC_ENTRY_ENGINE, QC_ENTRY_ENGINE) > 0)
            av_strlcpy(s->replay->engine, (const char *)reader.words, sizeof(s->replay->engine));
    }
    free_reader(&reader);
    if (s->replay && ret >= 0)
        ctx->outputs[0]->format = ctx->inputs[0]->format;
    return FFMIN(ret, 0);
}

const char *ff_qc_replayed_engine(const AVFilterContext *ctx)
{
    const QCReplay *replay = ((const QualityCudaContext *)ctx->priv)->replay;

    return replay && *replay->engine ? replay->engine : NULL;
}

/* ---- frames ---- */

static int send_frame(AVFilterContext *ctx, int index, const int64_t *words)
{
    QCReplay *replay = ((QualityCudaContext *)ctx->priv)->replay;
    AVFilterLink *link = ctx->inputs[index];
    AVFrame *frame;

    if (!replay->blank[index])
        replay->blank[index] = ff_get_video_buffer(link, link->w, link->h);
    frame = replay->blank[index] ? av_frame_clone(replay->blank[index]) : NULL;
    if (!frame)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    frame->pts                = replay->sent[index] = words[QC_FRAME_PTS];
    frame->width              = words[QC_FRAME_WIDTH];
    frame->height             = words[QC_FRAME_HEIGHT];
    frame->format             = words[QC_FRAME_FORMAT];
    frame->flags              = words[QC_FRAME_IS_CORRUPT] ? AV_FRAME_FLAG_CORRUPT : 0;
    frame->decode_error_flags = words[QC_FRAME_IS_CONCEALED] ? FF_DECODE_ERROR_CONCEALMENT_ACTIVE : 0;
    frame->color_range        = words[QC_FRAME_RANGE];
    frame->colorspace         = words[QC_FRAME_MATRIX];
    frame->color_primaries    = words[QC_FRAME_PRIMARIES];
    frame->color_trc          = words[QC_FRAME_TRANSFER];
    frame->chroma_location    = words[QC_FRAME_SITING];
    QC_SET_INTERLACED(frame, words[QC_FRAME_IS_INTERLACED]);
    QC_SET_PACKET_BYTES(frame, words[QC_FRAME_BYTES]);
    return ff_filter_frame(link, frame);
}

/** The last frame that the part before gave has to be the last one that this part saw before its own: none is missing between. */
static int join(AVFilterContext *ctx, int index)
{
    QCReplay *replay = ((QualityCudaContext *)ctx->priv)->replay;
    const int part = replay->input[index].part;

    if (!part || replay->is_joined[index])
        return 0;
    replay->is_joined[index] = 1;
    return replay->lead[index] == replay->sent[index] ? 0 : fail_record(ctx, part, "does not go on where the one before it ends");
}

static int next_part(AVFilterContext *ctx, int index)
{
    QCReplay *replay = ((QualityCudaContext *)ctx->priv)->replay;
    const int ret = join(ctx, index);

    replay->lead[index]      = AV_NOPTS_VALUE;
    replay->is_joined[index] = 0;
    return ret < 0 ? ret : open_part(ctx, &replay->input[index], replay->input[index].part + 1);
}

/** Whether a part's frame of this stamp is the next part's. */
static int is_beyond(const QCReplay *replay, int part, int index, int64_t pts)
{
    return !is_last(replay, part) && pts >= replay->parts[part + 1].from[index];
}

int ff_qc_replay_next(AVFilterContext *ctx, int index)
{
    QualityCudaContext *s = ctx->priv;
    QCReplay *replay = s->replay;
    QCReader *reader = &replay->input[index];

    for (;;) {
        const int kind = next_entry(ctx, reader, QC_ENTRY_FRAME, QC_ENTRY_END), part = reader->part;
        const int64_t *words = reader->words;
        int ret = 0;

        if (kind < 0)
            return kind;
        if (!kind)
            return fail_record(ctx, part, "ends before its input does");
        if (reader->count != (kind == QC_ENTRY_FRAME ? QC_FRAME_WORDS : 3))
            return fail_record(ctx, part, "is damaged");
        if (words[0] != index)
            continue;
        if (kind == QC_ENTRY_END && is_last(replay, part)) {
            ret = join(ctx, index);
            ff_outlink_set_status(ctx->inputs[index], words[1], words[2]);
            return ret;
        }
        if (kind == QC_ENTRY_END || is_beyond(replay, part, index, words[QC_FRAME_PTS])) {
            ret = next_part(ctx, index);
        } else if (!part || words[QC_FRAME_PTS] >= replay->parts[part].from[index]) {
            ret = join(ctx, index);
            return ret < 0 ? ret : send_frame(ctx, index, words);
        } else {
            replay->lead[index] = words[QC_FRAME_PTS];
        }
        if (ret < 0)
            return ret;
    }
}

/* ---- pairs ---- */

/** @return AVERROR, 0 behind the last one, 1 */
static int read_pair(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCReplay *replay = s->replay;
    int ret = next_entry(ctx, &replay->pairs, QC_ENTRY_PAIR, QC_ENTRY_PAIR);

    if (ret <= 0)
        return ret;
    if (replay->measured.part != replay->pairs.part)
        ret = open_part(ctx, &replay->measured, replay->pairs.part);
    if (ret >= 0)
        ret = next_entry(ctx, &replay->measured, QC_ENTRY_MEASURED, QC_ENTRY_MEASURED);
    if (ret < 0)
        return ret;
    if (!ret || !replay->measured.count || replay->pairs.count != (uint32_t)(QC_PAIR_STAMPS + s->nb_inputs) ||
        replay->pairs.words[QC_PAIR_ROW] != replay->measured.words[0])
        return fail_record(ctx, replay->pairs.part, "does not say what was measured of every pair");
    return 1;
}

static int64_t main_stamp(const QCReader *pairs)
{
    return pairs->words[QC_PAIR_STAMPS];
}

/** Keeps the latest pairs for the next part. */
static int keep(AVFilterContext *ctx)
{
    QCReplay *replay = ((QualityCudaContext *)ctx->priv)->replay;
    QCMeasuredPair *slot = &replay->kept[replay->nb_kept++ % KEPT_PAIRS];
    const size_t pair = replay->pairs.count, measured = replay->measured.count;

    av_free(slot->words);
    slot->words = av_malloc_array(pair + measured, sizeof(*slot->words));
    if (!slot->words)
        return ff_qc_fail(ctx, AVERROR(ENOMEM), "out of memory");
    memcpy(slot->words, replay->pairs.words, pair * sizeof(*slot->words));
    memcpy(slot->words + pair, replay->measured.words, measured * sizeof(*slot->words));
    slot->pair     = pair;
    slot->measured = measured;
    return 0;
}

/** Whether all earlier pairs that enter into what was measured of the current one had been seen by its part. */
static int is_settled(const AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const int64_t *pair = s->replay->pairs.words;

    return !s->replay->pairs.part || pair[QC_PAIR_BROKE] || pair[QC_PAIR_ROW] >= qc_session_history(s->scoring.session);
}

/** The current pair was the former part's too: both have to have measured the same. @return AVERROR */
static int compare_with_kept(AVFilterContext *ctx)
{
    const QualityCudaContext *s = ctx->priv;
    const QCReplay *replay = s->replay;
    const QCReader *pairs = &replay->pairs, *measured = &replay->measured;

    for (int i = 0; i < KEPT_PAIRS && is_settled(ctx); i++) {
        const QCMeasuredPair *kept = &replay->kept[i];

        if (!kept->words || kept->words[QC_PAIR_STAMPS] != main_stamp(pairs))
            continue;
        if (kept->pair != pairs->count || kept->measured != measured->count ||
            kept->words[QC_PAIR_RENDITIONS] != pairs->words[QC_PAIR_RENDITIONS] ||
            memcmp(kept->words + QC_PAIR_STAMPS, pairs->words + QC_PAIR_STAMPS, s->nb_inputs * sizeof(*kept->words)) ||
            memcmp(kept->words + kept->pair + 1, measured->words + 1, (measured->count - 1) * sizeof(*kept->words)))
            return fail_record(ctx, pairs->part, "differs from the one before in what both have seen: the decoder does not come "
                               "to the same pictures from where this part begins");
    }
    return 0;
}

/** Reads up to the pair of main frame `pts`, which is the current part's or that of one behind it. @return AVERROR */
static int find_pair(AVFilterContext *ctx, int64_t pts)
{
    QCReplay *replay = ((QualityCudaContext *)ctx->priv)->replay;
    QCReader *pairs = &replay->pairs;

    for (;;) {
        int ret;

        if (is_beyond(replay, pairs->part, 0, pts)) {
            ret = open_part(ctx, pairs, pairs->part + 1);
            if (ret < 0)
                return ret;
            continue;
        }
        ret = read_pair(ctx);
        if (ret < 0)
            return ret;
        if (!ret)
            return fail_record(ctx, pairs->part, "lacks a pair");
        if (main_stamp(pairs) == pts)
            return 0;
        ret = compare_with_kept(ctx);
        if (ret < 0)
            return ret;
    }
}

int ff_qc_replay_pair(AVFilterContext *ctx, uint32_t renditions, AVFrame *const *frames)
{
    const QualityCudaContext *s = ctx->priv;
    QCReplay *replay = s->replay;
    qc_status status;
    int ret = find_pair(ctx, frames[0]->pts);

    if (ret < 0)
        return ret;
    for (int i = 0; i < s->nb_inputs; i++)
        if (replay->pairs.words[QC_PAIR_STAMPS + i] != (frames[i] ? frames[i]->pts : AV_NOPTS_VALUE))
            return fail_record(ctx, replay->pairs.part, "has paired other frames");
    if (!is_settled(ctx))
        return fail_record(ctx, replay->pairs.part, "begins too late: pairs that its first ones depend on are missing");
    ret = keep(ctx);
    if (ret < 0)
        return ret;
    status = qc_session_submit_measured(s->scoring.session, renditions, (const uint64_t *)replay->measured.words + 1,
                                        replay->measured.count - 1);
    return status == QC_OK ? 0 : ff_qc_recover_session(ctx, status);
}

void ff_qc_close_replay(AVFilterContext *ctx)
{
    QualityCudaContext *s = ctx->priv;
    QCReplay *replay = s->replay;

    if (!replay)
        return;
    for (int i = 0; i < replay->nb_parts; i++)
        av_free(replay->parts[i].path);
    av_free(replay->parts);
    for (int i = 0; i < QC_MAX_INPUTS; i++) {
        free_reader(&replay->input[i]);
        av_frame_free(&replay->blank[i]);
    }
    free_reader(&replay->pairs);
    free_reader(&replay->measured);
    for (int i = 0; i < KEPT_PAIRS; i++)
        av_free(replay->kept[i].words);
    av_freep(&s->replay);
}
