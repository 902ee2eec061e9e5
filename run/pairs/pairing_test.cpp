// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filter's pairing, without FFmpeg: time stamps in, choices out.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "quality_cuda_run/counts.h"
#include "tests/support/partners.hpp"

namespace {

using qc::run::Choice;
using qc::run::distance;
using qc::run::is_frame;
using qc::run::lack_of;
using qc::run::outlasts_distorted;
using qc::run::plausible_rate;
using qc::run::Rules;
using qc::run::tolerance_of;
using qc::run::uses_up;
using Stamps = std::vector<int64_t>;

constexpr int64_t kNoPts = QCR_NO_PTS;

struct Stream {
    // A constructor, because gcc 12 warns of what it makes of long tables of plain aggregates. The clock: milliseconds.
    Stream(Stamps stamps, qcr_clock clock = {1, 1000, 0}) : stamps(std::move(stamps)), clock(clock) {}

    Stamps stamps;
    qcr_clock clock;
};

/// Stamps first, first + step, ... of `count` frames.
Stamps every(int64_t step, int count, int64_t first = 0) {
    Stamps stamps;
    for (int i = 0; i < count; ++i) stamps.push_back(first + step * i);
    return stamps;
}

/// Frames of rate num/den, their times rounded to whole milliseconds as Matroska has them.
Stamps rounded(int num, int den, int count) {
    Stamps stamps;
    for (int64_t i = 0; i < count; ++i) stamps.push_back((i * 1000 * den + num / 2) / num);
    return stamps;
}

Stamps without(Stamps stamps, int first, int last) {
    stamps.erase(stamps.begin() + first, stamps.begin() + last + 1);
    return stamps;
}

Rules rules(int sync, int eof_action = QCR_EOF_PASS, double max_dt = 0, double frame_rate = 25) {
    return {sync, eof_action, tolerance_of(max_dt, frame_rate), max_dt > 0, false};
}

/// FFmpeg's own rules, with the defaults of its filters.
Rules lavfi(int sync = QCR_SYNC_LAVFI, int eof_action = QCR_EOF_REPEAT, bool outlasts = true) {
    Rules given = rules(sync, eof_action);
    given.outlasts = outlasts;
    return given;
}

struct Expectation {
    static void that(bool holds, const char* what) { EXPECT_TRUE(holds) << what; }
};

class Partners : public qc::test::Partners<Expectation> {
public:
    explicit Partners(const Stream& reference) : qc::test::Partners<Expectation>(reference.stamps, reference.clock) {}

