/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The scoring engine as the filter sees it: the options and links as its
 * configuration, and FFmpeg's CUDA device. What is decided about a session is in
 * quality_cuda_run/session.h. Makes no CUDA call.
 */

#ifndef AVFILTER_QUALITY_CUDA_ENGINE_H
#define AVFILTER_QUALITY_CUDA_ENGINE_H

#include "compat.h"

#include <quality_cuda_run.h>

#define QC_KEY_PREFIX "lavfi.quality_cuda."

typedef struct QCEngine {
    qc_request *request;     ///< what the options ask for
    AVBufferRef *device_ref; ///< keeps the CUDA context alive as long as the session; NULL: the engine's own
    qc_pool pool;            ///< of the final score
} QCEngine;

/** Everything that can be wrong in the options is found before the first frame is decoded. @return AVERROR */
int ff_qc_check_options(AVFilterContext *ctx);

/** What the metrics say of the pictures is known before the first frame comes. @return AVERROR */
int ff_qc_check_pictures(AVFilterContext *ctx);

/** Opens the session: with the first pair, for only frames know all of their colour tags, and their cropping. @return AVERROR */
int ff_qc_open_session(AVFilterContext *ctx);

/** The whole configuration, with the pictures' formats and the device. @param sink of messages; NULL for none @return AVERROR */
int ff_qc_make_config(AVFilterContext *ctx, qc_config *config, const qcr_sink *sink);

/** Ends the session, then lets go of its device. */
void ff_qc_close_engine(AVFilterContext *ctx);

/** No more pairs follow: scores that wait for a successor become final. Once. @return AVERROR */
int ff_qc_flush_session(AVFilterContext *ctx);

/** The session's failure becomes the filter's, unless the CPU backend can go on. @return its AVERROR, or 0: go on */
int ff_qc_recover_session(AVFilterContext *ctx, qc_status status);

#endif /* AVFILTER_QUALITY_CUDA_ENGINE_H */
