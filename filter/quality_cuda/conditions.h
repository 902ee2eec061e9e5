/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What frames say of themselves beside their pixels, and what makes their
 * scores mean something else: damage that a decoder found or concealed,
 * interlacing, HDR, tags and time stamps that change. Each is warned of once,
 * counted, and told in the log; none changes a score.
 *
 * Knows flags and tags of frames. Depends on engine, inputs and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_CONDITIONS_H
#define AVFILTER_QUALITY_CUDA_CONDITIONS_H

#include "compat.h"

#include <stddef.h>
#include <stdint.h>

#include "libavutil/bprint.h"

struct QCDecided;

/** Pairs that the list of damaged ones has room for; all are counted. */
#define QC_MOST_CORRUPT 65536

/** A pair with frames that a decoder calls damaged. */
typedef struct QCCorruptPair {
    int64_t row;
    uint32_t inputs; ///< bit i: that of input i is
} QCCorruptPair;

typedef struct QCConditions {
    QCCorruptPair *corrupt; ///< in order
    size_t nb_corrupt;
    int warned_corrupt, warned_interlaced, warned_hdr;
} QCConditions;

/** Looks at the frames of the first pair, whose tags have been adopted: warns of HDR where a model is made for SDR. Needs a session. */
void ff_qc_check_hdr(AVFilterContext *ctx);

/**
 * A frame that was decided about, and its partners: counts and marks what is damaged or interlaced.
 * @param frames one of each input, or NULL; not read where it gets no scores
 * @return AVERROR
 */
int ff_qc_note_frames(AVFilterContext *ctx, struct QCDecided *decided, AVFrame *const *frames);

/** "corrupt", "ref_corrupt", "1.corrupt": what marks an input's damaged frames in lines and, behind the prefix, as metadata. @return key */
const char *ff_qc_corrupt_key(int index, char *key, size_t size);

/** An object that tells what an input is and what was met in it. @param rendition whose pairs count */
void ff_qc_stream_json(const AVFilterContext *ctx, int index, int rendition, AVBPrint *out);

/** An array of the numbers of a rendition's scored pairs with a damaged frame on either side. */
void ff_qc_corrupt_json(const AVFilterContext *ctx, int rendition, AVBPrint *out);

/** At the end: what was met, if there was anything. */
void ff_qc_print_conditions(AVFilterContext *ctx);

void ff_qc_free_conditions(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_CONDITIONS_H */
