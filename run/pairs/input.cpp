// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/pairs/input.hpp"

namespace qc::run {

namespace {

/// Seconds from one frame to the next; more is a jump. FFmpeg's demuxers mend such ones from here on.
constexpr double kLongestStep = 10;

/// So many frames may be between the restarts of two inputs; behind them, the other one is taken not to restart.
constexpr int kLongestWait = 100;

/// Seconds without a frame that was asked for; less is a decoder's or a network's pause.
constexpr double kStall = 2;

/// The input restarted first: for the waiting frame, what it has of that one's epoch is all that there is.
Choice choose_before_restart(Rules rules, Track track, const qcr_clock& clock, int64_t stamp) {
    track.next = {};
    track.ended = true;
    rules.eof_action = QCR_EOF_PASS;
    const Choice choice = choose(rules, track, clock, stamp);
    return choice == Choice::kEnded ? Choice::kGap : choice;
}

} // namespace

double Input::seconds(int64_t pts) const {
    return static_cast<double>(pts) * (track.clock.num / static_cast<double>(track.clock.den));
}

bool Input::is_jump(int64_t from, int64_t to) const {
    return to < from || seconds(to) - seconds(from) > kLongestStep;
}

bool Input::jumps_to(int64_t pts) const {
    return last_pts != QCR_NO_PTS && pts != QCR_NO_PTS && is_jump(last_pts, pts);
}

// ---- partners -------------------------------------------------------------------------------------------------------

/// The one does not restart as the other did: what is held, and what follows, counts as of that epoch all the same.
void Input::stop_waiting(int64_t now) {
    epoch = cur.epoch = next.epoch = now;
    passed_ = kept_back_ = 0;
}

/// Whether the next frame is of an earlier epoch than the distorted frame, or has to be known for that.
bool Input::lags_behind(int64_t now) const {
    if (track.next.held) return next.epoch < now;
    return !track.ended && track.cur.held && cur.epoch < now;
}

Choice Input::choose_in_epoch(const Rules& rules, const Input& distorted, int64_t stamp) {
    const int64_t now = distorted.epoch;
    if (lags_behind(now)) {
        if (!track.next.held) return Choice::kPull;
        if (passed_++ < kLongestWait) return Choice::kStep;
        stop_waiting(now);
    }
    if (track.next.held && next.epoch > now && stamp != kept_back_at_) {
        kept_back_at_ = stamp;
        if (kept_back_++ == kLongestWait) stop_waiting(now);
    }
    Track seen = track;
    if (seen.cur.held && cur.epoch < now) seen.cur = {};
    if (seen.next.held && next.epoch > now) return choose_before_restart(rules, seen, distorted.track.clock, stamp);
    passed_ = kept_back_ = 0;
    return choose(rules, seen, distorted.track.clock, stamp);
}

// ---- silence --------------------------------------------------------------------------------------------------------

void Input::ask(double now) {
    if (!asked_) asked_ = now;
}

void Input::end_silence() {
    asked_.reset();
    silence_ = 0;
}

void Input::interrupt_silence(double now) {
    if (asked_) silence_ += now - *asked_;
    asked_.reset();
}

bool Input::is_stalled(double now) const {
    return silence_ + (asked_ ? now - *asked_ : 0) >= kStall;
}

} // namespace qc::run
