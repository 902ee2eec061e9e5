// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/thread_pool.hpp"

namespace qc::cpu {

ThreadPool::ThreadPool(int threads) {
    threads_.reserve(static_cast<size_t>(threads));
    try {
        for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (...) { // the system has no more: those that run must end before the exception may go on
        stop();
        throw;
    }
}

ThreadPool::~ThreadPool() {
    stop();
}

void ThreadPool::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::add(std::function<void()> task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
}

void ThreadPool::run() {
    for (;;) {
        std::function<void()> task;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        task();
    }
}

} // namespace qc::cpu
