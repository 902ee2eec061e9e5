/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What is told of the scores while a run goes on: lines of JSON for a receiver, alerts, a file for Prometheus.
 *
 * Frames come as values, in the order in which they leave. What comes out are lines, messages to the sink, and the
 * names of the alerts that are active. Where a window is asked for, there is a line for each stretch of that length,
 * and otherwise for each frame.
 *
 * Nobody who listens is waited for. Lines go into a queue of bounded length; where it is full the oldest is dropped. A
 * thread hands them to the receiver, which it tries to reach again and again, and tells it in a line of its own how
 * many lines it has missed. The thread starts with the first line and takes no signals. It calls the receiver, and the
 * sink: that must bear calls from two threads.
 *
 * Everything else is called from one thread. Functions that fail leave a text in qcr_live_error().
 */
#ifndef QUALITY_CUDA_RUN_LIVE_H
#define QUALITY_CUDA_RUN_LIVE_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/files.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/receiver.h"
#include "quality_cuda_run/rows.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** So many conditions may be watched at once. */
#define QCR_MOST_ALERTS 32

typedef struct qcr_live qcr_live;

/** What the user asked for. */
typedef struct qcr_live_options {
    const char* alerts;     ///< conditions like "vmaf<80:2s", joined by |; NULL: none
    int64_t window;         ///< microseconds; 0: none was asked for
    int has_lines;          ///< there will be a receiver
    int has_metrics;        ///< there will be a metrics file, which has windows of a second if none were asked for
    const qcr_names* names; ///< of the inputs; outlives the run, and is filled before the first frame
} qcr_live_options;

/** @param sink copied @return QC_ERROR_NO_MEMORY */
QC_API qc_status qcr_live_create(const qcr_sink* sink, qcr_live** live);

/** Ends the thread at once; what its receiver did not take is lost. NULL is nothing. */
QC_API void qcr_live_destroy(qcr_live* live);

/** What is wrong, as a sentence for the user, after a function that returned an error; "" before. */
QC_API const char* qcr_live_error(const qcr_live* live);

/** Reads the options; once, and first. @return QC_ERROR_INVALID, QC_ERROR_NO_MEMORY */
QC_API qc_status qcr_live_configure(qcr_live* live, const qcr_live_options* options);

/**
 * Where the lines go. Only the first line opens it.
 * @param name for messages, and what the receiver opens; copied
 * @param most lines that may wait, above 0
 * @return QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_live_send_to(qcr_live* live, const char* name, const qcr_receiver* receiver, int most);

/** The same for a file, a pipe, a device or an open descriptor: how it waits, and what becomes of half a line, is known
 * here. @param target outlives the run */
QC_API qc_status qcr_live_write_to(qcr_live* live, const qcr_target* target, int most);

/**
 * Where the metrics go: a file in the text format of Prometheus that is replaced with each window. The last part of its
 * name, without the extension, becomes the label "stream".
 * @param target outlives the run
 */
QC_API void qcr_live_keep_metrics(qcr_live* live, const qcr_target* target);

/**
 * Which scores there are; before the first frame that has any.
 * @param names [rendition][feature]: "vmaf", "1.vmaf"; copied
 * @return QC_ERROR_INVALID: an alert asks for another one; QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_live_name_scores(qcr_live* live, const char* const* names, int renditions, int features);

/**
 * A frame has left, in the order in which they do; one whose scores follow is told of when they come.
 * @return QC_ERROR_NO_MEMORY: it counts, but is in no window
 */
QC_API qc_status qcr_live_frame_leaves(qcr_live* live, const qcr_row* row);

/** Whether any alerts are watched. */
QC_API int qcr_live_has_alerts(const qcr_live* live);

/** The names of those that are active, joined by |; "" for none. Valid until the next call. */
QC_API const char* qcr_live_active_alerts(const qcr_live* live);

/**
 * Says that scoring has become too slow for the stream, or is fast enough again.
 * @param time   seconds
 * @param passed frames that have passed without scores since it became too slow
 */
QC_API void qcr_live_pace_changes(qcr_live* live, int is_overloaded, double time, int64_t passed);

/**
 * No frame follows: ends what is active, hands over all lines. Once; later calls do nothing.
 * @param end        members of the last line's object, as JSON: how the run ended
 * @param session    whose pooled scores are in that line; NULL: none
 * @param is_hurried the receiver has a second for what waits, otherwise three
 * @return 0, or minus the errno of the first failure: the metrics, or the lines of a receiver that is lasting, are not
 *         complete
 */
QC_API int qcr_live_finish(qcr_live* live, const char* end, qc_session* session, int is_hurried);

/** Says how it went, at the end. */
QC_API void qcr_live_sum_up(const qcr_live* live);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_LIVE_H */
