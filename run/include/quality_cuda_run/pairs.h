/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Which frame is compared with which: frames are offered, decisions come out.
 *
 * Input 0 is the distorted video, input 1 the reference, inputs 2, 3, ... are further renditions of the same
 * reference; behind them comes one of weights, where there is one. Each frame of the distorted video is decided about,
 * in order, and is either compared with one frame of each other input, or passes without:
 *
 *     for (;;) {
 *         qcr_pairs_next(pairs, &decision);
 *         switch (decision.kind) {
 *         case QCR_NEEDS_INPUT: for each input i with qcr_pairs_needs(pairs, i), in order: qcr_pairs_offer() its next
 *                               frame, or qcr_pairs_end(); or come back when it has one
 *         case QCR_PAIR:        qcr_pairs_take(), and have the frames scored
 *         case QCR_PASS:        the frame goes on without scores
 *         case QCR_END:         done, but qcr_pairs_next() may be asked again: it then tells whose end is not known yet
 *         }
 *     }
 *
 * Nothing is asked for before a decision depends on it. A frame is a handle of the caller's that is not looked into.
 * Offered, it belongs to the pairs, and is given back by `release`, once, when no decision can use it any more. Only
 * the distorted frame is the caller's again with the decision QCR_PAIR or QCR_PASS.
 *
 * Times are compared exactly, whatever the inputs' clocks; only distances that are held against a tolerance are
 * rounded. Timestamps are below 2^61 in magnitude.
 *
 * A handle belongs to one thread at a time. Functions that do not say so cannot fail.
 */
#ifndef QUALITY_CUDA_RUN_PAIRS_H
#define QUALITY_CUDA_RUN_PAIRS_H

#include <stdint.h>

#include <quality_cuda.h>

#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The timestamp of a frame that has none (FFmpeg's AV_NOPTS_VALUE). */
#define QCR_NO_PTS INT64_MIN

/** The distorted video, the reference, further renditions, weights. */
#define QCR_MAX_INPUTS (2 + QC_MAX_RENDITIONS)

/** So many distorted frames in a row may lack a pair: a reference of a ninth of the
 * frame rate is no row of pauses. More are a pause; nothing is compared across
 * it. */
#define QCR_LONGEST_GAP 8

/** Frames whose timestamps a frame rate is held against, at most. */
#define QCR_RATE_FRAMES 5

/** A higher frame rate, in 1/s, is the tick of a clock: MPEG-TS calls 90000 the rate of what has none. */
#define QCR_HIGHEST_RATE 1000.0

typedef QC_ENUM(qcr_sync) {
    QCR_SYNC_NEAREST,       ///< the frame nearest in time, of two the earlier one
    QCR_SYNC_FLOOR,         ///< the newest frame that is not later
    QCR_SYNC_INDEX,         ///< the n-th frame for the n-th frame, timestamps are not looked at
    QCR_SYNC_LAVFI,         ///< the newest frame that is not later, as FFmpeg's own filters have it
    QCR_SYNC_LAVFI_NEAREST, ///< the same, except that a later frame is taken if it is strictly nearer; none before the
                            ///< first one
} qcr_sync;

typedef QC_ENUM(qcr_eof_action) {
    QCR_EOF_PASS,   ///< behind the reference's last frame there is no partner
    QCR_EOF_ENDALL, ///< the output ends there
    QCR_EOF_REPEAT, ///< the last frame is used again, at any distance
} qcr_eof_action;

/**
 * What FFmpeg's options mean together: an end that was asked for comes before repeatlast.
 * @param eof_action as the option has it @param shortest 1: the output ends @param repeatlast 0: nothing is repeated,
 * 1: the last frame is, below 0: eof_action counts
 */
QC_API int qcr_eof_action_of(int eof_action, int shortest, int repeatlast);

/**
 * QCR_SYNC_LAVFI and QCR_SYNC_LAVFI_NEAREST are the rules that FFmpeg's own filters with two inputs share: all
 * timestamps are rounded to one clock, and are nothing but numbers there. No distance is too large. Each distorted
 * frame takes at most one frame of its own time, so that of several with equal timestamps the n-th meets the n-th; a
 * missing timestamp is the earliest of all.
 */
