// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames in; lines, messages, alerts and metrics out. By way of the C functions, as front ends have them.
#include "quality_cuda_run/live.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/live/receiver_test_support.hpp"
#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

struct Destroy {
    void operator()(qcr_live* live) const { qcr_live_destroy(live); }
};

/// A frame as tests have it: scores of one or two features, NaN for none.
struct Frame {
    double time = 0.0;
    std::vector<double> scores;
    const char* unscored = nullptr;
    uint32_t corrupt = 0;
};

class LiveTest : public testing::Test {
protected:
    LiveTest() : metrics_path_(std::string(mkdtemp(folder_)) + "/m.prom") {
        metrics_file_ = {"metrics_file", metrics_name_, {QCR_PATH_FILE, -1, metrics_path_.data()}, 0};
        create();
    }
    ~LiveTest() override { std::filesystem::remove_all(folder_); }

    void create() {
        const qcr_sink sink = messages_.sink();
        qcr_live* live = nullptr;
        EXPECT_EQ(qcr_live_create(&sink, &live), QC_OK);
        live_.reset(live);
        row_ = 0;
    }

    /// @return what is wrong
    std::string configure(const char* alerts, int64_t window = 0, bool has_lines = true, bool has_metrics = false) {
        const qcr_live_options options = {alerts, window, has_lines ? 1 : 0, has_metrics ? 1 : 0, &names_};
        const qc_status status = qcr_live_configure(live_.get(), &options);
        const std::string error = qcr_live_error(live_.get());
        EXPECT_EQ(status, error.empty() ? QC_OK : QC_ERROR_INVALID);
        if (has_lines) {
            const qcr_receiver table = receiver_.table();
            EXPECT_EQ(qcr_live_send_to(live_.get(), "there", &table, 1000), QC_OK);
        }
        if (has_metrics) qcr_live_keep_metrics(live_.get(), &metrics_file_);
        return error;
    }

    std::string name_scores(std::vector<const char*> names, int renditions = 1) {
        const int features = static_cast<int>(names.size()) / renditions;
        qcr_live_name_scores(live_.get(), names.data(), renditions, features);
        return qcr_live_error(live_.get());
    }

    void add(const Frame& frame) {
        std::vector<unsigned char> present;
        for (const double score : frame.scores) present.push_back(std::isnan(score) ? 0 : 1);
        qcr_row row{};
        row.pts_time = frame.time;
        row.number = -1;
        if (!frame.scores.empty()) {
            row.number = row_++;
            row.ref_pts_time = frame.time + 0.01;
            row.value = frame.scores.data();
            row.present = present.data();
        }
        row.unscored = frame.unscored;
        row.corrupt = frame.corrupt;
        EXPECT_EQ(qcr_live_frame_leaves(live_.get(), &row), QC_OK);
        // What only announces scores is no frame of its own.
        row.scores_follow = 1;
        EXPECT_EQ(qcr_live_frame_leaves(live_.get(), &row), QC_OK);
    }

    int finish() { return qcr_live_finish(live_.get(), "\"end\": \"end of stream\"", nullptr, 0); }

    /// Everything that was sent, up to the end.
    Lines lines() {
        finish();
        return receiver_.got();
    }

    /// The metrics as they stand, or "" if they were not written since the last time.
    std::string take_metrics() {
        std::ifstream file(metrics_path_);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        std::filesystem::remove(metrics_path_);
        return text;
    }

    Messages messages_;
    FakeReceiver receiver_;
    qcr_names names_ = {{"main", "reference", "main1"}, 3};
    char folder_[32] = "/tmp/quality_cuda-XXXXXX";
    std::string metrics_path_;
    char metrics_name_[16] = "dir.d/a\"b.prom";
    qcr_target metrics_file_{};
    std::unique_ptr<qcr_live, Destroy> live_;

private:
    int64_t row_ = 0;
};

const std::string kEnd = "{\"type\": \"end\", \"end\": \"end of stream\", ";

