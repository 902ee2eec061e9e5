// SPDX-License-Identifier: BSD-2-Clause-Patent
// Tasks of the CPU backend that share their work: what idle threads take, and what happens where there are none.
#include "cpu/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <set>
#include <stdexcept>

namespace qc::cpu {
namespace {

/// Runs `task` in a thread of the pool, and waits for it.
template <typename Task>
void run_in(ThreadPool& pool, const Task& task) {
    std::packaged_task<void()> packaged(task);
    std::future<void> done = packaged.get_future();
    pool.add([&packaged] { packaged(); });
    done.get();
}

TEST(ThreadPool, EveryPartIsCalledOnce) {
    for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        for (const int parts : {1, 2, 3, 64}) {
            std::vector<std::atomic<int>> calls(static_cast<size_t>(parts));
            run_in(pool, [&] { pool.share(parts, [&](int part) { ++calls[static_cast<size_t>(part)]; }); });
            for (const auto& count : calls) EXPECT_EQ(count, 1) << threads << " threads, " << parts << " parts";
        }
    }
}

size_t threads_of_this_program() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(ThreadPool, ThreadsStartWhenThereIsWork) {
    const size_t before = threads_of_this_program();
    ThreadPool pool(64);
    EXPECT_EQ(pool.size(), 64) << "as many as there may be";
    EXPECT_EQ(threads_of_this_program(), before);
    run_in(pool, [] {});
    EXPECT_LE(threads_of_this_program(), before + 1);
    run_in(pool, [&] { pool.share(3, [](int) {}); });
    EXPECT_LE(threads_of_this_program(), before + 4) << "those that help are two";
}

/// Parts that wait for each other end only if as many threads run them.
TEST(ThreadPool, IdleThreadsTakeParts) {
    constexpr int kThreads = 4;
    ThreadPool pool(kThreads);
    run_in(pool, [&] {
        std::atomic<int> arrived = 0;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        pool.share(kThreads, [&](int) {
            ++arrived;
            while (arrived < kThreads && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
        });
        EXPECT_EQ(arrived, kThreads);
        EXPECT_LT(std::chrono::steady_clock::now(), deadline) << "the parts did not meet";
    });
}

/// What no other thread comes for, the task does by itself.
TEST(ThreadPool, ABusyPoolHelpsNobody) {
    std::promise<void> end;
    std::shared_future<void> ended = end.get_future().share();
    std::promise<void> begun;
    ThreadPool pool(2); // goes first: its tasks wait for these
    pool.add([&] {
        begun.set_value();
        ended.wait();
    });
    begun.get_future().wait();
    run_in(pool, [&] {
        EXPECT_EQ(pool.threads(), 2); // the other one may come
        pool.add([] {});
        EXPECT_EQ(pool.threads(), 1) << "a task waits";
        const std::thread::id self = std::this_thread::get_id();
        pool.share(8, [&](int) { EXPECT_EQ(std::this_thread::get_id(), self); });
    });
    end.set_value();
}

TEST(ThreadPool, AFailureOfAPartComesBack) {
    ThreadPool pool(3);
    run_in(pool, [&] {
        for (int failing = 0; failing < 6; ++failing)
            EXPECT_THROW(pool.share(6, [&](int part) { part == failing ? throw std::runtime_error("part") : void(); }),
                         std::runtime_error);
    });
    bool ran = false;
    run_in(pool, [&] { ran = true; }); // the pool goes on
    EXPECT_TRUE(ran);
}

/// Where the work is cut depends on the threads; that nothing is missing or done twice does not.
TEST(ThreadPool, RunsCoverEverything) {
    ThreadPool pool(4);
    run_in(pool, [&] {
        for (const int count : {0, 1, 15, 16, 17, 100})
            for (const int unit : {1, 16}) {
                std::mutex mutex;
                std::multiset<int> seen;
                const auto run = [&](int begin, int end) {
                    EXPECT_TRUE(begin % unit == 0 || begin == count) << begin;
                    const std::lock_guard lock(mutex);
                    for (int i = begin; i < end; ++i) seen.insert(i);
                };
                share_runs(&pool, count, unit, run);
                EXPECT_EQ(seen.size(), static_cast<size_t>(count));
                EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), static_cast<size_t>(count));
            }
    });
}

/// The same of runs that threads go on with.
TEST(ThreadPool, RowRunsCoverEverything) {
    ThreadPool pool(4);
    run_in(pool, [&] {
        for (const int count : {1, 8, 9, 100})
            for (const int unit : {1, 8}) {
                std::mutex mutex;
                std::multiset<int> seen;
                const auto work = [&](RowRuns& runs, RowRuns::Run run) {
                    do {
                        EXPECT_EQ(run.begin % unit, 0);
                        const std::lock_guard lock(mutex);
                        for (int i = run.begin; i < run.end; ++i) seen.insert(i);
                    } while (runs.go_on(&run) || runs.begin(&run));
                };
                share_row_runs(&pool, count, unit, work);
                EXPECT_EQ(seen.size(), static_cast<size_t>(count));
                EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), static_cast<size_t>(count));
            }
    });
}

/// A thread that is alone goes from the first row to the last; one that comes later begins in the middle of what is
/// left.
TEST(ThreadPool, RowRunsAreCutWhereThreadsCome) {
    RowRuns alone(RunLimits(80, 8, 5));
    RowRuns::Run run{};
    ASSERT_TRUE(alone.begin(&run));
    EXPECT_EQ(run.begin, 0);
    for (int end = run.end; end < 80; end = run.end) {
        ASSERT_TRUE(alone.go_on(&run));
        EXPECT_EQ(run.begin, end);
    }
    EXPECT_FALSE(alone.go_on(&run));
    EXPECT_FALSE(alone.begin(&run));

    RowRuns two(RunLimits(80, 8, 5));
    RowRuns::Run first{}, second{};
    ASSERT_TRUE(two.begin(&first));
    ASSERT_TRUE(two.begin(&second));
    EXPECT_EQ(second.begin, 48);
    ASSERT_TRUE(two.go_on(&first));
    ASSERT_TRUE(two.go_on(&first));
    EXPECT_EQ(first.end, 48);
    EXPECT_FALSE(two.go_on(&first));
}

} // namespace
} // namespace qc::cpu
