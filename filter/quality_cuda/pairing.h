/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Which frame is compared with which: time stamps in, choices out.
 *
 * Knows stamps, clocks and the rules of a run. Holds no picture, reads no
 * input, prints nothing, and depends on the C library alone: not on FFmpeg.
 *
 * Each frame of the main input is paired, in order, with one frame of every
 * other input. Such an input is a QCTrack, which keeps the stamps of two frames
 * in a row; whoever holds the frames asks ff_qc_choose() and does what it says:
 *
 *     QC_CHOICE_PULL   ff_qc_track_push() with the input's next frame, or
 *                      track.ended = 1; then ask again
 *     QC_CHOICE_STEP   ff_qc_track_step(); then ask again
 *     all others       the decision; ff_qc_track_use() if it is a frame
 *
 * Times are compared exactly, whatever the inputs' clocks; only distances that
 * are held against a tolerance are rounded. Stamps are below 2^61 in magnitude.
 *
 * QC_SYNC_LAVFI and QC_SYNC_LAVFI_NEAREST are the rules that FFmpeg's own
 * filters with two inputs share: all stamps are rounded to one clock, and are
 * nothing but numbers there. No distance is too large. Each main frame takes at
 * most one frame of its own time, so that of several with equal stamps the n-th
 * meets the n-th; a missing stamp is the earliest of all.
 */

#ifndef AVFILTER_QUALITY_CUDA_PAIRING_H
#define AVFILTER_QUALITY_CUDA_PAIRING_H

#include <stdint.h>

/** The stamp of a frame that has none (FFmpeg's AV_NOPTS_VALUE). */
#define QC_NO_PTS INT64_MIN

/** So many main frames in a row may lack a pair: a reference of a ninth of the
 * frame rate is no row of pauses. More are a pause; nothing is compared across
 * it. */
#define QC_LONGEST_GAP 8

/** Frames whose stamps a frame rate is held against, at most. */
#define QC_RATE_FRAMES 5

/** A higher frame rate, in 1/s, is the tick of a clock: MPEG-TS calls 90000 the rate of what has none. */
#define QC_HIGHEST_RATE 1000.0

enum QCSync {
    QC_SYNC_NEAREST, ///< the frame nearest in time, of two the earlier one
    QC_SYNC_FLOOR,   ///< the newest frame that is not later
    QC_SYNC_INDEX,   ///< the n-th frame for the n-th frame, stamps are not looked at
    QC_SYNC_LAVFI,   ///< the newest frame that is not later, as FFmpeg's own filters have it
    QC_SYNC_LAVFI_NEAREST, ///< the same, but for a later frame that is strictly nearer; none before the first one
};

enum QCEofAction {
    QC_EOF_PASS,   ///< behind the last frame there is no partner
    QC_EOF_ENDALL, ///< the same here; the caller ends the output
    QC_EOF_REPEAT, ///< the last frame is used again, at any distance
};

/** The rules of a run, fixed before its first frame. */
typedef struct QCPairing {
    int sync;              ///< enum QCSync
    int eof_action;        ///< enum QCEofAction
    double tolerance;      ///< largest distance of a pair, seconds
    int tolerance_is_wish; ///< it was asked for: QC_SYNC_FLOOR keeps to it too
    int outlasts_main;     ///< QC_SYNC_LAVFI: the main input's last frame goes on being paired, see ff_qc_outlasts_main()
} QCPairing;

/** A stamp t means the time (t - origin) * num / den, in seconds. */
typedef struct QCClock {
    int num, den;   ///< both above 0
    int64_t origin; ///< ticks
} QCClock;

/** A frame as pairing sees it. */
typedef struct QCStamp {
    int held;    ///< 0: there is no such frame, the other fields mean nothing
    int64_t pts; ///< QC_NO_PTS only with QC_SYNC_INDEX
    int uses;    ///< pairs that used it
} QCStamp;

/** An input but the main one. */
typedef struct QCTrack {
    QCClock clock;
    QCStamp cur;    ///< not later than the main frame (QC_SYNC_INDEX: the one before next)
    QCStamp next;   ///< the one after cur (QC_SYNC_INDEX: the partner of the main frame)
    int ended;      ///< no frame comes after next
    int64_t unused; ///< frames that were dropped without any pair
    int delay;      ///< QC_SYNC_INDEX: so many main frames come before the track's first one
} QCTrack;

/** What is known of a main frame's partner on one track. */
enum QCChoice {
    QC_CHOICE_PULL,   ///< undecided: the next frame, or the end, has to be known
    QC_CHOICE_STEP,   ///< undecided: next has to become cur
    QC_CHOICE_CUR,    ///< cur is the partner
    QC_CHOICE_NEXT,   ///< next is the partner
    QC_CHOICE_BEFORE, ///< none: the track has not begun yet at that time
    QC_CHOICE_GAP,    ///< none: nothing is near enough, but later frames exist; or the main frame has no stamp
    QC_CHOICE_ENDED,  ///< none: the track is over
};

/** What was met on one side of the pairs; pairing only carries it along with its counts. */
typedef struct QCSide {
    int64_t corrupt;        ///< pairs whose frame its decoder calls damaged
    int64_t interlaced;     ///< pairs whose frame is interlaced
    int64_t colour_changes; ///< how often colour tags changed
    int64_t jumps;          ///< how often the time stamps jumped
} QCSide;

