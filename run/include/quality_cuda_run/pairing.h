/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Which frame is compared with which: time stamps in, choices out.
 *
 * Knows stamps, clocks and the rules of a run. Holds no picture, reads no
 * input, prints nothing.
 *
 * Each frame of the main input is paired, in order, with one frame of every
 * other input. Such an input is a qcr_track, which keeps the stamps of two frames
 * in a row; whoever holds the frames asks qcr_choose() and does what it says:
 *
 *     QCR_CHOICE_PULL   qcr_track_push() with the input's next frame, or
 *                      track.ended = 1; then ask again
 *     QCR_CHOICE_STEP   qcr_track_step(); then ask again
 *     all others       the decision; qcr_track_use() if it is a frame
 *
 * Times are compared exactly, whatever the inputs' clocks; only distances that
 * are held against a tolerance are rounded. Stamps are below 2^61 in magnitude.
 *
 * QCR_SYNC_LAVFI and QCR_SYNC_LAVFI_NEAREST are the rules that FFmpeg's own
 * filters with two inputs share: all stamps are rounded to one clock, and are
 * nothing but numbers there. No distance is too large. Each main frame takes at
 * most one frame of its own time, so that of several with equal stamps the n-th
 * meets the n-th; a missing stamp is the earliest of all.
 */
#ifndef QUALITY_CUDA_RUN_PAIRING_H
#define QUALITY_CUDA_RUN_PAIRING_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The rules of a run, fixed before its first frame. */
typedef struct qcr_pairing {
    int sync;              ///< qcr_sync
    int eof_action;        ///< qcr_eof_action
    double tolerance;      ///< largest distance of a pair, seconds
    int tolerance_is_wish; ///< it was asked for: QCR_SYNC_FLOOR keeps to it too
    int outlasts_main; ///< QCR_SYNC_LAVFI: the main input's last frame goes on being paired, see qcr_outlasts_main()
} qcr_pairing;

/** A frame as pairing sees it. */
typedef struct qcr_stamp {
    int held;    ///< 0: there is no such frame, the other fields mean nothing
    int64_t pts; ///< QCR_NO_PTS only with QCR_SYNC_INDEX
    int uses;    ///< pairs that used it
} qcr_stamp;

/** An input but the main one. */
typedef struct qcr_track {
    qcr_clock clock;
    qcr_stamp cur;  ///< not later than the main frame (QCR_SYNC_INDEX: the one before next)
    qcr_stamp next; ///< the one after cur (QCR_SYNC_INDEX: the partner of the main frame)
    int ended;      ///< no frame comes after next
    int64_t unused; ///< frames that were dropped without any pair
    int delay;      ///< QCR_SYNC_INDEX: so many main frames come before the track's first one
} qcr_track;

/** What is known of a main frame's partner on one track. */
typedef enum qcr_choice {
    QCR_CHOICE_PULL,   ///< undecided: the next frame, or the end, has to be known
    QCR_CHOICE_STEP,   ///< undecided: next has to become cur
    QCR_CHOICE_CUR,    ///< cur is the partner
    QCR_CHOICE_NEXT,   ///< next is the partner
    QCR_CHOICE_BEFORE, ///< none: the track has not begun yet at that time
    QCR_CHOICE_GAP,    ///< none: nothing is near enough, but later frames exist; or the main frame has no stamp
    QCR_CHOICE_ENDED,  ///< none: the track is over
} qcr_choice;

/** Largest distance of a pair, in seconds: max_dt if it is above 0, else half a frame, 20 ms if the rate (1/s) is 0. */
QC_API double qcr_tolerance(double max_dt, double frame_rate);

/**
 * The frame rate to go by, in 1/s: the claimed one if the stamps of the first
 * frames bear it out, else theirs, 0 if that is unknown too.
 *
 * A claim is believed if it is not above QCR_HIGHEST_RATE and the median distance
 * of the stamps is not one and a half times as long as it says, nor as short,
 * beyond one tick of the clock. Without two stamps in order only the former counts.
 * @param claimed 0 for none: nothing is measured then
 */
QC_API double qcr_plausible_rate(double claimed, const int64_t* pts, int count, const qcr_clock* clock);

/**
 * Finds the partner of the main frame with stamp `pts` on `clock`. Main frames
 * come in the order of their stamps; the track is only read.
 */
QC_API qcr_choice qcr_choose(const qcr_pairing* rules, const qcr_track* track, const qcr_clock* clock, int64_t pts);

/** Whether frames are paired by FFmpeg's own rules. */
QC_API int qcr_is_lavfi(const qcr_pairing* rules);

/** Whether a decision uses the track's next frame up: qcr_track_step() once the pair is made. */
QC_API int qcr_uses_up(const qcr_pairing* rules, qcr_choice choice);

/**
 * Behind the main input's end: whether its last frame, of stamp `pts`, is paired
 * with the track's next frame, as if it came again at that frame's time. Both
 * are stamps of the one clock; the next frame, or the end, has to be known.
 */
QC_API int qcr_outlasts_main(const qcr_pairing* rules, const qcr_track* track, int64_t pts);

/** Time of a track's frame minus that of the main frame, in seconds. */
QC_API double qcr_distance(const qcr_clock* track_clock, int64_t track_pts, const qcr_clock* clock, int64_t pts);

/** The track's next frame has come. Nothing may be in its place: it is only asked for then. */
QC_API void qcr_track_push(qcr_track* track, int64_t pts);

/** The frame `cur` is dropped, `next` takes its place. */
QC_API void qcr_track_step(qcr_track* track);

/** Notes that a pair uses the frame of the choice (QCR_CHOICE_CUR or QCR_CHOICE_NEXT). @return 1 if one did before */
QC_API int qcr_track_use(qcr_track* track, qcr_choice choice);

/** Frames that no pair used, those that the track still holds among them. */
QC_API int64_t qcr_track_unused(const qcr_track* track);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_PAIRING_H */
