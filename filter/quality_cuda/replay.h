/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * A run over what other runs recorded: frames come from their records in the
 * place of the links, and what the engine measured comes with them. All else,
 * pairs, counts, scores, watch and logs, is done as ever; so the log is that of
 * one run over the whole.
 *
 * replay=FILE is a list with a line for each part, in order:
 *
 *     STAMP STAMP ... PATH
 *
 * that is the time stamp of each input from which on its frames are this
 * part's, and the record. Frames of earlier stamps, which a part saw to know
 * what came before, belong to the part before it; what both measured has to be
 * the same. Depends on state.
 */

#ifndef AVFILTER_QUALITY_CUDA_REPLAY_H
#define AVFILTER_QUALITY_CUDA_REPLAY_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda.h>

struct QCReplay;

/* As run/record/format.hpp has them. */
#define QC_RECORD_VERSION 2

enum QCEntryKind {
    QC_ENTRY_HEAD     = 0x4851, ///< version of the record, inputs; then the engine's version as text, in words
    QC_ENTRY_LINK     = 0x4c51, ///< QC_LINK_WORDS, once for each input
    QC_ENTRY_FRAME    = 0x4651, ///< QC_FRAME_WORDS
    QC_ENTRY_END      = 0x4551, ///< input, status, time stamp
    QC_ENTRY_PAIR     = 0x5051, ///< row, renditions, whether a pause was before it, time stamps of all inputs' frames
    QC_ENTRY_MEASURED = 0x4d51, ///< row, then the engine's words
    QC_ENTRY_ENGINE   = 0x4451, ///< its description as text, in words
};

enum { QC_LINK_INDEX, QC_LINK_WIDTH, QC_LINK_HEIGHT, QC_LINK_FORMAT, QC_LINK_CLOCK_NUM, QC_LINK_CLOCK_DEN, QC_LINK_RATE_NUM,
       QC_LINK_RATE_DEN, QC_LINK_SHAPE_NUM, QC_LINK_SHAPE_DEN, QC_LINK_WORDS };

enum { QC_FRAME_INPUT, QC_FRAME_PTS, QC_FRAME_WIDTH, QC_FRAME_HEIGHT, QC_FRAME_FORMAT, QC_FRAME_IS_CORRUPT, QC_FRAME_IS_INTERLACED,
       QC_FRAME_IS_CONCEALED, QC_FRAME_RANGE, QC_FRAME_MATRIX, QC_FRAME_PRIMARIES, QC_FRAME_TRANSFER, QC_FRAME_SITING,
       QC_FRAME_BYTES, QC_FRAME_WORDS };

enum { QC_PAIR_ROW, QC_PAIR_RENDITIONS, QC_PAIR_BROKE, QC_PAIR_STAMPS };

/** Reads the list. Does nothing without replay=FILE, as all below. @return AVERROR */
int ff_qc_open_replay(AVFilterContext *ctx);

/** Gives the links the properties that the first part's had. @return AVERROR */
int ff_qc_replay_links(AVFilterContext *ctx);

/** The next frame of an input comes, or its end. @return AVERROR */
int ff_qc_replay_next(AVFilterContext *ctx, int index);

/** Submits a pair, as it was measured. @return AVERROR */
int ff_qc_replay_pair(AVFilterContext *ctx, uint32_t renditions, AVFrame *const *frames);

/** What the first part's session said of itself, or NULL. */
const char *ff_qc_replayed_engine(const AVFilterContext *ctx);

void ff_qc_close_replay(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_REPLAY_H */