    bool use(Choice choice) { return track().use(choice); }
};

struct Outcome {
    std::string partners; // of each main frame: the reference frame's index, or why there is none
    qcr_counts counts{};
    int64_t unused = 0;
};

/// @param delay main frames that come before the reference's first one, whatever the stamps say
Outcome pair_all(const Rules& rules, const Stream& main, const Stream& reference, int delay = 0) {
    Outcome outcome;
    Partners partners(reference);
    partners.track().delay = delay;
    std::ostringstream text;
    Stamps stamps = main.stamps;
    for (size_t i = 0; i < stamps.size(); ++i) {
        const int64_t pts = stamps[i];
        const Choice choice = partners.choose(rules, main.clock, pts);
        outcome.counts.frames++;
        text << (outcome.counts.frames > 1 ? " " : "");
        if (is_frame(choice)) {
            const int index = partners.index_of(choice);
            text << index;
            outcome.counts.paired++;
            outcome.counts.unpaired_row = 0;
            outcome.counts.repeated += partners.use(choice);
            if (rules.sync != QCR_SYNC_INDEX)
                qcr_count_distance(&outcome.counts,
                                   distance(reference.clock, reference.stamps[index], main.clock, pts));
        } else {
            const bool untimed = rules.sync != QCR_SYNC_INDEX && pts == kNoPts;
            qcr_count_unpaired(&outcome.counts, lack_of(choice), 0, untimed);
            text << (choice == Choice::kBefore ? "before" : choice == Choice::kGap ? "gap" : "ended");
        }
        if (uses_up(rules, choice)) partners.step();
        if (partners.track().delay > 0) --partners.track().delay;
        if (i + 1 < stamps.size() || !rules.outlasts) continue;
        partners.learn_next();
        if (outlasts_distorted(rules, partners.track(), pts)) stamps.push_back(partners.track().next.pts);
    }
    outcome.partners = text.str();
    outcome.unused = partners.track().unused_by_now();
    return outcome;
}

// ---- tables ---------------------------------------------------------------------------------------------------------

struct Case {
    const char* name;
    Rules rules;
    Stream main, reference;
    std::string partners;
    int64_t repeated = 0, unused = 0;
    int delay = 0;
};

void PrintTo(const Case& test, std::ostream* out) {
    *out << test.name;
}

class Table : public testing::TestWithParam<Case> {};

TEST_P(Table, PairsAsWritten) {
    const Case& test = GetParam();
    const Outcome outcome = pair_all(test.rules, test.main, test.reference, test.delay);
    EXPECT_EQ(outcome.partners, test.partners);
    EXPECT_EQ(outcome.counts.repeated, test.repeated);
    EXPECT_EQ(outcome.unused, test.unused);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

const Rules kNearest = rules(QCR_SYNC_NEAREST);
const Rules kFloor = rules(QCR_SYNC_FLOOR);
const Rules kIndex = rules(QCR_SYNC_INDEX);

// Frames of 40 ms: the tolerance is 20 ms.
std::vector<Case> nearest_cases() {
    return {{"Same", kNearest, {every(40, 5)}, {every(40, 5)}, "0 1 2 3 4"},
            {"LittleLate", kNearest, {every(40, 4, 3)}, {every(40, 4)}, "0 1 2 3"},
            {"LittleEarly", kNearest, {every(40, 4)}, {every(40, 4, 3)}, "0 1 2 3"},
            {"TieTakesTheEarlier", kNearest, {{20, 60}}, {every(40, 3)}, "0 1", 0, 1},
            {"JustPastTheTie", kNearest, {{21, 61}}, {every(40, 3)}, "1 2", 0, 1},
            {"JustBeforeTheTie", kNearest, {{19, 59}}, {every(40, 3)}, "0 1", 0, 1},
            {"LateReference", kNearest, {every(40, 6)}, {every(40, 4, 80)}, "before before 0 1 2 3"},
            {"LateMain", kNearest, {every(40, 3, 80)}, {every(40, 5)}, "2 3 4", 0, 2},
            {"NegativeStamps", kNearest, {every(40, 4, -80)}, {every(40, 4, -80)}, "0 1 2 3"},
            {"GapInTheReference", kNearest, {every(40, 6)}, {without(every(40, 6), 2, 3)}, "0 1 gap gap 2 3"},
            {"GapInMain", kNearest, {without(every(40, 6), 2, 3)}, {every(40, 6)}, "0 1 4 5", 0, 2},
            {"EndsFirst", kNearest, {every(40, 5)}, {every(40, 3)}, "0 1 2 ended ended"},
            {"EndsLast", kNearest, {every(40, 3)}, {every(40, 6)}, "0 1 2"},
            {"OneFrameEach", kNearest, {{0}}, {{0}}, "0"},
            {"NoMainFrame", kNearest, Stamps{}, {every(40, 3)}, ""},
            {"NoReferenceFrame", kNearest, {every(40, 2)}, Stamps{}, "ended ended"},
            {"NeverOverlap", kNearest, {every(40, 2)}, {every(40, 3, 10000)}, "before before", 0, 1},
            {"OverBeforeMainBegins", kNearest, {every(40, 2, 10000)}, {every(40, 3)}, "ended ended", 0, 3},
            {"MainWithoutStamp", kNearest, {{0, kNoPts, 80}}, {every(40, 3)}, "0 gap 2", 0, 1},
            {"MainTwiceAtOneTime", kNearest, {{0, 40, 40, 80}}, {every(40, 3)}, "0 1 1 2", 1},
            {"ReferenceTwiceAtOneTime", kNearest, {every(40, 3)}, {{0, 40, 40, 80}}, "0 1 3", 0, 1},
            {"VariableRate", kNearest, {{0, 33, 50, 117, 150}}, {{0, 34, 51, 84, 116, 150}}, "0 1 2 4 5", 0, 1}};
}
INSTANTIATE_TEST_SUITE_P(Nearest, Table, testing::ValuesIn(nearest_cases()), name_of);

std::vector<Case> tolerance_cases() {
    return {
        // Held against both sides: before the first frame and behind the last one too.
        {"InsideBefore", kNearest, {{0}}, {{20, 60}}, "0", 0, 0},
        {"OutsideBefore", kNearest, {{0}}, {{21, 61}}, "before", 0, 1},
        {"InsideBehind", kNearest, {{60}}, {every(40, 2)}, "1", 0, 1},
        {"OutsideBehind", kNearest, {{61}}, {every(40, 2)}, "ended", 0, 2},
        {"Small", rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0.002), {{0, 42, 83}}, {every(40, 4)}, "0 1 gap", 0, 2},
        {"Large", rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0.1), {{-100, -101, 0}}, {every(40, 2)}, "0 before 0", 1, 0},
        {"UnknownRate", rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0, 0), {{20, 61}}, {{0, 40}}, "0 ended", 0, 1},
        {"RoundingIsForgiven", rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0.0199999), {{20}}, {{0, 41}}, "0", 0, 1}};
}
INSTANTIATE_TEST_SUITE_P(Tolerance, Table, testing::ValuesIn(tolerance_cases()), name_of);

