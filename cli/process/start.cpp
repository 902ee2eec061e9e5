// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "process/start.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "words/failure.hpp"

namespace qc::cli {

namespace {

using Texts = std::vector<std::string>;

/// Where the C library looks for programs if there is no PATH.
constexpr std::string_view kUsualPath = "/bin:/usr/bin";
constexpr const char* kShell = "/bin/sh";
constexpr int kKnownErrors = 134;

/// This process's environment, and what the command adds to it or replaces.
Texts environment_of(const Command& command) {
    Texts texts;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) texts.emplace_back(*each);
    for (const auto& [name, value] : command.environment) {
        const std::string start = name + "=";
        std::erase_if(texts, [&](const std::string& text) { return text.starts_with(start); });
        texts.push_back(start + value);
    }
    return texts;
}

/// The files that may be the program, in the order in which they are tried.
Texts files_of(const std::string& program, const Texts& environment) {
    constexpr std::string_view kStart = "PATH=";
    if (program.empty() || program.find('/') != std::string::npos) return {program};
    const auto found = std::find_if(environment.begin(), environment.end(),
                                    [&](const std::string& text) { return text.starts_with(kStart); });
    std::string_view path = found == environment.end() ? kUsualPath : std::string_view(*found).substr(kStart.size());
    Texts files;
    for (bool is_last = false; !is_last;) {
        const size_t end = std::min(path.find(':'), path.size());
        files.emplace_back(path.substr(0, end)); // an empty one is the current folder
        if (end > 0) files.back() += '/';
        files.back() += program;
        is_last = end == path.size();
        path.remove_prefix(is_last ? end : end + 1);
    }
    return files;
}

const Texts& texts_of_errors() {
    static const Texts kTexts = [] {
        Texts texts;
        for (int error = 0; error <= kKnownErrors; ++error) texts.emplace_back(std::strerror(error));
        return texts;
    }();
    return kTexts;
}

/// As execve() takes them. @param texts outlive the pointers
std::vector<char*> pointers_to(const Texts& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

/// All that a process needs to become the program, made before the process: in a copy of a process of many threads
/// nobody else runs, so a lock that another thread held, the allocator's or the environment's, is held for ever.
class Launch {
public:
    Launch(const Command& command, int input, int output, int message)
        : environment_(environment_of(command)), files_(files_of(command.arguments[0], environment_)),
          argument_pointers_(pointers_to(command.arguments)), environment_pointers_(pointers_to(environment_)),
          script_pointers_(argument_pointers_), input_(input), output_(output), message_(message) {
        script_pointers_.insert(script_pointers_.begin(), const_cast<char*>(kShell));
    }

    /// In the new process: system calls, and nothing else.
    [[noreturn]] void become() {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent_) _exit(127); // it went before it could be told
        put(input_, STDIN_FILENO);
        put(output_, STDOUT_FILENO);
        put(message_, STDERR_FILENO);
        const std::string& why = errors_[static_cast<size_t>(std::clamp(try_files(), 0, kKnownErrors))];
        static_cast<void>(!write(STDERR_FILENO, why.data(), why.size()));
        _exit(127);
    }

private:
    static void put(int from, int to) {
        if (from == to)
            fcntl(to, F_SETFD, 0); // dup2() would leave it to be closed
        else if (from >= 0)
            dup2(from, to);
    }

    /// Goes along the PATH as execvp() does. @return why none of the files can be run
    int try_files() {
        int why = ENOENT;
        for (const std::string& file : files_) {
            execve(file.c_str(), argument_pointers_.data(), environment_pointers_.data());
            if (errno == ENOEXEC) { // a script that does not say whose
                script_pointers_[1] = const_cast<char*>(file.c_str());
                execve(kShell, script_pointers_.data(), environment_pointers_.data());
            }
            const int error = errno;
            const bool may_be_elsewhere = error == EACCES || error == ENOENT || error == ENOTDIR || error == ESTALE ||
                                          error == ENODEV || error == ETIMEDOUT;
            if (!may_be_elsewhere) return error;
            if (why != EACCES) why = error;
        }
        return why;
    }

    const Texts environment_, files_;
    const Texts& errors_ = texts_of_errors();
    const std::vector<char*> argument_pointers_, environment_pointers_;
    std::vector<char*> script_pointers_; ///< the shell, the file, and the arguments behind the program's name
    const int input_, output_, message_;
    const pid_t parent_ = getpid();
};

/// Closed with the object, except the end that is taken.
struct Pipe {
    Pipe() {
        if (pipe2(ends, O_CLOEXEC) != 0) throw Failure(std::string("no pipe can be made: ") + std::strerror(errno));
    }
    ~Pipe() {
        for (const int end : ends)
            if (end >= 0) close(end);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    int take_reader() { return std::exchange(ends[0], -1); }

    int ends[2];
};

} // namespace

Child start(const Command& command, size_t which, int input) {
    Pipe output, message;
    Launch launch(command, input, output.ends[1], message.ends[1]);
    const pid_t pid = fork();
    if (pid == 0) launch.become();
    if (pid < 0) throw Failure(command.arguments[0] + " cannot be started: " + std::strerror(errno));
    return {which, 0, pid, output.take_reader(), message.take_reader(), {}};
}

} // namespace qc::cli