TEST_F(LiveTest, ALineForEachFrame) {
    EXPECT_EQ(configure(nullptr), "");
    add({-0.04, {}, nullptr});
    EXPECT_EQ(name_scores({"vmaf", "psnr", "1.vmaf", "1.psnr"}, 2), "");
    add({0.0, {90.1234567, INFINITY, NAN, NAN}, nullptr});
    add({0.04, {}, "subsample", 3});
    add({NAN, {1, 2, 3, 4}, nullptr, 4});
    EXPECT_EQ(lines(),
              (Lines{"{\"type\": \"frame\", \"pts_time\": -0.040000, \"unscored\": \"unpaired\"}\n",
                     "{\"type\": \"frame\", \"n\": 0, \"pts_time\": 0.000000, \"ref_pts_time\": 0.010000, "
                     "\"scores\": {\"vmaf\": 90.123457, \"psnr\": null}}\n",
                     "{\"type\": \"frame\", \"pts_time\": 0.040000, \"unscored\": \"subsample\", "
                     "\"corrupt\": [\"main\", \"reference\"]}\n",
                     "{\"type\": \"frame\", \"n\": 1, \"pts_time\": null, \"ref_pts_time\": null, \"scores\": "
                     "{\"vmaf\": 1.000000, \"psnr\": 2.000000, \"1.vmaf\": 3.000000, \"1.psnr\": 4.000000}, "
                     "\"corrupt\": [\"main1\"]}\n",
                     kEnd + "\"frames\": 4, \"scored\": 2, \"unscored\": 2, \"dropped\": 0, \"scores\": {}}\n"}));
}

TEST_F(LiveTest, ALineForEachWindow) {
    EXPECT_EQ(configure(nullptr, 500000), "");
    add({0.0, {}, nullptr});
    name_scores({"vmaf"});
    for (const double time : {0.2, 0.4, 0.6}) add({time, {time * 10}, nullptr});
    add({3.0, {}, "realtime"});
    EXPECT_EQ(
        lines(),
        (Lines{
            "{\"type\": \"window\", \"start\": 0.000000, \"end\": 0.500000, \"frames\": 3, \"scored\": 2, \"scores\": "
            "{\"vmaf\": {\"mean\": 3.000000, \"min\": 2.000000, \"p5\": 2.100000, \"count\": 2}}}\n",
            "{\"type\": \"window\", \"start\": 0.500000, \"end\": 1.000000, \"frames\": 1, \"scored\": 1, \"scores\": "
            "{\"vmaf\": {\"mean\": 6.000000, \"min\": 6.000000, \"p5\": 6.000000, \"count\": 1}}}\n",
            "{\"type\": \"window\", \"start\": 3.000000, \"end\": 3.500000, \"frames\": 1, \"scored\": 0, "
            "\"scores\": {}}\n",
            kEnd + "\"frames\": 5, \"scored\": 3, \"unscored\": 2, \"dropped\": 0, \"scores\": {}}\n"}));
}

TEST_F(LiveTest, AlertsBeginAndEnd) {
    EXPECT_EQ(configure("vmaf<80@0.1|psnr>=40"), "");
    EXPECT_EQ(qcr_live_has_alerts(live_.get()), 1);
    EXPECT_EQ(name_scores({"vmaf", "psnr"}), "");
    const Frame frames[] = {{0.0, {70, 45}, nullptr, {}}, {0.1, {75, 46}, nullptr, {}}, {0.2, {85, 47}, nullptr, {}}};
    const char* const active[] = {"psnr>=40", "vmaf<80|psnr>=40", "psnr>=40"};
    for (int i = 0; i < 3; ++i) {
        add(frames[i]);
        EXPECT_STREQ(qcr_live_active_alerts(live_.get()), active[i]);
    }
    const Lines got = lines();
    ASSERT_EQ(got.size(), 8U);
    EXPECT_EQ(got[1],
              "{\"type\": \"alert\", \"event\": \"begin\", \"alert\": \"psnr>=40\", \"pts_time\": 0.000000, \"since\": "
              "0.000000, \"value\": 45.000000, \"worst\": 45.000000}\n");
    EXPECT_NE(got[2].find("\"alerts\": [\"vmaf<80\", \"psnr>=40\"]}\n"), std::string::npos) << got[2];
    EXPECT_EQ(got[5],
              "{\"type\": \"alert\", \"event\": \"end\", \"alert\": \"vmaf<80\", \"pts_time\": 0.200000, \"since\": "
              "0.000000, \"value\": 85.000000, \"worst\": 70.000000}\n");
    EXPECT_EQ(got[6],
              "{\"type\": \"alert\", \"event\": \"end\", \"alert\": \"psnr>=40\", \"pts_time\": 0.200000, \"since\": "
              "0.000000, \"value\": null, \"worst\": 47.000000, \"reason\": \"the run ends\"}\n");
    Lines said = messages_.take();
    std::erase(said, "V log_path=there takes lines"); // comes from the thread
    EXPECT_EQ(said, (Lines{"W alert psnr>=40 begins at 0.000 s: 45.000000, since 0.000 s",
                           "W alert vmaf<80 begins at 0.100 s: 75.000000, since 0.000 s",
                           "W alert vmaf<80 ends at 0.200 s: since 0.000 s, worst 70.000000",
                           "W alert psnr>=40 ends at 0.200 s, the run ends: since 0.000 s, worst 47.000000"}));
    qcr_live_sum_up(live_.get());
    EXPECT_EQ(messages_.take(), (Lines{"I log_path=there: lines:8 dropped:0 receivers:1", "I alert vmaf<80: times:1",
                                       "I alert psnr>=40: times:1"}));
    EXPECT_STREQ(qcr_live_active_alerts(live_.get()), "");
}

