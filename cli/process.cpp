// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failure.hpp"

namespace qc::cli {

namespace {

constexpr size_t kMostMessage = size_t{64} << 10;

volatile std::sig_atomic_t got_signal = 0;

void note_signal(int number) {
    got_signal = number;
}

void end_if_told() {
    if (got_signal != 0) throw Interrupted(std::string("interrupted: ") + strsignal(got_signal));
}

struct Child {
    size_t which = 0, gpu = 0;
    pid_t pid = -1;
    int output = -1, message = -1; ///< read ends
    std::string line;
};

void close_both(const int (&ends)[2]) {
    close(ends[0]);
    close(ends[1]);
}

/// In the new process; only what is safe between fork and exec.
[[noreturn]] void become(const Command& command, char* const* arguments, int input, int output, int message) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (input >= 0) dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(message, STDERR_FILENO);
    for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
    execvp(arguments[0], arguments);
    const char* why = std::strerror(errno);
    static_cast<void>(!write(STDERR_FILENO, why, std::strlen(why)));
    _exit(127);
}

Child start(const Command& command, size_t which, int input) {
    std::vector<char*> arguments;
    for (const std::string& argument : command.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    int output[2], message[2];
    if (pipe2(output, O_CLOEXEC) != 0) throw Failure(std::string("no pipe can be made: ") + std::strerror(errno));
    if (pipe2(message, O_CLOEXEC) != 0) {
        close_both(output);
        throw Failure(std::string("no pipe can be made: ") + std::strerror(errno));
    }
    const pid_t pid = fork();
    if (pid == 0) become(command, arguments.data(), input, output[1], message[1]);
    close(output[1]);
    close(message[1]);
    if (pid < 0) {
        close(output[0]);
        close(message[0]);
        throw Failure(command.arguments[0] + " cannot be started: " + std::strerror(errno));
    }
    return {which, 0, pid, output[0], message[0], {}};
}

class SideBySide {
public:
    SideBySide(const std::vector<Command>& commands, const LineListener& listener, const Manner& manner)
        : commands_(commands), listener_(listener), outcomes_(commands.size()),
          input_(manner.gives_input ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC)), manner_(manner) {
        for (Outcome& outcome : outcomes_) outcome.status = -1;
    }
    ~SideBySide() {
        end_all();
        while (!children_.empty()) reap(0);
        if (input_ >= 0) close(input_);
    }
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    std::vector<Outcome> run(size_t at_once) {
        for (size_t which = work_; which < commands_.size(); ++which)
            children_.push_back(start(commands_[which], which, input_));
        for (size_t next = 0; next < work_ || !children_.empty();) {
            while (!failed_ && next < work_ && working() < std::max<size_t>(at_once, 1)) start_next(next++);
            if (children_.empty()) break;
            listen();
            end_if_told();
        }
        return std::move(outcomes_);
    }

private:
    bool is_work(const Child& child) const { return child.which < work_; }

    size_t working() const {
        return static_cast<size_t>(
            std::count_if(children_.begin(), children_.end(), [this](const Child& child) { return is_work(child); }));
    }

    void start_next(size_t which) {
        const std::vector<std::string>& gpus = manner_.gpus;
        if (gpus.empty()) {
            children_.push_back(start(commands_[which], which, input_));
            return;
        }
        std::vector<size_t> running(gpus.size());
        for (const Child& child : children_)
            if (is_work(child)) ++running[child.gpu];
        const auto gpu = static_cast<size_t>(std::min_element(running.begin(), running.end()) - running.begin());
        Command command = commands_[which];
        command.environment.emplace_back("CUDA_VISIBLE_DEVICES", gpus[gpu]);
        children_.push_back(start(command, which, input_));
        children_.back().gpu = gpu;
    }

    void end_all() {
        for (const Child& child : children_) kill(child.pid, SIGKILL);
    }

    void reap(size_t at) {
        Child& child = children_[at];
        int status = 0;
        while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
        }
        for (const int end : {child.output, child.message})
            if (end >= 0) close(end);
        // Those that had to end for another's failure did not fail themselves.
        if (!failed_) outcomes_[child.which].status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (outcomes_[child.which].ok() && !failed_ && manner_.check) check(child.which);
        if (outcomes_[child.which].status > 0 && !failed_ && !manner_.goes_on) {
            failed_ = true;
            end_all();
        }
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(at));
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
            if (outcome.message.size() > 2 * kMostMessage)
                outcome.message.erase(0, outcome.message.size() - kMostMessage);
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
        if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR)
            throw Failure(std::string("children cannot be listened to: ") + std::strerror(errno));
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
    std::vector<Child> children_;
    int input_;
    Manner manner_;
    size_t work_ = commands_.size() - manner_.companions; ///< commands that are no companions
    bool failed_ = false;
};

} // namespace

void pause_for(std::chrono::milliseconds time) {
    end_if_told();
    poll(nullptr, 0, static_cast<int>(time.count())); // a signal ends it
    end_if_told();
}

void heed_signals() {
    struct sigaction action {};
    action.sa_handler = note_signal;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

bool was_interrupted() {
    return got_signal != 0;
}

std::vector<Outcome> run_side_by_side(const std::vector<Command>& commands, size_t at_once,
                                      const LineListener& listener, const Manner& manner) {
    return SideBySide(commands, listener, manner).run(at_once);
}

Outcome run(const Command& command) {
    return std::move(run_side_by_side({command}, 1, nullptr).front());
}

} // namespace qc::cli