std::vector<Case> rates_cases() {
    return {{"HalfOfTheReference", kNearest, {every(40, 4)}, {every(20, 8)}, "0 2 4 6", 0, 3},
            // 20 ms away is no partner for a frame of 20 ms.
            {"TwiceTheReference",
             rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0, 50),
             {every(20, 6)},
             {every(40, 3)},
             "0 gap 1 gap 2 ended"},
            {"TwiceTheReferenceWithinReach",
             rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0.021, 50),
             {every(20, 6)},
             {every(40, 3)},
             "0 0 1 1 2 2",
             3},
            {"ManyToOne",
             rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0.05),
             {every(10, 10)},
             {{0, 100}},
             "0 0 0 0 0 0 1 1 1 1",
             8},
            {"MatroskaAgainstExact",
             rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0, 30000.0 / 1001),
             {rounded(30000, 1001, 8)},
             {every(1001, 8), {1, 30000, 0}},
             "0 1 2 3 4 5 6 7"},
            {"ExactAgainstMatroska",
             rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0, 30000.0 / 1001),
             {every(1, 8), {1001, 30000, 0}},
             {rounded(30000, 1001, 8)},
             "0 1 2 3 4 5 6 7"},
            // Frames of 100 ms against frames of 97 ms: where they have drifted half a frame apart, one is left out.
            {"Drift",
             rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 0, 10),
             {every(100, 4, 1600)},
             {every(97, 6, 1552)},
             "0 2 3 4",
             0,
             1}};
}
INSTANTIATE_TEST_SUITE_P(Rates, Table, testing::ValuesIn(rates_cases()), name_of);

