// SPDX-License-Identifier: BSD-2-Clause-Patent
// Parts that a session has measured, merged: what becomes of them is what becomes of one run.
#include "quality_cuda_run/merge.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/record/record_test_support.hpp"
#include "run/text/messages_test_support.hpp"
#include "tests/support/c_session.hpp"

namespace qc::run {
namespace {

constexpr int kFrames = 30, kCut = 18, kLead = 4;

/// Frames first..end - 1 of a distorted video and its reference, and of a further rendition, as a run records them.
struct Recorded {
    int first = 0, end = kFrames;
    int renditions = 1;
    int changed_from = kFrames; ///< from this frame on the last input has another size
    int reference_from = 0;     ///< the reference begins with this frame
    int last_of_rendition = kFrames;
    const char* said = nullptr; ///< before the first frame
};

qc_config config_of(int renditions) {
    qc_config config = qc::test::cpu_config("psnr");
    config.renditions = renditions;
    for (int k = 1; k < renditions; ++k) config.distorted[k] = config.distorted[0];
    config.frame_rate = 25;
    return config;
}

void record_input(qcr_record* record, int input, const qc_format& format) {
    const qcr_recorded_input facts = {.width = format.width,
                                      .height = format.height,
                                      .format = 0,
                                      .format_name = "yuv420p",
                                      .clock_num = 1,
                                      .clock_den = input == 0 ? 250 : 25,
                                      .rate_num = 25,
                                      .rate_den = 1,
                                      .shape_num = 1,
                                      .shape_den = 1};
    EXPECT_EQ(qcr_record_input(record, input, &facts), QC_OK);
}

int64_t pts_of(int input, int n) {
    return input == 0 ? n * kTick : n;
}

void record_frame(qcr_record* record, const Recorded& part, int input, int n, const qc_format& format) {
    qcr_recorded_frame frame{};
    frame.pts = pts_of(input, n);
    frame.width = format.width - (input == part.renditions && n >= part.changed_from ? 16 : 0);
    frame.height = format.height;
    frame.format_name = "yuv420p";
    frame.facts.matrix = frame.facts.primaries = frame.facts.transfer = 2;
    frame.packet_bytes = 100;
    EXPECT_EQ(qcr_record_frame(record, input, &frame), QC_OK);
}

bool has_frame(const Recorded& part, int input, int n) {
    if (input == 1) return n >= part.reference_from;
    return input < 2 || (n < part.last_of_rendition && n < part.changed_from);
}

void score_frame(qcr_record* record, const Recorded& part, qc::test::Scoring* scoring, int n, int64_t row) {
    int64_t pts[QCR_MAX_VIDEOS];
    uint32_t renditions = 0;
    std::vector<qc_picture> distorted = scoring->distorted(static_cast<size_t>(n));
    for (int i = 0; i <= part.renditions; ++i) pts[i] = has_frame(part, i, n) ? pts_of(i, n) : QCR_NO_PTS;
    for (int k = 0; k < part.renditions; ++k) {
        const bool has = has_frame(part, qcr_input_of(k), n);
        renditions |= static_cast<uint32_t>(has) << k;
        if (!has) distorted[static_cast<size_t>(k)] = {};
    }
    EXPECT_EQ(qcr_record_pair(record, row, renditions, pts), QC_OK);
    EXPECT_EQ(scoring->submit(scoring->reference(static_cast<size_t>(n)), distorted), QC_OK) << scoring->error();
}

std::string record_part(const std::string& path, const Recorded& part) {
    const qc_config config = config_of(part.renditions);
    qc::test::Scoring scoring(config, kFrames);
    qcr_record* record = qcr_record_create(path.c_str(), 1 + part.renditions);
    for (int i = 0; i <= part.renditions; ++i) record_input(record, i, config.reference);
    if (part.said != nullptr) {
        EXPECT_EQ(qcr_record_said(record, QCR_LEVEL_WARNING, part.said), QC_OK);
    }
    EXPECT_EQ(qcr_record_session(record, scoring.get(), &config), QC_OK);
    int64_t row = 0;
    for (int n = part.first; n < part.end; ++n) {
        for (int i = 0; i <= part.renditions; ++i)
            if (i == 1 ? n >= part.reference_from : i < 2 || n < part.last_of_rendition)
                record_frame(record, part, i, n, config.reference);
        if (n >= part.reference_from) score_frame(record, part, &scoring, n, row++);
    }
    EXPECT_EQ(qc_session_flush(scoring.get()), QC_OK);
    for (int i = 0; i <= part.renditions; ++i) EXPECT_EQ(qcr_record_end(record, i, -5, pts_of(i, part.end)), QC_OK);
    EXPECT_EQ(qcr_record_finish(record, 25, 0.02, 1), QC_OK);
    qcr_record_destroy(record);
    return path;
}

/// What a merge came to, and what was said as warning or worse.
struct Outcome {
    qcr_merged status;
    Lines said;
};

class MergeTest : public testing::Test {
protected:
    /// @param paths of two parts, or one
    Outcome merge(const std::vector<std::string>& paths, int renditions = 1) {
        std::vector<qcr_part> parts(paths.size());
        for (size_t p = 0; p < parts.size(); ++p) {
            parts[p].path = paths[p].c_str();
            for (int i = 0; p > 0 && i <= renditions; ++i) parts[p].from[i] = pts_of(i, kCut);
        }
        Messages messages;
        wish.parts = parts.data();
        wish.part_count = static_cast<int>(parts.size());
        wish.renditions = renditions;
        wish.metrics = "psnr";
        wish.log_path = log.c_str();
        wish.sink = messages.sink();
        const qcr_merged status = qcr_merge(&wish);
        Lines said;
        for (const std::string& line : messages.take())
            if (line[0] == 'E' || line[0] == 'W') said.push_back(line);
        return {status, said};
    }

