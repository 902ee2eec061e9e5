// SPDX-License-Identifier: BSD-2-Clause-Patent
// Signals that a program handles are noted before it gets them; all others are left alone.
#include "quality_cuda_run/interrupts.h"

#include <csignal>

#include <gtest/gtest.h>

namespace {

int taken = 0; ///< signals that the program's handler got

void take(int /*number*/) {
    ++taken;
}

void take_with_information(int number, siginfo_t* info, void* /*context*/) {
    taken += info != nullptr && info->si_signo == number ? 1 : 100;
}

class InterruptsTest : public testing::Test {
protected:
    InterruptsTest() {
        taken = 0;
        for (int i = 0; i < 2; ++i) sigaction(kNumbers[i], nullptr, &before_[i]);
    }
    ~InterruptsTest() override {
        for (int i = 0; i < 2; ++i) sigaction(kNumbers[i], &before_[i], nullptr);
    }

    static bool is_handled_by(int number, void (*handler)(int)) {
        struct sigaction action {};
        sigaction(number, nullptr, &action);
        return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
    }

    static constexpr int kNumbers[] = {SIGINT, SIGTERM};
    struct sigaction before_[2];
    qcr_interrupts watch_{}, other_{};
};

TEST_F(InterruptsTest, AreNotedAndHandedOn) {
    const char* const names[] = {"SIGINT", "SIGTERM"};
    for (int i = 0; i < 2; ++i) {
        signal(kNumbers[i], take);
        qcr_interrupts_watch(&watch_);
        EXPECT_EQ(qcr_interrupted_by(&watch_), nullptr);
        raise(kNumbers[i]);
        EXPECT_STREQ(qcr_interrupted_by(&watch_), names[i]);
        EXPECT_EQ(taken, i + 1);
        qcr_interrupts_unwatch(&watch_);
        EXPECT_EQ(qcr_interrupted_by(&watch_), nullptr);
        EXPECT_TRUE(is_handled_by(kNumbers[i], take));
    }
}

TEST_F(InterruptsTest, HandlersGetWhatTheyAskFor) {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = take_with_information;
    sigaction(SIGTERM, &action, nullptr);
    qcr_interrupts_watch(&watch_);
    raise(SIGTERM);
    qcr_interrupts_unwatch(&watch_);
    EXPECT_EQ(taken, 1);
}

TEST_F(InterruptsTest, EachWatchKnowsItsOwnTime) {
    signal(SIGTERM, take);
    qcr_interrupts_watch(&watch_);
    raise(SIGTERM);
    qcr_interrupts_watch(&other_);
    EXPECT_STREQ(qcr_interrupted_by(&watch_), "SIGTERM");
    EXPECT_EQ(qcr_interrupted_by(&other_), nullptr);
    qcr_interrupts_unwatch(&watch_);
    EXPECT_FALSE(is_handled_by(SIGTERM, take)); // the other one still watches
    raise(SIGTERM);
    EXPECT_STREQ(qcr_interrupted_by(&other_), "SIGTERM");
    qcr_interrupts_unwatch(&other_);
    EXPECT_TRUE(is_handled_by(SIGTERM, take));
    EXPECT_EQ(taken, 2);
}

TEST_F(InterruptsTest, WhatNobodyHandlesIsLeftAlone) {
    for (void (*handler)(int) : {SIG_DFL, SIG_IGN}) {
        signal(SIGTERM, handler);
        qcr_interrupts_watch(&watch_);
        EXPECT_TRUE(is_handled_by(SIGTERM, handler));
        qcr_interrupts_unwatch(&watch_);
    }
}

TEST_F(InterruptsTest, ALaterHandlerStays) {
    signal(SIGTERM, take);
    qcr_interrupts_watch(&watch_);
    struct sigaction ours {};
    sigaction(SIGTERM, nullptr, &ours);
    signal(SIGTERM, SIG_IGN);
    qcr_interrupts_unwatch(&watch_);
    EXPECT_TRUE(is_handled_by(SIGTERM, SIG_IGN));
    // It may call ours at any time: put back as it was found, it still hands on, and the next watch does not wrap it
    // again.
    sigaction(SIGTERM, &ours, nullptr);
    qcr_interrupts_watch(&watch_);
    raise(SIGTERM);
    EXPECT_STREQ(qcr_interrupted_by(&watch_), "SIGTERM");
    EXPECT_EQ(taken, 1);
    qcr_interrupts_unwatch(&watch_);
    EXPECT_TRUE(is_handled_by(SIGTERM, take));
}

} // namespace
