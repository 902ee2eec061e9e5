// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pairs of a run as a front end sees them: frames are offered, decisions come out.

#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/pairs.h"
#include "run/pairs/pairs_test_support.hpp"

namespace {

using namespace qc::run::pairs_test;

// ---- tables ---------------------------------------------------------------------------------------------------------

struct Case {
    const char* name;
    qcr_rules rules;
    std::vector<Stamps> streams; // distorted, reference, further renditions
    const char* decisions;
    int64_t unused = 0; // frames of the reference
    int64_t jumps = 0;  // of both together
};

void PrintTo(const Case& test, std::ostream* out) {
    *out << test.name;
}

class Pairs : public testing::TestWithParam<Case> {};

TEST_P(Pairs, DecidesAsWritten) {
    const Case& test = GetParam();
    FrontEnd front_end(config_of(test.rules, static_cast<int>(test.streams.size()) - 1), test.streams);
    EXPECT_EQ(front_end.run(), test.decisions);
    qcr_pairs_count_unused(front_end.pairs);
    EXPECT_EQ(front_end.counts[0].unused, test.unused);
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 0).jumps + qcr_pairs_input(front_end.pairs, 1).jumps, test.jumps);
    EXPECT_EQ(front_end.counts[0].paired + qcr_unscored(&front_end.counts[0]), front_end.counts[0].frames);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

std::vector<Case> rule_cases() {
    return {{"Nearest", rules(), {{0, 41, 79}, every(40, 3)}, "0 1 2 end"},
            {"NearestGap", rules(), {every(40, 4), {0, 120}}, "0 gap gap 1 end"},
            {"NearestEnds", rules(), {every(40, 4), every(40, 2)}, "0 1 ended. ended. end"},
            {"NearestBefore", rules(), {every(40, 3), every(40, 2, 40)}, "before 0 1 end"},
            {"Untimed", rules(), {{0, kNoPts, 80}, every(40, 3)}, "0 untimed 2 end", 1},
            {"MaxDt", rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0.001), {{0, 42, 80}, every(40, 3)}, "0 gap 2 end", 1},
            {"Floor", rules(QCR_SYNC_FLOOR), {{0, 39, 79}, every(40, 3)}, "0 0 1 end", 1},
            {"Index", rules(QCR_SYNC_INDEX), {{7, kNoPts, 3}, {5000, 5000, 1}}, "0 1 2 end"},
            {"IndexEnds", rules(QCR_SYNC_INDEX), {every(40, 3), every(40, 2)}, "0 1 ended. end"},
            {"Endall", rules(QCR_SYNC_NEAREST, QCR_EOF_ENDALL), {every(40, 4), every(40, 2)}, "0 1 early"},
            {"Repeat", rules(QCR_SYNC_NEAREST, QCR_EOF_REPEAT), {every(40, 4), every(40, 2)}, "0 1 1 1 end"},
            {"NoReference", rules(), {every(40, 2), {}}, "ended. ended. end"},
            {"NothingAtAll", rules(), {{}, every(40, 2)}, "end"},
            {"NoPairFollowsAnEnd", lavfi(QCR_EOF_PASS, 0), {{40, 41, 40}, {40}}, "0 ended. over end"},
            {"Lavfi", lavfi(), {{0, 39, 79, 120}, every(40, 4)}, "0 0 1 3 end", 1},
            {"LavfiUntimed", lavfi(), {{kNoPts, kNoPts}, {kNoPts, kNoPts}}, "0 1 end"},
            {"LavfiRepeatsReference", lavfi(), {every(40, 4), every(40, 2)}, "0 1 1 1 end"},
            {"LavfiRepeatsAsLongAsTheReferenceIsNotLater",
             lavfi(QCR_EOF_ENDALL),
             {{0, 80}, {0, 80, 60, 80}},
             "0 1 +2 end",
             1},
            {"LavfiRepeatsDistorted", lavfi(), {every(40, 2), every(40, 4)}, "0 1 +2 +3 end"}};
}
INSTANTIATE_TEST_SUITE_P(Rules, Pairs, testing::ValuesIn(rule_cases()), name_of);

