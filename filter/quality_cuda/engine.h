/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The scoring engine as the filter sees it: its configuration, the device it
 * works on, its session, the names of its scores, its errors.
 *
 * Knows the engine's C API and CUDA contexts as opaque pointers. Depends on
 * inputs for the layout of the pictures, on scaling and state; makes no CUDA call.
 */

#ifndef AVFILTER_QUALITY_CUDA_ENGINE_H
#define AVFILTER_QUALITY_CUDA_ENGINE_H

#include "compat.h"

#include <quality_cuda_run/engine.h>

#define QC_KEY_PREFIX "lavfi.quality_cuda."

typedef struct QCEngine {
    qc_request *request;     ///< what the options ask for
    qc_session *session;     ///< NULL until the first pair
    AVBufferRef *device_ref; ///< keeps the CUDA context alive as long as the session; NULL: the engine's own
    qc_pool pool;            ///< of the final score
    double frame_rate;       ///< of the main input, 1/s, 0: unknown
    int depth;               ///< main frames held, but for those whose score waits for a later frame
    int feature_count;       ///< scores of a rendition
    char **keys;             ///< metadata keys, [rendition][feature]
    int left_gpu;            ///< the GPU failed, and the CPU backend goes on
    char gpu_failure[512];   ///< what it said then
} QCEngine;

/** Everything that can be wrong in the options is found before the first frame is decoded. @return AVERROR */
int ff_qc_check_options(AVFilterContext *ctx);

/** What the metrics say of the pictures is known before the first frame comes. @return AVERROR */
int ff_qc_check_pictures(AVFilterContext *ctx);

/** Opens the session: with the first pair, for only frames know all of their colour tags, and their cropping. @return AVERROR */
int ff_qc_open_session(AVFilterContext *ctx);

/**
 * Opens another session, which scores nothing and watches the contents: for a
 * look at the first pictures, on the GPU where they are there.
 * @param error what is wrong where that is not possible
 */
qc_status ff_qc_open_watch(AVFilterContext *ctx, qc_session **session, qc_error *error);

/** Ends the session, then lets go of its device. */
void ff_qc_close_engine(AVFilterContext *ctx);

/** No more pairs follow: scores that wait for a successor become final. Once. @return AVERROR */
int ff_qc_flush_session(AVFilterContext *ctx);

/** Name of a score as the user reads it: "vmaf", "1.vmaf". @param index [rendition][feature] */
const char *ff_qc_score_name(const QCEngine *engine, int index);

/** Whether a score was asked for: features that only feed the default model were not. Needs a session. */
int ff_qc_is_asked_for(const AVFilterContext *ctx, int feature);

/** Whether the status says that it's the GPU that cannot be had. */
int ff_qc_is_of_device(qc_status status);

/** The AVERROR of an engine's failure. */
int ff_qc_error_of_status(qc_status status);

/** The session's failure becomes the filter's, unless the CPU backend can go on. @return its AVERROR, or 0: go on */
int ff_qc_recover_session(AVFilterContext *ctx, qc_status status);

/** Frames that the session has taken in. */
int64_t ff_qc_frames_taken(const QCEngine *engine);

#endif /* AVFILTER_QUALITY_CUDA_ENGINE_H */
