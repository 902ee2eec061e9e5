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
    EXPECT_EQ(asked.begin.comparison, Comparison::kNotAbove);
    EXPECT_EQ(asked.begin.threshold, -12.5);
    EXPECT_EQ(asked.begin.duration, 1.5);
}

TEST(AlertText, Comparisons) {
    EXPECT_EQ(parsed("a<1").begin.comparison, Comparison::kBelow);
    EXPECT_EQ(parsed("a<=1").begin.comparison, Comparison::kNotAbove);
    EXPECT_EQ(parsed("a>1").begin.comparison, Comparison::kAbove);
    EXPECT_EQ(parsed("a>=1").begin.comparison, Comparison::kNotBelow);
}

TEST(AlertText, Durations) {
    EXPECT_EQ(parsed("a<1").begin.duration, 0);
    EXPECT_EQ(parsed("a<1:2").begin.duration, 2);
    EXPECT_EQ(parsed("a<1@2s").begin.duration, 2);
    EXPECT_EQ(parsed("a<1:0.25s").begin.duration, 0.25);
    EXPECT_EQ(parsed("a<1:40ms").begin.duration, 0.04);
}

TEST(AlertText, Numbers) {
    EXPECT_EQ(parsed("a<+.5").begin.threshold, 0.5);
    EXPECT_EQ(parsed("a<0.1").begin.threshold, 0.1);
    EXPECT_EQ(parsed("a<93.").begin.threshold, 93);
    EXPECT_EQ(parsed("a<123456789.012345").begin.threshold, 123456789.012345);
}

TEST(AlertText, StatisticsOfAStretch) {
    const Condition asked = parsed("p5(1.psnr_y)<30:500ms");
    EXPECT_EQ(asked.score, "1.psnr_y");
    EXPECT_EQ(asked.name, "p5(1.psnr_y)<30@500ms");
    EXPECT_EQ(asked.statistic, Statistic::kP5);
    EXPECT_EQ(asked.begin.duration, 0.5);
    EXPECT_EQ(parsed("mean(a)<1@1").statistic, Statistic::kMean);
    EXPECT_EQ(parsed("min(a)<1@1").statistic, Statistic::kMin);
    EXPECT_EQ(parsed("max(a)>1@1").statistic, Statistic::kMax);
    EXPECT_EQ(parsed("p95(a)>1@1").statistic, Statistic::kP95);
    EXPECT_EQ(parsed("a<1@1").statistic, Statistic::kFrame);
}

TEST(AlertText, AnEndOfItsOwn) {
    const Condition asked = parsed("vmaf<80:2s>=85:5s");
    EXPECT_EQ(asked.name, "vmaf<80@2s>=85@5s");
    EXPECT_EQ(asked.begin.duration, 2);
    ASSERT_TRUE(asked.end);
    EXPECT_EQ(asked.end->comparison, Comparison::kNotBelow);
    EXPECT_EQ(asked.end->threshold, 85);
    EXPECT_EQ(asked.end->duration, 5);
    EXPECT_EQ(parsed("mean(cambi)>15@1<=10").end->threshold, 10);
    EXPECT_EQ(parsed("a<80>80@2s").end->duration, 2);
    EXPECT_FALSE(parsed("a<80@2s").end);
}

