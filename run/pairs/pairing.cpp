// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/pairs/pairing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace qc::run {

namespace {

/// Of doubles and of nominal frame rates, in seconds; far below any frame distance.
constexpr double kRounding = 1e-6;

/// So many times as long as a frame of the claimed rate, or as short, are the distances of frames that refute it.
constexpr double kRateSlack = 1.5;

/// A tick count (65 bits where two are added) times two numbers of 31 bits.
__extension__ typedef __int128 Wide;

double tick_of(const qcr_clock& clock) {
    return clock.num / static_cast<double>(clock.den);
}

/// Ticks from the clock's origin.
Wide ticks(const qcr_clock& clock, int64_t pts) {
    return static_cast<Wide>(pts) - clock.origin;
}

/// @return below, equal to or above 0 as time a is earlier than, equal to or later than time b
int compare_times(Wide a, const qcr_clock& a_clock, Wide b, const qcr_clock& b_clock) {
    const Wide left = a * a_clock.num * b_clock.den;
    const Wide right = b * b_clock.num * a_clock.den;
    return (left > right ? 1 : 0) - (left < right ? 1 : 0);
}

/// next is nearer than cur exactly if twice the distorted frame's time is later than the sum of theirs: no rounding.
bool next_is_nearer(const Track& track, const qcr_clock& clock, int64_t pts) {
    if (!track.next.held || !track.cur.held) return !track.cur.held;
    return compare_times(2 * ticks(clock, pts), clock,
                         ticks(track.clock, track.cur.pts) + ticks(track.clock, track.next.pts), track.clock) > 0;
}

/// QCR_SYNC_FLOOR keeps a frame until the next one, as FFmpeg's own helper for two inputs does, and its last one for as
/// long as a frame lasts; only a tolerance that was asked for limits it further.
bool is_near_enough(const Rules& rules, const Track& track, const Stamp& stamp, const qcr_clock& clock, int64_t pts) {
    double limit = rules.tolerance;
    if (rules.sync == QCR_SYNC_FLOOR && !rules.tolerance_is_wish) {
        if (track.next.held || !track.ended) return true;
        limit = 2 * rules.tolerance - 2 * kRounding;
    }
    return std::abs(distance(track.clock, stamp.pts, clock, pts)) <= limit + kRounding;
}

/// The choice of a track that is over.
Choice behind_the_end(const Rules& rules, const Track& track) {
    return rules.eof_action == QCR_EOF_REPEAT && track.cur.held ? Choice::kCur : Choice::kEnded;
}

/// cur and next are on both sides of the distorted frame's time, as far as there are such frames.
Choice decide_by_time(const Rules& rules, const Track& track, const qcr_clock& clock, int64_t pts) {
    const bool takes_next = rules.sync == QCR_SYNC_NEAREST && next_is_nearer(track, clock, pts);
    const Stamp& candidate = takes_next ? track.next : track.cur;
    if (candidate.held && is_near_enough(rules, track, candidate, clock, pts))
        return takes_next ? Choice::kNext : Choice::kCur;
    if (!track.next.held && track.ended) return behind_the_end(rules, track);
    return track.cur.held ? Choice::kGap : Choice::kBefore;
}

Choice choose_by_time(const Rules& rules, const Track& track, const qcr_clock& clock, int64_t pts) {
    const Wide time = ticks(clock, pts);
    const auto compare = [&](const Stamp& stamp) {
        return compare_times(ticks(track.clock, stamp.pts), track.clock, time, clock);
    };
    // A frame of exactly the same time cannot be beaten: do not wait for the one after it.
    if (track.cur.held && compare(track.cur) == 0) return decide_by_time(rules, track, clock, pts);
    if (!track.next.held && !track.ended) return Choice::kPull;
    if (track.next.held && compare(track.next) <= 0) return Choice::kStep;
    return decide_by_time(rules, track, clock, pts);
}

Choice choose_by_index(const Rules& rules, const Track& track) {
    if (track.delay > 0) return Choice::kBefore;
    if (track.next.held) return Choice::kNext;
    return track.ended ? behind_the_end(rules, track) : Choice::kPull;
}

/// The track's frames of earlier times pass by, then at most one of this time (or nearer) comes. Behind its last frame
/// the track is over one tick later, unless that frame is repeated; one that never began is not over, and ends nothing.
Choice choose_as_lavfi(const Rules& rules, const Track& track, int64_t pts) {
    const Stamp &cur = track.cur, &next = track.next;
    if (!next.held && !track.ended) return Choice::kPull;
    if (next.held && next.pts < pts) return Choice::kStep;
    if (next.held && (next.pts == pts || (rules.sync == QCR_SYNC_LAVFI_NEAREST && cur.held &&
                                          static_cast<Wide>(next.pts) - pts < static_cast<Wide>(pts) - cur.pts)))
        return Choice::kNext;
    if (!cur.held) return Choice::kBefore;
    return next.held || rules.eof_action == QCR_EOF_REPEAT || pts <= cur.pts ? Choice::kCur : Choice::kEnded;
}

} // namespace

