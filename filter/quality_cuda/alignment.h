/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What the engine's watch of the contents has found, for the user: warnings
 * with a remedy, what align=auto has corrected, and an object of the log. Depends on engine and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_ALIGNMENT_H
#define AVFILTER_QUALITY_CUDA_ALIGNMENT_H

#include "compat.h"

#include <stdint.h>

#include <quality_cuda.h>

#include "libavutil/bprint.h"

#define QC_NOTED_TIMES   1024 /* more pairs than a finding is late by */
#define QC_MOST_FINDINGS 64   /* of a rendition, by the engine's word */

/** What a rendition begins with, by align=auto. */
typedef struct QCStart {
    int is_told;    ///< beyond doubt
    int offset;     ///< frames, as a finding has it; 0 where nothing is told
    double seconds; ///< the same; NaN where nothing is told, or the frame rate is not known
} QCStart;

typedef struct QCAlignment {
    QCStart start[QC_MAX_RENDITIONS];
    int64_t noted;                ///< pairs so far
    double time[QC_NOTED_TIMES];  ///< of the main frames of the latest ones, seconds
    double first_time;
    int said[QC_MAX_RENDITIONS];  ///< findings that the user knows of
    double said_time[QC_MAX_RENDITIONS][QC_MOST_FINDINGS]; ///< theirs, seconds; NaN for not known
} QCAlignment;

/** A main frame was paired and handed to the engine. @param row index of its submission @param time seconds */
void ff_qc_note_pair(QCAlignment *alignment, int64_t row, double time);

/** Says what was told of a rendition's beginning, and what becomes of it. */
void ff_qc_say_start(AVFilterContext *ctx, int rendition);

/** Says what was found since the last time, but not of frames that have not left yet. */
void ff_qc_say_findings(AVFilterContext *ctx, int64_t rows_left);

/** What was found of a rendition, as a JSON object. */
void ff_qc_alignment_json(const AVFilterContext *ctx, int rendition, AVBPrint *out);

#endif /* AVFILTER_QUALITY_CUDA_ALIGNMENT_H */
