// SPDX-License-Identifier: BSD-2-Clause-Patent
// Inputs of as many frames, but another length: a wrong frame rate.
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "run/pairs/pairs_test_support.hpp"

namespace {

using namespace qc::run::pairs_test;

constexpr double kFilm = 24000 / 1001.0, kNtsc = 30000 / 1001.0;

/// Frames of a rate as a clock of milliseconds has them.
Stamps frames_of(double rate, int count, double first = 0) {
    Stamps stamps;
    for (int i = 0; i < count; ++i) stamps.push_back(std::llround((first + i / rate) * 1000));
    return stamps;
}

struct Case {
    const char* what;
    Stamps main, reference;
    bool is_found;
};

TEST(PairsLengths, Cases) {
    const Case cases[] = {
        {"film read as 25", frames_of(25, 700), frames_of(kFilm, 700), true},
        {"25 read as film", frames_of(kFilm, 700), frames_of(25, 700), true},
        {"half an hour: more is left than is read behind the end", frames_of(25, 45000), frames_of(kFilm, 45000), true},
        {"24 for 23.976 in half an hour", frames_of(24, 43000), frames_of(kFilm, 43000), true},
        {"30 for 29.97", frames_of(30, 900), frames_of(kNtsc, 900), true},
        {"twice the rate", frames_of(50, 100), frames_of(25, 100), true},
        {"half the rate", frames_of(25, 100), frames_of(50, 100), true},
        {"the same", frames_of(kFilm, 700), frames_of(kFilm, 700), false},
        {"the same, later", frames_of(kFilm, 700, 3.021), frames_of(kFilm, 700), false},
        {"the same, of other containers", frames_of(kFilm, 700), frames_of(23.976, 700), false},
        {"too short for a difference", frames_of(30, 12), frames_of(kNtsc, 12), false},
        {"too few frames", frames_of(25, 9), frames_of(30, 9), false},
        {"a rate that was converted", frames_of(25, 730), frames_of(kFilm, 700), false},
        {"every second frame", frames_of(25, 100), frames_of(50, 200), false},
        {"a frame is missing", frames_of(25, 99), frames_of(25, 100), false},
        {"a title and a part of it, at another rate", frames_of(25, 50), frames_of(kFilm, 700), false},
        {"a variable rate", joined(frames_of(25, 50), frames_of(50, 50, 2)),
         joined(frames_of(50, 50), frames_of(25, 50, 1.02)), false},
    };
    for (const Case& each : cases) {
        FrontEnd front_end(config_of(rules(QCR_SYNC_NEAREST, QCR_EOF_PASS)), {each.main, each.reference});
        for (qcr_decision decision = front_end.decide(); decision.kind != QCR_END; decision = front_end.decide()) {
            if (decision.kind == QCR_PAIR) qcr_pairs_take(front_end.pairs);
            front_end.give_back(decision);
        }
        front_end.decide();
        qcr_pairs_count_unused(front_end.pairs);
        qcr_pairs_count_unused(front_end.pairs);
        EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).has_other_length != 0, each.is_found) << each.what;
        int said = 0;
        for (const std::string& message : front_end.messages) said += message.find("frames each") != std::string::npos;
        EXPECT_EQ(said, each.is_found ? 1 : 0) << each.what;
    }
}

TEST(PairsLengths, ASentenceNamesCauseAndRemedy) {
    FrontEnd front_end(config_of(rules()), {frames_of(25, 700), frames_of(kFilm, 700)});
    for (qcr_decision decision = front_end.decide(); decision.kind != QCR_END; decision = front_end.decide()) {
        if (decision.kind == QCR_PAIR) qcr_pairs_take(front_end.pairs);
        front_end.give_back(decision);
    }
    front_end.decide();
    qcr_pairs_count_unused(front_end.pairs);
    ASSERT_EQ(front_end.messages.size(), 1U);
    EXPECT_EQ(
        front_end.messages[0],
        "main and reference have 700 frames each, but last 28.000 s (25 frames/s) and 29.196 s (24000/1001 "
        "frames/s): one of them has the wrong frame rate, and frames are compared that do not belong together; put "
        "settb=1/120000,setpts=N*1001/24000/TB before input 0 (main), or use sync=index");
}