std::vector<Case> floor_cases() {
    return {{"Same", kFloor, {every(40, 3)}, {every(40, 3)}, "0 1 2"},
            {"LittleEarlyTakesTheOneBefore", kFloor, {{0, 39, 79}}, {every(40, 3)}, "0 0 1", 1, 1},
            {"KeptAcrossAGap", kFloor, {every(40, 5)}, {{0, 160}}, "0 0 0 0 1", 3},
            {"NothingBeforeTheFirst", kFloor, {{39, 40}}, {{40, 80}}, "before 0", 0, 0},
            {"LastOneLastsAFrame", kFloor, {{40, 79, 80}}, {every(40, 2)}, "1 1 ended", 1, 1},
            {"WishLimitsIt", rules(QCR_SYNC_FLOOR, QCR_EOF_PASS, 0.05), {every(40, 5)}, {{0, 160}}, "0 0 gap gap 1", 1},
            {"Repeat", rules(QCR_SYNC_FLOOR, QCR_EOF_REPEAT), {every(40, 4)}, {every(40, 2)}, "0 1 1 1", 2},
            {"MatroskaIsMispaired", // why nearest is the default
             rules(QCR_SYNC_FLOOR, QCR_EOF_PASS, 0, 30000.0 / 1001),
             {rounded(30000, 1001, 6)},
             {every(1001, 6), {1, 30000, 0}},
             "0 0 2 2 3 5",
             2,
             2}};
}
INSTANTIATE_TEST_SUITE_P(Floor, Table, testing::ValuesIn(floor_cases()), name_of);

std::vector<Case> index_cases() {
    return {{"StampsAreNotLookedAt", kIndex, {{5000, kNoPts, 3}}, {{kNoPts, 7, 7, 7}}, "0 1 2"},
            {"EndsFirst", kIndex, {every(40, 4)}, {every(40, 2)}, "0 1 ended ended"},
            {"BeginsLate", kIndex, {every(40, 5)}, {every(40, 2)}, "before before 0 1 ended", 0, 0, 2},
            {"Repeat", rules(QCR_SYNC_INDEX, QCR_EOF_REPEAT), {every(40, 4)}, {every(40, 2)}, "0 1 1 1", 2},
            {"RepeatOfNothing", rules(QCR_SYNC_INDEX, QCR_EOF_REPEAT), {every(40, 2)}, Stamps{}, "ended ended"}};
}
INSTANTIATE_TEST_SUITE_P(Index, Table, testing::ValuesIn(index_cases()), name_of);

// Expectations follow from FFmpeg's rule alone: all inputs' frames are events in the order of their stamps, those of
// one stamp are one event, and an event with a main frame makes a pair of what has come last on either side.
std::vector<Case> lavfi_cases() {
    return {{"Same", lavfi(), {every(40, 3)}, {every(40, 3)}, "0 1 2"},
            {"LittleEarlyTakesTheOneBefore", lavfi(), {{0, 39, 79, 120}}, {every(40, 4)}, "0 0 1 3", 1, 1},
            {"NoDistanceIsTooLarge", lavfi(), {every(40, 5, 100000)}, {{0, 1}}, "1 1 1 1 1", 4, 1},
            {"NothingBeforeTheFirst", lavfi(), {{0, 39, 40}}, {{40}}, "before before 0"},
            {"TwiceTheRate", lavfi(), {every(20, 4)}, {every(40, 2)}, "0 0 1 1", 2},
            {"HalfTheRate", lavfi(), {every(40, 3)}, {every(20, 6)}, "0 2 4 5", 0, 2},
            {"ReferenceLonger", lavfi(), {every(40, 2)}, {every(40, 5)}, "0 1 2 3 4"},
            {"MainLonger", lavfi(), {every(40, 5)}, {every(40, 2)}, "0 1 1 1 1", 3},
            {"ReferenceFollows", lavfi(), {every(40, 2)}, {every(40, 2, 5000)}, "before before 0 1"},
            {"MainFollows", lavfi(), {every(40, 2, 5000)}, {every(40, 2)}, "1 1", 1, 1},
            {"OneTimeForAll", lavfi(), {{0, 0, 0}}, {{0, 0, 0, 0}}, "0 1 2 3"},
            {"OneTimeForMain", lavfi(), {{0, 40, 40, 80}}, {every(40, 3)}, "0 1 1 2", 1},
            {"OneTimeForReference", lavfi(), {every(40, 3)}, {{0, 40, 40, 80}}, "0 1 3", 0, 1},
            {"NoStampAtAll", lavfi(), {{kNoPts, kNoPts}}, {{kNoPts, kNoPts}}, "0 1"},
            {"MainWithoutStamp", lavfi(), {{0, kNoPts, 80}}, {every(40, 3)}, "0 0 2", 1, 1},
            {"NoReferenceFrame", lavfi(), {every(40, 2)}, Stamps{}, "before before"},
            {"NoMainFrame", lavfi(), Stamps{}, {every(40, 3)}, ""}};
}
INSTANTIATE_TEST_SUITE_P(Lavfi, Table, testing::ValuesIn(lavfi_cases()), name_of);

