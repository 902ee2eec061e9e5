// SPDX-License-Identifier: BSD-2-Clause-Patent
// What frames say of themselves, without FFmpeg: facts in, counts and warnings out.
#include "run/account/conditions.hpp"

#include <cmath>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "run/account/names.hpp"
#include "run/text/messages_test_support.hpp"
#include "tests/support/c_session.hpp"

namespace qc::run {
namespace {

constexpr qcr_names kThree = {{"main", "reference", "main1"}, 3};

qcr_frame_facts frame(double time, bool corrupt = false, bool interlaced = false) {
    qcr_frame_facts facts{};
    facts.held = 1;
    facts.is_corrupt = corrupt;
    facts.is_interlaced = interlaced;
    facts.matrix = facts.primaries = facts.transfer = 2;
    facts.time = time;
    return facts;
}

qcr_frame_facts tagged(int range, int matrix) {
    qcr_frame_facts facts = frame(0.5);
    facts.range = range;
    facts.matrix = matrix;
    return facts;
}

/// A run of one distorted video and a further rendition.
class Conditions : public ::testing::Test {
protected:
    qcr_conditions* with(int range = QCR_RANGE_TAGS, bool is_quiet = false, bool converts = false) {
        const qcr_condition_rules rules = {&kThree, range, converts, is_quiet, messages.sink()};
        made.reset(qcr_conditions_create(&rules));
        return made.get();
    }
    uint32_t note(int64_t row, const qcr_frame_facts& main, const qcr_frame_facts& reference,
                  const qcr_frame_facts& other) {
        const qcr_frame_facts facts[] = {main, reference, other};
        uint32_t corrupt = 99;
        EXPECT_EQ(qcr_note_frames(made.get(), facts, row, counts, &corrupt), QC_OK);
        return corrupt;
    }

