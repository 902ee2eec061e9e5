/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What frames say of themselves, by their flags and tags: handed to the account of the run
 * (quality_cuda_run/conditions.h, alignment.h, verdict.h).
 */

#ifndef AVFILTER_QUALITY_CUDA_ACCOUNT_H
#define AVFILTER_QUALITY_CUDA_ACCOUNT_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda_run.h>

/** The names of the pads, once there are all. @return AVERROR */
int ff_qc_open_account(AVFilterContext *ctx);

/** Tags are compared with those of the distorted frame at an input's first pair; samples are scored as they are. @return AVERROR */
int ff_qc_check_colour(AVFilterContext *ctx, int index, const AVFrame *frame, const AVFrame *distorted);

/** The tags of the first pair count. A rendition that is missing there has those of its next frame, or those of the distorted
 *  frame. @param frames one of each input, or NULL */
void ff_qc_adopt_colours(AVFilterContext *ctx, AVFrame *const *frames);

/** Counts, and says once, if an input changes its tags after the first pair. */
void ff_qc_warn_of_colour_change(AVFilterContext *ctx, int index, const AVFrame *frame);

/** Looks at the frames of the first pair, whose tags have been adopted: warns of HDR where a model is made for SDR. Needs a session. */
void ff_qc_check_hdr(AVFilterContext *ctx);

/**
 * A frame that was decided about, and its partners: counts and marks what is damaged or interlaced.
 * @param row its `corrupt` is set @param frames one of each input, or NULL: no pair, the distorted frame alone
 * @return AVERROR
 */
int ff_qc_note_frames(AVFilterContext *ctx, qcr_row *row, AVFrame *const *frames);

/** What sentences about alignment depend on. */
qcr_alignment_rules ff_qc_alignment_rules(const AVFilterContext *ctx);

/** Notes which ranges the first frames are tagged with: where all are, nothing is left to be told. @return whether anything is */
int ff_qc_note_ranges(AVFilterContext *ctx, AVFrame *const *frames);

/** Says what was told of the beginnings, and what becomes of it. @return AVERROR, with range=error */
int ff_qc_adopt_start(AVFilterContext *ctx);

/** Says what was found since the last time, but not of frames that have not left yet. */
void ff_qc_say_findings(AVFilterContext *ctx, int64_t rows_left);

/** A video that mostly lacks its reference must not pass for one that was scored: the run fails then. */
void ff_qc_judge_pairs(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_ACCOUNT_H */
