// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the filter does with a track of its pairing, over a list of stamps instead of an input. Needs no test framework.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "quality_cuda_run/pairing.h"

namespace qc::test {

/// @tparam Check has `static void that(bool holds, const char* what)`, for what must hold of every call
template <class Check>
class Partners {
public:
    Partners(std::vector<int64_t> stamps, const qcr_clock& clock) : stamps_(std::move(stamps)) { track_.clock = clock; }

    /// The decision about one main frame.
    qcr_choice choose(const qcr_pairing& rules, const qcr_clock& clock, int64_t pts) {
        for (size_t steps = 0;; ++steps) {
            const bool may_go_on = steps <= 2 * stamps_.size() + 3;
            Check::that(may_go_on, "it comes to an end");
            if (!may_go_on) return QCR_CHOICE_ENDED;
            const qcr_choice choice = qcr_choose(&rules, &track_, &clock, pts);
            if (choice == QCR_CHOICE_PULL)
                pull();
            else if (choice == QCR_CHOICE_STEP)
                step();
            else
                return choice;
        }
    }

    void step() {
        Check::that(track_.next.held != 0, "there is a frame to step to");
        qcr_track_step(&track_);
        cur_ = std::exchange(next_, -1);
    }

    /// The frame behind the one that is held, or the end, gets known.
    void learn_next() {
        if (!track_.next.held && track_.ended == 0) pull();
    }

    /// Index of the frame that a choice means.
    int index_of(qcr_choice choice) const { return choice == QCR_CHOICE_NEXT ? next_ : cur_; }
    qcr_track& track() { return track_; }
    const qcr_track& track() const { return track_; }
    int pulled() const { return pulled_; }

private:
    void pull() {
        Check::that(!track_.next.held, "a frame is asked for only where there is none");
        Check::that(!track_.ended, "no frame is asked for behind the end");
        if (pulled_ == static_cast<int>(stamps_.size())) {
            track_.ended = 1;
            return;
        }
        next_ = pulled_;
        qcr_track_push(&track_, stamps_[static_cast<size_t>(pulled_++)]);
    }

    std::vector<int64_t> stamps_;
    qcr_track track_{};
    int cur_ = -1, next_ = -1; // indices of the frames that the track holds
    int pulled_ = 0;
};

} // namespace qc::test