/// At 48 frames a second AAC's delay is as long as a frame, whatever is meant.
TEST(PairsLengths, ADelayThatIsAsLongAsAFrame) {
    struct {
        const char* what;
        Stamps main, reference;
        int align;
        bool is_said;
    } const cases[] = {
        {"main has the sound", frames_of(48, 96, 1024 / 48000.0), frames_of(48, 96), 0, true},
        {"the reference has it", frames_of(48, 96), frames_of(48, 96, 1024 / 48000.0), 0, true},
        {"of twice the film's rate", frames_of(2 * kFilm, 96, 1024 / 48000.0), frames_of(2 * kFilm, 96), 0, true},
        {"a frame is missing", frames_of(48, 95, 1 / 48.0), frames_of(48, 96), 0, false},
        {"a frame is missing at 60", frames_of(60, 96, 1 / 60.0), frames_of(60, 96), 0, false},
        {"a frame is missing at 25", frames_of(25, 96, 1 / 25.0), frames_of(25, 96), 0, false},
        {"nothing is apart", frames_of(48, 96), frames_of(48, 96), 0, false},
        {"times are believed", frames_of(48, 96, 1024 / 48000.0), frames_of(48, 96), 1, false},
    };
    for (const auto& each : cases) {
        qcr_rules wish = rules(QCR_SYNC_NEAREST, QCR_EOF_PASS);
        wish.mends_delay = each.align == 0 ? 1 : 0;
        FrontEnd front_end(config_of(wish), {each.main, each.reference});
        for (qcr_decision decision = front_end.decide(); decision.kind != QCR_END; decision = front_end.decide()) {
            if (decision.kind == QCR_PAIR) qcr_pairs_take(front_end.pairs);
            front_end.give_back(decision);
        }
        front_end.decide();
        qcr_pairs_count_unused(front_end.pairs);
        int said = 0;
        for (const std::string& message : front_end.messages)
            said += message.find("compared with its neighbour; use align=start") != std::string::npos;
        EXPECT_EQ(said, each.is_said ? 1 : 0) << each.what;
    }
}

/// Pictures behind the last pair count on from it, by their times.
TEST(PairsLengths, NumbersBehindTheLastPair) {
    FrontEnd front_end(config_of(rules(QCR_SYNC_NEAREST, QCR_EOF_PASS)), {frames_of(25, 20), frames_of(25, 400)});
    EXPECT_EQ(qcr_pairs_number_behind(front_end.pairs, 1, 800), -1);
    for (qcr_decision decision = front_end.decide(); decision.kind != QCR_END; decision = front_end.decide()) {
        if (decision.kind == QCR_PAIR) qcr_pairs_take(front_end.pairs);
        front_end.give_back(decision);
    }
    for (const auto& [pts, expected] :
         {std::pair(800, 20), {801, 20}, {840, 21}, {8000, 200}, {820, -1}, {760, -1}, {0, -1}})
        EXPECT_EQ(qcr_pairs_number_behind(front_end.pairs, 1, pts), expected) << pts;
    EXPECT_EQ(qcr_pairs_number_behind(front_end.pairs, 1, kNoPts), -1);
    front_end.decide();
    EXPECT_LT(qcr_pairs_input(front_end.pairs, 1).behind, 150);
    qcr_pairs_read_on(front_end.pairs, 1);
    front_end.decide();
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).behind, 380);
}

TEST(PairsLengths, AreNothingWhereFramesArePairedByNumber) {
    for (const int sync : {QCR_SYNC_INDEX, QCR_SYNC_LAVFI}) {
        FrontEnd front_end(config_of(rules(sync)), {frames_of(25, 20), frames_of(kFilm, 20)});
        while (true) {
            const qcr_decision decision = front_end.decide();
            if (decision.kind == QCR_PAIR) qcr_pairs_take(front_end.pairs);
            if (decision.kind == QCR_END) break;
            front_end.give_back(decision);
        }
        front_end.decide();
        qcr_pairs_count_unused(front_end.pairs);
        EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).has_other_length, 0) << sync;
    }
}

} // namespace
