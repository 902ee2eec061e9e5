/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Which frame is compared with which; see pairing.h. Depends on the C library
 * alone, and is compiled without FFmpeg by its unit test.
 */

#include <math.h>
#include <string.h>

#include "pairing.h"

/** Of doubles and of nominal frame rates, in seconds; far below any frame distance. */
#define ROUNDING 1e-6

/** So many times as long as a frame of the claimed rate, or as short, are the distances of frames that refute it. */
#define RATE_SLACK 1.5

/* A tick count (65 bits where two are added) times two numbers of 31 bits. */
__extension__ typedef __int128 wide;

/** Ticks from the clock's origin. */
static wide ticks(const QCClock *clock, int64_t pts)
{
    return (wide)pts - clock->origin;
}

/** @return below, equal to or above 0 as time a is earlier than, equal to or later than time b */
static int compare_times(wide a, const QCClock *a_clock, wide b, const QCClock *b_clock)
{
    const wide left  = a * a_clock->num * b_clock->den;
    const wide right = b * b_clock->num * a_clock->den;

    return (left > right) - (left < right);
}

double ff_qc_tolerance(double max_dt, double frame_rate)
{
    if (max_dt > 0)
        return max_dt;
    return frame_rate > 0 ? 0.5 / frame_rate : 0.02;
}

/** Distances of stamps that follow each other, the shortest first. @return how many there are, NOPTS and steps back left out */
static int sorted_distances(const int64_t *pts, int count, int64_t *distance)
{
    int found = 0;

    for (int i = 1; i < count; i++) {
        int64_t ticks;
        int at = found;

        if (pts[i - 1] == QC_NO_PTS || pts[i] == QC_NO_PTS || pts[i] <= pts[i - 1])
            continue;
        ticks = pts[i] - pts[i - 1];
        for (; at > 0 && distance[at - 1] > ticks; at--)
            distance[at] = distance[at - 1];
        distance[at] = ticks;
        found++;
    }
    return found;
}

double ff_qc_plausible_rate(double claimed, const int64_t *pts, int count, const QCClock *clock)
{
    const double tick = clock->num / (double)clock->den;
    int64_t distance[QC_RATE_FRAMES];
    const int found = sorted_distances(pts, count < QC_RATE_FRAMES ? count : QC_RATE_FRAMES, distance);
    double median, frames;

    if (claimed <= 0)
        return 0;
    if (!found)
        return claimed <= QC_HIGHEST_RATE ? claimed : 0;
    median = (distance[(found - 1) / 2] + distance[found / 2]) * 0.5 * tick;
    frames = median * claimed;
    if (claimed <= QC_HIGHEST_RATE && frames - tick * claimed < RATE_SLACK && frames + tick * claimed > 1 / RATE_SLACK)
        return claimed;
    return 1 / median <= QC_HIGHEST_RATE ? 1 / median : 0;
}

double ff_qc_distance(const QCClock *track_clock, int64_t track_pts, const QCClock *clock, int64_t pts)
{
    return (track_pts - track_clock->origin) * (track_clock->num / (double)track_clock->den) -
           (pts - clock->origin) * (clock->num / (double)clock->den);
}

/** next is nearer than cur exactly if twice the main time is later than the sum of theirs: no rounding. */
static int next_is_nearer(const QCTrack *track, const QCClock *clock, int64_t pts)
{
    if (!track->next.held || !track->cur.held)
        return !track->cur.held;
    return compare_times(2 * ticks(clock, pts), clock,
                         ticks(&track->clock, track->cur.pts) + ticks(&track->clock, track->next.pts), &track->clock) > 0;
}

/**
 * QC_SYNC_FLOOR keeps a frame until the next one, as FFmpeg's own helper for
 * two inputs does, and its last one for as long as a frame lasts; only a
 * tolerance that was asked for limits it further.
 */
static int is_near_enough(const QCPairing *rules, const QCTrack *track, const QCStamp *stamp, const QCClock *clock, int64_t pts)
{
    double limit = rules->tolerance;

    if (rules->sync == QC_SYNC_FLOOR && !rules->tolerance_is_wish) {
        if (track->next.held || !track->ended)
            return 1;
        limit = 2 * rules->tolerance - 2 * ROUNDING;
    }
    return fabs(ff_qc_distance(&track->clock, stamp->pts, clock, pts)) <= limit + ROUNDING;
}

/** cur and next are on both sides of the main frame's time, as far as there are such frames. */
static enum QCChoice decide_by_time(const QCPairing *rules, const QCTrack *track, const QCClock *clock, int64_t pts)
{
    const int takes_next = rules->sync == QC_SYNC_NEAREST && next_is_nearer(track, clock, pts);
    const QCStamp *candidate = takes_next ? &track->next : &track->cur;

    if (candidate->held && is_near_enough(rules, track, candidate, clock, pts))
        return takes_next ? QC_CHOICE_NEXT : QC_CHOICE_CUR;
    if (!track->next.held && track->ended)
        return rules->eof_action == QC_EOF_REPEAT && track->cur.held ? QC_CHOICE_CUR : QC_CHOICE_ENDED;
    return track->cur.held ? QC_CHOICE_GAP : QC_CHOICE_BEFORE;
}

static enum QCChoice choose_by_time(const QCPairing *rules, const QCTrack *track, const QCClock *clock, int64_t pts)
{
    const wide main_ticks = ticks(clock, pts);

