// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/stream.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cinttypes>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "run/interrupts/without_signals.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause(100); // before a receiver is tried again, doubled each time
constexpr milliseconds kLongestPause(5000);
constexpr milliseconds kLastPause(100); // while the end waits for it
constexpr milliseconds kGrace(500);     // for a thread to see that it shall end, before it is left behind

using Clock = std::chrono::steady_clock;

} // namespace

class Stream::Sender {
public:
    Sender(std::string name, const qcr_receiver& receiver, int most, const qcr_sink& sink);

    // The caller's side.
    const std::string& name() const { return name_; }
    void send(std::string&& line) noexcept;
    void drop() noexcept;
    StreamCounts counts() const;
    bool ends_within(std::chrono::microseconds patience);
    void leave();
    int sum_up();

    // The thread's.
    void run() noexcept;

private:
    struct Waiting {
        std::string text;
        int64_t dropped_before = 0; ///< lines that were dropped since the one before
    };

    void take_lines();
    bool next(Waiting& line);
    bool deliver(Waiting& line);
    int try_line(Waiting& line);
    int open();
    void close_failed();
    int write_gap(int64_t dropped, bool is_new);
    void note_failure(int error);
    void tell(qcr_level level, const std::string& text) const;
    std::chrono::milliseconds pause(std::chrono::milliseconds length);
    bool gives_up() const { return Clock::now().time_since_epoch().count() >= give_up_at_.load(); }
    void count_dropped();

    const std::string name_;
    std::vector<std::max_align_t> state_; ///< the receiver's
    qcr_receiver receiver_;
    const size_t most_;
    const qcr_sink sink_;
    std::atomic<Clock::rep> give_up_at_; ///< when nothing is waited for any more

    // The thread's.
    bool is_open_ = false;
    bool has_complained_ = false; ///< a loss is a warning once

    mutable std::mutex saying_; ///< held while the sink is called, so that it is not called when the thread is left
    bool is_left_ = false;      ///< nobody waits for the thread; guarded by both mutexes

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable ended_;
    // Guarded by it.
    std::deque<Waiting> queue_;
    int64_t unsaid_ = 0; ///< lines that were dropped, and no later line says so yet
    StreamCounts counts_;
    bool is_delivering_ = false; ///< a line is neither in the queue nor counted
    bool is_closing_ = false;    ///< no line follows
    bool has_ended_ = false;
    int error_ = 0; ///< of the first failure
};

Stream::Sender::Sender(std::string name, const qcr_receiver& receiver, int most, const qcr_sink& sink)
    : name_(std::move(name)), state_((receiver.state_size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)),
      receiver_(receiver), most_(static_cast<size_t>(most)), sink_(sink),
      give_up_at_(Clock::time_point::max().time_since_epoch().count()) {
    if (!state_.empty()) receiver_.opaque = state_.data();
}

// ---- the caller's side

void Stream::Sender::count_dropped() {
    ++counts_.dropped;
    ++unsaid_;
}

void Stream::Sender::drop() noexcept {
    const std::scoped_lock lock(mutex_);
    count_dropped();
}

void Stream::Sender::send(std::string&& line) noexcept {
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

StreamCounts Stream::Sender::counts() const {
    const std::scoped_lock lock(mutex_);
    return counts_;
}

/// @return false: the thread does not come back from its receiver
bool Stream::Sender::ends_within(std::chrono::microseconds patience) {
    std::unique_lock lock(mutex_);
    const Clock::time_point end = Clock::now() + patience;
    is_closing_ = true;
    give_up_at_ = end.time_since_epoch().count();
    changed_.notify_one();
    return state_.empty() || ended_.wait_until(lock, end + kGrace, [this] { return has_ended_; });
}

/// Nothing that the thread does is seen from now on.
void Stream::Sender::leave() {
    const std::scoped_lock lock(saying_, mutex_);
    is_left_ = true;
    if (is_delivering_) count_dropped();
}

int Stream::Sender::sum_up() {
    const std::scoped_lock lock(mutex_);
    counts_.dropped += static_cast<int64_t>(queue_.size());
    queue_.clear();
    return receiver_.is_lasting != 0 && counts_.dropped > 0 ? error_ : 0;
}

// ---- the thread

/// @return false: no line follows
bool Stream::Sender::next(Waiting& line) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
    if (queue_.empty()) return false;
    line = std::move(queue_.front());
    queue_.pop_front();
    is_delivering_ = true;
    line.dropped_before = std::exchange(unsaid_, 0);
    return true;
}

/// Waits before another try; a line that comes meanwhile does not end that, the end of the run does. @return the next
/// pause
milliseconds Stream::Sender::pause(milliseconds length) {
    std::unique_lock lock(mutex_);
    if (is_closing_) length = std::min(length, kLastPause);
    changed_.wait_for(lock, length, [&] { return is_closing_ && length > kLastPause; });
    return std::min(2 * length, kLongestPause);
}

