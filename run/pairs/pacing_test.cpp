// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filter's pacing, without FFmpeg and without a clock: a stream, an engine and their times are numbers.

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "quality_cuda_run/pacing.h"

namespace {

constexpr int kDepth = 8; ///< frames that the filter holds

/// What the filter does with qcr_pace(), with an engine that takes `cost(n)` seconds for the n-th pair it gets.
class Simulation {
public:
    explicit Simulation(double rate = 25, bool is_paced = true) : rate_(rate), is_paced_(is_paced) {
        qcr_pacing_start(&pacing, kDepth, kDepth);
    }

    /// A further frame: arrives when the stream says so, or when the one before has been dealt with.
    template <class Cost>
    void frame(Cost cost, double jitter = 0) {
        const double time = number_ / rate_;
        if (is_paced_) clock_ = std::max(clock_, time + jitter);
        settle();
        qcr_pace_change change;
        const bool passes = qcr_pace(&pacing, time, clock_, static_cast<int>(ready_.size()), &change);
        events += change == QCR_PACE_OVERLOADED ? "O" : change == QCR_PACE_RECOVERED ? "R" : "";
        decisions += passes ? 'p' : 's';
        if (!passes) {
            const double begin = ready_.empty() ? clock_ : std::max(clock_, ready_.back());
            ready_.push_back(begin + cost(number_));
        }
        held_.push_back(passes ? 0.0 : ready_.back());
        bound();
        ++number_;
        longest_delay = std::max(longest_delay, clock_ - time);
    }

    template <class Cost>
    void frames(int count, Cost cost) {
        for (int i = 0; i < count; ++i) frame(cost);
    }

    double scored_share() const {
        return static_cast<double>(std::ranges::count(decisions, 's')) / static_cast<double>(decisions.size());
    }

    qcr_pacing pacing;
    std::string decisions; ///< s: scored, p: passed
    std::string events;    ///< O: overloaded, R: recovered
    int late = 0;          ///< frames that left before their scores came
    size_t most_held = 0;
    double longest_delay = 0;

private:
    void settle() {
        while (!ready_.empty() && ready_.front() <= clock_) ready_.pop_front();
        while (!held_.empty() && held_.front() <= clock_) held_.pop_front();
    }

    /// As ff_qc_bound_queue(): waits for the oldest, unless nobody may wait.
    void bound() {
        while (held_.size() > kDepth) {
            if (qcr_pace_is_behind(&pacing, clock_)) {
                ++late;
                held_.pop_front();
            } else {
                clock_ = std::max(clock_, held_.front());
            }
            settle();
        }
        most_held = std::max(most_held, held_.size());
    }