typedef struct qcr_rules {
    int sync;       ///< qcr_sync
    int eof_action; ///< qcr_eof_action
    double
        max_dt;  ///< largest distance of a pair that was asked for, seconds; 0: half a frame, 20 ms at an unknown rate
    double rate; ///< of the distorted video, 1/s, to go by; 0: unknown; below 0: what it claims, if that is plausible
    int align_start; ///< the time of each input counts from its first frame with a timestamp
    int outlasts; ///< QCR_SYNC_LAVFI: behind its end the distorted video's last frame comes again while the reference
                  ///< goes on
    int mends_delay; ///< an input that keeps step with the distorted video, but begins apart from it by less than a
                     ///< frame, is moved; only with QCR_SYNC_NEAREST
} qcr_rules;

/** A timestamp t means the time (t - origin) * num / den, in seconds. */
typedef struct qcr_clock {
    int num, den;   ///< both above 0
    int64_t origin; ///< ticks
} qcr_clock;

/** What is known before the first frame. */
typedef struct qcr_pairs_config {
    qcr_rules rules;
    int renditions;  ///< 1 to QC_MAX_RENDITIONS; the inputs are 0 to `renditions`
    int has_weights; ///< input 1 + renditions has weights: the latest that is not later than the distorted frame, or
                     ///< the first one
    qcr_clock clock[QCR_MAX_INPUTS];
    qcr_clock common;                 ///< QCR_SYNC_LAVFI: what all timestamps are rounded to; its origin is not used
    double claimed_rate;              ///< of the distorted video, 1/s; 0 for none
    int rate_frames;                  ///< so many first frames may be waited for, at most QCR_RATE_FRAMES
    const char* name[QCR_MAX_INPUTS]; ///< for messages; copied
    qcr_sink sink;                    ///< its `say` may be NULL
    void (*release)(void* opaque, void* frame); ///< called within the functions below; may be NULL
    void* opaque;                               ///< of release
} qcr_pairs_config;

struct qcr_counts;
typedef struct qcr_pairs qcr_pairs;

/**
 * @param counts one for each rendition, all zero at first. They are the caller's, and outlive the pairs: what is
 * decided is added to them before the decision is given, and by qcr_pairs_take() and its like. To carry the counts up
 * to a frame along with it, copy them.
 * @return QC_OK, QC_ERROR_INVALID or QC_ERROR_NO_MEMORY; then *pairs is NULL
 */
QC_API qc_status qcr_pairs_create(const qcr_pairs_config* config, struct qcr_counts* counts, qcr_pairs** pairs);

/**
 * The same pairs on trial, before the first frame, for a look at the first pictures: by the rules of `pairs`, but that
 * nothing is repeated, said, or given back.
 */
QC_API qc_status qcr_pairs_create_trial(const qcr_pairs* pairs, struct qcr_counts* counts, qcr_pairs** trial);

/** Gives back all frames that are held. @param pairs may be NULL */
QC_API void qcr_pairs_destroy(qcr_pairs* pairs);

/* ---- before the first decision --------------------------------------------------------------------------------------
 */

/**
 * How many of an input's first timestamps are to be known before anything is paired; 0 once that is settled, or where
 * nothing depends on it. Inputs are asked in order, until each says 0: the distorted video's timestamps show whether
 * its rate is what it claims, and those of the others whether they keep step with it.
 */
QC_API int qcr_pairs_first_frames(const qcr_pairs* pairs, int input);

/**
 * Settles the rate, or where an input begins. Without this call the claim is believed up to QCR_HIGHEST_RATE, and
 * nothing is moved. @param pts the first timestamps @param count may be lower than what was asked for where there are
 * no more
 */
QC_API void qcr_pairs_show_first(qcr_pairs* pairs, int input, const int64_t* pts, int count);

/** The frame rate of the distorted video that is gone by, 1/s; 0: unknown. */
QC_API double qcr_pairs_rate(const qcr_pairs* pairs);

/** Largest distance of a pair, in seconds. */
QC_API double qcr_pairs_tolerance(const qcr_pairs* pairs);

