// SPDX-License-Identifier: BSD-2-Clause-Patent
// Warnings that are noted on their way to the user.
#include "run/account/doubts.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"
#include "run/text/text.hpp"

namespace qc::run {
namespace {

class Doubts : public ::testing::Test {
protected:
    Doubts() {
        const qcr_sink sink = messages.sink();
        doubts.reset(qcr_doubts_create(&sink));
        doubting = qcr_doubting(doubts.get());
    }
    /// What a run that accepts no doubt fails with; empty: it does not.
    std::string refusal() const {
        char why[QCR_REFUSAL] = "";
        const int refuses = qcr_refuse_doubts(doubts.get(), why);
        EXPECT_EQ(refuses, *why != '\0');
        return why;
    }

    Messages messages;
    std::unique_ptr<qcr_doubts, void (*)(qcr_doubts*)> doubts{nullptr, qcr_doubts_destroy};
    qcr_sink doubting{};
};

TEST_F(Doubts, OnlyWarningsAreNotedAndAllIsPassedOn) {
    for (const qcr_level level : {QCR_LEVEL_ERROR, QCR_LEVEL_INFO, QCR_LEVEL_VERBOSE, QCR_LEVEL_DEBUG})
        say(doubting, level, "said");
    EXPECT_EQ(refusal(), "");
    EXPECT_EQ(warnings_json(doubts.get()), "[]");
    say(doubting, QCR_LEVEL_WARNING, "it is \"odd\"");
    EXPECT_EQ(messages.take(), (Lines{"E said", "I said", "V said", "D said", "W it is \"odd\""}));
    EXPECT_EQ(refusal(), "strict=1: a warning speaks against the scores: it is \"odd\"");
    EXPECT_EQ(warnings_json(doubts.get()), "[\"it is \\\"odd\\\"\"]");
}

TEST_F(Doubts, TheFirstOneIsNamedAndEachIsListedOnce) {
    for (const char* text : {"b", "a", "b"}) say(doubting, QCR_LEVEL_WARNING, text);
    EXPECT_EQ(refusal(), "strict=1: 2 warnings speak against the scores, at first: b");
    EXPECT_EQ(warnings_json(doubts.get()), "[\"a\", \"b\"]");
}

TEST_F(Doubts, ALongOneIsCutAndManyAreBounded) {
    say(doubting, QCR_LEVEL_WARNING, std::string(2 * QCR_REFUSAL, 'x'));
    EXPECT_EQ(refusal().size(), QCR_REFUSAL - 1U);
    for (int n = 0; n < 1000; ++n) say(doubting, QCR_LEVEL_WARNING, std::to_string(n));
    EXPECT_TRUE(refusal().starts_with("strict=1: 256 warnings speak against the scores, at first: xxx"));
}

TEST(NoDoubts, AreNone) {
    EXPECT_EQ(warnings_json(nullptr), "[]");
}

} // namespace
} // namespace qc::run
