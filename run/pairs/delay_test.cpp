// SPDX-License-Identifier: BSD-2-Clause-Patent
// Inputs that begin apart by less than a frame: what is moved, and what is left as its timestamps say.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "run/pairs/pairs_test_support.hpp"

namespace {

using namespace qc::run::pairs_test;

/// Frames of a rate, from a time on, as a clock of so many ticks a second has them.
Stamps frames_of(double rate, double first, int ticks, int count = 12) {
    Stamps stamps;
    for (int i = 0; i < count; ++i) stamps.push_back(std::llround((first + i / rate) * ticks));
    return stamps;
}

/// As filters show what waits for them.
void show(FrontEnd& front_end) {
    for (int i = 0; i < static_cast<int>(front_end.streams.size()); ++i) {
        for (int wanted; (wanted = qcr_pairs_first_frames(front_end.pairs, i)) > 0;) {
            const Stamps& all = front_end.streams[static_cast<size_t>(i)];
            qcr_pairs_show_first(front_end.pairs, i, all.data(), std::min<int>(wanted, static_cast<int>(all.size())));
        }
    }
}

qcr_pairs_config mending(double rate, int ticks, int reference_ticks, int renditions = 1) {
    qcr_rules wish = rules();
    wish.mends_delay = 1;
    qcr_pairs_config config = config_of(wish, renditions);
    config.claimed_rate = rate;
    for (qcr_clock& clock : config.clock) clock = {1, ticks, 0};
    config.clock[1] = {1, reference_ticks, 0};
    return config;
}

struct Case {
    const char* what;
    double rate, first; ///< of the distorted video; the reference begins at 0
    int ticks, reference_ticks;
    double delay;
    const char* pairs; ///< the first of them
};

constexpr double kAac = 1024 / 48000.0, kAac44 = 1024 / 44100.0, kMp3 = 1105 / 44100.0;

const Case kCases[] = {
    {"AAC in Matroska, film", 24000 / 1001.0, kAac, 1000, 1000, 0.021, "0 1 2"},
    {"25", 25, kAac, 1000, 1000, 0.021, "0 1 2"},
    {"29.97", 30000 / 1001.0, kAac, 1000, 1000, 0.021, "0 1 2"},
    {"30", 30, kAac, 1000, 1000, 0.021, "0 1 2"},
    {"50, where it is hardly more than a frame", 50, kAac, 1000, 1000, 0.021, "0 1 2"},
    {"59.94", 60000 / 1001.0, kAac, 1000, 1000, 0.021, "0 1 2"},
    {"60", 60, kAac, 1000, 1000, 0.021, "0 1 2"},
    {"beside MP4", 25, kAac, 1000, 12800, 0.021, "0 1 2"},
    {"sound of 44.1 kHz", 24000 / 1001.0, kAac44, 1000, 24000, 0.023, "0 1 2"},
    {"MP3, at 60", 60, kMp3, 1000, 15360, 0.025, "0 1 2"},
    {"the reference has the sound", 25, -kAac, 1000, 1000, -0.021, "0 1 2"},
    {"the nearest frame is the right one", 30, 0.0065, 1000, 1000, 0, "0 1 2"},
    {"nothing is apart", 24000 / 1001.0, 0, 1000, 24000, 0, "0 1 2"},
    {"a first frame is missing", 25, 0.04, 1000, 1000, 0, "1 2 3"},
    {"a first frame is missing, rounded", 24000 / 1001.0, 1001 / 24000.0, 1000, 24000, 0, "1 2 3"},
    {"a first frame is missing at 60", 60, 1 / 60.0, 1000, 1000, 0, "1 2 3"},
    {"a frame and a half", 25, 0.06, 1000, 1000, 0, "1 2 3"},
    {"another title's time", 25, 3.021, 1000, 1000, 0, "after"},
};

TEST(PairsDelay, Cases) {
    for (const Case& each : kCases) {
        FrontEnd front_end(mending(each.rate, each.ticks, each.reference_ticks),
                           {frames_of(each.rate, std::max(each.first, 0.0), each.ticks),
                            frames_of(each.rate, std::max(-each.first, 0.0), each.reference_ticks)});
        show(front_end);
        EXPECT_NEAR(qcr_pairs_input(front_end.pairs, 1).delay, each.delay, 0.0006) << each.what;
        EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).delay == 0, each.delay == 0) << each.what;
        const std::string decided = front_end.run();
        if (std::string(each.pairs) == "after") continue;
        EXPECT_EQ(decided.substr(0, std::string(each.pairs).size()), each.pairs) << each.what << ": " << decided;
    }
}

