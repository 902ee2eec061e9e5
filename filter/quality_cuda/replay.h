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
 * the same. Depends on record and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_REPLAY_H
#define AVFILTER_QUALITY_CUDA_REPLAY_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda.h>

#include "record.h"

struct QCReplay;

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
