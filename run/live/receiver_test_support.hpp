// SPDX-License-Identifier: BSD-2-Clause-Patent
// A receiver that does what a test wants: takes lines, refuses them, stands still.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "quality_cuda_run/receiver.h"
#include "run/text/messages_test_support.hpp"

namespace qc::run {

/// Waits until something is so, at most five seconds. @return whether it is
inline bool wait_until(const std::function<bool()>& is_so) {
    for (int i = 0; i < 5000 && !is_so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return is_so();
}

class FakeReceiver {
public:
    explicit FakeReceiver(bool is_lasting = false) : is_lasting_(is_lasting) {}

    /// What open() and write() do from now on: return that error, or 0.
    void answer(int open, int write) {
        const std::scoped_lock lock(mutex_);
        open_ = open;
        write_ = write;
    }

    /// write() refuses this line once, with an error.
    void refuse(const std::string& line) {
        const std::scoped_lock lock(mutex_);
        refused_ = line;
    }

    /// From now on write() takes nothing, until it may give up.
    void stall(bool does) {
        const std::scoped_lock lock(mutex_);
        stalls_ = does;
    }

    qcr_receiver table() {
        qcr_receiver table{};
        table.opaque = this;
        table.is_lasting = is_lasting_ ? 1 : 0;
        table.open = [](void* opaque, const char*, const qcr_patience* patience) {
            return self(opaque).open(*patience);
        };
        table.write = [](void* opaque, const char* text, size_t size) {
            return self(opaque).write(std::string(text, size));
        };
        table.close = [](void* opaque) {
            const std::scoped_lock lock(self(opaque).mutex_);
            ++self(opaque).closed_;
            return self(opaque).close_;
        };
        table.describe = [](void*, int error, char* text, size_t size) {
            std::snprintf(text, size, "error %d", error);
        };
        return table;
    }

    std::vector<std::string> got() const { return locked(got_); }
    int tries() const { return locked(tries_); }
    int opened() const { return locked(opened_); }
    int closed() const { return locked(closed_); }
    bool is_stalled() const { return locked(is_stalled_); }

    int close_ = 0; ///< what close() returns

private:
    static FakeReceiver& self(void* opaque) { return *static_cast<FakeReceiver*>(opaque); }

    template <typename Value>
    Value locked(const Value& value) const {
        const std::scoped_lock lock(mutex_);
        return value;
    }

    int open(const qcr_patience& patience) {
        const std::scoped_lock lock(mutex_);
        patience_ = patience;
        ++tries_;
        if (open_ == 0) ++opened_;
        return open_;
    }

    int write(const std::string& line) {
        while (locked(stalls_)) {
            if (patience_.is_over(patience_.opaque) != 0) return QCR_GAVE_UP;
            const std::scoped_lock lock(mutex_);
            is_stalled_ = true;
        }
        const std::scoped_lock lock(mutex_);
        ++tries_;
        if (line == refused_) {
            refused_.clear();
            return -1;
        }
        if (write_ == 0) got_.push_back(line);
        return write_;
    }

    const bool is_lasting_;
    mutable std::mutex mutex_;
    qcr_patience patience_{};
    int open_ = 0, write_ = 0;
    bool stalls_ = false, is_stalled_ = false;
    int tries_ = 0, opened_ = 0, closed_ = 0;
    std::string refused_;
    std::vector<std::string> got_;
};

} // namespace qc::run
