// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/record/parts.hpp"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/record/record_test_support.hpp"

namespace qc::run {
namespace {

constexpr int kFrames = 40, kCut = 20, kLead = 6;
constexpr int64_t kHistory = 3;

/// Reads all frames and pairs as a merge does. @return the trouble without the record's name, or what was read
std::string read_all(const Records& records) {
    std::string frames[2], pairs;
    try {
        read_beginning(records);
        for (size_t input = 0; input < 2; ++input) {
            FrameReader reader(records, input);
            for (Arrival arrival = reader.next(); !arrival.is_end; arrival = reader.next())
                frames[input] += std::to_string(arrival.frame.pts / (input == 0 ? kTick : 1)) + " ";
        }
        EXPECT_EQ(frames[0], frames[1]);
        PairReader reader(records);
        reader.set_history(kHistory);
        for (int n = 0; n < kFrames; ++n) {
            const std::vector<int64_t> pts = {n * kTick, n};
            reader.find(pts[0]);
            reader.check(pts);
            pairs += std::to_string(reader.words()[0]) + " ";
            reader.keep();
        }
    } catch (const PartsTrouble& trouble) {
        const std::string text = trouble.what();
        return text.substr(0, text.find(", ")) + ": " + text.substr(text.find(", ", text.find(", ") + 2) + 2);
    }
    EXPECT_EQ(frames[0], pairs);
    return pairs;
}

std::string numbers(int end) {
    std::string text;
    for (int n = 0; n < end; ++n) text += std::to_string(n) + " ";
    return text;
}

TEST(RecordParts, OneReadsAsTwo) {
    const Folder folder;
    const std::string first = write_part(folder.file("a"), {.end = kCut}),
                      second = write_part(folder.file("b"), {.first = kCut - kLead, .end = kFrames}),
                      whole = write_part(folder.file("w"), {.end = kFrames});
    EXPECT_EQ(read_all(two_parts(first, second, kCut)), numbers(kFrames));
    EXPECT_EQ(read_all({.parts = {{{0, 0}, whole}}, .inputs = 2, .may_come = {}}), numbers(kFrames));
}

struct Refusal {
    const char* said;
    MadePart first{.end = kCut};
    MadePart second{.first = kCut - kLead, .end = kFrames};
};

TEST(RecordParts, PartsThatAreNoRun) {
    const Refusal cases[] = {
        {"the record of part 1: does not go on where the one before it ends", {.end = kCut - 1}},
        {"the record of part 1: does not go on where the one before it ends",
         {.end = kCut},
         {.first = kCut, .end = kFrames}},
        {"the record of part 1: begins too late: pairs that its first ones depend on are missing",
         {.end = kCut},
         {.first = kCut - 2, .end = kFrames}},
        {"the record of part 1: differs from the one before in what both have seen: the decoder does not come to the "
         "same "
         "pictures from where this part begins",
         {.end = kCut, .odd_pair = kCut - 2}},
        {"the record of part 0: lacks a pair", {.end = kCut, .missing_pair = kCut - 1}},
        {"the record of part 0: does not say what was measured of every pair", {.end = kCut, .unmeasured = 4}},
        {"the record of part 0: has paired other frames", {.end = kCut, .reference_behind = 1}},
        {"the record of part 1: has another number of inputs",
         {.end = kCut},
         {.first = kCut - kLead, .end = kFrames, .inputs = 3}},
    };
    for (const Refusal& each : cases) {
        const Folder folder;
        EXPECT_EQ(read_all(two_parts(write_part(folder.file("a"), each.first),
                                     write_part(folder.file("b"), each.second), kCut)),
                  each.said);
    }
}

TEST(RecordParts, WhatIsNotComparedMayDiffer) {
    // Before its history is there a part measures other things; and behind a pause nothing depends on what was before.
    for (const MadePart& second : {MadePart{.first = kCut - kLead, .end = kFrames, .odd_pair = kCut - kLead},
                                   MadePart{.first = kCut - 2, .end = kFrames, .broke = true}}) {
        const Folder folder;
        EXPECT_EQ(read_all(two_parts(write_part(folder.file("a"), {.end = kCut}), write_part(folder.file("b"), second),
                                     kCut)),
                  numbers(kFrames));
    }
}

TEST(RecordParts, DamagedFiles) {
    const Folder folder;
    const std::string good = bytes_of_file(write_part(folder.file("good"), {.end = kFrames}));
    const struct {
        const char* said;
        std::function<std::string(std::string)> damage;
    } cases[] = {
        {"is none", [](const std::string&) { return std::string(); }},
        {"is none", [](const std::string& bytes) { return bytes.substr(0, 3); }},
        {"is none, or damaged", [](const std::string&) { return std::string(16000, 'x'); }},
        {"is none", [](std::string bytes) { return bytes.replace(0, 4, "\x51\x51\0\0", 4); }},
        {"was made by another version", [](std::string bytes) { return bytes.replace(8, 1, "\x07"); }},
        {"was made by another version", [](std::string bytes) { return bytes.replace(24, 1, "9"); }},
        {"ends in mid of an entry",
         [](const std::string& bytes) { return bytes.substr(0, bytes.size() / 2 / 8 * 8 + 3); }},
        {"ends early", [](const std::string& bytes) { return bytes.substr(0, 56); }},
    };
    for (const auto& each : cases) {
        write_bytes(folder.file("bad"), each.damage(good));
        EXPECT_EQ(read_all({.parts = {{{0, 0}, folder.file("bad")}}, .inputs = 2, .may_come = {}}),
                  std::string("the record of part 0: ") + each.said);
    }
}

TEST(RecordParts, EveryPlaceWhereAFileCanEnd) {
    const Folder folder;
    const std::string good = bytes_of_file(write_part(folder.file("good"), {.end = 3}));
    const size_t of_rate = sizeof(EntryHead) + 2 * sizeof(double);
    for (size_t size = 0; size < good.size() - of_rate; size += 13) {
        write_bytes(folder.file("bad"), good.substr(0, size));
        const Records records{.parts = {{{0, 0}, folder.file("bad")}}, .inputs = 2, .may_come = {}};
        EXPECT_NE(read_all(records).find("the record of part 0: "), std::string::npos) << size;
    }
}

TEST(RecordParts, ARecordThatIsToCome) {
    const Folder folder;
    const std::string first = write_part(folder.file("a"), {.end = kCut});
    Records records = two_parts(first, folder.file("b"), kCut);
    int asked = 0;
    EXPECT_EQ(read_all(records), "the record of part 1: cannot be opened");
    records.may_come = [&] { return ++asked < 3; };
    EXPECT_EQ(read_all(records), "the record of part 1: cannot be opened");
    EXPECT_EQ(asked, 3);
    records.may_come = [&] {
        write_part(folder.file("b"), {.first = kCut - kLead, .end = kFrames});
        return true;
    };
    EXPECT_EQ(read_all(records), numbers(kFrames));
}

TEST(RecordParts, BeginningSaysWhatWasThereBeforeTheFrames) {
    const Folder folder;
    const std::string path = write_part(folder.file("a"), {.end = 2});
    const Beginning beginning = read_beginning({.parts = {{{0, 0}, path}}, .inputs = 2, .may_come = {}});
    ASSERT_EQ(beginning.inputs.size(), 2U);
    EXPECT_EQ(beginning.inputs[1].width, 64);
    EXPECT_EQ(beginning.inputs[1].clock_den, 25);
    EXPECT_STREQ(beginning.inputs[1].format_name, "yuv420p");
    ASSERT_EQ(beginning.said.size(), 1U);
    EXPECT_EQ(beginning.said[0], (std::pair(QCR_LEVEL_WARNING, std::string("said before"))));
}

TEST(RecordParts, FramesKeepWhatTheySaid) {
    const Folder folder;
    const std::string path = write_part(folder.file("a"), {.end = 2});
    const Records records{.parts = {{{0, 0}, path}}, .inputs = 2, .may_come = {}};
    FrameReader reader(records, 0);
    reader.next();
    const Arrival second = reader.next(), end = reader.next();
    EXPECT_EQ(second.frame.packet_bytes, 100 + kTick);
    EXPECT_STREQ(second.frame.format_name, "yuv420p");
    EXPECT_TRUE(end.is_end);
    EXPECT_EQ(end.status, -5);
    EXPECT_EQ(end.pts, 2);
}

} // namespace
} // namespace qc::run