void Stream::Sender::tell(qcr_level level, const std::string& text) const {
    const std::scoped_lock lock(saying_);
    if (!is_left_) say(sink_, level, text);
}

void Stream::Sender::note_failure(int error) {
    {
        const std::scoped_lock lock(mutex_);
        if (error_ == 0) error_ = error;
    }
    std::array<char, 256> why{};
    receiver_.describe(receiver_.opaque, error, why.data(), why.size());
    const qcr_level first = receiver_.is_lasting != 0 ? QCR_LEVEL_ERROR : QCR_LEVEL_WARNING;
    if_possible([&] {
        tell(has_complained_ ? QCR_LEVEL_VERBOSE : first, "log_path=" + name_ + " takes no lines: " + why.data() +
                                                              "; scoring goes on, up to " + std::to_string(most_) +
                                                              " lines wait, and then the oldest are dropped");
    });
    has_complained_ = true;
}

/// What a receiver missed, it is told; also that it is not the first one.
int Stream::Sender::write_gap(int64_t dropped, bool is_new) {
    const StreamCounts now = counts();
    if (dropped == 0 && (!is_new || now.receivers < 2)) return 0;
    std::array<char, 160> text{};
    const int length = std::snprintf(text.data(), text.size(),
                                     "{\"type\": \"stream\", \"dropped\": %" PRId64 ", \"dropped_total\": %" PRId64
                                     ", \"receiver\": %" PRId64 "}\n",
                                     dropped, now.dropped, now.receivers);
    return receiver_.write(receiver_.opaque, text.data(), static_cast<size_t>(length));
}

int Stream::Sender::open() {
    if (gives_up()) return QCR_GAVE_UP;
    const qcr_patience patience = {
        [](const void* opaque) { return static_cast<int>(static_cast<const Sender*>(opaque)->gives_up()); }, this};
    const int result = receiver_.open(receiver_.opaque, name_.c_str(), &patience);
    if (result < 0) return result;
    is_open_ = true;
    {
        const std::scoped_lock lock(mutex_);
        if (is_left_) return QCR_GAVE_UP;
        ++counts_.receivers;
    }
    if_possible(
        [&] { tell(has_complained_ ? QCR_LEVEL_INFO : QCR_LEVEL_VERBOSE, "log_path=" + name_ + " takes lines"); });
    return 0;
}

/// What is lasting goes on where it was.
void Stream::Sender::close_failed() {
    if (!is_open_ || receiver_.is_lasting != 0) return;
    receiver_.close(receiver_.opaque);
    is_open_ = false;
}

int Stream::Sender::try_line(Waiting& line) {
    const bool is_new = !is_open_;
    int result = is_new ? open() : 0;
    if (result >= 0) result = write_gap(line.dropped_before, is_new);
    if (result < 0) return result;
    line.dropped_before = 0;
    return receiver_.write(receiver_.opaque, line.text.data(), line.text.size());
}

/// @return false: there is no time for any further line
bool Stream::Sender::deliver(Waiting& line) {
    int result = 0;
    for (milliseconds length = kFirstPause; (result = try_line(line)) < 0 && result != QCR_GAVE_UP && !gives_up();
         length = pause(length)) {
        close_failed();
        note_failure(result);
    }
    const std::scoped_lock lock(mutex_);
    if (is_left_) return false;
    is_delivering_ = false;
    if (result >= 0)
        ++counts_.lines;
    else
        count_dropped();
    return result >= 0;
}

void Stream::Sender::take_lines() {
    Waiting line;
    while (next(line) && deliver(line)) {
    }
    if (!is_open_) return;
    is_open_ = false;
    const int result = receiver_.close(receiver_.opaque);
    if (result < 0 && result != QCR_GAVE_UP) note_failure(result);
}

void Stream::Sender::run() noexcept {
    take_lines();
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
    ended_.notify_one();
}

// ---- both

Stream::Stream(std::string name, const qcr_receiver& receiver, int most, const qcr_sink& sink)
    : sender_(std::make_shared<Sender>(std::move(name), receiver, most, sink)) {}

Stream::~Stream() {
    finish(std::chrono::microseconds(0));
}

void Stream::start() {
    const WithoutSignals none;
    thread_ = std::thread([sender = sender_] { sender->run(); });
}

const std::string& Stream::name() const {
    return sender_->name();
}

void Stream::send(std::string&& line) noexcept {
    sender_->send(std::move(line));
}

void Stream::drop() noexcept {
    sender_->drop();
}

StreamCounts Stream::counts() const {
    return sender_->counts();
}

int Stream::finish(std::chrono::microseconds patience) {
    if (!is_running()) return 0;
    if (sender_->ends_within(patience)) {
        thread_.join();
    } else {
        sender_->leave();
        thread_.detach();
    }
    return sender_->sum_up();
}

} // namespace qc::run
