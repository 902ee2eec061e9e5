/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * How a run ended, and whether its pairs suffice for a score.
 */
#ifndef QUALITY_CUDA_RUN_VERDICT_H
#define QUALITY_CUDA_RUN_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a run ended. */
typedef QC_ENUM(qcr_end) {
    QCR_END_NONE,        ///< it goes on
    QCR_END_OF_STREAM,   ///< every frame was sent, and the next filter asked for one more
    QCR_END_BY_CONSUMER, ///< nobody wanted further frames (-frames:v, -t): what was wanted is complete
    QCR_END_BY_SIGNAL,   ///< the program was told to stop
    QCR_END_TAKEN_DOWN,  ///< the graph was freed while its inputs went on: an error elsewhere, or a new graph
    QCR_END_BY_FAILURE,
} qcr_end;

/**
 * How a run ends that nothing leaves any more.
 * @param has_failed, is_interrupted, is_done whether there was a failure; a signal; whether the output was ended
 * @param is_awaited the next filter waits for a frame: a consumer that has enough asks for nothing more
 */
QC_API qcr_end qcr_end_of(int has_failed, int is_interrupted, int is_done, int is_awaited);

/** As logs have it: "end of stream", "stopped early", "interrupted", "failure". */
QC_API const char* qcr_end_name(qcr_end end);

/** A further rendition that was refused, or changed and is over: what was said of it has room here. */
#define QCR_REFUSAL 512

/** What the frames of an input are. */
typedef struct qcr_shape {
    int width, height;  ///< samples
    const char* format; ///< the name of their format
} qcr_shape;

/** An input has changed within the run: what is said of that. @param time of the first such frame, seconds */
QC_API void qcr_tell_change(const qcr_names* names, int input, const qcr_shape* from, const qcr_shape* to, double time,
                            char why[QCR_REFUSAL]);

/** Says why a further rendition ends before its video does. */
QC_API void qcr_say_no_further(const char* why, const qcr_sink* sink);

/**
 * A video that mostly lacks its reference must not pass for one that was scored.
 * @param tolerance largest distance of a pair, seconds @param why set to a sentence where the pairs are too few
 * @return 1: they are, 0
 */
QC_API int qcr_refuse_pairs(const qcr_counts* counts, int rendition, double tolerance, char why[QCR_REFUSAL]);

/**
 * Nor may one without any score: frames that were left out on purpose, and a consumer that wanted none, are no such
 * case.
 * @param received frames that came: of the distorted video, and of the reference @param why as above
 */
QC_API int qcr_refuse_nothing(const qcr_counts* counts, qcr_end end, const int64_t received[2], char why[QCR_REFUSAL]);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_VERDICT_H */
