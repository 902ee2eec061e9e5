// SPDX-License-Identifier: BSD-2-Clause-Patent
// The rules of pairing: timestamps in, choices out.
//
// Knows timestamps, clocks and the rules of a run. Holds no frame, reads no input, prints nothing.
//
// Each distorted frame is paired, in order, with one frame of every other input. Such an input is a Track, which keeps
// the timestamps of two frames in a row; whoever holds the frames asks choose() and does what it says:
//
//     Choice::kPull    push() with the input's next frame, or ended = true; then ask again
//     Choice::kStep    step(); then ask again
//     all others       the decision; use() if it is a frame
//
// Times are compared exactly, whatever the inputs' clocks; only distances that are held against a tolerance are
// rounded.
#pragma once

#include <cstdint>
#include <span>

#include "quality_cuda_run/pairs.h"

namespace qc::run {

/// The rules of a run, fixed before its first frame.
struct Rules {
    int sync;               ///< qcr_sync
    int eof_action;         ///< qcr_eof_action
    double tolerance;       ///< largest distance of a pair, seconds
    bool tolerance_is_wish; ///< it was asked for: QCR_SYNC_FLOOR keeps to it too
    bool outlasts;          ///< QCR_SYNC_LAVFI: the last distorted frame goes on being paired, see outlasts_distorted()
};

/// What is known of a distorted frame's partner on one track.
enum class Choice {
    kPull,   ///< undecided: the next frame, or the end, has to be known
    kStep,   ///< undecided: next has to become cur
    kCur,    ///< cur is the partner
    kNext,   ///< next is the partner
    kBefore, ///< none: the track has not begun yet at that time
    kGap,    ///< none: nothing is near enough, but later frames exist; or the distorted frame has no timestamp
    kEnded,  ///< none: the track is over
};

constexpr bool is_frame(Choice choice) {
    return choice == Choice::kCur || choice == Choice::kNext;
}

/// Of a decision.
qcr_lack lack_of(Choice choice);

/// A frame as pairing sees it.
struct Stamp {
    bool held = false;        ///< there is such a frame; otherwise the other fields mean nothing
    int64_t pts = QCR_NO_PTS; ///< QCR_NO_PTS only with QCR_SYNC_INDEX, and FFmpeg's own rules
    int uses = 0;             ///< pairs that used it
};

/// An input but the distorted video.
struct Track {
    qcr_clock clock{};
    Stamp cur;          ///< not later than the distorted frame (QCR_SYNC_INDEX: the one before next)
    Stamp next;         ///< the one after cur (QCR_SYNC_INDEX: the partner of the distorted frame)
    bool ended = false; ///< no frame comes after next
    int64_t unused = 0; ///< frames that were dropped without any pair
    int delay = 0;      ///< QCR_SYNC_INDEX: so many distorted frames come before the track's first one

    /// The next frame has come. Nothing may be in its place: it is only asked for then.
    void push(int64_t pts) { next = {true, pts, 0}; }

    /// The frame `cur` is dropped, `next` takes its place.
    void step();

    /// Notes that a pair uses the frame of the choice. @return whether one did before
    bool use(Choice choice) { return (choice == Choice::kNext ? next : cur).uses++ > 0; }

    /// Frames that no pair used, those that are still held among them.
    int64_t unused_by_now() const;
};

/// Largest distance of a pair, in seconds: max_dt if it is above 0, otherwise half a frame, 20 ms if the rate (1/s) is
/// 0.
double tolerance_of(double max_dt, double frame_rate);

/// The frame rate to go by, in 1/s: the claimed one if the timestamps of the first frames bear it out, otherwise
/// theirs, 0 if that is unknown too.
///
/// A claim is believed if it is not above QCR_HIGHEST_RATE and the median distance of the timestamps is not one and a
/// half times as long as it says, nor as short, beyond one tick of the clock. Without two of them in order only the
/// former counts.
/// @param claimed 0 for none: nothing is measured then
double plausible_rate(double claimed, std::span<const int64_t> pts, const qcr_clock& clock);

/// Finds the partner of the distorted frame with timestamp `pts` on `clock`. They come in the order of their
/// timestamps.
Choice choose(const Rules& rules, const Track& track, const qcr_clock& clock, int64_t pts);

/// Whether frames are paired by FFmpeg's own rules.
bool is_lavfi(const Rules& rules);

/// Whether a decision uses the track's next frame up: step() once the pair is made.
bool uses_up(const Rules& rules, Choice choice);

/// Behind the end of the distorted video: whether its last frame, of timestamp `pts`, is paired with the track's next
/// frame, as if it came again at that frame's time. Both are of the one clock; the next frame, or the end, has to be
/// known.
bool outlasts_distorted(const Rules& rules, const Track& track, int64_t pts);

/// A timestamp of one clock, rounded to another one; halves away from zero, as FFmpeg does it.
int64_t rescaled(int64_t pts, const qcr_clock& from, const qcr_clock& to);

/// So that the timestamps of a clock mean a time that is so many seconds later.
void move_later(qcr_clock& clock, double seconds);

/// Time of a track's frame minus that of the distorted frame, in seconds.
double distance(const qcr_clock& track_clock, int64_t track_pts, const qcr_clock& clock, int64_t pts);

} // namespace qc::run
