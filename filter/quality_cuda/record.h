/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What a run saw and measured, in a file: what frames said of themselves, which
 * of them were pairs, and what the engine measured of each. From the records of
 * parts of a video, replay.h makes the run over the whole.
 *
 * A record appears when it is whole, by being renamed. It is a row of entries: kind and count of 64-bit words, then the words,
 * in the order of bytes of the machine. It is for the same build of the same
 * version. Depends on state alone.
 */

#ifndef AVFILTER_QUALITY_CUDA_RECORD_H
#define AVFILTER_QUALITY_CUDA_RECORD_H

#include "compat.h"

#include <stdint.h>
#include <stdio.h>

#define QC_RECORD_VERSION 1

enum QCEntryKind {
    QC_ENTRY_HEAD     = 0x4851, ///< version of the record, of libavutil, inputs; then the engine's version as text, in words
    QC_ENTRY_LINK     = 0x4c51, ///< QC_LINK_WORDS, once for each input
    QC_ENTRY_FRAME    = 0x4651, ///< QC_FRAME_WORDS
    QC_ENTRY_END      = 0x4551, ///< input, status, time stamp
    QC_ENTRY_PAIR     = 0x5051, ///< row, renditions, whether a pause was before it, time stamps of all inputs' frames
    QC_ENTRY_MEASURED = 0x4d51, ///< row, then the engine's words
    QC_ENTRY_ENGINE   = 0x4451, ///< its description as text, in words
    QC_ENTRY_RATE     = 0x5251, ///< frame rate and tolerance that were gone by, as doubles; the last entry
};

enum { QC_LINK_INDEX, QC_LINK_WIDTH, QC_LINK_HEIGHT, QC_LINK_FORMAT, QC_LINK_CLOCK_NUM, QC_LINK_CLOCK_DEN, QC_LINK_RATE_NUM,
       QC_LINK_RATE_DEN, QC_LINK_SHAPE_NUM, QC_LINK_SHAPE_DEN, QC_LINK_WORDS };

enum { QC_FRAME_INPUT, QC_FRAME_PTS, QC_FRAME_WIDTH, QC_FRAME_HEIGHT, QC_FRAME_FORMAT, QC_FRAME_IS_CORRUPT, QC_FRAME_IS_INTERLACED,
       QC_FRAME_ERRORS, QC_FRAME_RANGE, QC_FRAME_MATRIX, QC_FRAME_PRIMARIES, QC_FRAME_TRANSFER, QC_FRAME_SITING, QC_FRAME_BYTES,
       QC_FRAME_WORDS };

enum { QC_PAIR_ROW, QC_PAIR_RENDITIONS, QC_PAIR_BROKE, QC_PAIR_STAMPS };

typedef struct QCRecord {
    FILE *file;       ///< from the first frame or end on
    char *unfinished; ///< its name until it is whole
    int broke;        ///< a pause has been
    int error;        ///< AVERROR of the first failure
} QCRecord;

/** A frame that came, or the input's end. With record=FILE alone these and all below do anything. @return AVERROR */
int ff_qc_record_frame(AVFilterContext *ctx, int index, const AVFrame *frame);
int ff_qc_record_end(AVFilterContext *ctx, int index);

/** The session was opened: writes down what it measures. @return AVERROR */
int ff_qc_record_session(AVFilterContext *ctx);

/** The pair of row `row` goes to the engine. @return AVERROR */
int ff_qc_record_pair(AVFilterContext *ctx, int64_t row, uint32_t renditions, AVFrame *const *frames);

/** The pairs pause. */
void ff_qc_record_break(AVFilterContext *ctx);

/** The run is over. @return AVERROR if the record is not whole */
int ff_qc_finish_record(AVFilterContext *ctx);

void ff_qc_close_record(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_RECORD_H */