std::vector<Case> lavfi_nearest_cases() {
    const Rules nearest = lavfi(QCR_SYNC_LAVFI_NEAREST);
    return {{"TakesTheNearer", nearest, {{0, 39, 79, 120}}, {every(40, 4)}, "0 1 2 3"},
            {"TieTakesTheEarlier", nearest, {{0, 20, 60, 101}}, {every(40, 4)}, "0 0 1 3", 1, 1},
            {"StaysWithTheLater", nearest, {{0, 30, 35, 45}}, {every(40, 2)}, "0 1 1 1", 2},
            {"NothingBeforeTheFirst", nearest, {{39, 45}}, {{40, 80}}, "before 0 1"},
            {"NoDistanceIsTooLarge", nearest, {{0, 900, 1000}}, {{0, 1000}}, "0 1 1", 1},
            {"ReferenceLonger", nearest, {every(40, 2)}, {every(40, 4)}, "0 1 2 3"}};
}
INSTANTIATE_TEST_SUITE_P(LavfiNearest, Table, testing::ValuesIn(lavfi_nearest_cases()), name_of);

std::vector<Case> lavfi_end_cases() {
    const Rules endall = lavfi(QCR_SYNC_LAVFI, QCR_EOF_ENDALL), pass = lavfi(QCR_SYNC_LAVFI, QCR_EOF_PASS, false);
    const Rules shortest = lavfi(QCR_SYNC_LAVFI, QCR_EOF_ENDALL, false);
    return {{"EndallMainLonger", endall, {every(40, 4)}, {every(40, 2)}, "0 1 ended ended"},
            {"EndallReferenceLonger", endall, {every(40, 2)}, {every(40, 4)}, "0 1", 0, 1},
            {"EndallReferenceAtTheLastTime", endall, {{0, 40}}, {{0, 40, 40, 80}}, "0 1 2", 0, 1},
            {"EndallNeverBegan", endall, {every(40, 2)}, Stamps{}, "before before"},
            {"ShortestReferenceLonger", shortest, {{0, 40}}, {{0, 40, 40, 80}}, "0 1"},
            {"PassMainLonger", pass, {every(40, 4)}, {every(40, 2)}, "0 1 ended ended"},
            {"PassReferenceLonger", pass, {every(40, 2)}, {every(40, 4)}, "0 1"},
            {"LastOneLastsATick", pass, {{40, 40, 41}}, {{0, 40}}, "1 1 ended", 1, 1}};
}
INSTANTIATE_TEST_SUITE_P(LavfiEnd, Table, testing::ValuesIn(lavfi_end_cases()), name_of);

std::vector<Case> end_cases() {
    return {{"Endall", rules(QCR_SYNC_NEAREST, QCR_EOF_ENDALL), {every(40, 3)}, {every(40, 2)}, "0 1 ended"},
            {"Repeat", rules(QCR_SYNC_NEAREST, QCR_EOF_REPEAT), {every(40, 4)}, {every(40, 2)}, "0 1 1 1", 2},
            {"RepeatOfNothing", rules(QCR_SYNC_NEAREST, QCR_EOF_REPEAT), {every(40, 2)}, Stamps{}, "ended ended"},
            {"RepeatDoesNotFillGaps",
             rules(QCR_SYNC_NEAREST, QCR_EOF_REPEAT),
             {every(40, 5)},
             {{40, 160}},
             "before 0 gap gap 1"}};
}
INSTANTIATE_TEST_SUITE_P(End, Table, testing::ValuesIn(end_cases()), name_of);

