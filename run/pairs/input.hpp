// SPDX-License-Identifier: BSD-2-Clause-Patent
// One input of the pairs: its frames in order, its timestamps and where they restart, its silence.
//
// Between two restarts of its timestamps an input is in one epoch, and only frames of equal epochs are compared:
// without that, the first frames of the one would meet the last ones of the other. A single timestamp that is out of
// line with its neighbours begins no epoch, and is not used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/pairs/pairing.hpp"

namespace qc::run {

/// A frame that is held. Whoever gives it back sets `handle` to nullptr.
struct Frame {
    void* handle = nullptr;
    int64_t pts = QCR_NO_PTS;
    int64_t epoch = 0;
};

struct Input {
    std::string name;
    Track track;
    Frame cur, next;               ///< those that the track has the timestamps of
    Choice choice = Choice::kPull; ///< for the waiting distorted frame
    int64_t received = 0;          ///< frames, those behind the run's end not counted
    int64_t first_pts = QCR_NO_PTS;
    int64_t last_pts = QCR_NO_PTS; ///< of the latest frame in line
    int64_t jumps = 0;
    bool is_foreseen = false;      ///< the next frame's timestamp has been looked at
    bool is_outlier = false;       ///< that frame's timestamp is not in line with those before and behind it
    int64_t epoch = 0;             ///< of that frame: how often the timestamps restarted
    std::vector<int64_t> shown;    ///< timestamps of its first frames, before any was offered
    bool is_shown = false;         ///< no more of them are needed
    double delay = 0;              ///< seconds by which it counts later
    bool is_compared = false;      ///< with the distorted video, at the end
    bool has_other_length = false; ///< as many frames as the distorted video, but longer ones or shorter ones
    int left_out = 0;         ///< so many of its next frames are not used: their pictures come before what is compared
    int tail = 0;             ///< frames read after the end of the distorted video
    int64_t tail_to_read = 0; ///< so many of them are needed to compare lengths
    int64_t behind = 0;       ///< those among them that are too late for its last frame

    double seconds(int64_t pts) const;

    /// Those behind the end of the distorted video among them.
    int64_t frames() const { return received + tail; }

    /// Whether `to` behind `from` is a jump; neither is missing.
    bool is_jump(int64_t from, int64_t to) const;

    /// Without a timestamp, or behind none, nothing is a jump.
    bool jumps_to(int64_t pts) const;

    /// choose() among the frames of the distorted frame's epoch.
    /// @param distorted the input of that frame, whose timestamp is `stamp`
    Choice choose_in_epoch(const Rules& rules, const Input& distorted, int64_t stamp);

    void ask(double now);
    void end_silence();
    void interrupt_silence(double now);
    bool is_stalled(double now) const;

private:
    void stop_waiting(int64_t now);
    bool lags_behind(int64_t now) const;

    int passed_ = 0;              ///< frames of an epoch that is over, in a row
    int kept_back_ = 0;           ///< distorted frames, in a row, that the next frame's epoch has not begun for
    int64_t kept_back_at_ = 0;    ///< timestamp of the latest of them
    std::optional<double> asked_; ///< when its next frame was asked for
    double silence_ = 0;          ///< for how long it was asked in vain before that, since its latest frame
};

} // namespace qc::run
