// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "process/process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr size_t kMostMessage = size_t{64} << 10;

volatile std::sig_atomic_t got_signal = 0;

void note_signal(int number) {
    got_signal = number;
}

/// Checksums of lines.
using Seen = std::unordered_set<size_t>;

constexpr size_t kMostSeen = size_t{1} << 20; ///< from then on every line counts

template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        visit(std::hash<std::string_view>()(text.substr(at, end - at)));
        at = end + 1;
    }
}

/// How many lines of a text were not there before, and are not among those that are kept.
size_t count_new_lines(std::string_view text, std::string_view before, std::string_view behind, Seen* seen) {
    Seen kept;
    for (const std::string_view each : {before, behind}) for_each_line(each, [&](size_t line) { kept.insert(line); });
    size_t count = 0;
    for_each_line(text, [&](size_t line) {
        if (kept.count(line) != 0 || seen->count(line) != 0) return;
        if (seen->size() < kMostSeen) seen->insert(line);
        ++count;
    });
    return count;
}

/// Whole lines go, and what is kept begins with the cause. @param seen lines that went before
void shorten(Outcome* outcome, Seen* seen) {
    std::string& text = outcome->message;
    const size_t begin = text.find('\n', kMostMessage), last = text.find('\n', text.size() - kMostMessage);
    if (begin == std::string::npos || last == std::string::npos || last <= begin) {
        text.erase(kMostMessage, text.size() - 2 * kMostMessage); // no lines at all
        return;
    }
    outcome->lines_left_out +=
        count_new_lines(std::string_view(text).substr(begin + 1, last - begin),
                        std::string_view(text).substr(0, begin + 1), std::string_view(text).substr(last + 1), seen);
    text.erase(begin + 1, last - begin);
}

/// Of anything except what it warns of.
bool has_complained(const Outcome& outcome) {
    const std::string_view text = outcome.message;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (!line.empty() && line.find("[warning]") == std::string_view::npos) return true;
        at = end + 1;
    }
    return false;
}

void close_ends(const Child& child) {
    for (const int end : {child.output, child.message})
        if (end >= 0) close(end);
}

void wait_for(const Child& child, int* status) {
    while (waitpid(child.pid, status, 0) < 0 && errno == EINTR) {
    }
    close_ends(child);
}

Command on_gpu(Command command, const std::string& name) {
    command.environment.emplace_back("CUDA_VISIBLE_DEVICES", name);
    return command;
}

class SideBySide {
public:
    SideBySide(const std::vector<Command>& commands, const LineListener& listener, const Manner& manner)
        : commands_(commands), listener_(listener), outcomes_(commands.size()), left_out_(commands.size()),
          input_(manner.gives_input ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC)), manner_(manner) {
        for (Outcome& outcome : outcomes_) outcome.status = -1;
        if (manner_.begun != nullptr) children_ = manner_.begun->take();
    }
    ~SideBySide() {
        end_all();
        while (!children_.empty()) reap(0);
        if (input_ >= 0) close(input_);
    }
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    std::vector<Outcome> run(size_t at_once) {
        size_t next = children_.size();
        while (next < commands_.size() || !children_.empty()) {
            while (!failed_ && next < commands_.size() && children_.size() < std::max<size_t>(at_once, 1))
                start_next(next++);
            if (children_.empty()) break;
            listen();
            end_if_interrupted();
            if (manner_.leaves_at_once && next == commands_.size() && is_done_ && !failed_) leave_all();
        }
        return std::move(outcomes_);
    }