std::vector<Case> origin_cases() {
    return {{"BothFromTheirFirst",
             kNearest,
             {every(40, 3, 10000), {1, 1000, 10000}},
             {every(40, 3), {1, 1000, 0}},
             "0 1 2"},
            {"OtherClock", kNearest, {every(40, 3)}, {every(3600, 3, 900000), {1, 90000, 900000}}, "0 1 2"},
            {"TieIsStillOne", kNearest, {{10020}, {1, 1000, 10000}}, {every(3600, 2, 90), {1, 90000, 90}}, "0", 0, 1}};
}
INSTANTIATE_TEST_SUITE_P(Origin, Table, testing::ValuesIn(origin_cases()), name_of);

// ---- against all there is to choose from ----------------------------------------------------------------------------

/// Largest tick of which all clocks below have whole numbers: 1/90000 s.
struct TestClock {
    qcr_clock clock;
    int64_t ticks; // of 1/90000 s in a tick of the clock
};

constexpr TestClock kClocks[] = {{{1, 1000, 0}, 90}, {{1, 90000, 0}, 1}, {{1001, 30000, 0}, 3003}, {{1, 25, 0}, 3600}};

Stamps random_stamps(std::mt19937& random, const TestClock& clock, int count) {
    // Steps of 0 to 100 ms: duplicates and gaps among them.
    std::uniform_int_distribution<int64_t> step(0, 9000 / clock.ticks);
    Stamps stamps;
    int64_t time = step(random);
    for (int i = 0; i < count; ++i, time += step(random)) stamps.push_back(time);
    return stamps;
}

/// Time of the best partner in 1/90000 s, from the whole stream at once.
std::optional<int64_t> best_partner(const Rules& rules, int64_t main_time, const Stamps& times) {
    const int64_t limit = std::llround(rules.tolerance * 90000);
    std::optional<int64_t> best;
    for (const int64_t time : times) {
        if (rules.sync == QCR_SYNC_FLOOR ? time <= main_time
                                         : !best || std::abs(time - main_time) < std::abs(*best - main_time))
            best = time;
    }
    return best && std::abs(*best - main_time) <= limit ? best : std::nullopt;
}

TEST(PairingSweep, TakesTheBestOfTheWholeStream) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        const TestClock& main_clock = kClocks[seed % 4];
        const TestClock& clock = kClocks[seed / 4 % 4];
        // A tolerance that is a whole number of ticks in all clocks' common one.
        const Rules rule =
            rules(seed / 16 % 2 ? QCR_SYNC_FLOOR : QCR_SYNC_NEAREST, QCR_EOF_PASS, 0.01 * (1 + seed % 5));
        const Stamps main = random_stamps(random, main_clock, 60);
        const Stamps reference = random_stamps(random, clock, 60);
        Stamps times;
        for (const int64_t stamp : reference) times.push_back(stamp * clock.ticks);

        Partners partners(Stream{reference, clock.clock});
        for (const int64_t pts : main) {
            const Choice choice = partners.choose(rule, main_clock.clock, pts);
            const std::optional<int64_t> best = best_partner(rule, pts * main_clock.ticks, times);
            ASSERT_EQ(is_frame(choice), best.has_value()) << "seed " << seed << ", main frame at " << pts;
            if (best) {
                ASSERT_EQ(times[partners.index_of(choice)], *best) << "seed " << seed << ", main frame at " << pts;
            }
        }
    }
}

