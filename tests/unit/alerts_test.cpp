// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filter's alerts, without FFmpeg: conditions as text and scores in, beginnings and ends out.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "filter/quality_cuda/alerts.h"
}

namespace {

std::string why_not(const std::string& text) {
    QCAlert alert;
    const char* wrong = ff_qc_alert_parse(text.data(), text.size(), &alert);
    return wrong ? wrong : "";
}

QCAlert parsed(const std::string& text) {
    QCAlert alert;
    EXPECT_EQ(ff_qc_alert_parse(text.data(), text.size(), &alert), nullptr) << text;
    return alert;
}

/// "B" where the alert begins, "E" where it ends, "." elsewhere; NaN is a frame without the score.
std::string changes(QCAlert alert, const std::vector<double>& values, double step = 1, double first = 0) {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i)
        text += ".BE"[ff_qc_alert_update(&alert, values[i], first + step * static_cast<double>(i))];
    return text;
}

TEST(AlertText, IsReadInEveryPart) {
    const QCAlert alert = parsed("1.vmaf_v1<=-12.5:1500ms");
    EXPECT_STREQ(alert.score, "1.vmaf_v1");
    EXPECT_STREQ(alert.name, "1.vmaf_v1<=-12.5");
    EXPECT_EQ(alert.comparison, QC_NOT_ABOVE);
    EXPECT_EQ(alert.threshold, -12.5);
    EXPECT_EQ(alert.duration, 1.5);
}

TEST(AlertText, Comparisons) {
    EXPECT_EQ(parsed("a<1").comparison, QC_BELOW);
    EXPECT_EQ(parsed("a<=1").comparison, QC_NOT_ABOVE);
    EXPECT_EQ(parsed("a>1").comparison, QC_ABOVE);
    EXPECT_EQ(parsed("a>=1").comparison, QC_NOT_BELOW);
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
    EXPECT_EQ(why_not(std::string(QC_ALERT_NAME, 'a') + "<1"), "it is too long");
}

TEST(AlertText, EndsWhereItIsSaidTo) {
    QCAlert alert;
    EXPECT_EQ(ff_qc_alert_parse("a<1|b<2", 3, &alert), nullptr);
    EXPECT_STREQ(alert.name, "a<1");
    EXPECT_NE(ff_qc_alert_parse("a<1", 2, &alert), nullptr);
}

TEST(Alerts, BeginAtOnceWithoutADuration) {
    EXPECT_EQ(changes(parsed("a<80"), {90, 80, 79, 70, 80, 60}), "..B.EB");
    EXPECT_EQ(changes(parsed("a<=80"), {90, 80, 81}), ".BE");
    EXPECT_EQ(changes(parsed("a>80"), {90, 80, 81}), "BEB");
    EXPECT_EQ(changes(parsed("a>=80"), {90, 80, 79}), "B.E");
}

TEST(Alerts, HaveToHoldForTheirDuration) {
    EXPECT_EQ(changes(parsed("a<80:2s"), {90, 70, 70, 70, 70, 90}), "...B.E");
    EXPECT_EQ(changes(parsed("a<80:2s"), {70, 70, 90, 70, 70, 90}), "......");
}

TEST(Alerts, DurationsAreNotShortenedByRounding) {
    const std::vector<double> values(60, 70.0);
    EXPECT_EQ(changes(parsed("a<80:1s"), values, 0.04).find('B'), 25U);
    EXPECT_EQ(changes(parsed("a<80:1s"), values, 0.04, 0.07).find('B'), 25U);
    EXPECT_EQ(changes(parsed("a<80:1s"), values, 1001 / 30000.0).find('B'), 30U);
}

TEST(Alerts, FramesWithoutScoreChangeNothing) {
    EXPECT_EQ(changes(parsed("a<80:2s"), {70, NAN, 70, NAN, NAN, 90}), "..B..E");
}

TEST(Alerts, TooFewScoresAreNoEvidence) {
    EXPECT_EQ(changes(parsed("a<80:2s"), {70, NAN, NAN, 70, NAN, 70}), ".....B");
    EXPECT_EQ(changes(parsed("a<80"), {70, NAN, NAN, 70}), "B...");
}

TEST(Alerts, TimeThatJumpsBackIsNoDuration) {
    QCAlert alert = parsed("a<80:2s");
    for (double time : {100.0, 101.0, 3.0, 4.0}) EXPECT_EQ(ff_qc_alert_update(&alert, 70, time), QC_ALERT_UNCHANGED);
    EXPECT_EQ(ff_qc_alert_update(&alert, 70, 5), QC_ALERT_BEGINS);
    EXPECT_EQ(alert.since, 3);
}

TEST(Alerts, RememberTheWorst) {
    QCAlert below = parsed("a<80:1s"), above = parsed("a>5");
    for (int i = 0; const double value : {70.0, 60.0, 75.0}) ff_qc_alert_update(&below, value, i++);
    EXPECT_EQ(below.worst, 60);
    EXPECT_EQ(below.times, 1);
    for (int i = 0; const double value : {6.0, 9.0, 7.0}) ff_qc_alert_update(&above, value, i++);
    EXPECT_EQ(above.worst, 9);
}

} // namespace
