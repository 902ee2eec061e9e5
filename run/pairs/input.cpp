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
qcr_choice choose_before_restart(qcr_pairing rules, qcr_track track, const qcr_clock& clock, int64_t stamp) {
    track.next = {};
    track.ended = 1;
    rules.eof_action = QCR_EOF_PASS;
    const qcr_choice choice = qcr_choose(&rules, &track, &clock, stamp);
    return choice == QCR_CHOICE_ENDED ? QCR_CHOICE_GAP : choice;
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
    if (track.next.held != 0) return next.epoch < now;
    return track.ended == 0 && track.cur.held != 0 && cur.epoch < now;
}

qcr_choice Input::choose_in_epoch(const qcr_pairing& rules, const Input& distorted, int64_t stamp) {
    const int64_t now = distorted.epoch;
    if (lags_behind(now)) {
        if (track.next.held == 0) return QCR_CHOICE_PULL;
        if (passed_++ < kLongestWait) return QCR_CHOICE_STEP;
        stop_waiting(now);
    }
    if (track.next.held != 0 && next.epoch > now && stamp != kept_back_at_) {
        kept_back_at_ = stamp;
        if (kept_back_++ == kLongestWait) stop_waiting(now);
    }
    qcr_track seen = track;
    if (seen.cur.held != 0 && cur.epoch < now) seen.cur = {};
    if (seen.next.held != 0 && next.epoch > now)
        return choose_before_restart(rules, seen, distorted.track.clock, stamp);
    passed_ = kept_back_ = 0;
    return qcr_choose(&rules, &seen, &distorted.track.clock, stamp);
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
