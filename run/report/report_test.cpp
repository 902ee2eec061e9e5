// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the user gets to read, of a run as values: no FFmpeg, and mostly no scores either.
#include "run/report/report.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "run/text/messages_test_support.hpp"
#include "run/text/text.hpp"
#include "tests/support/c_session.hpp"

namespace qc::run {
namespace {

constexpr qcr_names kThree = {{"main", "reference", "main1"}, 3};
constexpr int kFrames = 4;

/// A run that went well, of one rendition or two, to be changed by the tests.
class Report : public ::testing::Test {
protected:
    Report() {
        const qcr_condition_rules rules = {&kThree, QCR_RANGE_TAGS, 0, 0, messages.sink()};
        conditions.reset(qcr_conditions_create(&rules));
        report.renditions = 1;
        report.n_subsample = 1;
        report.pool = QC_POOL_MEAN;
        report.shows_all_features = 1;
        report.max_dt = 0.02;
        report.alignment_rules = {&kThree, 1, 0, 0, 0, 25, nullptr, nullptr, 0, 0};
        report.end = QCR_END_OF_STREAM;
        report.reason = report.gpu_failure = report.engine = "";
        report.reference_ended = 1;
        report.counts = counts;
        report.scored = scored;
        report.failed = failed;
        for (qcr_report_input& input : report.input) input = {"yuv420p", 96, 64, {}, -1, "", 0, 0, 0, 0, 0};
        report.scored_width = 96;
        report.scored_height = 64;
        report.conditions = conditions.get();
        report.alignment = &alignment;
        for (qcr_counts& of : counts) of.frames = of.paired = kFrames;
        std::fill(std::begin(scored), std::end(scored), kFrames);
    }

    /// Scores pictures of its own.
    void score(int renditions, const char* metrics = "psnr") {
        qc_config config = test::cpu_config(metrics);
        config.renditions = report.renditions = report.alignment_rules.renditions = renditions;
        config.distorted[1] = config.distorted[0];
        scoring = std::make_unique<test::Scoring>(config, kFrames);
        scoring->run(kFrames);
        report.session = scoring->get();
    }

    Lines summary() {
        const qcr_sink sink = messages.sink();
        EXPECT_EQ(qcr_say_summary(&report, &sink), QC_OK);
        return messages.take();
    }

    std::string mean(int rendition, int feature) const {
        return score_text(pooled(report.session, rendition, feature, QC_POOL_MEAN).value());
    }