// ---- tracks ---------------------------------------------------------------------------------------------------------

void Track::step() {
    unused += cur.held && cur.uses == 0 ? 1 : 0;
    cur = next;
    next = {};
}

int64_t Track::unused_by_now() const {
    return unused + (cur.held && cur.uses == 0 ? 1 : 0) + (next.held && next.uses == 0 ? 1 : 0);
}

// ---- numbers --------------------------------------------------------------------------------------------------------

double tolerance_of(double max_dt, double frame_rate) {
    if (max_dt > 0) return max_dt;
    return frame_rate > 0 ? 0.5 / frame_rate : 0.02;
}

double plausible_rate(double claimed, std::span<const int64_t> pts, const qcr_clock& clock) {
    std::array<int64_t, QCR_RATE_FRAMES> distance;
    distance.fill(INT64_MAX); // behind all that are found
    size_t found = 0;
    for (size_t i = 1; i < std::min(pts.size(), distance.size()); ++i)
        if (pts[i - 1] != QCR_NO_PTS && pts[i] != QCR_NO_PTS && pts[i] > pts[i - 1])
            distance[found++] = pts[i] - pts[i - 1];
    std::sort(distance.begin(), distance.end());
    if (claimed <= 0) return 0;
    if (found == 0) return claimed <= QCR_HIGHEST_RATE ? claimed : 0;
    const double tick = tick_of(clock);
    const double median = static_cast<double>(distance[(found - 1) / 2] + distance[found / 2]) * 0.5 * tick;
    const double frames = median * claimed;
    if (claimed <= QCR_HIGHEST_RATE && frames - tick * claimed < kRateSlack && frames + tick * claimed > 1 / kRateSlack)
        return claimed;
    return 1 / median <= QCR_HIGHEST_RATE ? 1 / median : 0;
}

double distance(const qcr_clock& track_clock, int64_t track_pts, const qcr_clock& clock, int64_t pts) {
    return static_cast<double>(track_pts - track_clock.origin) * tick_of(track_clock) -
           static_cast<double>(pts - clock.origin) * tick_of(clock);
}

// ---- choices --------------------------------------------------------------------------------------------------------

qcr_lack lack_of(Choice choice) {
    if (is_frame(choice)) return QCR_HAS_FRAME;
    if (choice == Choice::kBefore) return QCR_LACKS_BEFORE;
    return choice == Choice::kGap ? QCR_LACKS_GAP : QCR_LACKS_ENDED;
}

bool is_lavfi(const Rules& rules) {
    return rules.sync == QCR_SYNC_LAVFI || rules.sync == QCR_SYNC_LAVFI_NEAREST;
}

bool uses_up(const Rules& rules, Choice choice) {
    return choice == Choice::kNext && (rules.sync == QCR_SYNC_INDEX || is_lavfi(rules));
}

bool outlasts_distorted(const Rules& rules, const Track& track, int64_t pts) {
    return rules.outlasts && track.next.held && (rules.eof_action == QCR_EOF_REPEAT || track.next.pts <= pts);
}

Choice choose(const Rules& rules, const Track& track, const qcr_clock& clock, int64_t pts) {
    if (rules.sync == QCR_SYNC_INDEX) return choose_by_index(rules, track);
    if (is_lavfi(rules)) return choose_as_lavfi(rules, track, pts);
    if (pts == QCR_NO_PTS) return Choice::kGap;
    return choose_by_time(rules, track, clock, pts);
}

int64_t rescaled(int64_t pts, const qcr_clock& from, const qcr_clock& to) {
    const Wide numerator = static_cast<Wide>(pts) * from.num * to.den;
    const Wide denominator = static_cast<Wide>(from.den) * to.num;
    const Wide magnitude = ((numerator < 0 ? -numerator : numerator) + denominator / 2) / denominator;
    return static_cast<int64_t>(numerator < 0 ? -magnitude : magnitude);
}

void move_later(qcr_clock& clock, double seconds) {
    clock.origin -= std::llrint(seconds * clock.den / clock.num);
}

} // namespace qc::run
