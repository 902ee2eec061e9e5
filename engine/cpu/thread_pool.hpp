// SPDX-License-Identifier: BSD-2-Clause-Patent
// Threads that run tasks in the order they were added, and help each other where there are none. They start when there
// is something for them to do: a pool for a small picture is no burden.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "contract/helpers.hpp"

namespace qc::cpu {

class ThreadPool final : public Helpers {
public:
    /// @param threads at most
    explicit ThreadPool(int threads);
    /// Finishes what was added, then joins.
    ~ThreadPool() override;
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// @throws std::system_error if the system gives not even one thread; with fewer than wanted, the pool goes on
    void add(std::function<void()> task);
    int size() const { return limit_; }

    /// Of a task: all, unless others wait for a thread.
    int threads() override;
    /// Of a task, which does what nobody else takes. Threads come as soon as they have nothing else to do.
    void share(int parts, const std::function<void(int)>& part) override;

private:
    void run();
    void start_threads();

    const int limit_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    std::deque<std::function<void()>> offers_; ///< shares of tasks, taken where there are no tasks
    bool stopping_ = false;
    size_t idle_ = 0; ///< threads that wait, or are about to
    std::vector<std::thread> threads_;
};

} // namespace qc::cpu