private:
    void start_next(size_t which) {
        const std::vector<std::string>& gpus = manner_.gpus;
        if (gpus.empty()) {
            children_.push_back(start(commands_[which], which, input_));
            return;
        }
        std::vector<size_t> running(gpus.size());
        for (const Child& child : children_) ++running[child.gpu];
        const auto gpu = static_cast<size_t>(std::min_element(running.begin(), running.end()) - running.begin());
        children_.push_back(start(on_gpu(commands_[which], gpus[gpu]), which, input_));
        children_.back().gpu = gpu;
    }

    void end_all() {
        for (const Child& child : children_) kill(child.pid, SIGKILL);
    }

    void reap(size_t at) {
        Child& child = children_[at];
        int status = 0;
        wait_for(child, &status);
        // Those that had to end for another's failure did not fail themselves.
        if (!failed_) outcomes_[child.which].status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (outcomes_[child.which].ok() && !failed_ && manner_.check) check(child.which);
        if (outcomes_[child.which].status > 0 && !failed_ && !manner_.goes_on) fail();
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(at));
    }

    void fail() {
        failed_ = true;
        end_all();
    }

    void hear_companion() {
        companion_ = -1;
        is_done_ = manner_.companion->has_succeeded();
        if (!is_done_ && !failed_) fail();
    }

    /// What a process has said by now counts: it is read before that is decided on.
    void leave_all() {
        for (size_t i = children_.size(); i-- > 0;) {
            Child& child = children_[i];
            pollfd end{child.message, POLLIN, 0};
            while (child.message >= 0 && poll(&end, 1, 0) > 0 && read_from(child, false)) {
            }
            if (child.output < 0 && child.message < 0) {
                reap(i);
                continue;
            }
            if (has_complained(outcomes_[child.which]) || (manner_.check && !manner_.check(child.which).empty()))
                continue;
            kill(child.pid, SIGKILL);
            close_ends(child);
            outcomes_[child.which].status = 0;
            children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    void check(size_t which) {
        const std::string trouble = manner_.check(which);
        if (trouble.empty()) return;
        outcomes_[which].status = 1;
        outcomes_[which].message = trouble;
    }

    void take(Child& child, bool is_output, const char* data, size_t size) {
        Outcome& outcome = outcomes_[child.which];
        if (!is_output) {
            outcome.message.append(data, size);
            if (outcome.message.size() > 3 * kMostMessage) shorten(&outcome, &left_out_[child.which]);
        } else if (!listener_) {
            outcome.output.append(data, size);
        } else {
            child.line.append(data, size);
            for (size_t end = 0; (end = child.line.find('\n')) != std::string::npos; child.line.erase(0, end + 1))
                listener_(child.which, child.line.substr(0, end));
        }
    }

    /// Reads what there is to read, once. @return false at its end
    bool read_from(Child& child, bool is_output) {
        char buffer[65536];
        int& end = is_output ? child.output : child.message;
        const ssize_t count = read(end, buffer, sizeof(buffer));
        if (count < 0 && errno == EINTR) return true;
        if (count > 0) {
            take(child, is_output, buffer, static_cast<size_t>(count));
            return true;
        }
        close(end);
        end = -1;
        return false;
    }

    void listen() {
        std::vector<pollfd> ends;
        for (const Child& child : children_) {
            ends.push_back({child.output, POLLIN, 0}); // below zero: not looked at
            ends.push_back({child.message, POLLIN, 0});
        }
        ends.push_back({companion_, POLLIN, 0});
        if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR)
            throw Failure(std::string("children cannot be listened to: ") + std::strerror(errno));
        if (ends.back().revents != 0) hear_companion();
        for (size_t i = children_.size(); i-- > 0;) {
            Child& child = children_[i];
            if (ends[2 * i].revents != 0) read_from(child, true);
            if (ends[2 * i + 1].revents != 0) read_from(child, false);
            if (child.output < 0 && child.message < 0) reap(i);
        }
    }

    const std::vector<Command>& commands_;
    const LineListener& listener_;
    std::vector<Outcome> outcomes_;
    std::vector<Seen> left_out_; ///< lines of each command
    std::vector<Child> children_;
    int input_;
    Manner manner_;
    int companion_ = manner_.companion != nullptr ? manner_.companion->end : -1; ///< -1: it is over, or there is none
    bool failed_ = false, is_done_ = false;
};

} // namespace

Begun::Begun() = default;

Begun::~Begun() {
    for (const int input : inputs_)
        if (input >= 0) close(input);
    for (const Child& child : children_) kill(child.pid, SIGKILL);
    int status = 0;
    for (const Child& child : children_) wait_for(child, &status);
}

void Begun::start(const Command& command, size_t gpu, const std::string& name) {
    int ends[2];
    // Of a pipe whose reader has ended a signal would come, of a socket none if none is asked for.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw Failure(std::string("no pipe can be made: ") + std::strerror(errno));
    inputs_.push_back(ends[0]);
    try {
        children_.push_back(cli::start(on_gpu(command, name), children_.size(), ends[1]));
    } catch (...) {
        close(ends[1]);
        throw;
    }
    close(ends[1]);
    children_.back().gpu = gpu;
}

void Begun::give(size_t which, const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = send(inputs_[which], text.data() + done, text.size() - done, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += static_cast<size_t>(count);
    }
    close(inputs_[which]);
    inputs_[which] = -1;
}

std::vector<Child> Begun::take() {
    return std::exchange(children_, {});
}

void pause_for(std::chrono::milliseconds time) {
    end_if_interrupted();
    poll(nullptr, 0, static_cast<int>(time.count())); // a signal ends it
    end_if_interrupted();
}

void heed_signals() {
    struct sigaction action {};
    action.sa_handler = note_signal;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

bool was_interrupted() {
    return got_signal != 0;
}

void end_if_interrupted() {
    if (got_signal != 0) throw Interrupted(std::string("interrupted: ") + strsignal(got_signal));
}

std::vector<Outcome> run_side_by_side(const std::vector<Command>& commands, size_t at_once,
                                      const LineListener& listener, const Manner& manner) {
    return SideBySide(commands, listener, manner).run(at_once);
}

Outcome run(const Command& command) {
    return std::move(run_side_by_side({command}, 1, nullptr).front());
}

} // namespace qc::cli