    double rate_;
    bool is_paced_;
    int number_ = 0;
    double clock_ = 0;
    std::deque<double> ready_; ///< when the pairs under way will be scored
    std::deque<double> held_;  ///< when the frames in the queue may leave
};

auto always(double cost) {
    return [cost](int) { return cost; };
}

TEST(Pacing, ScoresEverythingThatItCan) {
    Simulation run;
    run.frames(1000, always(0.039));
    EXPECT_EQ(run.decisions, std::string(1000, 's'));
    EXPECT_EQ(run.events, "");
}

TEST(Pacing, WithoutALimitNothingPasses) {
    qcr_pacing pacing = {};
    qcr_pace_change change;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(qcr_pace(&pacing, i / 25.0, i, 1000, &change), 0);
}

TEST(Pacing, PassesWhatIsTooMuch) {
    for (const double cost : {0.05, 0.08, 0.12, 0.2, 0.4}) {
        Simulation run;
        run.frames(2500, always(cost));
        EXPECT_EQ(run.events, "O") << cost;
        EXPECT_LE(run.most_held, static_cast<size_t>(kDepth)) << cost;
        EXPECT_LT(run.longest_delay, QCR_PACE_TOLERANCE + cost) << cost;
        // What the engine can do is used, except for the pause at the end of each row.
        EXPECT_GT(run.scored_share(), 0.7 * 0.04 / cost) << cost;
        EXPECT_LE(run.scored_share(), 1.1 * 0.04 / cost) << cost;
    }
}

TEST(Pacing, TheDelayDoesNotGrow) {
    Simulation shorter, longer;
    shorter.frames(1000, always(0.1));
    longer.frames(20000, always(0.1));
    EXPECT_LT(longer.longest_delay, shorter.longest_delay + 1e-9);
}

TEST(Pacing, ScoresInRows) {
    Simulation run;
    run.frames(2500, always(0.08));
    size_t alone = 0;
    for (size_t at = run.decisions.find("psp"); at != std::string::npos; at = run.decisions.find("psp", at + 1))
        ++alone;
    EXPECT_LT(alone, 5U); // while the length of the rows is being found
}

TEST(Pacing, FramesLeaveWithTheirScores) {
    for (const double cost : {0.05, 0.1, 0.2}) {
        Simulation run;
        run.frames(2500, always(cost));
        EXPECT_LT(run.late, 200) << cost;
    }
}

TEST(Pacing, Recovers) {
    Simulation run;
    run.frames(2000, [](int number) { return number >= 500 && number < 750 ? 0.1 : 0.02; });
    EXPECT_EQ(run.events, "OR");
    EXPECT_EQ(run.decisions.substr(0, 500), std::string(500, 's'));
    EXPECT_NE(run.decisions.substr(500, 250), std::string(250, 's'));
    EXPECT_EQ(run.decisions.substr(800), std::string(1200, 's'));
    EXPECT_EQ(run.pacing.limit, run.pacing.most);
}

TEST(Pacing, AJamIsSaidOnce) {
    Simulation run;
    run.frames(3000, [](int number) { return number >= 500 && number % 100 < 50 && number < 2000 ? 0.1 : 0.02; });
    EXPECT_EQ(run.events, "OR");
}

TEST(Pacing, CountsFromTheBeginningOfAnOverload) {
    Simulation run;
    run.frames(1000, [](int number) { return number >= 100 && number < 200 ? 0.1 : 0.01; });
    EXPECT_EQ(run.events, "OR");
    EXPECT_EQ(run.pacing.passed, std::ranges::count(run.decisions, 'p'));
}

TEST(Pacing, AStreamThatWaitsIsNotBehind) {
    Simulation fast(25, false); // decoded as fast as can be, scored at 50 frames a second
    fast.frames(1000, always(0.02));
    EXPECT_EQ(fast.decisions, std::string(1000, 's'));
    Simulation slow(25, false); // and where even that is slower than the stream's own time
    slow.frames(1000, always(0.08));
    EXPECT_EQ(slow.events, "O");
}

TEST(Pacing, JitterIsNoOverload) {
    Simulation run;
    for (int i = 0; i < 2000; ++i) run.frame(always(0.02), i % 50 == 0 ? 0.3 : 0.0);
    EXPECT_GT(run.scored_share(), 0.97);
    EXPECT_LE(run.events.size(), 2U);
}

TEST(Pacing, ADelayOfOthersIsForgotten) {
    Simulation run;
    for (int i = 0; i < 3000; ++i) run.frame(always(0.03), i >= 100 ? 2.0 : 0.0);
    EXPECT_EQ(run.decisions.substr(600), std::string(2400, 's'));
}

TEST(Pacing, AClockThatDriftsIsFollowed) {
    for (const double drift : {-2e-4, 2e-4}) { // seconds a second, more than crystals do
        qcr_pacing pacing;
        qcr_pacing_start(&pacing, 8, 4);
        for (int i = 0; i < 1000000; ++i) {
            qcr_pace_change change;
            qcr_pace(&pacing, i / 25.0, i / 25.0 * (1 + drift), 0, &change);
        }
        EXPECT_FALSE(qcr_pace_is_behind(&pacing, 999999 / 25.0 * (1 + drift) + 0.05));
        EXPECT_TRUE(qcr_pace_is_behind(&pacing, 999999 / 25.0 * (1 + drift) + 0.15));
    }
}

TEST(Pacing, JumpsOfTheStreamAreNoDelay) {
    for (const double jump : {-3600.0, 3600.0, 5.0, -0.5}) {
        qcr_pacing pacing;
        qcr_pace_change change;
        qcr_pacing_start(&pacing, 8, 4);
        for (int i = 0; i < 100; ++i) qcr_pace(&pacing, i / 25.0, i / 25.0, 0, &change);
        EXPECT_EQ(qcr_pace(&pacing, 4 + jump, 4, 4, &change), 0) << jump;
        EXPECT_EQ(qcr_pace(&pacing, 4.04 + jump, 4.04, 4, &change), 0) << jump;
        EXPECT_EQ(qcr_pace(&pacing, 4.08 + jump, 4.3, 4, &change), 1) << jump;
    }
}

TEST(Pacing, WithoutTimeStampsTheQueueDecides) {
    qcr_pacing pacing;
    qcr_pace_change change;
    qcr_pacing_start(&pacing, 8, 4);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(qcr_pace(&pacing, NAN, i, 3, &change), 0);
    EXPECT_EQ(qcr_pace(&pacing, NAN, 10, 4, &change), 1);
    EXPECT_EQ(qcr_pace(&pacing, NAN, 11, 1, &change), 1);
    EXPECT_EQ(qcr_pace(&pacing, NAN, 12, 0, &change), 0);
}

} // namespace