TEST_F(LiveTest, WhatIsWrongIsSaid) {
    const std::string many = [] {
        std::string text = "a<0";
        for (int i = 1; i <= QCR_MOST_ALERTS; ++i) text += "|a<" + std::to_string(i);
        return text;
    }();
    const struct {
        std::string alerts, error;
    } cases[] = {
        {"", "alert=: : a score is missing; accepted: conditions like vmaf<80:2s or mean(vmaf)<80:2s, joined by |"},
        {"a<1|",
         "alert=a<1|: : a score is missing; accepted: conditions like vmaf<80:2s or mean(vmaf)<80:2s, joined by |"},
        {"a<1|b<2:x", "alert=a<1|b<2:x: b<2:x: the duration is none; accepted: conditions like vmaf<80:2s or "
                      "mean(vmaf)<80:2s, joined by |"},
        {"a<1|a<1:2", "alert=a<1|a<1:2 has a<1 twice"},
        {many, "alert=" + many + " has more than 32 conditions"},
    };
    for (const auto& [alerts, error] : cases) {
        create();
        EXPECT_EQ(configure(alerts.c_str()), error);
    }
    create();
    EXPECT_EQ(configure(nullptr, 1500000, false),
              "window=1.5s needs log_fmt=jsonl or metrics_file, which say what became of each window");
    create();
    EXPECT_EQ(configure("c<1", 0, false), "");
    EXPECT_EQ(name_scores({"a", "b"}), "alert=c<1: there is no score c; accepted: a, b");
}

TEST_F(LiveTest, ScoresThatComeLateAreNoJumpOfTheStream) {
    configure(nullptr, 1000000);
    name_scores({"a"});
    for (const double time : {5.0, 5.9, 6.1, 5.95, 2.0}) add({time, {1}, nullptr});
    const Lines got = lines();
    ASSERT_EQ(got.size(), 4U);
    EXPECT_NE(got[1].find("\"start\": 6.000000, \"end\": 7.000000, \"frames\": 2"), std::string::npos) << got[1];
    EXPECT_NE(got[2].find("\"start\": 2.000000, \"end\": 3.000000, \"frames\": 1"), std::string::npos) << got[2];
}

/// In microseconds they would overflow; windows and alerts went no further.
TEST_F(LiveTest, WindowsGoOnWithStampsBeyondAllMicroseconds) {
    configure("a<1:1", 1000000);
    name_scores({"a"});
    for (const double time : {4.0, 4.5, 1e15, 1e15 + 0.5, 1e15 + 1, 1e15 + 2, -1e14, 2.0}) add({time, {0}, nullptr});
    const Lines got = lines();
    std::vector<std::string> windows;
    for (const std::string& line : got)
        if (line.find("\"window\"") != std::string::npos)
            windows.push_back(line.substr(19, line.find(", \"scored\"") - 19));
    EXPECT_EQ(windows, (Lines{"\"start\": 4.000000, \"end\": 5.000000, \"frames\": 2",
                              "\"start\": 1000000000000000.000000, \"end\": 1000000000000001.000000, \"frames\": 2",
                              "\"start\": 1000000000000001.000000, \"end\": 1000000000000002.000000, \"frames\": 1",
                              "\"start\": 1000000000000002.000000, \"end\": 1000000000000003.000000, \"frames\": 1",
                              "\"start\": -100000000000000.000000, \"end\": -99999999999999.000000, \"frames\": 1",
                              "\"start\": 2.000000, \"end\": 3.000000, \"frames\": 1"}));
}