    std::string part(const char* name, const Recorded& recorded) { return record_part(folder.file(name), recorded); }

    /// Except for the line with the rate.
    std::string log_text(const std::string& path) {
        std::string text, line;
        std::ifstream file(path);
        while (std::getline(file, line))
            if (line.find("\"fps\"") == std::string::npos) text += line + "\n";
        return text;
    }

    const Folder folder;
    std::string log = folder.file("log.json");
    qcr_merge_config wish{};
};

TEST_F(MergeTest, TwoPartsAreOne) {
    const std::string whole = part("whole", {}), first = part("first", {.end = kCut}),
                      second = part("second", {.first = kCut - kLead});
    EXPECT_EQ(merge({whole}).status, QCR_MERGED);
    const std::string expected = log_text(log);
    EXPECT_NE(expected.find("\"complete\": true"), std::string::npos);
    const Outcome merged = merge({first, second});
    EXPECT_EQ(merged.status, QCR_MERGED);
    EXPECT_EQ(merged.said, Lines{});
    EXPECT_EQ(log_text(log), expected);
}

TEST_F(MergeTest, OfALadderToo) {
    const std::string whole = part("whole", {.renditions = 2}), first = part("first", {.end = kCut, .renditions = 2}),
                      second = part("second", {.first = kCut - kLead, .renditions = 2});
    EXPECT_EQ(merge({whole}, 2).status, QCR_MERGED);
    const std::string other = folder.file("log.rendition1.json"), expected = log_text(log) + log_text(other);
    EXPECT_EQ(merge({first, second}, 2).status, QCR_MERGED);
    EXPECT_EQ(log_text(log) + log_text(other), expected);
}

TEST_F(MergeTest, WhatPartsSaidIsSaidAgain) {
    const std::string first = part("first", {.end = kCut, .said = "known before"}),
                      second = part("second", {.first = kCut - kLead, .said = "known before"});
    EXPECT_EQ(merge({first, second}).said, (Lines{"W known before"}));
}

TEST_F(MergeTest, AChangeEndsTheRunOrTheRendition) {
    const std::string change =
        "Input 1 (reference) changed from 96x64 yuv420p to 80x64 yuv420p at 0.800 s; to score such "
        "a stream put -reinit_filter 0 before the input and scale=96:64,format=yuv420p before "
        "quality_cuda";
    const Outcome all = merge({part("all", {.changed_from = 20})});
    EXPECT_EQ(all.status, QCR_MERGE_FAILED);
    EXPECT_EQ(all.said.front(), "E " + change);
    const Outcome one = merge({part("one", {.renditions = 2, .changed_from = 20})}, 2);
    EXPECT_EQ(one.status, QCR_MERGED);
    EXPECT_EQ(one.said.front().substr(0, 40), "E Input 2 (main1) changed from 96x64 yuv");
    EXPECT_NE(one.said.front().find("this rendition is scored no further, the others go on"), std::string::npos);
    EXPECT_NE(log_text(log).find("\"complete\": true"), std::string::npos);
    EXPECT_EQ(log_text(folder.file("log.rendition1.json")).find("\"complete\": true"), std::string::npos);
}

TEST_F(MergeTest, RecordsThatAreNoRun) {
    const std::string first = part("first", {.end = kCut}), late = part("late", {.first = kCut + 1});
    EXPECT_EQ(merge({first, late}).status, QCR_MERGE_INEXACT);
    const Outcome missing = merge({first, folder.file("nothing")});
    EXPECT_EQ(missing.status, QCR_MERGE_INEXACT);
    EXPECT_EQ(missing.said, (Lines{"E the record of part 1, " + folder.file("nothing") + ", cannot be opened"}));
}

TEST_F(MergeTest, AWishThatIsNone) {
    wish.feature = "nonsense";
    EXPECT_EQ(merge({part("a", {})}).status, QCR_MERGE_FAILED);
    wish.feature = nullptr;
    log = folder.file("no/folder/log.json");
    EXPECT_EQ(merge({folder.file("a")}).status, QCR_MERGE_FAILED);
}

TEST_F(MergeTest, TooFewPairs) {
    const Outcome merged = merge({part("a", {.reference_from = kFrames})});
    EXPECT_EQ(merged.status, QCR_MERGE_FAILED);
    EXPECT_EQ(merged.said.front().substr(0, 39), "E no frame was scored: the reference ha");
    EXPECT_NE(log_text(log).find("no frame was scored"), std::string::npos) << "the log tells it too";
}

TEST_F(MergeTest, IsStopped) {
    const std::string first = part("first", {.end = kCut});
    wish.waits = 1;
    wish.goes_on = [](void* left) { return --*static_cast<int*>(left) > 0 ? 1 : 0; };
    int left = 5;
    wish.opaque = &left;
    const Outcome merged = merge({first, folder.file("to come")});
    EXPECT_EQ(merged.status, QCR_MERGE_STOPPED);
    EXPECT_EQ(merged.said, Lines{});
    EXPECT_EQ(left, 0);
    EXPECT_EQ(log_text(log), "");
}

} // namespace
} // namespace qc::run