TEST(PairingSweep, ComparesLargeStampsExactly) {
    // A tick apart at 2^60 ticks, where doubles are 256 ticks apart, in clocks whose products need 128 bits.
    const int64_t large = int64_t{1} << 60;
    const qcr_clock coarse{2, 2000000000, 0}, fine{1, 2000000000, 0};
    const Rules rule = rules(QCR_SYNC_NEAREST, QCR_EOF_PASS, 1e3);
    for (const int64_t off : {-1, 0, 1}) {
        // The main frame at twice `large` fine ticks, a pair of frames around it: the tie moves with `off`.
        Partners partners(Stream{{2 * large - 10 + off, 2 * large + 10 + off}, fine});
        const Choice choice = partners.choose(rule, coarse, large);
        EXPECT_EQ(partners.index_of(choice), off < 0 ? 1 : 0) << "off by " << off;
    }
    Partners exact(Stream{{2 * large - 1, 2 * large, 2 * large + 1}, fine});
    EXPECT_EQ(exact.index_of(exact.choose(rule, coarse, large)), 1);
    Partners far(
        {{0, large, 2 * large - 3, 2 * large + 4}, fine}); // 64 bits would take the second one for the same time
    EXPECT_EQ(far.index_of(far.choose(rule, coarse, large)), 2);
}

// ---- what is asked for ----------------------------------------------------------------------------------------------

TEST(PairingPulls, NothingBehindAFrameOfTheSameTime) {
    for (const int sync : {QCR_SYNC_NEAREST, QCR_SYNC_FLOOR, QCR_SYNC_INDEX}) {
        Partners partners(every(40, 5));
        const Rules rule = rules(sync);
        partners.choose(rule, {1, 1000, 0}, 0);
        EXPECT_EQ(partners.pulled(), 1) << "sync " << sync;
    }
}

TEST(PairingPulls, OneLaterFrameIsEnough) {
    for (const int sync : {QCR_SYNC_NEAREST, QCR_SYNC_FLOOR}) {
        Partners partners(every(40, 9));
        partners.choose(rules(sync), {1, 1000, 0}, 90);
        EXPECT_EQ(partners.pulled(), 4) << "sync " << sync;
    }
}

TEST(PairingPulls, NothingForAFrameWithoutStamp) {
    Partners partners(every(40, 5));
    EXPECT_EQ(partners.choose(kNearest, {1, 1000, 0}, kNoPts), Choice::kGap);
    EXPECT_EQ(partners.pulled(), 0);
}

TEST(PairingPulls, DecidesAgainWithoutPulling) {
    Partners partners(every(40, 9));
    const Choice first = partners.choose(kNearest, {1, 1000, 0}, 90);
    const int pulled = partners.pulled();
    EXPECT_EQ(partners.choose(kNearest, {1, 1000, 0}, 90), first);
    EXPECT_EQ(partners.pulled(), pulled);
}

TEST(PairingTracks, RenditionsDoNotKnowEachOther) {
    // One main frame, three other inputs: exact, not begun, over.
    const qcr_clock clock{1, 1000, 0};
    Partners exact(every(40, 9)), late(every(40, 9, 400)), over(every(40, 1));
    EXPECT_EQ(exact.index_of(exact.choose(kNearest, clock, 80)), 2);
    EXPECT_EQ(late.choose(kNearest, clock, 80), Choice::kBefore);
    EXPECT_EQ(over.choose(kNearest, clock, 80), Choice::kEnded);
    EXPECT_EQ(late.index_of(late.choose(kNearest, clock, 400)), 0);
}

// ---- numbers --------------------------------------------------------------------------------------------------------

TEST(PairingTolerance, WishElseHalfAFrameElseTwentyMilliseconds) {
    EXPECT_EQ(tolerance_of(0.3, 25), 0.3);
    EXPECT_EQ(tolerance_of(0, 25), 0.02);
    EXPECT_EQ(tolerance_of(0, 50), 0.01);
    EXPECT_EQ(tolerance_of(0, 0), 0.02);
}

struct RateCase {
    const char* name;
    double claimed;
    Stream first; // the main input's first frames
    double expected;
};

