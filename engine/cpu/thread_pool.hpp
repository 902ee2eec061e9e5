// SPDX-License-Identifier: BSD-2-Clause-Patent
// A fixed set of threads that run tasks in the order they were added.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace qc::cpu {

class ThreadPool {
public:
    /// @throws std::system_error if the system gives no more threads
    explicit ThreadPool(int threads);
    /// Finishes what was added, then joins.
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    void add(std::function<void()> task);
    int size() const { return static_cast<int>(threads_.size()); }

private:
    void run();
    void stop();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

} // namespace qc::cpu