    /* A frame of exactly the same time cannot be beaten: do not wait for the one after it. */
    if (track->cur.held && !compare_times(ticks(&track->clock, track->cur.pts), &track->clock, main_ticks, clock))
        return decide_by_time(rules, track, clock, pts);
    if (!track->next.held && !track->ended)
        return QC_CHOICE_PULL;
    if (track->next.held && compare_times(ticks(&track->clock, track->next.pts), &track->clock, main_ticks, clock) <= 0)
        return QC_CHOICE_STEP;
    return decide_by_time(rules, track, clock, pts);
}

static enum QCChoice choose_by_index(const QCPairing *rules, const QCTrack *track)
{
    if (track->delay)
        return QC_CHOICE_BEFORE;
    if (track->next.held)
        return QC_CHOICE_NEXT;
    if (!track->ended)
        return QC_CHOICE_PULL;
    return rules->eof_action == QC_EOF_REPEAT && track->cur.held ? QC_CHOICE_CUR : QC_CHOICE_ENDED;
}

/**
 * The track's frames of earlier times pass by, then at most one of this time (or nearer) comes. Behind its last frame the
 * track is over one tick later, unless that frame is repeated; one that never began is not over, and ends nothing.
 */
static enum QCChoice choose_as_lavfi(const QCPairing *rules, const QCTrack *track, int64_t pts)
{
    const QCStamp *cur = &track->cur, *next = &track->next;

    if (!next->held && !track->ended)
        return QC_CHOICE_PULL;
    if (next->held && next->pts < pts)
        return QC_CHOICE_STEP;
    if (next->held && (next->pts == pts || (rules->sync == QC_SYNC_LAVFI_NEAREST && cur->held &&
                                            (wide)next->pts - pts < (wide)pts - cur->pts)))
        return QC_CHOICE_NEXT;
    if (!cur->held)
        return QC_CHOICE_BEFORE;
    return next->held || rules->eof_action == QC_EOF_REPEAT || pts <= cur->pts ? QC_CHOICE_CUR : QC_CHOICE_ENDED;
}

int ff_qc_is_lavfi(const QCPairing *rules)
{
    return rules->sync == QC_SYNC_LAVFI || rules->sync == QC_SYNC_LAVFI_NEAREST;
}

int ff_qc_uses_up(const QCPairing *rules, enum QCChoice choice)
{
    return choice == QC_CHOICE_NEXT && (rules->sync == QC_SYNC_INDEX || ff_qc_is_lavfi(rules));
}

int ff_qc_outlasts_main(const QCPairing *rules, const QCTrack *track, int64_t pts)
{
    return rules->outlasts_main && track->next.held && (rules->eof_action == QC_EOF_REPEAT || track->next.pts <= pts);
}

enum QCChoice ff_qc_choose(const QCPairing *rules, const QCTrack *track, const QCClock *clock, int64_t pts)
{
    if (rules->sync == QC_SYNC_INDEX)
        return choose_by_index(rules, track);
    if (ff_qc_is_lavfi(rules))
        return choose_as_lavfi(rules, track, pts);
    if (pts == QC_NO_PTS)
        return QC_CHOICE_GAP;
    return choose_by_time(rules, track, clock, pts);
}

void ff_qc_track_push(QCTrack *track, int64_t pts)
{
    track->next.held = 1;
    track->next.pts  = pts;
    track->next.uses = 0;
}

void ff_qc_track_step(QCTrack *track)
{
    if (track->cur.held && !track->cur.uses)
        track->unused++;
    track->cur = track->next;
    memset(&track->next, 0, sizeof(track->next));
}

int ff_qc_track_use(QCTrack *track, enum QCChoice choice)
{
    QCStamp *stamp = choice == QC_CHOICE_NEXT ? &track->next : &track->cur;

    return stamp->uses++ > 0;
}

int64_t ff_qc_track_unused(const QCTrack *track)
{
    return track->unused + (track->cur.held && !track->cur.uses) + (track->next.held && !track->next.uses);
}

void ff_qc_count_frame(QCCounts *counts, int disabled)
{
    counts->frames++;
    counts->restarts += counts->is_off && !disabled;
    counts->is_off    = disabled;
}

void ff_qc_count_distance(QCCounts *counts, double distance)
{
    counts->max_abs_dt = fmax(counts->max_abs_dt, fabs(distance));
    counts->sum_dt    += distance;
}

int ff_qc_count_unpaired(QCCounts *counts, enum QCChoice choice, int disabled, int untimed)
{
    if (disabled)
        counts->disabled++;
    else if (untimed)
        counts->untimed++;
    else if (choice == QC_CHOICE_BEFORE)
        counts->before++;
    else if (choice == QC_CHOICE_GAP)
        counts->gaps++;
    else
        counts->after++;
    return ++counts->unpaired_row == QC_LONGEST_GAP + 1;
}

void ff_qc_count_without_rendition(QCCounts *counts, enum QCChoice choice)
{
    if (choice == QC_CHOICE_BEFORE)
        counts->late++;
    else if (choice == QC_CHOICE_GAP)
        counts->holes++;
    else
        counts->ended++;
}

int64_t ff_qc_rendition_missing(const QCCounts *counts)
{
    return counts->late + counts->holes + counts->ended;
}

int64_t ff_qc_unscored(const QCCounts *counts)
{
    return counts->disabled + counts->before + counts->after + counts->gaps + counts->untimed +
           counts->passed + ff_qc_rendition_missing(counts);
}

int64_t ff_qc_partnerless(const QCCounts *counts)
{
    return counts->gaps + counts->untimed + counts->holes;
}

int ff_qc_pairs_too_few(const QCCounts *counts)
{
    return ff_qc_partnerless(counts) > counts->paired + counts->restarts;
}

double ff_qc_mean_dt(const QCCounts *counts)
{
    return counts->paired ? counts->sum_dt / counts->paired : 0;
}