std::vector<Case> epoch_cases() {
    const Stamps twice = joined(every(40, 3), every(40, 3)), five = every(40, 5);
    return {{"BothRestart", rules(), {twice, twice}, "0 1 2 3 4 5 end", 0, 2},
            {"ReferenceRestartsFirst",
             rules(),
             {joined(five, five), joined(every(40, 4), five)},
             "0 1 2 3 gap 4 5 6 7 8 end",
             0,
             2},
            {"DistortedRestartsFirst",
             rules(),
             {joined(every(40, 4), five), joined(five, five)},
             "0 1 2 3 5 6 7 8 9 end",
             1,
             2},
            {"BothLeap", rules(), {{0, 40, 60000, 60040}, {0, 40, 60000, 60040}}, "0 1 2 3 end", 0, 2},
            {"StrayOfDistorted", rules(), {{0, 40, 5000000, 120}, every(40, 4)}, "0 1 gap 3 end", 1, 1},
            {"StrayOfReference", rules(), {every(40, 4), {0, 40, 5000000, 120}}, "0 1 gap 3 end", 1, 1},
            {"StrayBackwards", rules(), {{400, 440, 0, 520}, every(40, 4, 400)}, "0 1 gap 3 end", 1, 1},
            {"IndexHasNoJumps", rules(QCR_SYNC_INDEX), {twice, twice}, "0 1 2 3 4 5 end"},
            {"LavfiHasNoJumps", lavfi(), {{0, 40, 0}, {0, 40, 80}}, "0 1 1 +2 end"}};
}

std::vector<Case> pause_cases() {
    const std::string gaps = "gap gap gap gap gap gap gap gap gap! gap";
    static const std::string with_pause = "0 1 " + gaps + " |2 3 end";
    return {{"OfEight",
             rules(),
             {every(40, 12), joined(every(40, 2), every(40, 2, 400))},
             "0 1 gap gap gap gap gap gap gap gap 2 3 end"},
            {"OfMore", rules(), {every(40, 14), joined(every(40, 2), every(40, 2, 480))}, with_pause.c_str()}};
}
INSTANTIATE_TEST_SUITE_P(Pauses, Pairs, testing::ValuesIn(pause_cases()), name_of);