/**
 * Corrects a rendition's beginning; to be called once for each, in order, before the first frame is offered.
 * @param frames  how many frames its pictures are behind those of the reference, below 0: ahead; 0: nothing is moved.
 *                With QCR_SYNC_INDEX first frames are left out accordingly
 * @param seconds the same in seconds; all other rules move the clock by it. The distorted video's time is the output's,
 *                so with one rendition it is the reference's clock that is moved
 * @param is_told it is known that it begins so, even if that is with the reference
 */
QC_API void qcr_pairs_correct_start(qcr_pairs* pairs, int rendition, int is_told, int frames, double seconds);

/* ---- frames come in -------------------------------------------------------------------------------------------------
 */

/** A frame of an input, the next one in order. */
typedef struct qcr_offer {
    int input;
    int64_t pts;           ///< QCR_NO_PTS for none
    void* frame;           ///< not NULL
    int disabled;          ///< of a distorted frame: it is not to be scored
    int knows_following;   ///< the frame behind it is known, or that there is none
    int64_t following_pts; ///< its timestamp; QCR_NO_PTS for none
} qcr_offer;

/** Whether an input's next frame, or its end, is needed for the next decision. */
QC_API int qcr_pairs_needs(qcr_pairs* pairs, int input);

/** Whether the timestamp would jump if it came next, and neither is missing or without meaning. */
QC_API int qcr_pairs_jumps(const qcr_pairs* pairs, int input, int64_t pts);

/**
 * Offers a frame. One whose timestamp jumps is judged by the one behind it: where that goes on as if this one were not
 * there, it is this one that is wrong.
 * @return 1: it is the pairs' now; 0: what follows it has to be known first, offer it again then
 */
QC_API int qcr_pairs_offer(qcr_pairs* pairs, const qcr_offer* offer);

/**
 * The first half of qcr_pairs_offer(), for those who look at a frame before they take it: messages about its timestamp
 * are given here. `frame` and `disabled` are not read. Once this has returned 1, offer that frame, or refuse it.
 */
QC_API int qcr_pairs_foresee(qcr_pairs* pairs, const qcr_offer* offer);

/** An input has no further frames. @param now seconds on a clock that does not jump */
QC_API void qcr_pairs_end(qcr_pairs* pairs, int input, double now);

/** An input's next frame cannot be used, nor any behind it: it ends with that one. */
QC_API void qcr_pairs_refuse(qcr_pairs* pairs, int input, int64_t pts);

/**
 * Nothing is compared any more. The waiting distorted frame and all further ones pass, frames of other inputs are given
 * back, and all are needed that have not ended.
 */
QC_API void qcr_pairs_abandon(qcr_pairs* pairs);

/* ---- decisions come out ---------------------------------------------------------------------------------------------
 */

typedef QC_ENUM(qcr_decision_kind) {
    QCR_NEEDS_INPUT, ///< undecided
    QCR_PAIR,        ///< the distorted frame has a frame of the reference, and may have some of further renditions
    QCR_PASS,        ///< it goes on without scores
    QCR_END,         ///< no distorted frame follows, or none that counts
} qcr_decision_kind;

/** Why an input has no frame for a distorted one. */
typedef QC_ENUM(qcr_lack) {
    QCR_HAS_FRAME,
    QCR_LACKS_BEFORE, ///< it has not begun yet at that time
    QCR_LACKS_GAP,    ///< nothing is near enough, but later frames exist; or the distorted frame has no time
    QCR_LACKS_ENDED,  ///< it is over
} qcr_lack;

/** Why a distorted frame passes. */
typedef QC_ENUM(qcr_why) {
    QCR_WHY_NONE,
    QCR_WHY_DISABLED,  ///< it was not to be scored
    QCR_WHY_UNTIMED,   ///< it has no timestamp, and one is needed
    QCR_WHY_UNPAIRED,  ///< the reference has no frame for it: qcr_partner.lack; or no pair is made any more
    QCR_WHY_ABANDONED, ///< qcr_pairs_abandon()
} qcr_why;

/** An input's part in a decision. */
typedef struct qcr_partner {
    void* frame; ///< NULL for none; valid until the next call of qcr_pairs_next()
    int64_t pts; ///< of the frame; QCR_NO_PTS for none
    qcr_lack lack;
    double distance; ///< its time minus that of the distorted frame, seconds; NaN where either has none, or none counts
} qcr_partner;

