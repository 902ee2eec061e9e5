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

#include "quality_cuda_run/pairing.h"
#include "quality_cuda_run/pairs.h"

namespace qc::run {

/// A frame that is held. Whoever gives it back sets `handle` to nullptr.
struct Frame {
    void* handle = nullptr;
    int64_t pts = QCR_NO_PTS;
    int64_t epoch = 0;
};

struct Input {
    std::string name;
    qcr_track track{};
    Frame cur, next;      ///< those that the track has the timestamps of
    qcr_choice choice{};  ///< for the waiting distorted frame
    int64_t received = 0; ///< frames, those behind the run's end not counted
    int64_t first_pts = QCR_NO_PTS;
    int64_t last_pts = QCR_NO_PTS; ///< of the latest frame in line
    int64_t jumps = 0;
    bool is_foreseen = false; ///< the next frame's timestamp has been looked at
    bool is_outlier = false;  ///< that frame's timestamp is not in line with those before and behind it
    int64_t epoch = 0;        ///< of that frame: how often the timestamps restarted
    int left_out = 0;         ///< so many of its next frames are not used: their pictures come before what is compared
    int tail = 0;             ///< frames read after the end of the distorted video
    int64_t behind = 0;       ///< those among them that are too late for its last frame

    double seconds(int64_t pts) const;

    /// Whether `to` behind `from` is a jump; neither is missing.
    bool is_jump(int64_t from, int64_t to) const;

    /// Without a timestamp, or behind none, nothing is a jump.
    bool jumps_to(int64_t pts) const;

    /// qcr_choose() among the frames of the distorted frame's epoch.
    /// @param distorted the input of that frame, whose timestamp is `stamp`
    qcr_choice choose_in_epoch(const qcr_pairing& rules, const Input& distorted, int64_t stamp);

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