TEST_F(LiveTest, ChangesOfPaceAreSaidWithAndWithoutLines) {
    for (const bool has_lines : {false, true}) {
        create();
        configure(nullptr, 0, has_lines);
        qcr_live_pace_changes(live_.get(), 1, 1.5, 0);
        qcr_live_pace_changes(live_.get(), 0, 12.25, 17);
        const Lines got = lines();
        Lines said = messages_.take();
        std::erase(said, "V log_path=there takes lines");
        EXPECT_EQ(said,
                  (Lines{"W realtime=1: from 1.500 s on scoring is slower than the stream, frames pass without scores",
                         "W realtime=1: scoring keeps up again at 12.250 s; frames that passed without scores:17"}));
        if (!has_lines) continue;
        EXPECT_EQ(got.at(0),
                  "{\"type\": \"realtime\", \"event\": \"overloaded\", \"pts_time\": 1.500000, \"passed\": 0}\n");
        EXPECT_EQ(got.at(1),
                  "{\"type\": \"realtime\", \"event\": \"recovered\", \"pts_time\": 12.250000, \"passed\": 17}\n");
    }
}

TEST_F(LiveTest, MetricsSayHowItStands) {
    configure("a<5", 0, false, true);
    add({0.0, {}, "realtime"});
    name_scores({"a", "b", "1.a", "1.b"}, 2);
    add({0.5, {4.5, NAN, 3, -INFINITY}, nullptr});
    EXPECT_EQ(take_metrics(), "");
    add({1.0, {10, 1, 1, 1}, nullptr});
    const std::string first = take_metrics();
    EXPECT_EQ(finish(), 0);
    const std::string last = take_metrics();
    const std::string expected =
        "# HELP quality_cuda_running 1 while frames may follow, 0 behind the end of the run.\n"
        "# TYPE quality_cuda_running gauge\n"
        "quality_cuda_running{stream=\"a\\\"b\"} 1\n"
        "# HELP quality_cuda_frames_total Frames of the distorted input that left.\n"
        "# TYPE quality_cuda_frames_total counter\n"
        "quality_cuda_frames_total{stream=\"a\\\"b\"} 3\n"
        "# HELP quality_cuda_scored_frames_total Those of them that have scores.\n"
        "# TYPE quality_cuda_scored_frames_total counter\n"
        "quality_cuda_scored_frames_total{stream=\"a\\\"b\"} 2\n"
        "# HELP quality_cuda_passed_frames_total Those of them that have none, for whatever reason.\n"
        "# TYPE quality_cuda_passed_frames_total counter\n"
        "quality_cuda_passed_frames_total{stream=\"a\\\"b\"} 1\n"
        "# HELP quality_cuda_realtime_passed_frames_total Those that have none because scoring was slower than the "
        "stream.\n"
        "# TYPE quality_cuda_realtime_passed_frames_total counter\n"
        "quality_cuda_realtime_passed_frames_total{stream=\"a\\\"b\"} 1\n"
        "# HELP quality_cuda_dropped_lines_total Lines of log_path that its receiver did not take.\n"
        "# TYPE quality_cuda_dropped_lines_total counter\n"
        "quality_cuda_dropped_lines_total{stream=\"a\\\"b\"} 0\n"
        "# HELP quality_cuda_alerts_total How often the alert has begun.\n"
        "# TYPE quality_cuda_alerts_total counter\n"
        "quality_cuda_alerts_total{stream=\"a\\\"b\",alert=\"a<5\"} 1\n"
        "# HELP quality_cuda_alert_active 1 while the alert's condition holds, for as long as it has to.\n"
        "# TYPE quality_cuda_alert_active gauge\n"
        "quality_cuda_alert_active{stream=\"a\\\"b\",alert=\"a<5\"} 1\n"
        "# HELP quality_cuda_window_start_seconds Time of the stream at which the window of the scores begins.\n"
        "# TYPE quality_cuda_window_start_seconds gauge\n"
        "quality_cuda_window_start_seconds{stream=\"a\\\"b\"} 0\n"
        "# HELP quality_cuda_window_end_seconds Time of the stream at which it ends.\n"
        "# TYPE quality_cuda_window_end_seconds gauge\n"
        "quality_cuda_window_end_seconds{stream=\"a\\\"b\"} 1\n"
        "# HELP quality_cuda_score_mean Mean of a score in the latest window.\n"
        "# TYPE quality_cuda_score_mean gauge\n"
        "quality_cuda_score_mean{stream=\"a\\\"b\",rendition=\"0\",score=\"a\"} 4.500000\n"
        "quality_cuda_score_mean{stream=\"a\\\"b\",rendition=\"1\",score=\"a\"} 3\n"
        "quality_cuda_score_mean{stream=\"a\\\"b\",rendition=\"1\",score=\"b\"} -Inf\n";
    // The frame that closes the window counts already, as it did not when the window was open.
    EXPECT_EQ(first.substr(0, expected.size()), expected);
    EXPECT_NE(last.find("_running{stream=\"a\\\"b\"} 0\n"), std::string::npos);
    EXPECT_NE(last.find("_alert_active{stream=\"a\\\"b\",alert=\"a<5\"} 0\n"), std::string::npos);
    EXPECT_NE(last.find("_window_start_seconds{stream=\"a\\\"b\"} 1\n"), std::string::npos);
    EXPECT_NE(last.find("_score_p5{stream=\"a\\\"b\",rendition=\"0\",score=\"a\"} 10\n"), std::string::npos);
}