typedef struct qcr_decision {
    qcr_decision_kind kind;
    uint32_t needs;      ///< bit i: qcr_pairs_needs(i). With QCR_END too: inputs that go on may be read for a while
    uint32_t renditions; ///< QCR_PAIR: bit k: rendition k has a frame
    int64_t row;         ///< QCR_PAIR: how many were before it
    int after_pause;     ///< QCR_PAIR: a pause lies between it and the one before
    qcr_why why;         ///< QCR_PASS
    int begins_pause;    ///< QCR_PASS: what was compared before this frame is not compared with anything behind it
    int is_last;         ///< QCR_PASS: no pair follows
    int is_early;        ///< QCR_END: the output ends before a distorted frame, whose timestamp is that of input[0]
    int is_repeat;       ///< the distorted video's last frame comes again, with this timestamp; frame is NULL
    /**
     * [0] the distorted frame, the caller's from here on. [1 + renditions] the weights. Frames of other inputs are
     * given with QCR_PAIR alone.
     */
    qcr_partner input[QCR_MAX_INPUTS];
} qcr_decision;

/** Decides about the next distorted frame, if enough is known. */
QC_API void qcr_pairs_next(qcr_pairs* pairs, qcr_decision* decision);

/** The pair of the last decision is going to be scored. */
QC_API void qcr_pairs_take(qcr_pairs* pairs);

/** In place of that: it passes without scores, for scoring is too slow. Its frames count as used. */
QC_API void qcr_pairs_leave(qcr_pairs* pairs);

/** The pair that was taken gets no scores, for the scoring has failed: it does not count as one. */
QC_API void qcr_pairs_fail(qcr_pairs* pairs);

/* ---- what is known --------------------------------------------------------------------------------------------------
 */

/** An input so far. */
typedef struct qcr_input {
    int64_t received;            ///< frames, those behind the run's end not counted
    int64_t first_pts, last_pts; ///< of frames with a timestamp; the last one is in line with those before it
    double seconds;              ///< from one to the other; NaN where there are none
    double rate;                 ///< of the frames that came, 1/s; 0: too few to tell
    int64_t jumps;               ///< of timestamps
    int64_t behind; ///< frames that were read behind the end, and are too late for the last distorted frame
    int ended;
    double delay;         ///< seconds by which it counts later, because of mends_delay
    int has_other_length; ///< it has as many frames as the distorted video, but another length; known at the end
} qcr_input;

QC_API qcr_input qcr_pairs_input(const qcr_pairs* pairs, int input);

/**
 * The number of the pair that a frame behind the last pair would be in, by its timestamp and the rate.
 * @return below 0: it would be in none, or it is not known
 */
QC_API int64_t qcr_pairs_number_behind(const qcr_pairs* pairs, int input, int64_t pts);

/** Behind QCR_END: more frames of an input are worth reading than tell whether it goes on. Many, but not without end. */
QC_API void qcr_pairs_read_on(qcr_pairs* pairs, int input);

/** A frame of an input that is held, for what it says of itself; the latest. NULL if there is none. */
QC_API void* qcr_pairs_held(const qcr_pairs* pairs, int input);

/** No further decision is asked for: counts what no pair has used by now as unused. */
QC_API void qcr_pairs_count_unused(qcr_pairs* pairs);

/* ---- inputs that are silent -----------------------------------------------------------------------------------------
 */

/** An input is asked for its next frame. @param now seconds on a clock that does not jump */
QC_API void qcr_pairs_ask(qcr_pairs* pairs, int input, double now);

/** A frame of the input is there, though it is not offered yet. qcr_pairs_offer() implies that. */
QC_API void qcr_pairs_hear(qcr_pairs* pairs, int input);

/** Until inputs are asked again none is silent, for others take their time. What they were so far stays. */
QC_API void qcr_pairs_interrupt(qcr_pairs* pairs, double now);

/** Whether an input delivered nothing for two seconds though it was asked to, until it or the run ended. */
QC_API int qcr_pairs_is_stalled(const qcr_pairs* pairs, int input, double now);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_PAIRS_H */