    Messages messages;
    std::unique_ptr<qcr_conditions, void (*)(qcr_conditions*)> conditions{nullptr, qcr_conditions_destroy};
    std::unique_ptr<test::Scoring> scoring;
    qcr_alignment alignment{};
    qcr_counts counts[2] = {};
    int64_t scored[2] = {}, failed[2] = {};
    qcr_report report{};
};

constexpr const char* kCounted =
    "frames:4 scored:4 unscored:0 (before the reference:0 after it:0 in gaps:0 disabled:0 without time "
    "stamp:0) reference frames repeated:0 unused:0";

TEST_F(Report, OfARunWithoutPairs) {
    counts[0] = {};
    counts[0].frames = counts[0].before = 2;
    scored[0] = 0;
    EXPECT_EQ(
        summary(),
        (Lines{"W frames:2 scored:0 unscored:2 (before the reference:2 after it:0 in gaps:0 disabled:0 without time "
               "stamp:0) reference frames repeated:0 unused:0 max |dt|:0.000000 mean dt:0.000000",
               "W no frame was scored"}));
    report.is_alias = 1;
    EXPECT_EQ(summary().back(), "E no frame was scored");
}

TEST_F(Report, EndsOfARun) {
    static const struct {
        qcr_end end;
        const char *line, *reason, *name; ///< null: nothing is said, and it is complete
    } kCases[] = {
        {QCR_END_OF_STREAM, nullptr, nullptr, "end of stream"},
        {QCR_END_BY_CONSUMER, "I stopped before the inputs ended; the scores are those of the frames up to there",
         nullptr, "stopped early"},
        {QCR_END_BY_SIGNAL, "W INCOMPLETE after 4 frames: SIGINT", "the program got SIGINT", "interrupted"},
        {QCR_END_TAKEN_DOWN, "W INCOMPLETE after 4 frames: the filter graph was taken down before its inputs ended",
         "the filter graph was taken down before its inputs ended", "stopped early"},
        {QCR_END_BY_FAILURE, "W INCOMPLETE after 4 frames", "it broke", "failure"},
        {QCR_END_NONE, "I stopped before the inputs ended; the scores are those of the frames up to there",
         "the run goes on", "stopped early"},
    };
    report.signal = "SIGINT";
    report.reason = "it broke";
    counts[0].paired = 0;
    for (const auto& of : kCases) {
        report.end = of.end;
        const Lines lines = summary();
        EXPECT_EQ(lines.size(), 1U + (of.line != nullptr) + (of.end != QCR_END_BY_FAILURE));
        if (of.line != nullptr) {
            EXPECT_EQ(lines.at(1), of.line);
        }
        const std::unique_ptr<char, void (*)(char*)> members(qcr_end_members(&report), qcr_free_text);
        EXPECT_EQ(std::string(members.get()),
                  std::string("\"end\": \"") + of.name + "\", \"complete\": " + (of.reason ? "false" : "true") +
                      ", \"reason\": " + (of.reason ? json_string(of.reason) : "null") + ", \"warnings\": []");
    }
}

TEST_F(Report, WarningsEndAStreamOfLines) {
    const qcr_sink sink = messages.sink();
    const std::unique_ptr<qcr_doubts, void (*)(qcr_doubts*)> doubts(qcr_doubts_create(&sink), qcr_doubts_destroy);
    say(qcr_doubting(doubts.get()), QCR_LEVEL_WARNING, "it is odd");
    report.doubts = doubts.get();
    const std::unique_ptr<char, void (*)(char*)> members(qcr_end_members(&report), qcr_free_text);
    EXPECT_TRUE(std::string(members.get()).ends_with(", \"reason\": null, \"warnings\": [\"it is odd\"]"))
        << members.get();
}

/// The summary's warnings come after the log is written, which has them all the same.
TEST_F(Report, WarningsOfTheCountsAreAmongThem) {
    counts[0].after = 3;
    report.end = QCR_END_OF_STREAM;
    const std::unique_ptr<char, void (*)(char*)> members(qcr_end_members(&report), qcr_free_text);
    EXPECT_NE(std::string(members.get()).find("\"warnings\": [\"frames:4 scored:4 unscored:3 ("), std::string::npos)
        << members.get();
}

TEST_F(Report, WhyARenditionIsNotComplete) {
    report.gpu_failure = "lost";
    failed[0] = 2;
    EXPECT_EQ(reason_json(report, 0), "\"frames under way when the GPU failed:2 (lost)\"");
    report.input[2].refusal = "it changed";
    EXPECT_EQ(reason_json(report, 1), "\"it changed\"");
    report.input[2].refusal = "";
    counts[1].late = 1;
    counts[1].paired = 3;
    EXPECT_EQ(reason_json(report, 1), "\"the rendition lacks 1 of 4 frames\"");
    EXPECT_EQ(qcr_is_complete(&report, 1), 0);
}

TEST_F(Report, HeadOfALog) {
    counts[0].max_abs_dt = 0.01;
    const std::string
        head = "{\"frames\": 4, \"paired\": 4, \"scored\": 4, \"unscored\": 0, \"before_reference\": 0, "
               "\"after_reference\": 0, "
               "\"gaps\": 0, \"disabled\": 0, \"untimed\": 0, \"reference_repeated\": 0, \"reference_unused\": 0, ",
        tail = "\"max_abs_dt\": 0.010000, \"mean_dt\": 0.000000, \"frame_rate\": 25.000000, \"max_dt\": 0.020000}";
    EXPECT_EQ(pairing_json(report, 0), head + "\"reference_ended\": true, " + tail);
    report.reference_ended = 0;
    report.is_realtime = report.may_give_up = 1;
    EXPECT_EQ(pairing_json(report, 0),
              head + "\"reference_ended\": false, \"realtime_passed\": 0, \"failed\": 0, " + tail);
    report.end = QCR_END_BY_CONSUMER;
    report.is_realtime = report.may_give_up = 0;
    counts[1].max_abs_dt = 0.01;
    EXPECT_EQ(pairing_json(report, 1),
              head +
                  "\"reference_ended\": null, \"rendition_late\": 0, \"rendition_gaps\": 0, "
                  "\"rendition_ended\": 0, \"rendition_repeated\": 0, \"rendition_unused\": 0, " +
                  tail);
}

TEST_F(Report, CountsAreWarnedOfWhereTheyAreNotExact) {
    const auto level = [&] { return summary().at(0)[0]; };
    counts[0].paired = 0;
    EXPECT_EQ(level(), 'I');
    report.reference_ended = 0;
    const std::string goes_on = summary().at(0);
    EXPECT_EQ(goes_on,
              std::string("W ") + kCounted + " and more that were not read max |dt|:0.000000 mean dt:0.000000");
    report.is_alias = 1;
    EXPECT_EQ(level(), 'I');
    report.is_alias = 0;
    report.end = QCR_END_BY_CONSUMER;
    report.only_left_counts = 1; // nobody wanted the rest
    EXPECT_EQ(level(), 'I');
    for (int64_t* wrong : {&counts[0].repeated, &counts[0].unused, &counts[0].gaps, &failed[0], &report.late_scores}) {
        *wrong = 1;
        EXPECT_EQ(level(), 'W');
        *wrong = 0;
    }
    counts[0].disabled = 1; // that was meant
    EXPECT_EQ(level(), 'I');
}

TEST_F(Report, ScoresOfOneRendition) {
    score(1, "vmaf+psnr");
    report.shows_all_features = 0;
    const Lines lines = summary();
    EXPECT_EQ(lines.at(0), std::string("I ") + kCounted + " max |dt|:0.000000 mean dt:0.000000");
    const int model = feature_count(report) - 1;
    EXPECT_EQ(lines.back(), "I VMAF score: " + mean(0, model)); // programs take the last line
    int shown = 0;
    for (const std::string& line : lines) shown += line.starts_with("I quality_cuda ");
    EXPECT_EQ(shown, 1); // the others only feed the model
    EXPECT_TRUE(lines.at(1).starts_with("V quality_cuda psnr_y mean:" + mean(0, 0) + " harmonic_mean:"));
    EXPECT_TRUE(lines.at(1).ends_with(" frames:4 scored:4"));
    report.pool = QC_POOL_P10;
    EXPECT_NE(summary().at(1).find(" p10:"), std::string::npos);
}

TEST_F(Report, MembersOfACollectionAreNoScores) {
    qc_config config = test::cpu_config("vmaf");
    config.model = "version=vmaf_v0.6.1|version=vmaf_b_v0.6.3";
    scoring = std::make_unique<test::Scoring>(config, kFrames);
    scoring->run(kFrames);
    report.session = scoring->get();
    Lines models;
    for (const std::string& line : summary())
        if (line.starts_with("I score of ") || line.starts_with("I VMAF score: "))
            models.push_back(line.substr(0, line.rfind(' ')));
    ASSERT_EQ(models.size(), 2U);
    EXPECT_TRUE(models[0].starts_with("I score of ")) << models[0];
    EXPECT_EQ(models[1], "I VMAF score:");
    report.is_alias = 1;
    int scores = 0;
    for (const std::string& line : summary()) scores += line.starts_with("I VMAF score: ");
    EXPECT_EQ(scores, 2);
}

TEST_F(Report, ALadderSideBySide) {
    score(2);
    report.input[2].width = 48;
    report.input[2].height = 32;
    report.input[0].bit_rate = 1234567;
    counts[1].paired = scored[1] = 3;
    counts[1].ended = 1;
    const Lines lines = summary();
    const auto table = std::find(lines.begin(), lines.end(), "I 2 renditions; scores: mean");
    ASSERT_NE(table, lines.end());
    EXPECT_EQ(
        lines.at(1),
        "W rendition 1: frames:4 scored:3 without its frame:1 (not begun:0 in gaps:0 ended:1) its frames repeated:0 "
        "unused:0 max |dt|:0.000000; its scores are of those frames only");
    EXPECT_TRUE(
        table[1].starts_with("I rendition  input  size            kbit/s  frames  scored  lacking  end          "))
        << table[1];
    EXPECT_TRUE(
        table[2].starts_with("I         0  main   96x64             1235       4       4        0  complete     "))
        << table[2];
    EXPECT_TRUE(
        table[3].starts_with("I         1  main1  48x32 -> 96x64       -       4       3        1  ended early  "))
        << table[3];
    EXPECT_NE(table[2].find(mean(0, 0)), std::string::npos);
    EXPECT_NE(table[3].find(mean(1, 0)), std::string::npos);
    report.input[2].is_refused = 1;
    EXPECT_EQ(summary().at(summary().size() - 1).substr(0, 2), "I ");
    report.end = QCR_END_BY_FAILURE;
    const Lines failure = summary();
    EXPECT_EQ(failure.at(failure.size() - 2),
              "I         1  main1  48x32 -> 96x64       -       4       3        1  failed");
}

TEST_F(Report, BitRates) {
    EXPECT_EQ(qcr_bit_rate(1000, 5, 0.8), 8000); // the last frame lasts as long as the others
    EXPECT_LT(qcr_bit_rate(-1, 5, 0.8), 0);
    EXPECT_LT(qcr_bit_rate(1000, 1, 0), 0);
    EXPECT_LT(qcr_bit_rate(1000, 5, 0), 0);
    EXPECT_LT(qcr_bit_rate(1000, 5, std::nan("")), 0);
}

TEST_F(Report, FatesOfRenditions) {
    const auto end = [&](int rendition) {
        const std::string json = renditions_json(report), key = "\"end\": \"";
        size_t at = json.find("{\"rendition\": " + std::to_string(rendition));
        at = json.find(key, at) + key.size();
        return json.substr(at, json.find('"', at) - at);
    };
    report.renditions = 2;
    EXPECT_EQ(end(1), "complete");
    report.end = QCR_END_BY_CONSUMER;
    EXPECT_EQ(end(1), "stopped early");
    report.end = QCR_END_BY_SIGNAL;
    counts[1].ended = 1;
    EXPECT_EQ(end(1), "ended early");
    report.input[2].is_cut_off = 1; // a program that is told to stop ends its inputs one after the other
    EXPECT_EQ(end(1), "interrupted");
    report.behind = 2;
    EXPECT_EQ(end(0), "ended early");
    EXPECT_EQ(end(1), "ended with main");
    counts[1].holes = 1;
    EXPECT_EQ(end(1), "incomplete");
    report.input[2].is_stalled = 1;
    EXPECT_EQ(end(1), "stalled");
    report.input[2].refusal = "it changed";
    EXPECT_EQ(end(1), "failed");
}

TEST_F(Report, LogsAndLines) {
    char folder[] = "/tmp/quality_cuda-test-XXXXXX";
    const std::string root = mkdtemp(folder), log = root + "/q.json", stats = root + "/s.txt";
    score(1);
    qcr_file_wishes wishes{};
    wishes.log_path = log.c_str();
    wishes.stats_file = stats.c_str();
    wishes.stats_format = "scores";
    wishes.renditions = 1;
    qcr_files files{};
    qcr_failure failure{};
    const qcr_sink sink = messages.sink();
    ASSERT_EQ(qcr_open_files(&files, &wishes, &sink, &failure), 0) << failure.text;
    ASSERT_EQ(scoring->receive(), QC_OK);
    const qcr_stats_row row = {&scoring->row(), 0.04, 0.05, 2, 1};
    qcr_write_stats_line(&files, report.session, &row, &sink);
    EXPECT_EQ(qcr_finish_stats(&files, &sink), 0);
    report.engine = "an \"engine\"";
    report.watches_contents = 1;
    EXPECT_EQ(qcr_write_logs(&report, &files, 1, &sink), QC_OK);
    EXPECT_EQ(messages.take(), Lines{"V log written to " + log});

    std::ostringstream text, lines;
    text << std::ifstream(log).rdbuf();
    lines << std::ifstream(stats).rdbuf();
    EXPECT_EQ(lines.str().substr(0, 53),
              "n:0 pts_time:0.040000 ref_pts_time:0.050000 psnr_y:" + score_text(scoring->row().value[0]).substr(0, 2));
    EXPECT_TRUE(lines.str().ends_with(" ref_corrupt:1\n"));
    size_t at = 0;
    for (const char* piece :
         {"\"complete\": true", "\"alignment\": {\"watched\": 0", "\"pairing\": {\"frames\": 4",
          "\"distorted_stream\": {", "\"reference_stream\": {", "\"end\": \"end of stream\"", "\"reason\": null",
          "\"engine\": \"an \\\"engine\\\"\"", "\"distorted_format\": \"yuv420p\"",
          "\"reference_format\": ", "\"corrupt_frame_numbers\": []"}) {
        const size_t found = text.str().find(piece);
        EXPECT_NE(found, std::string::npos) << piece;
        EXPECT_GE(found, at == 0 ? 0 : at) << piece;
        at = piece[1] == 'c' && at == 0 ? 0 : found;
    }
    char running[64];
    qcr_running_scores(report.session, 1, QC_POOL_MEAN, running, sizeof(running));
    EXPECT_TRUE(std::string(running).starts_with("psnr_y:" + mean(0, 0) + " psnr_cb:"));
    qcr_running_scores(report.session, 1, QC_POOL_MEAN, running, 7);
    EXPECT_STREQ(running, "psnr_y");
    qcr_close_files(&files, 1);
    std::filesystem::remove_all(root);
}

TEST_F(Report, ALogThatCannotBeWritten) {
    score(1);
    qcr_files files{};
    char name[] = "/nowhere/at/all/q.json";
    files.log[0] = name;
    const qcr_sink sink = messages.sink();
    setenv("TMPDIR", "/nowhere", 1);
    EXPECT_EQ(qcr_write_logs(&report, &files, 0, &sink), QC_ERROR_IO);
    unsetenv("TMPDIR");
    const Lines said = messages.take();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_TRUE(said[0].starts_with("E log /nowhere/at/all/q.json could not be written: cannot write log ")) << said[0];
    const size_t place = said[0].rfind(" \"") + 2;
    std::filesystem::remove(said[0].substr(place, said[0].size() - place - 1));
    EXPECT_EQ(qcr_write_logs(&report, &files, 0, &sink), QC_ERROR_IO); // once is enough before the end
    EXPECT_EQ(messages.take(), Lines{});
}

} // namespace
} // namespace qc::run