TEST(AlertText, WhatIsWrongOfThemIsSaid) {
    EXPECT_EQ(why_not("median(a)<1@1"), "of a stretch of time there are mean, min, max, p5 and p95");
    EXPECT_EQ(why_not("mean(a<1@1"), "a bracket is missing behind the score");
    EXPECT_EQ(why_not("mean()<1@1"), "a score is missing");
    for (const char* text : {"mean(a)<1", "mean(a)<1@0", "mean(a)<1>2"})
        EXPECT_EQ(why_not(text), "the length of the stretch of time is missing, such as @1s") << text;
    EXPECT_EQ(why_not("mean(a)<1@301"), "the stretch of time is longer than 300 s");
    for (const char* text : {"a<80<85", "a<80>75", "a>15>10", "a>15<16", "a<80>85>90"})
        EXPECT_EQ(why_not(text), "its end has to be the other way and not within it, as in vmaf<80>85") << text;
    for (const char* text : {"a<80>x", "a<80@2s>"})
        EXPECT_EQ(why_not(text), "there is no number behind the comparison") << text;
    EXPECT_EQ(why_not("a<80>85@x"), "the duration is none");
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

// ---- stretches of time

/// Every fourth frame pokes over 72, and the mean is 67: no row of frames lasts for a second.
TEST(Alerts, SeeAMeanThatFramesHide) {
    std::vector<double> values(50);
    for (size_t i = 0; i < values.size(); ++i) values[i] = i % 4 == 3 ? 76.0 : 64.0;
    EXPECT_EQ(changes("a<72@1s", values, 0.04).find_first_of("BE"), std::string::npos);
    const std::string all = changes("mean(a)<72@1s", values, 0.04);
    EXPECT_EQ(all.find('B'), 25U); // as soon as there is a whole second
    EXPECT_EQ(all.find('E'), std::string::npos);
}

TEST(Alerts, LookAtTheLatestStretchAlone) {
    //                             0   1   2   3   4   5   6   7
    EXPECT_EQ(changes("mean(a)<80@2s", {90, 70, 70, 90, 90, 90, 60, 90}), "..BE..B.");
    EXPECT_EQ(changes("min(a)<80@2s", {90, 90, 90, 70, 90, 90}), "...B.E");
    EXPECT_EQ(changes("max(a)<80@2s", {90, 70, 70, 70, 90}), "..B.E");
}

TEST(Alerts, PercentilesOfAStretch) {
    std::vector<double> values(60, 90.0);
    for (size_t i = 40; i < 43; ++i) values[i] = 10.0; // of 21 scores the second lowest is the fifth percentile
    const std::string all = changes("p5(a)<50@21s", values);
    EXPECT_EQ(all.find('B'), 41U);
    EXPECT_EQ(changes("min(a)<50@21s", values).find('B'), 40U);
    for (double& each : values) each = 100.0 - each;
    EXPECT_EQ(changes("p95(a)>50@21s", values), all);
}

TEST(Alerts, AStretchBeginsAnewBehindAGapAndAJump) {
    EXPECT_EQ(changes("mean(a)<80@2s", {70, 70, NAN, NAN, NAN, 70, 70, 70}), ".......B");
    Alert alert = alert_of("mean(a)<80@2s");
    for (double time : {100.0, 101.0, 3.0, 4.0}) EXPECT_EQ(alert.update(70, time), AlertChange::kNone);
    EXPECT_EQ(alert.update(60, 5), AlertChange::kBegins);
    EXPECT_EQ(alert.since, 4); // the first frame of the stretch
    EXPECT_EQ(alert.value, 65);
    EXPECT_EQ(alert.worst, 65);
}

TEST(Alerts, AMeanOfInfinityIsNotLow) {
    EXPECT_EQ(changes("mean(a)<80@2s", {70, INFINITY, 70, 70}), "...B");
    EXPECT_EQ(changes("p5(a)<80@1s", {INFINITY, INFINITY, 70}), "..B");
}

// ---- ends of their own

TEST(Alerts, DoNotFlutterBetweenTwoThresholds) {
    const std::vector<double> values = {90, 79, 81, 79, 84, 86, 81, 79};
    EXPECT_EQ(changes("a<80", values), ".BEBE..B");
    EXPECT_EQ(changes("a<80>85", values), ".B...E.B");
    EXPECT_EQ(changes("a>10<5", {11, 6, 11, 5, 4, 12}), "B...EB");
}

TEST(Alerts, EndWhenItHasBeenGoodForLongEnough) {
    EXPECT_EQ(changes("a<80>85@2s", {79, 90, 90, 79, 90, 90, 90, 90}), "B.....E.");
    EXPECT_EQ(changes("mean(a)<80@2s>85", {70, 70, 70, 95, 95}), "..B.E");
}

} // namespace
} // namespace qc::run
