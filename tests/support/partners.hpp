// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the filter does with a track of its pairing, over a list of stamps instead of an input. Needs no test framework.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "run/pairs/pairing.hpp"

namespace qc::test {

using run::Choice;
using run::Rules;
using run::Track;

/// @tparam Check has `static void that(bool holds, const char* what)`, for what must hold of every call
template <class Check>
class Partners {
public:
    Partners(std::vector<int64_t> stamps, const qcr_clock& clock) : stamps_(std::move(stamps)) { track_.clock = clock; }

    /// The decision about one main frame.
    Choice choose(const Rules& rules, const qcr_clock& clock, int64_t pts) {
        for (size_t steps = 0;; ++steps) {
            const bool may_go_on = steps <= 2 * stamps_.size() + 3;
            Check::that(may_go_on, "it comes to an end");
            if (!may_go_on) return Choice::kEnded;
            const Choice choice = run::choose(rules, track_, clock, pts);
            if (choice == Choice::kPull)
                pull();
            else if (choice == Choice::kStep)
                step();
            else
                return choice;
        }
    }

    void step() {
        Check::that(track_.next.held, "there is a frame to step to");
        track_.step();
        cur_ = std::exchange(next_, -1);
    }

    /// The frame behind the one that is held, or the end, gets known.
    void learn_next() {
        if (!track_.next.held && !track_.ended) pull();
    }

    /// Index of the frame that a choice means.
    int index_of(Choice choice) const { return choice == Choice::kNext ? next_ : cur_; }
    Track& track() { return track_; }
    const Track& track() const { return track_; }
    int pulled() const { return pulled_; }

private:
    void pull() {
        Check::that(!track_.next.held, "a frame is asked for only where there is none");
        Check::that(!track_.ended, "no frame is asked for behind the end");
        if (pulled_ == static_cast<int>(stamps_.size())) {
            track_.ended = true;
            return;
        }
        next_ = pulled_;
        track_.push(stamps_[static_cast<size_t>(pulled_++)]);
    }

    std::vector<int64_t> stamps_;
    Track track_;
    int cur_ = -1, next_ = -1; // indices of the frames that the track holds
    int pulled_ = 0;
};

} // namespace qc::test
