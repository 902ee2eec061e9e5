// SPDX-License-Identifier: BSD-2-Clause-Patent
// The queue and the thread: receivers that take lines, stand still, fail, go and come back. Nobody waits for them.
#include "run/live/stream.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "run/live/receiver_test_support.hpp"
#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StreamTest : public testing::Test {
protected:
    void start(FakeReceiver& receiver, int most = 100) {
        stream_.emplace("there", receiver.table(), most, messages_.sink());
        stream_->start();
    }

    void send(int first, int last) {
        for (int i = first; i <= last; ++i) stream_->send(line(i));
    }

    static std::string line(int number) { return std::to_string(number) + '\n'; }

    static Lines lines(int first, int last) {
        Lines all;
        for (int i = first; i <= last; ++i) all.push_back(line(i));
        return all;
    }

    void expect_counts(int64_t taken, int64_t dropped, int64_t receivers) {
        const StreamCounts counts = stream_->counts();
        EXPECT_EQ(counts.lines, taken);
        EXPECT_EQ(counts.dropped, dropped);
        EXPECT_EQ(counts.receivers, receivers);
    }

    /// The end in less than the patience: nothing is waited for that does not come.
    int finish_within(milliseconds limit, std::chrono::microseconds patience) {
        const auto before = std::chrono::steady_clock::now();
        const int error = stream_->finish(patience);
        EXPECT_LT(std::chrono::steady_clock::now() - before, limit);
        return error;
    }

    Messages messages_;
    std::optional<Stream> stream_;
};

const std::string kTakesNone = "log_path=there takes no lines: ";
const std::string kGoesOn = "; scoring goes on, up to 100 lines wait, and then the oldest are dropped";

TEST_F(StreamTest, HandsOverAllInOrder) {
    FakeReceiver receiver;
    start(receiver);
    send(1, 50);
    EXPECT_EQ(finish_within(seconds(60), seconds(60)), 0);
    EXPECT_EQ(receiver.got(), lines(1, 50));
    EXPECT_EQ(receiver.closed(), 1);
    expect_counts(50, 0, 1);
    EXPECT_EQ(messages_.take(), (Lines{"V log_path=there takes lines"}));
    EXPECT_EQ(stream_->finish(seconds(60)), 0);
}

TEST_F(StreamTest, OpensNothingWithoutALine) {
    FakeReceiver receiver;
    start(receiver);
    stream_->finish(seconds(60));
    EXPECT_EQ(receiver.tries(), 0);
    EXPECT_EQ(receiver.closed(), 0);
}

TEST_F(StreamTest, DropsTheOldestWhereTheReceiverStandsStill) {
    FakeReceiver receiver;
    receiver.stall(true);
    start(receiver, 10);
    send(1, 1);
    ASSERT_TRUE(wait_until([&] { return receiver.is_stalled(); }));
    send(2, 31); // ten of them wait
    expect_counts(0, 20, 1);
    receiver.stall(false);
    ASSERT_TRUE(wait_until([&] { return receiver.got().size() == 12; }));
    Lines expected = lines(1, 1);
    expected.push_back("{\"type\": \"stream\", \"dropped\": 20, \"dropped_total\": 20, \"receiver\": 1}\n");
    for (const std::string& each : lines(22, 31)) expected.push_back(each);
    EXPECT_EQ(receiver.got(), expected);
    send(32, 32);
    stream_->finish(seconds(60));
    EXPECT_EQ(receiver.got().back(), line(32));
    expect_counts(12, 20, 1);
}

TEST_F(StreamTest, GivesUpAtTheEnd) {
    FakeReceiver receiver;
    receiver.stall(true);
    start(receiver);
    send(1, 5);
    ASSERT_TRUE(wait_until([&] { return receiver.is_stalled(); }));
    EXPECT_EQ(finish_within(seconds(5), milliseconds(50)), 0);
    EXPECT_EQ(receiver.got(), Lines());
    expect_counts(0, 5, 1);
}

/// A receiver whose open() asks nobody whether it should go on, as a search for a host's name does not.
struct Deaf {
    std::mutex holds;
    std::atomic<int> calls{0}, opened{0}, closed{0};