void PrintTo(const RateCase& test, std::ostream* out) {
    *out << test.name;
}

class Rate : public testing::TestWithParam<RateCase> {};

TEST_P(Rate, IsBelievedWhereTheStampsBearItOut) {
    const RateCase& test = GetParam();
    const Stamps& stamps = test.first.stamps;
    const double rate = plausible_rate(test.claimed, stamps, test.first.clock);
    EXPECT_NEAR(rate, test.expected, 1e-9 * test.expected);
}

std::vector<RateCase> rate_cases() {
    const qcr_clock ts{1, 90000, 0};
    return {{"Exact", 25, every(40, 5), 25},
            {"OfMatroska", 30000.0 / 1001, rounded(30000, 1001, 5), 30000.0 / 1001},
            {"OneTickAFrame", 1000, every(1, 5), 1000},
            {"TicksLargeAgainstFrames", 600, rounded(600, 1, 5), 600},
            {"OfATransportStream", 90000, {{0, 3044, 6176, 9396, 12704}, ts}, 90000 / 3176.0},
            {"OfATransportStreamOfHighRate", 90000, {every(1500, 5), ts}, 60},
            {"OfAClockInMilliseconds", 1000, every(33, 5), 1000 / 33.0},
            {"OfTwiceAsManyFieldsAsFrames", 50, every(40, 5), 25},
            {"TooLow", 10, every(20, 5), 50},
            {"Telecine", 30000.0 / 1001, {{0, 33, 83, 117, 167}}, 30000.0 / 1001},
            {"OneLateFrameRefutesNothing", 25, {{0, 40, 80, 1000, 1040}}, 25},
            {"TwoFrames", 90000, {{0, 3600}, ts}, 25},
            {"OneFrame", 25, {{7}}, 25},
            {"OneFrameOfAnImpossibleRate", 90000, {{7}, ts}, 0},
            {"NoFrame", 25, Stamps{}, 25},
            {"NoStamps", 25, {{kNoPts, kNoPts, kNoPts}}, 25},
            {"StampsThatDoNotGrow", 90000, {{5, 5, 4, 3, 3}, ts}, 0},
            {"FramesFasterThanAnyVideo", 90000, {every(1, 5), ts}, 0},
            {"Unknown", 0, every(40, 5), 0}};
}
INSTANTIATE_TEST_SUITE_P(Claimed, Rate, testing::ValuesIn(rate_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PairingCounts, Distances) {
    const Outcome outcome = pair_all(kNearest, {{2, 40, 79}}, {every(40, 3)});
    EXPECT_DOUBLE_EQ(outcome.counts.max_abs_dt, 0.002);
    EXPECT_NEAR(qcr_mean_dt(&outcome.counts), -0.001 / 3, 1e-12);
    const qcr_counts none{};
    EXPECT_EQ(qcr_mean_dt(&none), 0.0);
}

TEST(PairingCounts, EveryFrameHasOneReason) {
    const Outcome outcome = pair_all(kNearest, {{-100, 0, 40, kNoPts, 80, 120, 160, 200, 300}}, {{0, 40, 160, 200}});
    EXPECT_EQ(outcome.partners, "before 0 1 gap gap gap 2 3 ended");
    const qcr_counts& counts = outcome.counts;
    EXPECT_EQ(counts.before, 1);
    EXPECT_EQ(counts.untimed, 1);
    EXPECT_EQ(counts.gaps, 2);
    EXPECT_EQ(counts.after, 1);
    EXPECT_EQ(counts.disabled, 0);
    EXPECT_EQ(counts.paired + qcr_unscored(&counts), counts.frames);
}

TEST(PairingCounts, HeldFramesAreUnusedToo) {
    Partners partners(every(40, 5));
    partners.choose(kNearest, {1, 1000, 0}, 90);
    EXPECT_EQ(partners.track().unused, 2);
    EXPECT_EQ(partners.track().unused_by_now(), 4);
}

} // namespace
