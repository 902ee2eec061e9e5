// SPDX-License-Identifier: BSD-2-Clause-Patent
// Lines for a receiver that may be slow, stand still, go away and come back: a queue of bounded length, and a thread
// that alone waits for the receiver. Knows no score.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "quality_cuda_run/receiver.h"
#include "quality_cuda_run/sink.h"

namespace qc::run {

struct StreamCounts {
    int64_t lines = 0; ///< that were handed over
    int64_t dropped = 0;
    int64_t receivers = 0; ///< that were reached, one after the other
};

/// Where the queue is full its oldest line is dropped. The thread tries again and again to reach a receiver that is
/// gone, and tells it in a line of its own how many lines it has missed.
class Stream {
public:
    /// @param name for messages @param most lines that may wait, above 0
    Stream(std::string name, const qcr_receiver& receiver, int most, const qcr_sink& sink);
    ~Stream() { finish(std::chrono::microseconds(0)); }

    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// Starts the thread; throws what std::thread does.
    void start();
    bool is_running() const { return thread_.joinable(); }

    const std::string& name() const { return name_; }

    /// Appends a line, which needs its own end. Waits for nobody. Without memory the line is dropped, and counted.
    void send(std::string&& line) noexcept;

    /// Counts a line that could not even be made.
    void drop() noexcept;

    /// What has become of the lines so far.
    StreamCounts counts() const;

    /// Ends the thread: the receiver has so much time to take what waits.
    /// @return 0, or the error of the first failure, if one lost a line of a receiver that is lasting
    int finish(std::chrono::microseconds patience);

private:
    using Clock = std::chrono::steady_clock;

    struct Waiting {
        std::string text;
        int64_t dropped_before = 0; ///< lines that were dropped since the one before
    };

    void run() noexcept;
    bool next(Waiting& line);
    bool deliver(Waiting& line);
    int try_line(Waiting& line);
    int open();
    void close_failed();
    int write_gap(int64_t dropped, bool is_new);
    void note_failure(int error);
    std::chrono::milliseconds pause(std::chrono::milliseconds length);
    bool gives_up() const { return Clock::now().time_since_epoch().count() >= give_up_at_.load(); }
    void count_dropped();

    const std::string name_;
    const qcr_receiver receiver_;
    const size_t most_;
    const qcr_sink sink_;
    std::thread thread_;
    std::atomic<Clock::rep> give_up_at_; ///< when nothing is waited for any more

    // The thread's.
    bool is_open_ = false;
    bool has_complained_ = false; ///< a loss is a warning once

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by it.
    std::deque<Waiting> queue_;
    int64_t unsaid_ = 0; ///< lines that were dropped, and no later line says so yet
    StreamCounts counts_;
    bool is_closing_ = false; ///< no line follows
    int error_ = 0;           ///< of the first failure
};

} // namespace qc::run
