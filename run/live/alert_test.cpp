// SPDX-License-Identifier: BSD-2-Clause-Patent
// Alerts: conditions as text and scores in, beginnings and ends out.
#include "run/live/alert.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

std::string why_not(const std::string& text) {
    Condition condition;
    const char* wrong = parse_condition(text, condition);
    return wrong != nullptr ? wrong : "";
}

Condition parsed(const std::string& text) {
    Condition condition;
    EXPECT_EQ(parse_condition(text, condition), nullptr) << text;
    return condition;
}

Alert alert_of(const std::string& text) {
    Alert alert;
    alert.condition = parsed(text);
    return alert;
}

/// "B" where the alert begins, "E" where it ends, "." elsewhere; NaN is a frame without the score.
std::string changes(const std::string& text, const std::vector<double>& values, double step = 1, double first = 0) {
    Alert alert = alert_of(text);
    std::string all;
    for (size_t i = 0; i < values.size(); ++i)
        all += ".BE"[static_cast<int>(alert.update(values[i], first + step * static_cast<double>(i)))];
    return all;
}

TEST(AlertText, IsReadInEveryPart) {
    const Condition asked = parsed("1.vmaf_v1<=-12.5:1500ms");
    EXPECT_EQ(asked.score, "1.vmaf_v1");
    EXPECT_EQ(asked.name, "1.vmaf_v1<=-12.5");
    EXPECT_EQ(asked.comparison, Comparison::kNotAbove);
    EXPECT_EQ(asked.threshold, -12.5);
    EXPECT_EQ(asked.duration, 1.5);
}

TEST(AlertText, Comparisons) {
    EXPECT_EQ(parsed("a<1").comparison, Comparison::kBelow);
    EXPECT_EQ(parsed("a<=1").comparison, Comparison::kNotAbove);
    EXPECT_EQ(parsed("a>1").comparison, Comparison::kAbove);
    EXPECT_EQ(parsed("a>=1").comparison, Comparison::kNotBelow);
}

TEST(AlertText, Durations) {
    EXPECT_EQ(parsed("a<1").duration, 0);
    EXPECT_EQ(parsed("a<1:2").duration, 2);
    EXPECT_EQ(parsed("a<1@2s").duration, 2);
    EXPECT_EQ(parsed("a<1:0.25s").duration, 0.25);
    EXPECT_EQ(parsed("a<1:40ms").duration, 0.04);
}

TEST(AlertText, Numbers) {
    EXPECT_EQ(parsed("a<+.5").threshold, 0.5);
    EXPECT_EQ(parsed("a<0.1").threshold, 0.1);
    EXPECT_EQ(parsed("a<93.").threshold, 93);
    EXPECT_EQ(parsed("a<123456789.012345").threshold, 123456789.012345);
}

TEST(AlertText, WhatIsWrongIsSaid) {
    for (const char* text : {"", "<1"}) EXPECT_EQ(why_not(text), "a score is missing") << text;
    EXPECT_EQ(why_not("vmaf"), "a comparison (< <= > >=) is missing");
    for (const char* text : {"a<", "a<x", "a<=", "a<.", "a<-", "a<1234567890123456"})
        EXPECT_EQ(why_not(text), "there is no number behind the comparison") << text;
    for (const char* text : {"a<1 ", "a<1:", "a<1:x", "a<1:-1", "a<1:1h", "a<1:1sm", "a<1:1s2", "a<1,5", "a<1e3"})
        EXPECT_EQ(why_not(text), "the duration is none") << text;
    EXPECT_EQ(why_not(std::string(kConditionBytes - 2, 'a') + "<1"), "it is too long");
    EXPECT_EQ(why_not(std::string(kConditionBytes - 3, 'a') + "<1"), "");
}

TEST(Alerts, BeginAtOnceWithoutADuration) {
    EXPECT_EQ(changes("a<80", {90, 80, 79, 70, 80, 60}), "..B.EB");
    EXPECT_EQ(changes("a<=80", {90, 80, 81}), ".BE");
    EXPECT_EQ(changes("a>80", {90, 80, 81}), "BEB");
    EXPECT_EQ(changes("a>=80", {90, 80, 79}), "B.E");
}

TEST(Alerts, HaveToHoldForTheirDuration) {
    EXPECT_EQ(changes("a<80:2s", {90, 70, 70, 70, 70, 90}), "...B.E");
    EXPECT_EQ(changes("a<80:2s", {70, 70, 90, 70, 70, 90}), "......");
}

TEST(Alerts, DurationsAreNotShortenedByRounding) {
    const std::vector<double> values(60, 70.0);
    EXPECT_EQ(changes("a<80:1s", values, 0.04).find('B'), 25U);
    EXPECT_EQ(changes("a<80:1s", values, 0.04, 0.07).find('B'), 25U);
    EXPECT_EQ(changes("a<80:1s", values, 1001 / 30000.0).find('B'), 30U);
}

TEST(Alerts, FramesWithoutScoreChangeNothing) {
    EXPECT_EQ(changes("a<80:2s", {70, NAN, 70, NAN, NAN, 90}), "..B..E");
}

TEST(Alerts, TooFewScoresAreNoEvidence) {
    EXPECT_EQ(changes("a<80:2s", {70, NAN, NAN, 70, NAN, 70}), ".....B");
    EXPECT_EQ(changes("a<80", {70, NAN, NAN, 70}), "B...");
}

TEST(Alerts, TimeThatJumpsBackIsNoDuration) {
    Alert alert = alert_of("a<80:2s");
    for (double time : {100.0, 101.0, 3.0, 4.0}) EXPECT_EQ(alert.update(70, time), AlertChange::kNone);
    EXPECT_EQ(alert.update(70, 5), AlertChange::kBegins);
    EXPECT_EQ(alert.since, 3);
}

TEST(Alerts, RememberTheWorst) {
    Alert below = alert_of("a<80:1s"), above = alert_of("a>5");
    for (int i = 0; const double value : {70.0, 60.0, 75.0}) below.update(value, i++);
    EXPECT_EQ(below.worst, 60);
    EXPECT_EQ(below.times, 1);
    for (int i = 0; const double value : {6.0, 9.0, 7.0}) above.update(value, i++);
    EXPECT_EQ(above.worst, 9);
}

} // namespace
} // namespace qc::run
