/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What a run saw and measured, in a file: what frames said of themselves, which of them were pairs, and what the engine
 * measured of each. From the records of parts of a video quality_cuda_run/merge.h makes the log of a run over the whole.
 *
 * A record appears when it is whole, by being renamed; until then ".unfinished" is added to its name. What it holds is for
 * the same version of the library, on the same kind of machine.
 */
#ifndef QUALITY_CUDA_RUN_RECORD_H
#define QUALITY_CUDA_RUN_RECORD_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/conditions.h"
#include "quality_cuda_run/pairs.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An input before its first frame. A ratio that is not known has a 0 in it. */
typedef struct qcr_recorded_input {
    int width, height;        ///< of its frames, before any cropping
    int format;               ///< the front end's number for the layout of its samples
    const char *format_name;  ///< the name of that
    int clock_num, clock_den; ///< of a tick, seconds
    int rate_num, rate_den;   ///< claimed frames per second
    int shape_num, shape_den; ///< of a sample: width / height
} qcr_recorded_input;

/** A frame as the decoder delivered it. */
typedef struct qcr_recorded_frame {
    int64_t pts; ///< ticks; QCR_NO_PTS for none
    int width, height, format;
    const char *format_name;
    qcr_frame_facts facts; ///< except its time, and what is told of the frames before it
    int64_t packet_bytes;  ///< of what it was decoded from; 0: not known
} qcr_recorded_frame;

typedef struct qcr_record qcr_record;

/**
 * Nothing is written before the first frame or end: a record that is never begun leaves no file.
 * @param path   must not exist by then: it would be another run's
 * @param inputs 2..QCR_MAX_INPUTS
 * @return NULL: out of memory
 */
QC_API qcr_record *qcr_record_create(const char *path, int inputs);
/** What is not whole keeps the name that says so. NULL is allowed. */
QC_API void qcr_record_destroy(qcr_record *record);

/*
 * All that follows return QC_ERROR_IO, from the first failure on; with a record that is NULL, or is finished, nothing is
 * done. What is said of inputs comes before the first frame.
 */

QC_API qc_status qcr_record_input(qcr_record *record, int input, const qcr_recorded_input *facts);

/** What the user was told before the first frame, and is to be told of the merge of all parts too. */
QC_API qc_status qcr_record_said(qcr_record *record, qcr_level level, const char *text);

QC_API qc_status qcr_record_frame(qcr_record *record, int input, const qcr_recorded_frame *frame);

/** @param status the front end's number for how it ended @param pts of that moment */
QC_API qc_status qcr_record_end(qcr_record *record, int input, int64_t status, int64_t pts);

/**
 * The session was opened with this configuration: from now on what it measures is written.
 * @return QC_ERROR_INVALID too: a session that has seen frames
 */
QC_API qc_status qcr_record_session(qcr_record *record, qc_session *session, const qc_config *config);

/**
 * A pair goes to the session next.
 * @param renditions bit k: rendition k has a frame @param pts of each input's frame; QCR_NO_PTS where there is none
 */
QC_API qc_status qcr_record_pair(qcr_record *record, int64_t row, uint32_t renditions, const int64_t *pts);

/** The pairs pause: nothing before is compared with anything behind. */
QC_API void qcr_record_break(qcr_record *record);

/**
 * The run is over. A record that was never begun is none, which is no failure.
 * @param frame_rate, tolerance that were gone by: 1/s, seconds @param is_whole 0: the run failed, and it gets no name
 */
QC_API qc_status qcr_record_finish(qcr_record *record, double frame_rate, double tolerance, int is_whole);

/** The first failure, as errno; 0 for none, or without a record. */
QC_API int qcr_record_error(const qcr_record *record);

/* ---- records that are whole ---- */

/** The frame rate and the tolerance that the run went by. @return QC_ERROR_IO: there is no whole record */
QC_API qc_status qcr_record_rate(const char *path, double *frame_rate, double *tolerance);

/** Whose result a record is. */
typedef struct qcr_seal {
    uint64_t work;   ///< checksum of what was to be done
    uint64_t inputs; ///< checksum of the inputs
} qcr_seal;

/**
 * Adds the command that made a record, and a seal over all of it, and sees that they are on the disk.
 * @param complaints what that command said of its inputs, for who merges; as many lines as there are, or ""
 * @return QC_ERROR_IO, with errno
 */
QC_API qc_status qcr_record_seal(const char *path, const char *complaints, const char *command, const qcr_seal *seal);

/** Whether the file is there, whole, and has this seal. */
QC_API int qcr_record_has_seal(const char *path, const qcr_seal *seal);

/** The command of a sealed record. @return "" without one; to be freed with qcr_record_free(); NULL: out of memory */
QC_API char *qcr_record_command(const char *path);
/** The same of the command's complaints. */
QC_API char *qcr_record_complaints(const char *path);
QC_API void qcr_record_free(char *text);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_RECORD_H */