    static Deaf& self(void* state) { return **static_cast<Deaf**>(state); }

    qcr_receiver table() {
        static Deaf* one = nullptr; // open() hands it to the state, which has to begin as zeros
        one = this;
        qcr_receiver table{};
        table.state_size = sizeof(Deaf*);
        table.open = [](void* state, const char* name, const qcr_patience*) {
            EXPECT_EQ(*static_cast<Deaf**>(state), nullptr);
            EXPECT_STREQ(name, "there");
            *static_cast<Deaf**>(state) = one;
            ++one->calls;
            const std::scoped_lock until_it_may(one->holds);
            ++one->opened;
            return 0;
        };
        table.write = [](void*, const char*, size_t) { return 0; };
        table.close = [](void* state) {
            ++self(state).closed;
            return -EPIPE;
        };
        table.describe = [](void*, int, char* text, size_t size) { std::snprintf(text, size, "?"); };
        return table;
    }
};

TEST_F(StreamTest, LeavesOneBehindThatDoesNotComeBack) {
    Deaf deaf;
    std::unique_lock hold(deaf.holds);
    stream_.emplace("there", deaf.table(), 100, messages_.sink());
    stream_->start();
    send(1, 5);
    ASSERT_TRUE(wait_until([&] { return deaf.calls == 1; }));
    EXPECT_EQ(finish_within(seconds(5), milliseconds(50)), 0);
    expect_counts(0, 5, 0);
    stream_.reset();
    messages_.take();
    hold.unlock(); // the name server answers after all
    ASSERT_TRUE(wait_until([&] { return deaf.closed == 1; }));
    EXPECT_EQ(deaf.opened, 1);
    EXPECT_EQ(messages_.take(), Lines()); // whom it would tell may be gone
}

TEST_F(StreamTest, IsDestroyedAtOnce) {
    FakeReceiver receiver;
    receiver.stall(true);
    start(receiver);
    send(1, 5);
    const auto before = std::chrono::steady_clock::now();
    stream_.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - before, seconds(5));
}

TEST_F(StreamTest, TriesAgainAndSaysSoOnce) {
    FakeReceiver receiver;
    receiver.answer(-ECONNREFUSED, 0);
    start(receiver);
    send(1, 3);
    ASSERT_TRUE(wait_until([&] { return receiver.tries() >= 2; }));
    receiver.answer(0, 0);
    ASSERT_TRUE(wait_until([&] { return receiver.got().size() == 3; }));
    EXPECT_EQ(receiver.got(), lines(1, 3));
    EXPECT_EQ(receiver.closed(), 0); // what was not opened is not closed
    const Lines said = messages_.take();
    const std::string refused = kTakesNone + "error " + std::to_string(-ECONNREFUSED) + kGoesOn;
    ASSERT_GE(said.size(), 3U);
    EXPECT_EQ(said.front(), "W " + refused);
    EXPECT_EQ(said[1], "V " + refused);
    EXPECT_EQ(said.back(), "I log_path=there takes lines");
    EXPECT_EQ(stream_->finish(seconds(60)), 0);
    expect_counts(3, 0, 1);
}

TEST_F(StreamTest, TellsAReceiverThatItIsNotTheFirst) {
    FakeReceiver receiver;
    start(receiver);
    send(1, 1);
    ASSERT_TRUE(wait_until([&] { return receiver.got().size() == 1; }));
    receiver.answer(-EPIPE, -EPIPE);
    send(2, 2);
    ASSERT_TRUE(wait_until([&] { return receiver.closed() == 1; }));
    receiver.answer(0, 0);
    send(3, 3);
    EXPECT_EQ(stream_->finish(seconds(60)), 0);
    EXPECT_EQ(receiver.got(),
              (Lines{line(1), "{\"type\": \"stream\", \"dropped\": 0, \"dropped_total\": 0, \"receiver\": 2}\n",
                     line(2), line(3)}));
    expect_counts(3, 0, 2);
}

