// SPDX-License-Identifier: BSD-2-Clause-Patent
// Lines for a receiver that may be slow, stand still, go away and come back: a queue of bounded length, and a thread
// that alone waits for the receiver. Knows no score.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
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
    /// @param name for messages, and for the receiver @param most lines that may wait, above 0
    Stream(std::string name, const qcr_receiver& receiver, int most, const qcr_sink& sink);
    ~Stream();

    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// Starts the thread; throws what std::thread does.
    void start();
    bool is_running() const { return thread_.joinable(); }

    const std::string& name() const;

    /// Appends a line, which needs its own end. Waits for nobody. Without memory the line is dropped, and counted.
    void send(std::string&& line) noexcept;

    /// Counts a line that could not even be made.
    void drop() noexcept;

    /// What has become of the lines so far.
    StreamCounts counts() const;

    /// Ends the thread: the receiver has so much time to take what waits. A receiver with a state of its own is left
    /// behind, with the thread, if a call of it does not return by then: a search for a host's name cannot be
    /// interrupted.
    /// @return 0, or the error of the first failure, if one lost a line of a receiver that is lasting
    int finish(std::chrono::microseconds patience);

private:
    class Sender; ///< the queue, and what the thread does

    std::shared_ptr<Sender> sender_; ///< the thread's, too
    std::thread thread_;
};

} // namespace qc::run