    Messages messages;
    std::unique_ptr<qcr_conditions, void (*)(qcr_conditions*)> made{nullptr, qcr_conditions_destroy};
    qcr_counts counts[2] = {};
};

const qcr_frame_facts kNone{};

TEST_F(Conditions, DamageIsWarnedOfOnceCountedAndListed) {
    qcr_conditions* conditions = with();
    EXPECT_EQ(note(0, frame(0), frame(0), frame(0)), 0U);
    qcr_frame_facts concealed = frame(0.04, true);
    concealed.is_concealed = 1;
    EXPECT_EQ(note(1, frame(0.04), concealed, kNone), 2U);
    EXPECT_EQ(note(2, frame(0.08, true), frame(0.08), frame(0.08, true)), 5U);
    EXPECT_EQ(note(-1, frame(0.12, true), frame(0.12, true), kNone), 1U); // no pair: the frame alone
    EXPECT_EQ(messages.take(),
              Lines{"W Input 1 (reference) has damaged frames, the first one at 0.040 s (concealed): scores tell what "
                    "the decoder "
                    "made of it; they carry lavfi.quality_cuda.*corrupt, mend the stream or leave them out"});
    EXPECT_EQ(counts[0].own.corrupt, 1);
    EXPECT_EQ(counts[0].reference.corrupt, 1);
    EXPECT_EQ(counts[1].own.corrupt, 1);
    EXPECT_EQ(counts[1].reference.corrupt, 0); // without a frame of its own it has no pair
    EXPECT_EQ(corrupt_json(conditions, 0, 1, 3), "[1, 2]");
    EXPECT_EQ(corrupt_json(conditions, 1, 2, 3), "[2]"); // every other pair is scored
    EXPECT_EQ(corrupt_json(conditions, 0, 1, 1), "[]");  // of those that count
    say_conditions(kThree, counts, false, messages.sink());
    EXPECT_EQ(messages.take(),
              Lines{"W damaged frames among the pairs, whose scores count like others: main:1 reference:1 main1:1"});
}

TEST_F(Conditions, JumpsAreCountedAndTheQuietSaySoQuietly) {
    with(QCR_RANGE_TAGS, true);
    qcr_frame_facts reference = frame(1, false, true);
    reference.jumps = 2;
    note(0, frame(1), reference, kNone);
    EXPECT_EQ(messages.take(), Lines{});
    qcr_conclude_conditions(made.get());
    EXPECT_TRUE(
        messages.take().at(0).starts_with("V Input 1 (reference) has interlaced frames, the first one at 1.000 s: "));
    say_conditions(kThree, counts, true, messages.sink());
    EXPECT_EQ(messages.take(),
              (Lines{"V interlaced frames among the pairs: reference:1", "V jumps of time stamps: reference:2"}));
}

/// What is said when the rates are known has the remedy for just that mix, and is said again when the mix changes.
TEST_F(Conditions, InterlacedFramesAreToldWhenRatesAreKnown) {
    const auto at = [](double time, bool interlaced, double rate) {
        qcr_frame_facts facts = frame(time, false, interlaced);
        facts.rate = rate;
        return facts;
    };
    with();
    note(0, at(1, false, 0), at(2, true, 0), at(3, false, 0));
    note(1, at(1.04, false, 50), at(2.04, true, 0), at(3.04, false, 50));
    EXPECT_EQ(messages.take(), Lines{});
    for (int64_t row = 2; row < 4; ++row) note(row, at(1.08, false, 50), at(2.08, true, 25), at(3.08, false, 50));
    EXPECT_EQ(messages.take(),
              Lines{"W Input 1 (reference) has interlaced frames, the first one at 2.000 s: scores are made for "
                    "progressive ones; deinterlace reference alone, [1:v]bwdif=mode=send_field[r];[0:v][r][2:v]"
                    "quality_cuda=renditions=2"});
    note(4, at(1.12, true, 50), at(2.12, true, 25), at(3.12, true, 50));
    qcr_conclude_conditions(made.get());
    const Lines more = messages.take();
    ASSERT_EQ(more.size(), 1U);
    EXPECT_TRUE(
        more[0].starts_with("W Input 0 (main) has interlaced frames too, the first one at 1.120 s, so has "
                            "main1: scores are made for progressive ones; put the same deinterlacer before all"))
        << more[0];
    EXPECT_EQ(counts[0].own.interlaced, 1);
    EXPECT_EQ(counts[0].reference.interlaced, 5);
}

TEST_F(Conditions, GrainIsCountedAndNoWarning) {
    with();
    qcr_frame_facts grainy = frame(1);
    grainy.has_grain = 1;
    note(0, grainy, frame(1), kNone);
    note(1, grainy, frame(1), grainy);
    EXPECT_EQ(messages.take(), Lines{});
    say_conditions(kThree, counts, false, messages.sink());
    EXPECT_EQ(messages.take(), Lines{"I frames with parameters of film grain among the pairs, scored without the "
                                     "grain: main:2 main1:1"});
}

TEST_F(Conditions, TagsThatDifferAreSaidOnceOrRefused) {
    static constexpr struct {
        int range, matrix, main_range, main_matrix;
        const char* differ; ///< null: they do not
    } kCases[] = {
        {1, 1, 1, 1, nullptr},
        {0, 2, 1, 1, nullptr},
        {2, 1, 1, 1, "range pc, matrix bt709; main range tv, matrix bt709"},
        {0, 0, 1, 1, "range unknown, matrix gbr; main range tv, matrix bt709"},
        {1, 9, 1, 6, "range tv, matrix bt2020nc; main range tv, matrix smpte170m"},
    };
    for (const auto& tags : kCases) {
        const qcr_frame_facts own = tagged(tags.range, tags.matrix), main = tagged(tags.main_range, tags.main_matrix);
        const std::string text = std::string("Input 1 (reference) is tagged ") + (tags.differ ? tags.differ : "");
        qc_error error = {""};
        for (int times = 0; times < 2; ++times)
            EXPECT_EQ(qcr_check_colour(times == 0 ? with() : made.get(), 1, &own, &main, &error), QC_OK);
        EXPECT_EQ(messages.take(), tags.differ ? Lines{"W " + text + "; samples are scored as they are"} : Lines{});
        EXPECT_EQ(qcr_check_colour(with(QCR_RANGE_IGNORE), 1, &own, &main, &error), QC_OK);
        EXPECT_EQ(qcr_check_colour(with(QCR_RANGE_ERROR), 1, &own, &main, &error),
                  tags.differ ? QC_ERROR_INVALID : QC_OK);
        EXPECT_STREQ(error.text, tags.differ ? (text + " (range=error)").c_str() : "");
        EXPECT_EQ(messages.take(), Lines{});
    }
}

TEST_F(Conditions, WhatTheEngineConvertsIsNotWarnedOf) {
    static constexpr struct {
        int range, matrix, main_range, main_matrix;
        bool is_said;
        qc_status as_error;
    } kCases[] = {
        {2, 1, 1, 1, false, QC_ERROR_INVALID}, // another range
        {2, 0, 1, 1, false, QC_OK},            // RGB beside what is not
        {1, 9, 1, 6, true, QC_ERROR_INVALID},
        {2, 9, 1, 6, true, QC_ERROR_INVALID},
    };
    for (const auto& tags : kCases) {
        const qcr_frame_facts own = tagged(tags.range, tags.matrix), main = tagged(tags.main_range, tags.main_matrix);
        qc_error error = {""};
        EXPECT_EQ(qcr_check_colour(with(QCR_RANGE_AUTO, false, true), 1, &own, &main, &error), QC_OK);
        EXPECT_EQ(messages.take().size(), tags.is_said ? 1U : 0U) << tags.range << " " << tags.matrix;
        EXPECT_EQ(qcr_check_colour(with(QCR_RANGE_ERROR, false, true), 1, &own, &main, &error), tags.as_error);
        EXPECT_EQ(messages.take(), Lines{});
    }
}

TEST_F(Conditions, ChangesOfTagsAreCountedAndSaidOnce) {
    qcr_conditions* conditions = with();
    const qcr_frame_facts first = tagged(1, 1), other = tagged(1, 9);
    const qc_colour colour = qcr_colour_of(&first);
    qcr_adopt_colour(conditions, 0, &colour);
    for (const auto* facts : {&first, &other, &other, &first}) qcr_follow_colour(conditions, 0, facts);
    note(-1, first, kNone, kNone);
    EXPECT_EQ(counts[0].own.colour_changes, 2);
    EXPECT_EQ(
        messages.take(),
        Lines{"W Input 0 (main) changes its colour tags at 0.500 s; those of the first pair go on being used: score "
              "parts of different colours apart, e.g. with trim"});
}

TEST_F(Conditions, TagsInWords) {
    const qcr_frame_facts facts = tagged(0, 2);
    const qc_colour unknown = qcr_colour_of(&facts), hdr = {9, 1, 9, 16, 0};
    const char* counted = "\"corrupt_frames\": 1, \"interlaced_frames\": 2, \"film_grain_frames\": 3, "
                          "\"colour_changes\": 4, \"timestamp_jumps\": 5}";
    EXPECT_EQ(unknown.matrix, 0);
    EXPECT_EQ(
        stream_json(unknown, {1, 2, 3, 4, 5}),
        std::string("{\"range\": null, \"matrix\": null, \"primaries\": null, \"transfer\": null, \"hdr\": null, ") +
            counted);
    EXPECT_EQ(
        stream_json(hdr, {1, 2, 3, 4, 5}),
        std::string(
            "{\"range\": \"tv\", \"matrix\": \"bt2020nc\", \"primaries\": \"bt2020\", \"transfer\": \"smpte2084\", "
            "\"hdr\": \"PQ\", ") +
            counted);
    EXPECT_STREQ(primaries_name(22), "ebu3213");
    EXPECT_STREQ(transfer_name(18), "arib-std-b67");
    EXPECT_STREQ(matrix_name(17), "ycgco-ro");
    for (const int code : {-1, 13, 23, 255, 257}) EXPECT_EQ(primaries_name(code), nullptr) << code;
}

TEST_F(Conditions, HdrIsNoMatterOfModelsFromFiles) {
    const test::Scoring scoring(test::cpu_config("vmaf"), 0), without(test::cpu_config("psnr"), 0);
    const qc_colour colours[] = {{}, {9, 1, 9, 18, 0}, {9, 1, 9, 16, 0}};
    static constexpr struct {
        const char* models;
        bool warns;
    } kCases[] = {{nullptr, true},
                  {"", true},
                  {"auto", true},
                  {"vmaf_v0.6.1", true},
                  {"version=vmaf_v0.6.1:name=mine", true},
                  {"path=own.json", false},
                  {"own.json", false},
                  {"path=own.json|vmaf_v0.6.1", true},
                  {"path=a|path=b", false}};
    for (const auto& of : kCases) {
        for (int times = 0; times < 2; ++times)
            qcr_check_hdr(times == 0 ? with() : made.get(), scoring.get(), of.models, colours);
        const Lines said = messages.take();
        EXPECT_EQ(said.size(), of.warns ? 1U : 0U);
        if (!said.empty()) {
            EXPECT_TRUE(
                said[0].starts_with("W Input 1 (reference) is HDR (HLG): models such as vmaf were made for SDR"));
        }
    }
    qcr_check_hdr(with(), without.get(), nullptr, colours); // nothing here was made for SDR
    EXPECT_EQ(messages.take(), Lines{});
}

TEST_F(Conditions, KeysOfDamage) {
    char key[32];
    EXPECT_STREQ(qcr_corrupt_key(0, key, sizeof(key)), "corrupt");
    EXPECT_STREQ(qcr_corrupt_key(1, key, sizeof(key)), "ref_corrupt");
    EXPECT_STREQ(qcr_corrupt_key(3, key, sizeof(key)), "2.corrupt");
}

} // namespace
} // namespace qc::run
