// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory that concurrent evaluations of a scorer work in, kept from one to the next.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace qc {

/// As many workspaces as evaluations ever ran at once. (thread_local objects would do, but where memory is short the C
/// library aborts when it takes note of their destructors.) Thread-safe.
template <typename T>
class Workspaces {
public:
    class Lease {
    public:
        Lease(Workspaces& owner, std::shared_ptr<T> space) : owner_(owner), space_(std::move(space)) {}
        /// What a failure left half grown, or half used, is not for others.
        ~Lease() {
            if (std::uncaught_exceptions() == exceptions_) owner_.give_back(std::move(space_));
        }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        T& operator*() const { return *space_; }

    private:
        Workspaces& owner_;
        std::shared_ptr<T> space_;
        const int exceptions_ = std::uncaught_exceptions();
    };

    /// Whatever it was used for before. T is complete here, if nowhere else.
    Lease borrow() { return {*this, take()}; }

private:
    std::shared_ptr<T> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!free_.empty()) {
                std::shared_ptr<T> space = std::move(free_.back());
                free_.pop_back();
                return space;
            }
            free_.reserve(++made_); // so that giving back takes no memory
        }
        return std::make_shared<T>();
    }
    void give_back(std::shared_ptr<T> space) noexcept {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(space));
    }

    std::mutex mutex_;
    std::vector<std::shared_ptr<T>> free_; ///< has room for all that were made
    size_t made_ = 0;
};

} // namespace qc
