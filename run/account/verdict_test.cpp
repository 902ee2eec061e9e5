// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether pairs suffice: counts in, a sentence out.
#include "run/account/verdict.hpp"

#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

qcr_counts counted(int64_t frames, int64_t paired, int64_t gaps = 0, int64_t disabled = 0) {
    qcr_counts counts{};
    std::tie(counts.frames, counts.paired, counts.gaps, counts.disabled) = std::tuple(frames, paired, gaps, disabled);
    return counts;
}

TEST(Verdict, MostFramesNeedAPartner) {
    char why[QCR_REFUSAL] = "";
    qcr_counts enough = counted(10, 5, 5), too_few = counted(10, 4, 6);
    EXPECT_EQ(qcr_refuse_pairs(&enough, 0, 0.02, why), 0);
    EXPECT_EQ(qcr_refuse_pairs(&too_few, 0, 0.02, why), 1);
    EXPECT_STREQ(why, "only 4 of 10 frames found a partner within max_dt, 0.020000 s, while both inputs ran; set "
                      "max_dt, align=start or "
                      "sync=index to what fits the inputs, or allow_unpaired=1 to accept it");
    EXPECT_EQ(qcr_refuse_pairs(&too_few, 2, 0.02, why), 1);
    EXPECT_TRUE(std::string(why).starts_with("only 4 of 10 frames of rendition 2 found")) << why;
    too_few.restarts = 2; // each switching-on may cost a frame
    EXPECT_EQ(qcr_refuse_pairs(&too_few, 0, 0.02, why), 0);
}

TEST(Verdict, NothingThatWasScored) {
    constexpr const char* kNever = "the time stamps never overlap; use align=start, setpts=PTS-STARTPTS or sync=index";
    static const struct {
        qcr_counts counts;
        qcr_end end;
        int64_t received[2];
        const char* why; ///< null: nothing is wrong with that
    } kCases[] = {
        {counted(3, 0), QCR_END_OF_STREAM, {3, 3}, kNever},
        {counted(3, 0), QCR_END_BY_CONSUMER, {3, 3}, kNever},
        {counted(3, 0), QCR_END_OF_STREAM, {3, 0}, "the reference has no frames"},
        {counted(0, 0), QCR_END_OF_STREAM, {0, 3}, "the distorted input has no frames"},
        {counted(0, 0), QCR_END_BY_CONSUMER, {0, 3}, nullptr},     // none was wanted
        {counted(3, 0, 0, 3), QCR_END_OF_STREAM, {3, 3}, nullptr}, // nor meant to be scored
        {counted(3, 1), QCR_END_OF_STREAM, {3, 3}, nullptr},
        {counted(3, 0), QCR_END_BY_SIGNAL, {3, 3}, nullptr},
        {counted(3, 0), QCR_END_TAKEN_DOWN, {3, 3}, nullptr},
        {counted(3, 0), QCR_END_BY_FAILURE, {3, 3}, nullptr},
    };
    for (const auto& of : kCases) {
        char why[QCR_REFUSAL] = "";
        EXPECT_EQ(qcr_refuse_nothing(&of.counts, of.end, of.received, why), of.why != nullptr);
        if (of.why)
            EXPECT_EQ(why, std::string("no frame was scored: ") + of.why + ", or allow_unpaired=1 to accept it");
        else
            EXPECT_STREQ(why, "");
    }
}

TEST(Verdict, WhatIsComplete) {
    qcr_counts counts = counted(3, 3);
    EXPECT_TRUE(is_complete(QCR_END_OF_STREAM, counts, 0, ""));
    EXPECT_TRUE(is_complete(QCR_END_BY_CONSUMER, counts, 0, ""));
    for (const qcr_end end : {QCR_END_NONE, QCR_END_BY_SIGNAL, QCR_END_TAKEN_DOWN, QCR_END_BY_FAILURE})
        EXPECT_FALSE(is_complete(end, counts, 0, "")) << end;
    EXPECT_FALSE(is_complete(QCR_END_OF_STREAM, counts, 1, ""));
    EXPECT_FALSE(is_complete(QCR_END_OF_STREAM, counts, 0, "it changed"));
    counts.holes = 1;
    EXPECT_FALSE(is_complete(QCR_END_OF_STREAM, counts, 0, ""));
    EXPECT_STREQ(qcr_end_name(QCR_END_NONE), "stopped early");
    EXPECT_STREQ(qcr_end_name(QCR_END_BY_FAILURE), "failure");
}

TEST(Verdict, HowARunEnds) {
    EXPECT_EQ(qcr_end_of(1, 1, 1, 1), QCR_END_BY_FAILURE);
    EXPECT_EQ(qcr_end_of(0, 1, 1, 1), QCR_END_BY_SIGNAL);
    EXPECT_EQ(qcr_end_of(0, 0, 1, 1), QCR_END_OF_STREAM);
    EXPECT_EQ(qcr_end_of(0, 0, 0, 1), QCR_END_TAKEN_DOWN);
    EXPECT_EQ(qcr_end_of(0, 0, 0, 0), QCR_END_BY_CONSUMER);
}

} // namespace
} // namespace qc::run