std::vector<Case> ladder_cases() {
    return {{"AllThere", rules(), {every(40, 2), every(40, 2), every(40, 2)}, "0,0 1,1 end"},
            {"LateHoleOver", rules(), {every(40, 5), every(40, 5), {40, 120}}, "0,before 1,0 2,gap 3,1 4,ended end"},
            {"TheReferenceDecides", rules(), {every(40, 3), {0}, every(40, 3)}, "0,0 ended. ended. end"},
            {"OneThatNeverBegins", rules(), {every(40, 2), every(40, 2), {}, every(40, 2)}, "0,ended,0 1,ended,1 end"}};
}
INSTANTIATE_TEST_SUITE_P(Ladders, Pairs, testing::ValuesIn(ladder_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Epochs, Pairs, testing::ValuesIn(epoch_cases()), name_of);

// ---- counts ---------------------------------------------------------------------------------------------------------

TEST(PairsCounts, ALaddersRenditionsHaveTheirOwn) {
    FrontEnd front_end(config_of(rules(), 2), {every(40, 5), every(40, 4), {41, 121}});
    front_end.run();
    const qcr_counts &first = front_end.counts[0], &second = front_end.counts[1];
    EXPECT_EQ(first.paired, 4);
    EXPECT_EQ(first.after, 1);
    EXPECT_EQ(second.paired, 2);
    EXPECT_EQ(second.late, 1);
    EXPECT_EQ(second.holes, 1);
    EXPECT_EQ(second.after, 1);
    EXPECT_DOUBLE_EQ(second.max_abs_dt, 0.001);
    EXPECT_EQ(first.max_abs_dt, 0.0);
}

TEST(PairsCounts, WhatIsSwitchedOffIsNotCompared) {
    FrontEnd front_end(config_of(rules()), {every(40, 4), every(40, 4)});
    front_end.disabled = {1, 2};
    EXPECT_EQ(front_end.run(), "0 disabled disabled 3 end");
    EXPECT_EQ(front_end.counts[0].disabled, 2);
    EXPECT_EQ(front_end.counts[0].restarts, 1);
    EXPECT_EQ(front_end.counts[0].unused, 2);
}

TEST(PairsCounts, APairThatPassesUsesItsFrames) {
    FrontEnd front_end(config_of(rules()), {every(40, 2), every(40, 2)});
    const qcr_decision decision = front_end.decide();
    qcr_pairs_leave(front_end.pairs);
    front_end.give_back(decision);
    EXPECT_EQ(front_end.run(), "1 end");
    EXPECT_EQ(front_end.counts[0].passed, 1);
    EXPECT_EQ(front_end.counts[0].paired, 1);
    qcr_pairs_count_unused(front_end.pairs);
    EXPECT_EQ(front_end.counts[0].unused, 0);
}

TEST(PairsCounts, APairThatFailsIsNone) {
    FrontEnd front_end(config_of(rules(), 3), {{0}, {0}, {0}, {}});
    const qcr_decision decision = front_end.decide();
    EXPECT_EQ(decision.renditions, 3U);
    EXPECT_EQ(decision.row, 0);
    qcr_pairs_take(front_end.pairs);
    EXPECT_EQ(front_end.counts[1].paired, 1);
    EXPECT_EQ(front_end.counts[2].ended, 1);
    qcr_pairs_fail(front_end.pairs);
    front_end.give_back(decision);
    for (const qcr_counts& counts : front_end.counts) {
        EXPECT_EQ(counts.frames, 1);
        EXPECT_EQ(counts.paired, 0);
        EXPECT_EQ(counts.ended, 0);
    }
}

// ---- what is asked for ----------------------------------------------------------------------------------------------

TEST(PairsNeeds, NothingBeforeADecisionDependsOnIt) {
    FrontEnd front_end(config_of(rules(), 2), {every(40, 3), every(40, 3), every(40, 3)});
    qcr_decision decision;
    qcr_pairs_next(front_end.pairs, &decision);
    EXPECT_EQ(front_end.text_of(decision), "needs");
    EXPECT_EQ(decision.needs, 1U);
    front_end.offer_next(0);
    qcr_pairs_next(front_end.pairs, &decision);
    EXPECT_EQ(decision.needs, 6U);
    front_end.offer_next(2);
    qcr_pairs_next(front_end.pairs, &decision);
    EXPECT_EQ(decision.needs, 2U);
    front_end.offer_next(1); // of exactly the same time: the one behind it cannot be nearer
    qcr_pairs_next(front_end.pairs, &decision);
    EXPECT_EQ(front_end.text_of(decision), "0,0");
    front_end.give_back(decision);
}

TEST(PairsNeeds, WhatFollowsAJump) {
    FrontEnd front_end(config_of(rules()), {{0, 40, 20000}, {0, 40, 20000}});
    EXPECT_TRUE(front_end.offer_next(0, false));
    EXPECT_EQ(qcr_pairs_jumps(front_end.pairs, 0, 20000), 1);
    EXPECT_EQ(qcr_pairs_jumps(front_end.pairs, 0, 40), 0);
    EXPECT_EQ(qcr_pairs_jumps(front_end.pairs, 1, 20000), 0) << "nothing came before it";
    const qcr_decision first = front_end.decide();
    qcr_pairs_take(front_end.pairs);
    front_end.give_back(first);
    EXPECT_TRUE(front_end.offer_next(0, false));
    const qcr_decision second = front_end.decide();
    qcr_pairs_take(front_end.pairs);
    front_end.give_back(second);
    EXPECT_FALSE(front_end.offer_next(0, false));
    EXPECT_TRUE(front_end.messages.empty());
    EXPECT_TRUE(front_end.offer_next(0, true));
    EXPECT_EQ(front_end.messages.size(), 1U);
}

TEST(PairsNeeds, TailsAreReadForAWhile) {
    FrontEnd front_end(config_of(rules()), {every(40, 2), every(40, 500)});
    EXPECT_EQ(front_end.run(), "0 1 end");
    qcr_decision decision;
    qcr_pairs_next(front_end.pairs, &decision);
    EXPECT_EQ(decision.needs, 2U);
    EXPECT_EQ(front_end.decide().needs, 0U);
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).behind, 100);
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).received, 2) << "those are not compared with anything";
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).ended, 0);
}

TEST(PairsNeeds, TimeAndRateOfWhatCame) {
    FrontEnd front_end(config_of(rules()), {every(40, 5), every(20, 4)});
    EXPECT_TRUE(std::isnan(qcr_pairs_input(front_end.pairs, 0).seconds));
    front_end.run();
    EXPECT_DOUBLE_EQ(qcr_pairs_input(front_end.pairs, 0).seconds, 0.16);
    EXPECT_DOUBLE_EQ(qcr_pairs_input(front_end.pairs, 0).rate, 25);
    EXPECT_DOUBLE_EQ(qcr_pairs_input(front_end.pairs, 1).seconds, 0.06);
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).rate, 0) << "four are too few";
}