TEST_F(LiveTest, MetricsWithoutAnyScoreHaveNoWindow) {
    configure(nullptr, 0, false, true);
    for (const double time : {0.0, 1.5}) add({time, {}, nullptr});
    EXPECT_NE(take_metrics().find("running{stream=\"a\\\"b\"} 1"), std::string::npos);
    finish();
    const std::string last = take_metrics();
    EXPECT_NE(last.find("running{stream=\"a\\\"b\"} 0"), std::string::npos);
    EXPECT_EQ(last.find("window"), std::string::npos);
}

TEST_F(LiveTest, AMetricsFileThatCannotBeWrittenIsSaidOnceAndTriedAgain) {
    configure(nullptr, 0, false, true);
    metrics_path_ = std::string(folder_) + "/gone/m.prom";
    metrics_file_.path.canonical = metrics_path_.data();
    for (const double time : {0.0, 1.5, 3.0}) add({time, {}, nullptr});
    EXPECT_EQ(messages_.take(),
              (Lines{"E metrics_file=dir.d/a\"b.prom cannot be written: No such file or directory; it is tried again "
                     "with each window"}));
    std::filesystem::create_directory(std::string(folder_) + "/gone");
    EXPECT_EQ(finish(), -ENOENT);
    EXPECT_NE(take_metrics(), "");
    EXPECT_EQ(messages_.take(), Lines());
    qcr_live_sum_up(live_.get());
    EXPECT_EQ(messages_.take(),
              (Lines{"E metrics_file=dir.d/a\"b.prom could not always be written: No such file or directory"}));
}

TEST_F(LiveTest, BehindTheEndNothingHappens) {
    configure("a<1", 0, true, true);
    name_scores({"a"});
    const size_t count = lines().size();
    EXPECT_NE(take_metrics(), "");
    add({1.0, {0}, nullptr});
    EXPECT_EQ(finish(), 0);
    EXPECT_EQ(receiver_.got().size(), count);
    EXPECT_EQ(take_metrics(), "");
    EXPECT_STREQ(qcr_live_active_alerts(live_.get()), "");
}

TEST_F(LiveTest, NobodyWatches) {
    configure(nullptr, 0, false);
    add({0.0, {}, nullptr});
    EXPECT_EQ(finish(), 0);
    qcr_live_sum_up(live_.get());
    EXPECT_EQ(messages_.take(), Lines());
    EXPECT_EQ(qcr_live_has_alerts(live_.get()), 0);
}

TEST_F(LiveTest, ADescriptorIsAReceiver) {
    configure(nullptr, 0, false);
    char path[] = "/dev/full", name[] = "full";
    const qcr_target full = {"log_path", name, {QCR_PATH_DEVICE, -1, path}, 0};
    ASSERT_EQ(qcr_live_write_to(live_.get(), &full, 7), QC_OK);
    add({0.0, {}, nullptr});
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(qcr_live_finish(live_.get(), "\"end\": \"failure\"", nullptr, 1), -ENOSPC);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(2500));
    EXPECT_EQ(messages_.take().at(1),
              "E log_path=full takes no lines: No space left on device; scoring goes on, up to 7 lines wait, "
              "and then the oldest are dropped");
    qcr_live_sum_up(live_.get());
    EXPECT_EQ(messages_.take().back(), "W log_path=full: lines:0 dropped:2 receivers:1");
}

} // namespace
} // namespace qc::run
