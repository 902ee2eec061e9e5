// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/pairing.h"

#include <math.h>
#include <string.h>

/** Of doubles and of nominal frame rates, in seconds; far below any frame distance. */
#define ROUNDING 1e-6

/** So many times as long as a frame of the claimed rate, or as short, are the distances of frames that refute it. */
#define RATE_SLACK 1.5

/* A tick count (65 bits where two are added) times two numbers of 31 bits. */
__extension__ typedef __int128 wide;

/** Ticks from the clock's origin. */
static wide ticks(const qcr_clock* clock, int64_t pts) {
    return static_cast<wide>(pts) - clock->origin;
}

/** @return below, equal to or above 0 as time a is earlier than, equal to or later than time b */
static int compare_times(wide a, const qcr_clock* a_clock, wide b, const qcr_clock* b_clock) {
    const wide left = a * a_clock->num * b_clock->den;
    const wide right = b * b_clock->num * a_clock->den;

    return (left > right) - (left < right);
}

double qcr_tolerance(double max_dt, double frame_rate) {
    if (max_dt > 0) return max_dt;
    return frame_rate > 0 ? 0.5 / frame_rate : 0.02;
}

/** Distances of stamps that follow each other, the shortest first. @return how many there are, NOPTS and steps back
 * left out */
static int sorted_distances(const int64_t* pts, int count, int64_t* distance) {
    int found = 0;

    for (int i = 1; i < count; i++) {
        int64_t ticks;
        int at = found;

        if (pts[i - 1] == QCR_NO_PTS || pts[i] == QCR_NO_PTS || pts[i] <= pts[i - 1]) continue;
        ticks = pts[i] - pts[i - 1];
        for (; at > 0 && distance[at - 1] > ticks; at--) distance[at] = distance[at - 1];
        distance[at] = ticks;
        found++;
    }
    return found;
}

double qcr_plausible_rate(double claimed, const int64_t* pts, int count, const qcr_clock* clock) {
    const double tick = clock->num / (double)clock->den;
    int64_t distance[QCR_RATE_FRAMES];
    const int found = sorted_distances(pts, count < QCR_RATE_FRAMES ? count : QCR_RATE_FRAMES, distance);
    double median, frames;

    if (claimed <= 0) return 0;
    if (!found) return claimed <= QCR_HIGHEST_RATE ? claimed : 0;
    median = (distance[(found - 1) / 2] + distance[found / 2]) * 0.5 * tick;
    frames = median * claimed;
    if (claimed <= QCR_HIGHEST_RATE && frames - tick * claimed < RATE_SLACK && frames + tick * claimed > 1 / RATE_SLACK)
        return claimed;
    return 1 / median <= QCR_HIGHEST_RATE ? 1 / median : 0;
}

double qcr_distance(const qcr_clock* track_clock, int64_t track_pts, const qcr_clock* clock, int64_t pts) {
    return (track_pts - track_clock->origin) * (track_clock->num / (double)track_clock->den) -
           (pts - clock->origin) * (clock->num / (double)clock->den);
}

/** next is nearer than cur exactly if twice the main time is later than the sum of theirs: no rounding. */
static int next_is_nearer(const qcr_track* track, const qcr_clock* clock, int64_t pts) {
    if (!track->next.held || !track->cur.held) return !track->cur.held;
    return compare_times(2 * ticks(clock, pts), clock,
                         ticks(&track->clock, track->cur.pts) + ticks(&track->clock, track->next.pts),
                         &track->clock) > 0;
}

/**
 * QCR_SYNC_FLOOR keeps a frame until the next one, as FFmpeg's own helper for
 * two inputs does, and its last one for as long as a frame lasts; only a
 * tolerance that was asked for limits it further.
 */
static int is_near_enough(const qcr_pairing* rules, const qcr_track* track, const qcr_stamp* stamp,
                          const qcr_clock* clock, int64_t pts) {
    double limit = rules->tolerance;

    if (rules->sync == QCR_SYNC_FLOOR && !rules->tolerance_is_wish) {
        if (track->next.held || !track->ended) return 1;
        limit = 2 * rules->tolerance - 2 * ROUNDING;
    }
    return fabs(qcr_distance(&track->clock, stamp->pts, clock, pts)) <= limit + ROUNDING;
}