TEST(PairsNeeds, OfWhatComesBehindOnlyWhatIsTooLateIsLacking) {
    FrontEnd front_end(config_of(rules()), {every(80, 3), every(40, 8)});
    EXPECT_EQ(front_end.run(), "0 2 4 end");
    front_end.decide();
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 1).behind, 2) << "the last frame lasts as long as the others";
}

TEST(PairsNeeds, NothingIsComparedOnceTheRunIsAbandoned) {
    FrontEnd front_end(config_of(rules()), {every(40, 4), every(40, 9)});
    front_end.give_back(front_end.decide());
    qcr_pairs_take(front_end.pairs);
    front_end.offer_next(0);
    qcr_pairs_abandon(front_end.pairs);
    EXPECT_EQ(front_end.run(), "abandoned abandoned abandoned end");
    EXPECT_EQ(front_end.counts[0].frames, 4);
    EXPECT_EQ(front_end.counts[0].paired, 1);
}

TEST(PairsNeeds, ARefusedFrameEndsItsInput) {
    FrontEnd front_end(config_of(rules(), 2), {every(40, 2), every(40, 2), every(40, 2)});
    front_end.offer_next(0);
    qcr_pairs_refuse(front_end.pairs, 2, 7);
    EXPECT_EQ(front_end.run(), "0,ended 1,ended end");
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 2).received, 1);
    EXPECT_EQ(qcr_pairs_input(front_end.pairs, 2).first_pts, 7);
}

TEST(PairsNeeds, WhoIsSilentIsStalled) {
    FrontEnd front_end(config_of(rules()), {every(40, 2), every(40, 2)});
    qcr_pairs* pairs = front_end.pairs;
    qcr_pairs_ask(pairs, 1, 10);
    qcr_pairs_ask(pairs, 1, 11); // once more, in vain
    EXPECT_EQ(qcr_pairs_is_stalled(pairs, 1, 11.9), 0);
    EXPECT_EQ(qcr_pairs_is_stalled(pairs, 1, 12), 1);
    EXPECT_EQ(qcr_pairs_is_stalled(pairs, 0, 99), 0) << "nobody asked it";
    qcr_pairs_interrupt(pairs, 11.5);
    EXPECT_EQ(qcr_pairs_is_stalled(pairs, 1, 99), 0);
    qcr_pairs_ask(pairs, 1, 20);
    EXPECT_EQ(qcr_pairs_is_stalled(pairs, 1, 20.5), 1) << "one and a half seconds before, half a one since";
    qcr_pairs_hear(pairs, 1);
    EXPECT_EQ(qcr_pairs_is_stalled(pairs, 1, 99), 0);
}

// ---- rates, beginnings, messages ------------------------------------------------------------------------------------

TEST(PairsRate, TheClaimIsHeldAgainstTheFirstFrames) {
    qcr_pairs_config config = config_of(rules());
    config.claimed_rate = 90000;
    FrontEnd front_end(config);
    EXPECT_EQ(qcr_pairs_first_frames(front_end.pairs, 0), QCR_RATE_FRAMES);
    const Stamps stamps = every(50, 5);
    qcr_pairs_show_first(front_end.pairs, 0, stamps.data(), 5);
    EXPECT_EQ(qcr_pairs_first_frames(front_end.pairs, 0), 0);
    EXPECT_DOUBLE_EQ(qcr_pairs_rate(front_end.pairs), 20);
    EXPECT_DOUBLE_EQ(qcr_pairs_tolerance(front_end.pairs), 0.02) << "not larger than that of an unknown rate";
    ASSERT_EQ(front_end.messages.size(), 1U);
    EXPECT_EQ(front_end.messages[0],
              "Input 0 (main) claims 90000 frames per second, which the time stamps of its first "
              "frames refute: 20 is taken; pairs may be 0.020000 s apart (max_dt)");
}

TEST(PairsRate, AWishIsNotDoubted) {
    qcr_rules wish = rules();
    wish.rate = 50;
    FrontEnd front_end(config_of(wish));
    EXPECT_EQ(qcr_pairs_first_frames(front_end.pairs, 0), 0);
    qcr_pairs_show_first(front_end.pairs, 0, nullptr, 0);
    EXPECT_DOUBLE_EQ(qcr_pairs_rate(front_end.pairs), 50);
    EXPECT_DOUBLE_EQ(qcr_pairs_tolerance(front_end.pairs), 0.01);
    EXPECT_TRUE(front_end.messages.empty());
}