TEST(PairsDelay, WhatIsMovedIsSaidOnce) {
    FrontEnd front_end(mending(25, 1000, 1000), {every(40, 6, 21), every(40, 6)});
    show(front_end);
    EXPECT_EQ(front_end.run(), "0 1 2 3 4 5 end");
    ASSERT_EQ(front_end.messages.size(), 1U);
    EXPECT_EQ(
        front_end.messages[0],
        "main begins 0.021000 s later than input 1 (reference), and both keep step: a container's delay, not a "
        "frame that is missing; input 1 (reference) counts as 0.021000 s later (align=none: times are left as they "
        "are)");
}

TEST(PairsDelay, EachInputHasItsOwn) {
    FrontEnd front_end(mending(25, 1000, 1000, 3),
                       {every(40, 4, 21), every(40, 4), every(40, 4, 21), every(40, 4, 42)});
    show(front_end);
    EXPECT_EQ(front_end.run(), "0,0,0 1,1,1 2,2,2 3,3,3 end");
    EXPECT_DOUBLE_EQ(qcr_pairs_input(front_end.pairs, 1).delay, 0.021);
    EXPECT_DOUBLE_EQ(qcr_pairs_input(front_end.pairs, 2).delay, 0);
    EXPECT_DOUBLE_EQ(qcr_pairs_input(front_end.pairs, 3).delay, -0.021);
}

TEST(PairsDelay, WhatDoesNotKeepStepIsLeftAlone) {
    const Stamps main = every(40, 6, 21);
    const Stamps others[] = {
        every(42, 6), {0, 40, 90, 120, 160, 200}, {0, kNoPts, 80, 120, 160, 200}, {0, 40}, {0}, {}};
    for (const Stamps& other : others) {
        FrontEnd front_end(mending(25, 1000, 1000), {main, other});
        show(front_end);
        EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).delay, 0) << other.size();
        front_end.run();
    }
}

TEST(PairsDelay, OneFrameTellsWhetherMoreAreWaitedFor) {
    for (const auto& [first, wanted] : {std::pair(0, QCR_RATE_FRAMES), std::pair(21, 0), std::pair(-500, 0)}) {
        FrontEnd front_end(mending(25, 1000, 1000));
        const Stamps main = every(40, QCR_RATE_FRAMES, 21);
        qcr_pairs_show_first(front_end.pairs, 0, main.data(), QCR_RATE_FRAMES);
        EXPECT_EQ(qcr_pairs_first_frames(front_end.pairs, 1), 1);
        const int64_t stamp = first;
        qcr_pairs_show_first(front_end.pairs, 1, &stamp, 1);
        EXPECT_EQ(qcr_pairs_first_frames(front_end.pairs, 1), wanted) << first;
    }
}

TEST(PairsDelay, WhoWantsTimesAsTheyAreGetsThem) {
    qcr_pairs_config none = mending(25, 1000, 1000), start = none, floor = none, index = none;
    none.rules.mends_delay = 0;
    start.rules.align_start = 1;
    floor.rules.sync = QCR_SYNC_FLOOR;
    index.rules.sync = QCR_SYNC_INDEX;
    for (const qcr_pairs_config& config : {none, start, floor, index}) {
        FrontEnd front_end(config, {every(40, 6, 21), every(40, 6)});
        show(front_end);
        EXPECT_EQ(qcr_pairs_first_frames(front_end.pairs, 1), 0);
        EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).delay, 0);
    }
}

} // namespace