/** cur and next are on both sides of the main frame's time, as far as there are such frames. */
static qcr_choice decide_by_time(const qcr_pairing* rules, const qcr_track* track, const qcr_clock* clock,
                                 int64_t pts) {
    const int takes_next = rules->sync == QCR_SYNC_NEAREST && next_is_nearer(track, clock, pts);
    const qcr_stamp* candidate = takes_next ? &track->next : &track->cur;

    if (candidate->held && is_near_enough(rules, track, candidate, clock, pts))
        return takes_next ? QCR_CHOICE_NEXT : QCR_CHOICE_CUR;
    if (!track->next.held && track->ended)
        return rules->eof_action == QCR_EOF_REPEAT && track->cur.held ? QCR_CHOICE_CUR : QCR_CHOICE_ENDED;
    return track->cur.held ? QCR_CHOICE_GAP : QCR_CHOICE_BEFORE;
}

static qcr_choice choose_by_time(const qcr_pairing* rules, const qcr_track* track, const qcr_clock* clock,
                                 int64_t pts) {
    const wide main_ticks = ticks(clock, pts);

    /* A frame of exactly the same time cannot be beaten: do not wait for the one after it. */
    if (track->cur.held && !compare_times(ticks(&track->clock, track->cur.pts), &track->clock, main_ticks, clock))
        return decide_by_time(rules, track, clock, pts);
    if (!track->next.held && !track->ended) return QCR_CHOICE_PULL;
    if (track->next.held && compare_times(ticks(&track->clock, track->next.pts), &track->clock, main_ticks, clock) <= 0)
        return QCR_CHOICE_STEP;
    return decide_by_time(rules, track, clock, pts);
}

static qcr_choice choose_by_index(const qcr_pairing* rules, const qcr_track* track) {
    if (track->delay) return QCR_CHOICE_BEFORE;
    if (track->next.held) return QCR_CHOICE_NEXT;
    if (!track->ended) return QCR_CHOICE_PULL;
    return rules->eof_action == QCR_EOF_REPEAT && track->cur.held ? QCR_CHOICE_CUR : QCR_CHOICE_ENDED;
}

/**
 * The track's frames of earlier times pass by, then at most one of this time (or nearer) comes. Behind its last frame
 * the track is over one tick later, unless that frame is repeated; one that never began is not over, and ends nothing.
 */
static qcr_choice choose_as_lavfi(const qcr_pairing* rules, const qcr_track* track, int64_t pts) {
    const qcr_stamp *cur = &track->cur, *next = &track->next;

    if (!next->held && !track->ended) return QCR_CHOICE_PULL;
    if (next->held && next->pts < pts) return QCR_CHOICE_STEP;
    if (next->held && (next->pts == pts || (rules->sync == QCR_SYNC_LAVFI_NEAREST && cur->held &&
                                            static_cast<wide>(next->pts) - pts < static_cast<wide>(pts) - cur->pts)))
        return QCR_CHOICE_NEXT;
    if (!cur->held) return QCR_CHOICE_BEFORE;
    return next->held || rules->eof_action == QCR_EOF_REPEAT || pts <= cur->pts ? QCR_CHOICE_CUR : QCR_CHOICE_ENDED;
}

int qcr_is_lavfi(const qcr_pairing* rules) {
    return rules->sync == QCR_SYNC_LAVFI || rules->sync == QCR_SYNC_LAVFI_NEAREST;
}

int qcr_uses_up(const qcr_pairing* rules, qcr_choice choice) {
    return choice == QCR_CHOICE_NEXT && (rules->sync == QCR_SYNC_INDEX || qcr_is_lavfi(rules));
}

int qcr_outlasts_main(const qcr_pairing* rules, const qcr_track* track, int64_t pts) {
    return rules->outlasts_main && track->next.held && (rules->eof_action == QCR_EOF_REPEAT || track->next.pts <= pts);
}

qcr_choice qcr_choose(const qcr_pairing* rules, const qcr_track* track, const qcr_clock* clock, int64_t pts) {
    if (rules->sync == QCR_SYNC_INDEX) return choose_by_index(rules, track);
    if (qcr_is_lavfi(rules)) return choose_as_lavfi(rules, track, pts);
    if (pts == QCR_NO_PTS) return QCR_CHOICE_GAP;
    return choose_by_time(rules, track, clock, pts);
}

void qcr_track_push(qcr_track* track, int64_t pts) {
    track->next.held = 1;
    track->next.pts = pts;
    track->next.uses = 0;
}

void qcr_track_step(qcr_track* track) {
    if (track->cur.held && !track->cur.uses) track->unused++;
    track->cur = track->next;
    memset(&track->next, 0, sizeof(track->next));
}

int qcr_track_use(qcr_track* track, qcr_choice choice) {
    qcr_stamp* stamp = choice == QCR_CHOICE_NEXT ? &track->next : &track->cur;

    return stamp->uses++ > 0;
}

int64_t qcr_track_unused(const qcr_track* track) {
    return track->unused + (track->cur.held && !track->cur.uses) + (track->next.held && !track->next.uses);
}
