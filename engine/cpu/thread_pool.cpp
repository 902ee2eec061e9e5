// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>

namespace qc::cpu {
namespace {

/// Parts of a task, which several threads take one after the other. Helpers may come when all is done, and when the
/// task is long gone: they find it closed, and touch nothing of it.
class SharedParts {
public:
    SharedParts(int parts, const std::function<void(int)>& part) : parts_(parts), part_(part) {}

    void help() {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) return;
            ++helping_;
        }
        take();
        const std::lock_guard lock(mutex_);
        if (--helping_ == 0) left_.notify_one();
    }

    /// By the thread that the task runs in.
    void finish() {
        take();
        std::unique_lock lock(mutex_);
        closed_ = true;
        left_.wait(lock, [this] { return helping_ == 0; });
        if (failure_ != nullptr) std::rethrow_exception(failure_);
    }

private:
    void take() noexcept {
        for (int i = next_++; i < parts_; i = next_++) {
            try {
                part_(i);
            } catch (...) {
                next_ = parts_;
                const std::lock_guard lock(mutex_);
                failure_ = std::current_exception();
            }
        }
    }

    const int parts_;
    const std::function<void(int)>& part_;
    std::atomic<int> next_ = 0;
    std::mutex mutex_;
    std::condition_variable left_;
    int helping_ = 0;
    bool closed_ = false;
    std::exception_ptr failure_;
};

} // namespace

ThreadPool::ThreadPool(int threads) : limit_(threads) {
    threads_.reserve(static_cast<size_t>(threads));
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

/// As many as there is work for. Precondition: the mutex is held.
void ThreadPool::start_threads() {
    while (!stopping_ && idle_ < tasks_.size() + offers_.size() && threads_.size() < static_cast<size_t>(limit_)) {
        threads_.emplace_back([this] { run(); });
        ++idle_;
    }
}

void ThreadPool::add(std::function<void()> task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        try {
            start_threads();
        } catch (...) { // there are no more: those that run must do
            if (threads_.empty()) {
                tasks_.pop_back();
                throw;
            }
        }
    }
    wake_.notify_one();
}

int ThreadPool::threads() {
    const std::lock_guard lock(mutex_);
    return tasks_.empty() ? size() : 1;
}

void ThreadPool::share(int parts, const std::function<void(int)>& part) {
    const auto shared = std::make_shared<SharedParts>(parts, part);
    {
        const std::lock_guard lock(mutex_);
        const int helpers = std::min(parts, size()) - 1;
        try {
            for (int i = 0; i < helpers; ++i) offers_.emplace_back([shared] { shared->help(); });
            start_threads();
        } catch (const std::exception&) { // of memory or threads: then there are fewer
        }
    }
    wake_.notify_all();
    shared->finish();
}

void ThreadPool::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopping_ || !tasks_.empty() || !offers_.empty(); });
        std::deque<std::function<void()>>& queue = tasks_.empty() ? offers_ : tasks_;
        if (queue.empty()) return;
        std::function<void()> task = std::move(queue.front());
        queue.pop_front();
        --idle_;
        lock.unlock();
        task();
        task = nullptr; // what it holds ends here
        lock.lock();
        ++idle_;
    }
}

} // namespace qc::cpu