TEST(PairsRate, NothingIsWaitedForWithoutAClaim) {
    qcr_pairs_config config = config_of(rules());
    config.claimed_rate = 0;
    EXPECT_EQ(qcr_pairs_first_frames(FrontEnd(config).pairs, 0), 0);
    EXPECT_EQ(qcr_pairs_first_frames(FrontEnd(config_of(rules(QCR_SYNC_INDEX))).pairs, 0), 0);
}

TEST(PairsStart, EachInputsTimeCanCountFromItsFirstFrame) {
    qcr_rules align = rules();
    align.align_start = 1;
    FrontEnd front_end(config_of(align), {every(40, 3, 1000), every(40, 3, 5000)});
    EXPECT_EQ(front_end.run(), "0 1 2 end");
    EXPECT_TRUE(front_end.messages.empty());
}

TEST(PairsStart, ABeginningApartIsSaidOnce) {
    FrontEnd front_end(config_of(rules()), {every(40, 3), every(40, 3, 80)});
    EXPECT_EQ(front_end.run(), "before before 0 end");
    ASSERT_EQ(front_end.messages.size(), 1U);
    EXPECT_EQ(front_end.messages[0],
              "main begins at 0.000000 s, the reference at 0.080000 s; if both show the same picture "
              "then, use align=start");
}

TEST(PairsStart, OfOneRenditionTheReferenceIsMoved) {
    FrontEnd front_end(config_of(rules()), {every(40, 3), every(40, 5)});
    qcr_pairs_correct_start(front_end.pairs, 0, 1, -2, -0.08);
    EXPECT_EQ(front_end.run(), "2 3 4 end");
    EXPECT_TRUE(front_end.messages.empty());
}

TEST(PairsStart, OfALadderEachRenditionIsMoved) {
    FrontEnd front_end(config_of(rules(), 2), {every(40, 4), every(40, 4), every(40, 4)});
    qcr_pairs_correct_start(front_end.pairs, 0, 0, 0, NAN);
    qcr_pairs_correct_start(front_end.pairs, 1, 1, 1, 0.04);
    EXPECT_EQ(front_end.run(), "0,1 1,2 2,3 3,ended end");
}

TEST(PairsStart, ByNumberFirstFramesAreLeftOut) {
    const qcr_rules index = rules(QCR_SYNC_INDEX);
    FrontEnd ahead(config_of(index), {every(40, 3), every(40, 5)});
    qcr_pairs_correct_start(ahead.pairs, 0, 1, -2, NAN);
    EXPECT_EQ(ahead.run(), "2 3 4 end");
    FrontEnd behind(config_of(index), {every(40, 4), every(40, 2)});
    qcr_pairs_correct_start(behind.pairs, 0, 1, 2, NAN);
    EXPECT_EQ(behind.run(), "before before 0 1 end");
    FrontEnd ladder(config_of(index, 3), {every(40, 3), every(40, 5), every(40, 5), every(40, 5)});
    qcr_pairs_correct_start(ladder.pairs, 0, 1, -1, NAN);
    qcr_pairs_correct_start(ladder.pairs, 1, 1, 1, NAN);
    qcr_pairs_correct_start(ladder.pairs, 2, 1, -2, NAN);
    EXPECT_EQ(ladder.run(), "1,2,before 2,3,0 3,4,1 end");
}

TEST(PairsMessages, AJumpIsSaidOnce) {
    FrontEnd front_end(config_of(rules()), {{0, 40, 20000, 20040}, {0, 40, 20000, 20040}});
    front_end.run();
    ASSERT_EQ(front_end.messages.size(), 1U);
    EXPECT_EQ(front_end.messages[0],
              "Input 0 (main): the time stamps jump from 0.040 s to 20.000 s, and pairs are made by "
              "stamps; drop -copyts, or put setpts=N/FRAME_RATE/TB before all inputs, or use "
              "sync=index");
}

TEST(PairsMessages, FramesWithoutTimestampsAreNotUsed) {
    FrontEnd front_end(config_of(rules()), {every(40, 2), {0, kNoPts, kNoPts, 40}});
    EXPECT_EQ(front_end.run(), "0 3 end");
    ASSERT_EQ(front_end.messages.size(), 1U);
    EXPECT_EQ(front_end.messages[0],
              "Input 1 (reference) has frames without time stamps, they are not used; sync=index "
              "pairs by number");
}

// ---- weights, trials, errors ----------------------------------------------------------------------------------------

qcr_pairs_config with_weights(const qcr_rules& rules) {
    qcr_pairs_config config = config_of(rules);
    config.has_weights = 1;
    return config;
}