TEST_F(StreamTest, OneThatNeverComesCostsLinesOnly) {
    FakeReceiver receiver;
    receiver.answer(-ENXIO, 0);
    start(receiver, 10);
    send(1, 30);
    EXPECT_EQ(finish_within(seconds(10), milliseconds(150)), 0);
    expect_counts(0, 30, 0);
}

TEST_F(StreamTest, TheEndHurriesThePauses) {
    FakeReceiver receiver;
    receiver.answer(-ECONNREFUSED, 0);
    start(receiver);
    send(1, 1);
    ASSERT_TRUE(wait_until([&] { return receiver.tries() >= 3; })); // the pauses are longer than 200 ms by now
    const int before = receiver.tries();
    stream_->finish(milliseconds(450));
    EXPECT_GE(receiver.tries(), before + 2);
    EXPECT_LE(receiver.tries(), before + 7); // there still are some
}

TEST_F(StreamTest, WhatIsLastingStaysOpenAndItsLossIsAFailure) {
    FakeReceiver receiver(true);
    receiver.answer(0, -ENOSPC);
    start(receiver);
    send(1, 2);
    ASSERT_TRUE(wait_until([&] { return receiver.tries() >= 3; })); // one of them is open()
    EXPECT_EQ(stream_->finish(milliseconds(1)), -ENOSPC);
    EXPECT_EQ(receiver.opened(), 1);
    EXPECT_EQ(receiver.closed(), 1);
    expect_counts(0, 2, 1);
    const Lines said = messages_.take();
    ASSERT_GE(said.size(), 2U);
    EXPECT_EQ(said[1], "E " + kTakesNone + "error " + std::to_string(-ENOSPC) + kGoesOn);
}

TEST_F(StreamTest, WhatIsLastingMayRecover) {
    FakeReceiver receiver(true);
    receiver.answer(0, -ENOSPC);
    start(receiver);
    send(1, 2);
    ASSERT_TRUE(wait_until([&] { return receiver.tries() >= 3; }));
    receiver.answer(0, 0);
    EXPECT_EQ(stream_->finish(seconds(60)), 0);
    EXPECT_EQ(receiver.got(), lines(1, 2));
}

TEST_F(StreamTest, IsToldOfAGapOnce) {
    FakeReceiver receiver(true);
    receiver.refuse(line(2));
    start(receiver);
    stream_->drop();
    send(2, 2);
    EXPECT_EQ(stream_->finish(seconds(60)), -1);
    EXPECT_EQ(receiver.got(),
              (Lines{"{\"type\": \"stream\", \"dropped\": 1, \"dropped_total\": 1, \"receiver\": 1}\n", line(2)}));
}

TEST_F(StreamTest, AFailureToCloseIsSaid) {
    FakeReceiver receiver(true);
    receiver.close_ = -EDQUOT;
    start(receiver);
    send(1, 1);
    EXPECT_EQ(stream_->finish(seconds(60)), 0); // no line was lost as far as is known
    EXPECT_EQ(messages_.take().back(), "E " + kTakesNone + "error " + std::to_string(-EDQUOT) + kGoesOn);
}

TEST_F(StreamTest, LinesThatCouldNotBeMadeAreTold) {
    FakeReceiver receiver;
    start(receiver);
    stream_->drop();
    send(2, 2);
    stream_->finish(seconds(60));
    EXPECT_EQ(receiver.got(),
              (Lines{"{\"type\": \"stream\", \"dropped\": 1, \"dropped_total\": 1, \"receiver\": 1}\n", line(2)}));
    expect_counts(1, 1, 1);
}

TEST_F(StreamTest, CountsMayBeAskedForAllTheTime) {
    FakeReceiver receiver;
    start(receiver, 50);
    for (int i = 1; i <= 2000; ++i) {
        send(i, i);
        const StreamCounts counts = stream_->counts();
        EXPECT_LE(counts.lines + counts.dropped, i);
    }
    stream_->finish(seconds(60));
    const StreamCounts counts = stream_->counts();
    EXPECT_EQ(counts.lines + counts.dropped, 2000);
    EXPECT_EQ(receiver.got().back(), line(2000));
}

} // namespace
} // namespace qc::run
