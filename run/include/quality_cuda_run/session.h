/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * A run's session of the engine: how many frames are held for it, what is tried where it cannot be had, who goes on
 * where the GPU fails, and what its scores are called.
 */
#ifndef QUALITY_CUDA_RUN_SESSION_H
#define QUALITY_CUDA_RUN_SESSION_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/engine.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the user wants of it. */
typedef struct qcr_scoring_rules {
    const char* key_prefix; ///< of the keys
    int depth;              ///< distorted frames held; 0: as many as fit the metrics and the backend
    int threads;            ///< of the CPU backend, 1 or more
    int may_leave_gpu;      ///< the CPU backend goes on where the GPU cannot be had, or fails
    int is_for_log;         ///< nothing is scored any more, so any backend will do
} qcr_scoring_rules;

/** A session and what was decided about it. Zeroed before; qcr_close_scoring() ends it. */
typedef struct qcr_scoring {
    qc_session* session;           ///< NULL until it is open
    int depth;                     ///< distorted frames held, except those whose score waits for a later frame
    int most_under_way;            ///< no more than can be held, or than the CPU backend takes in without waiting
    int features;                  ///< scores of a rendition
    const char* const* keys;       ///< [rendition][feature]: the prefix, "1." of rendition 1, the name of the score
    const char* const* names;      ///< the same without the prefix
    int left_gpu;                  ///< the GPU failed, and the CPU backend goes on
    char gpu_failure[512];         ///< what it said then
    struct qcr_score_texts* texts; ///< what keys and names point to
} qcr_scoring;

/**
 * Opens the session. Without the memory for all frames it is tried again with fewer at once, unless a depth is asked
 * for.
 * @param config all but batch, slots and latency_first, which are set here, with backend and cuda_context where the GPU
 * is left
 * @param error  filled where that fails @return as qc_request_open()
 */
QC_API qc_status qcr_open_scoring(qcr_scoring* scoring, const qc_request* request, qc_config* config,
                                  const qcr_scoring_rules* rules, const qcr_sink* sink, qc_error* error);

/**
 * A call on the session has failed: the CPU backend goes on, if it may and can, as qc_session_continue_on_cpu() has it.
 * @param error filled with what the session said where it does not @return QC_OK: go on; otherwise `status`
 */
QC_API qc_status qcr_recover_scoring(qcr_scoring* scoring, qc_status status, const qcr_scoring_rules* rules,
                                     const qcr_sink* sink, qc_error* error);

/** Frames that the session has taken in. */
QC_API int64_t qcr_frames_taken(const qcr_scoring* scoring);

/** Also of one that was never opened. What the GPU said stays. */
QC_API void qcr_close_scoring(qcr_scoring* scoring);

/** Whether the status says that it is the GPU that cannot be had. @return 1 or 0 */
QC_API int qcr_is_of_device(qc_status status);

/**
 * A session that scores nothing and watches the contents, for a look at the first pictures: on the GPU where they are
 * there.
 * @param config as of the run; changed to what that takes @return as qc_request_open()
 */
QC_API qc_status qcr_open_watch(const qc_request* request, qc_config* config, int is_on_gpu, qc_session** session,
                                qc_error* error);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_SESSION_H */