/**
 * What became of the main frames, as one rendition sees them. Rendition 0 is
 * the main input itself; a further one has a pair where both the reference and
 * it have a partner for the main frame.
 */
typedef struct QCCounts {
    int64_t frames;                                ///< all that were decided about
    int64_t paired;                                ///< those that went to the engine
    int64_t disabled, untimed, before, gaps, after;///< those that did not, by reason; the last three: of the reference
    int64_t passed;                                ///< those that had a partner, but scoring was too slow for the stream
    int64_t late, holes, ended;                    ///< those where only the rendition has no frame: not begun, gap, over
    int64_t repeated;                              ///< pairs whose frame of the other input had been used already
    int64_t unused;                                ///< frames of that input that no pair used
    int64_t restarts;                              ///< how often the filter was switched on behind frames without it
    int is_off;                                    ///< it is switched off at the last frame
    int unpaired_row;                              ///< frames since the last pair
    double max_abs_dt, sum_dt;                     ///< of the pairs' distances, seconds
    QCSide own, reference;                         ///< the rendition's frames, and those that they are compared with
} QCCounts;

/** Largest distance of a pair, in seconds: max_dt if it is above 0, else half a frame, 20 ms if the rate (1/s) is 0. */
double ff_qc_tolerance(double max_dt, double frame_rate);

/**
 * The frame rate to go by, in 1/s: the claimed one if the stamps of the first
 * frames bear it out, else theirs, 0 if that is unknown too.
 *
 * A claim is believed if it is not above QC_HIGHEST_RATE and the median distance
 * of the stamps is not one and a half times as long as it says, nor as short,
 * beyond one tick of the clock. Without two stamps in order only the former counts.
 * @param claimed 0 for none: nothing is measured then
 */
double ff_qc_plausible_rate(double claimed, const int64_t *pts, int count, const QCClock *clock);

/**
 * Finds the partner of the main frame with stamp `pts` on `clock`. Main frames
 * come in the order of their stamps; the track is only read.
 */
enum QCChoice ff_qc_choose(const QCPairing *rules, const QCTrack *track, const QCClock *clock, int64_t pts);

/** Whether frames are paired by FFmpeg's own rules. */
int ff_qc_is_lavfi(const QCPairing *rules);

/** Whether a decision uses the track's next frame up: ff_qc_track_step() once the pair is made. */
int ff_qc_uses_up(const QCPairing *rules, enum QCChoice choice);

/**
 * Behind the main input's end: whether its last frame, of stamp `pts`, is paired
 * with the track's next frame, as if it came again at that frame's time. Both
 * are stamps of the one clock; the next frame, or the end, has to be known.
 */
int ff_qc_outlasts_main(const QCPairing *rules, const QCTrack *track, int64_t pts);

/** Time of a track's frame minus that of the main frame, in seconds. */
double ff_qc_distance(const QCClock *track_clock, int64_t track_pts, const QCClock *clock, int64_t pts);

/** The track's next frame has come. Nothing may be in its place: it is only asked for then. */
void ff_qc_track_push(QCTrack *track, int64_t pts);

/** The frame `cur` is dropped, `next` takes its place. */
void ff_qc_track_step(QCTrack *track);

/** Notes that a pair uses the frame of the choice (QC_CHOICE_CUR or QC_CHOICE_NEXT). @return 1 if one did before */
int ff_qc_track_use(QCTrack *track, enum QCChoice choice);

/** Frames that no pair used, those that the track still holds among them. */
int64_t ff_qc_track_unused(const QCTrack *track);

/** Counts a main frame that is being decided about. @param disabled the filter is switched off at that frame */
void ff_qc_count_frame(QCCounts *counts, int disabled);

/** Counts a pair's distance, in seconds. */
void ff_qc_count_distance(QCCounts *counts, double distance);

/**
 * Counts a main frame that gets no pair.
 * @param disabled the filter is switched off at that frame
 * @param untimed  the frame has no time stamp, and one is needed
 * @return 1 if the row of such frames has just become a pause
 */
int ff_qc_count_unpaired(QCCounts *counts, enum QCChoice choice, int disabled, int untimed);

/** Counts a main frame that has its reference, and no frame of this rendition for the choice that says why. */
void ff_qc_count_without_rendition(QCCounts *counts, enum QCChoice choice);

/** Main frames without scores, for whatever reason. */
int64_t ff_qc_unscored(const QCCounts *counts);

/** Main frames whose scores only the rendition's own input withholds. */
int64_t ff_qc_rendition_missing(const QCCounts *counts);

/**
 * Main frames that should have had a partner and got none: those while both
 * inputs ran and the filter was on.
 */
int64_t ff_qc_partnerless(const QCCounts *counts);

/**
 * Whether less than half of the frames that should have a partner got one. Each
 * switching-on can begin in mid of the partners' rhythm and costs one frame.
 */
int ff_qc_pairs_too_few(const QCCounts *counts);

/** Mean distance of the pairs, in seconds; 0 without any. */
double ff_qc_mean_dt(const QCCounts *counts);

#endif /* AVFILTER_QUALITY_CUDA_PAIRING_H */
