// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/stream.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <new>
#include <utility>

#include "run/interrupts/without_signals.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause(100); // before a receiver is tried again, doubled each time
constexpr milliseconds kLongestPause(5000);
constexpr milliseconds kLastPause(100); // while the end waits for it

} // namespace

Stream::Stream(std::string name, const qcr_receiver& receiver, int most, const qcr_sink& sink)
    : name_(std::move(name)), receiver_(receiver), most_(static_cast<size_t>(most)), sink_(sink),
      give_up_at_(Clock::time_point::max().time_since_epoch().count()) {}

void Stream::start() {
    const WithoutSignals none;
    thread_ = std::thread([this] { run(); });
}

// ---- the caller's side

void Stream::count_dropped() {
    ++counts_.dropped;
    ++unsaid_;
}

void Stream::drop() noexcept {
    const std::scoped_lock lock(mutex_);
    count_dropped();
}

void Stream::send(std::string&& line) noexcept {
    {
        const std::scoped_lock lock(mutex_);
        if (queue_.size() >= most_) {
            queue_.pop_front();
            count_dropped();
        }
        try {
            queue_.push_back({std::move(line)});
        } catch (const std::bad_alloc&) {
            count_dropped();
        }
    }
    changed_.notify_one();
}

StreamCounts Stream::counts() const {
    const std::scoped_lock lock(mutex_);
    return counts_;
}

int Stream::finish(std::chrono::microseconds patience) {
    if (!is_running()) return 0;
    {
        const std::scoped_lock lock(mutex_);
        is_closing_ = true;
        give_up_at_ = (Clock::now() + patience).time_since_epoch().count();
    }
    changed_.notify_one();
    thread_.join();
    counts_.dropped += static_cast<int64_t>(queue_.size());
    queue_.clear();
    return receiver_.is_lasting != 0 && counts_.dropped > 0 ? error_ : 0;
}

// ---- the thread

/// @return false: no line follows
bool Stream::next(Waiting& line) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
    if (queue_.empty()) return false;
    line = std::move(queue_.front());
    queue_.pop_front();
    line.dropped_before = std::exchange(unsaid_, 0);
    return true;
}

/// Waits before another try; a line that comes meanwhile does not end that, the end of the run does. @return the next
/// pause
milliseconds Stream::pause(milliseconds length) {
    std::unique_lock lock(mutex_);
    if (is_closing_) length = std::min(length, kLastPause);
    changed_.wait_for(lock, length, [&] { return is_closing_ && length > kLastPause; });
    return std::min(2 * length, kLongestPause);
}

void Stream::note_failure(int error) {
    {
        const std::scoped_lock lock(mutex_);
        if (error_ == 0) error_ = error;
    }
    std::array<char, 256> why{};
    receiver_.describe(receiver_.opaque, error, why.data(), why.size());
    const qcr_level first = receiver_.is_lasting != 0 ? QCR_LEVEL_ERROR : QCR_LEVEL_WARNING;
    if_possible([&] {
        say(sink_, has_complained_ ? QCR_LEVEL_VERBOSE : first,
            "log_path=" + name_ + " takes no lines: " + why.data() + "; scoring goes on, up to " +
                std::to_string(most_) + " lines wait, and then the oldest are dropped");
    });
    has_complained_ = true;
}

/// What a receiver missed, it is told; also that it is not the first one.
int Stream::write_gap(int64_t dropped, bool is_new) {
    const StreamCounts now = counts();
    if (dropped == 0 && (!is_new || now.receivers < 2)) return 0;
    std::array<char, 160> text{};
    const int length = std::snprintf(text.data(), text.size(),
                                     "{\"type\": \"stream\", \"dropped\": %" PRId64 ", \"dropped_total\": %" PRId64
                                     ", \"receiver\": %" PRId64 "}\n",
                                     dropped, now.dropped, now.receivers);
    return receiver_.write(receiver_.opaque, text.data(), static_cast<size_t>(length));
}

int Stream::open() {
    if (gives_up()) return QCR_GAVE_UP;
    const qcr_patience patience = {
        [](const void* opaque) { return static_cast<int>(static_cast<const Stream*>(opaque)->gives_up()); }, this};
    const int result = receiver_.open(receiver_.opaque, &patience);
    if (result < 0) return result;
    is_open_ = true;
    {
        const std::scoped_lock lock(mutex_);
        ++counts_.receivers;
    }
    if_possible([&] {
        say(sink_, has_complained_ ? QCR_LEVEL_INFO : QCR_LEVEL_VERBOSE, "log_path=" + name_ + " takes lines");
    });
    return 0;
}

/// What is lasting goes on where it was.
void Stream::close_failed() {
    if (!is_open_ || receiver_.is_lasting != 0) return;
    receiver_.close(receiver_.opaque);
    is_open_ = false;
}

int Stream::try_line(Waiting& line) {
    const bool is_new = !is_open_;
    int result = is_new ? open() : 0;
    if (result >= 0) result = write_gap(line.dropped_before, is_new);
    if (result < 0) return result;
    line.dropped_before = 0;
    return receiver_.write(receiver_.opaque, line.text.data(), line.text.size());
}

/// @return false: there is no time for any further line
bool Stream::deliver(Waiting& line) {
    int result = 0;
    for (milliseconds length = kFirstPause; (result = try_line(line)) < 0 && result != QCR_GAVE_UP && !gives_up();
         length = pause(length)) {
        close_failed();
        note_failure(result);
    }
    const std::scoped_lock lock(mutex_);
    if (result >= 0)
        ++counts_.lines;
    else
        count_dropped();
    return result >= 0;
}

void Stream::run() noexcept {
    Waiting line;
    while (next(line) && deliver(line)) {
    }
    if (!is_open_) return;
    is_open_ = false;
    const int result = receiver_.close(receiver_.opaque);
    if (result < 0 && result != QCR_GAVE_UP) note_failure(result);
}

} // namespace qc::run
