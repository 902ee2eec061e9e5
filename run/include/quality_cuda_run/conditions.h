/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What frames say of themselves beside their pixels, and what makes their scores mean something else: damage that a
 * decoder found or concealed, interlacing, HDR, tags that differ or change. Each is warned of once, counted, and told
 * in the log; none changes a score.
 */
#ifndef QUALITY_CUDA_RUN_CONDITIONS_H
#define QUALITY_CUDA_RUN_CONDITIONS_H

#include <stddef.h>
#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Pairs that the list of damaged ones has room for; all are counted. */
#define QCR_MOST_CORRUPT 65536

/** What a frame says of itself. Tags are codes of H.273, 2 for not known; range and chroma location as in qc_colour. */
typedef struct qcr_frame_facts {
    int held;         ///< 0: there is no such frame, of the others only jumps and rate mean something
    int is_corrupt;   ///< its decoder calls it damaged
    int is_concealed; ///< and has concealed that
    int is_interlaced;
    int has_grain; ///< it carries parameters of film grain, which nobody has added to it
    int range, matrix, primaries, transfer, chroma_location;
    double time;   ///< seconds, NaN for none
    double rate;   ///< of the input's frames so far, 1/s; 0: too few to tell
    int64_t jumps; ///< how often the input's time stamps jumped so far
} qcr_frame_facts;

/** What to do about range and matrix: go by tags, and by the pictures where there are none; or not. */
typedef QC_ENUM(qcr_range_check) { QCR_RANGE_TAGS, QCR_RANGE_AUTO, QCR_RANGE_IGNORE, QCR_RANGE_ERROR } qcr_range_check;

typedef struct qcr_condition_rules {
    const qcr_names* names; ///< outlives the conditions
    int range;              ///< qcr_range_check
    int converts;           ///< the engine converts ranges that differ, and RGB beside other pictures, and says so itself
    int is_quiet;           ///< what is no error of the caller's is said as QCR_LEVEL_VERBOSE, except colours
    qcr_sink sink;
} qcr_condition_rules;

typedef struct qcr_conditions qcr_conditions;

/** @return NULL without memory */
QC_API qcr_conditions* qcr_conditions_create(const qcr_condition_rules* rules);
QC_API void qcr_conditions_destroy(qcr_conditions* conditions);

/**
 * Range and matrix are compared with the distorted video's at an input's first pair: what differs is scored as it is,
 * unless the engine converts it. RGB has no matrix and no range that could be wrong.
 * @return QC_OK, or QC_ERROR_INVALID with QCR_RANGE_ERROR: error says how they differ
 */
QC_API qc_status qcr_check_colour(qcr_conditions* conditions, int input, const qcr_frame_facts* own,
                                  const qcr_frame_facts* distorted, qc_error* error);

/** The tags as the engine takes them: 0 is what is not known. */
QC_API qc_colour qcr_colour_of(const qcr_frame_facts* facts);

/** From now on these are an input's tags: those of the first pair count. */
QC_API void qcr_adopt_colour(qcr_conditions* conditions, int input, const qc_colour* colour);

/** Whether a rendition's range is converted, because its tag and the reference's differ. @param conditions NULL: it is not
 *  @return 1 or 0 */
QC_API int qcr_converts_range(const qcr_conditions* conditions, int rendition);

/** Counts, and says once, if an input changes its tags after the first pair. */
QC_API void qcr_follow_colour(qcr_conditions* conditions, int input, const qcr_frame_facts* facts);

/**
 * Warns of HDR where a model is made for SDR: those that come with the engine are; what one from a file is made for,
 * its owner knows.
 * @param colour of each input @param models the session's config.model
 */
QC_API void qcr_check_hdr(qcr_conditions* conditions, const qc_session* session, const char* models,
                          const qc_colour* colour);

/**
 * A distorted frame and its partners: warns of what is damaged or interlaced, once, and counts it. Of interlaced frames
 * when the rates of all inputs are known, for these decide on the remedy.
 * @param facts  of each input @param row their number among the pairs; below 0: no pair, the distorted frame alone
 * @param counts of each rendition: its sides are brought up to this frame
 * @param corrupt set: bit i means that the frame of input i is damaged
 * @return QC_OK, QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_note_frames(qcr_conditions* conditions, const qcr_frame_facts* facts, int64_t row,
                                 qcr_counts* counts, uint32_t* corrupt);

/** No frame follows: says what waited for more of them. */
QC_API void qcr_conclude_conditions(qcr_conditions* conditions);

/** "corrupt", "ref_corrupt", "1.corrupt": what marks an input's damaged frames. @return key, of 32 bytes or more */
QC_API const char* qcr_corrupt_key(int input, char* key, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_CONDITIONS_H */