TEST(PairsWeights, HoldUntilTheNext) {
    EXPECT_EQ(FrontEnd(with_weights(rules()), {every(40, 4), every(40, 4), {0, 80}}).run(), "0w0 1w0 2w1 3w1 end");
    EXPECT_EQ(FrontEnd(with_weights(rules()), {every(40, 3), every(40, 3), {40}}).run(), "0w0 1w0 2w0 end");
    EXPECT_EQ(FrontEnd(with_weights(rules()), {every(40, 3), every(40, 3), {0, 20, 59}}).run(), "0w0 1w1 2w2 end");
    EXPECT_EQ(FrontEnd(with_weights(rules()), {every(40, 3), every(40, 3), {0, 41, 82}}).run(), "0w0 1w1 2w1 end");
}

TEST(PairsWeights, ByNumber) {
    EXPECT_EQ(FrontEnd(with_weights(rules(QCR_SYNC_INDEX)), {every(40, 3), every(40, 3), {900, 900}}).run(),
              "0w0 1w1 2w1 end");
}

TEST(PairsWeights, AreWaitedFor) {
    FrontEnd front_end(with_weights(rules()), {every(40, 3), every(40, 3), {0, 80}});
    front_end.offer_next(0);
    front_end.offer_next(1);
    qcr_decision decision;
    qcr_pairs_next(front_end.pairs, &decision);
    EXPECT_EQ(decision.needs, 4U);
}

TEST(PairsTrial, LeavesThePairsAsTheyWere) {
    FrontEnd front_end(config_of(rules(QCR_SYNC_NEAREST, QCR_EOF_REPEAT)), {every(40, 3), every(40, 2)});
    qcr_counts counts{};
    qcr_pairs* trial = nullptr;
    ASSERT_EQ(qcr_pairs_create_trial(front_end.pairs, &counts, &trial), QC_OK);
    Frame distorted{0, 0}, reference{1, 0};
    const qcr_offer first{0, 40, &distorted, 0, 0, kNoPts}, other{1, 0, &reference, 0, 0, kNoPts};
    qcr_pairs_offer(trial, &first);
    qcr_pairs_offer(trial, &other);
    qcr_pairs_end(trial, 1, 0);
    qcr_decision decision;
    qcr_pairs_next(trial, &decision);
    EXPECT_EQ(decision.kind, QCR_PASS) << "nothing is repeated";
    EXPECT_EQ(decision.input[1].lack, QCR_LACKS_ENDED);
    qcr_pairs_destroy(trial);
    EXPECT_EQ(distorted.given_back + reference.given_back, 0);
    EXPECT_EQ(front_end.run(), "0 1 1 end");
}

TEST(PairsConfig, IsChecked) {
    qcr_counts counts[QC_MAX_RENDITIONS] = {};
    qcr_pairs* pairs = nullptr;
    for (const int what : {0, 1, 2, 3, 4, 5}) {
        qcr_pairs_config config = config_of(rules());
        if (what == 0) config.renditions = 0;
        if (what == 1) config.renditions = QC_MAX_RENDITIONS + 1;
        if (what == 2) config.clock[1].den = 0;
        if (what == 3) config.rules.sync = 5;
        if (what == 4) config.rules.eof_action = -1;
        if (what == 5) config.rate_frames = QCR_RATE_FRAMES + 1;
        EXPECT_EQ(qcr_pairs_create(&config, counts, &pairs), QC_ERROR_INVALID) << what;
        EXPECT_EQ(pairs, nullptr);
    }
    qcr_pairs_destroy(nullptr);
}

TEST(PairsOptions, AnEndThatIsAskedForComesFirst) {
    static const struct {
        int eof_action, shortest, repeatlast, means;
    } kCases[] = {
        {QCR_EOF_PASS, 0, -1, QCR_EOF_PASS},    {QCR_EOF_REPEAT, 0, -1, QCR_EOF_REPEAT},
        {QCR_EOF_ENDALL, 0, 1, QCR_EOF_ENDALL}, {QCR_EOF_REPEAT, 1, 1, QCR_EOF_ENDALL},
        {QCR_EOF_REPEAT, 0, 0, QCR_EOF_PASS},   {QCR_EOF_PASS, 0, 1, QCR_EOF_REPEAT},
    };
    for (const auto& of : kCases) EXPECT_EQ(qcr_eof_action_of(of.eof_action, of.shortest, of.repeatlast), of.means);
}

} // namespace
