// SPDX-License-Identifier: BSD-2-Clause-Patent
// How programs are started, by the functions themselves. What is not safe between fork and exec ends the new process
// here: this program's own operator new and setenv() look whether they are called in a copy of it.
#include "process/start.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <sstream>
#include <thread>

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/process.hpp"

namespace {

constexpr int kUnsafe = 99;
pid_t own_process = getpid();

void end_if_copied() {
    if (own_process != 0 && getpid() != own_process) _exit(kUnsafe);
}

template <class Function>
Function next_of(const char* name) {
    end_if_copied();
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

void* operator new(size_t size) {
    end_if_copied();
    if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
    end_if_copied();
    std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
    end_if_copied();
    std::free(memory);
}

extern "C" int setenv(const char* name, const char* value, int replaces) noexcept {
    return next_of<int (*)(const char*, const char*, int)>("setenv")(name, value, replaces);
}

extern "C" char* strerror(int error) noexcept {
    return next_of<char* (*)(int)>("strerror")(error);
}

namespace qc::cli {
namespace {

using std::chrono::milliseconds;

/// A folder of the test's own.
class Start : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "quality-cuda-start.XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& text, bool may_run) const {
        std::ofstream(folder_ / name) << text;
        if (may_run) std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
        return folder_ / name;
    }

    std::filesystem::path folder_;
};

/// Numbers of this process's descriptors that a program inherits, and the standard ones, which it gets.
std::set<int> inherited() {
    std::set<int> numbers{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    for (int number = 3; number < 256; ++number)
        if (const int flags = fcntl(number, F_GETFD); flags >= 0 && (flags & FD_CLOEXEC) == 0) numbers.insert(number);
    return numbers;
}

/// Waits for all processes below this one, orphans too. @return whether they ended in time
bool all_end(milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
        const pid_t ended = waitpid(-1, nullptr, WNOHANG);
        if (ended < 0 && errno == ECHILD) return true;
        if (ended == 0) std::this_thread::sleep_for(milliseconds(2));
    }
    return false;
}

/// A copy of this process that does something, and ends with 0 if that is true.
template <class Work>
pid_t copy_that(const Work& work) {
    own_process = 0;
    const pid_t pid = fork();
    own_process = getpid();
    if (pid == 0) _exit(work() ? 0 : 1);
    return pid;
}

bool succeeds(pid_t pid) {
    int status = -1;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(Start, ManyThreadsAtOnce) {
    constexpr int kThreads = 12, kRuns = 15;
    const int passed_on = open("/dev/null", O_RDONLY);
    const std::set<int> expected = inherited();
    std::atomic<int> good = 0;
    const auto work = [&](int thread) {
        for (int i = 0; i < kRuns; ++i) {
            const std::string value = std::to_string(thread) + "." + std::to_string(i);
            const Outcome outcome = run({{"sh", "-c", "echo \"$1 $QC_START\"; echo /proc/$$/fd/* >&2", "sh", value},
                                         {{"QC_START", value + "="}, {"QC_START_" + value, ""}}});
            std::set<int> descriptors;
            std::istringstream paths(outcome.message);
            for (std::string path; paths >> path;)
                descriptors.insert(std::atoi(std::filesystem::path(path).filename().c_str()));
            EXPECT_EQ(outcome.status, 0);
            EXPECT_EQ(outcome.output, value + " " + value + "=\n");
            EXPECT_TRUE(std::includes(descriptors.begin(), descriptors.end(), expected.begin(), expected.end()));
            EXPECT_LE(descriptors.size(), expected.size() + 1); // the shell has the folder open that it looks into
            good += outcome.ok() ? 1 : 0;
        }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(good, kThreads * kRuns);
    close(passed_on);
}

TEST_F(Start, EnvironmentIsThisProcessesAndTheCommands) {
    ::setenv("QC_START_KEPT", "kept", 1);
    ::setenv("QC_START", "replaced", 1);
    ::setenv("QC_START_LONGER", "kept", 1);
    const Outcome outcome =
        run({{"sh", "-c", "echo $QC_START_KEPT $QC_START_LONGER $QC_START; env | grep -c ^QC_START="},
             {{"QC_START", "first"}, {"QC_START", "last"}}});
    EXPECT_EQ(outcome.output, "kept kept last\n1\n");
    EXPECT_STREQ(getenv("QC_START"), "replaced");
}

TEST_F(Start, WhatCannotBeStartedSaysWhy) {
    const std::string text = file("text", "no program\n", false);
    std::filesystem::create_directory(folder_ / "empty");
    const std::string empty = folder_ / "empty", file_as_folder = text + "/program";
    const struct {
        std::string program, path, message;
    } cases[] = {
        {"/nowhere/at/all", "", "No such file or directory"},
        {"quality-cuda-no-such-program", "/bin:" + empty, "No such file or directory"},
        {"", "/bin", "No such file or directory"},
        {text, "", "Permission denied"},
        {folder_, "", "Permission denied"},
        {file_as_folder, "", "Not a directory"},
        {"text", folder_.string() + ":" + empty, "Permission denied"},
        {"text", empty + ":" + folder_.string(), "Permission denied"},
    };
    for (const auto& each : cases) {
        const Outcome outcome = run({{each.program}, {{"PATH", each.path}}});
        EXPECT_EQ(outcome.status, 127) << each.program;
        EXPECT_EQ(outcome.message, each.message) << each.program;
        EXPECT_EQ(outcome.output, "") << each.program;
    }
}

TEST_F(Start, ProgramsAreLookedForAlongThePath) {
    file("tool", "#!/bin/sh\necho found $*\n", true);
    file("script", "echo script ${0##*/} $*\n", true); // does not say whose
    std::filesystem::create_directory(folder_ / "first");
    file("first/tool", "no program\n", false);
    const std::string path = (folder_ / "first").string() + ":/nowhere:" + folder_.string();
    EXPECT_EQ(run({{"tool", "a", "b"}, {{"PATH", path}}}).output, "found a b\n");
    EXPECT_EQ(run({{"script", "c"}, {{"PATH", path}}}).output, "script script c\n");
    EXPECT_EQ(run({{folder_ / "script", "d"}, {}}).output, "script script d\n");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
    EXPECT_EQ(run({{"tool", "here"}, {{"PATH", "/nowhere:"}}}).output, "found here\n");
    EXPECT_EQ(run({{"./tool", "here"}, {{"PATH", ""}}}).output, "found here\n");
    std::filesystem::current_path(before);
    const std::string own_path = getenv("PATH");
    unsetenv("PATH");
    EXPECT_EQ(run({{"sh", "-c", "exit 3"}, {}}).status, 3);
    ::setenv("PATH", own_path.c_str(), 1);
}

TEST_F(Start, StandardInputArrives) {
    Begun begun;
    begun.start({{"sh", "-c", "cat; echo $CUDA_VISIBLE_DEVICES"}, {}}, 0, "GPU-7");
    begun.give(0, "told later\n");
    const auto outcomes = run_side_by_side({{{"cat"}, {}}}, 1, nullptr, {.begun = &begun});
    EXPECT_EQ(outcomes.at(0).output, "told later\nGPU-7\n");
    EXPECT_EQ(run({{"cat"}, {}}).output, ""); // has none
}

TEST_F(Start, DescriptorsOfACallerWithoutAny) {
    const Command command{{"sh", "-c", "echo out; echo err >&2"}, {}};
    EXPECT_TRUE(succeeds(copy_that([&] {
        for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(number);
        const Outcome outcome = run_side_by_side({command}, 1, nullptr, {.gives_input = true}).front();
        return outcome.output == "out\n" && outcome.message == "err\n";
    })));
}

TEST_F(Start, NothingOutlivesAKilledParent) {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); // orphans become this process's children
    const std::vector<Command> commands(24, Command{{"sleep", "1000"}, {}});
    for (int delay = 0; delay < 40; delay += 2) {
        const pid_t parent = copy_that([&] { return run_side_by_side(commands, commands.size(), nullptr).empty(); });
        std::this_thread::sleep_for(milliseconds(delay));
        kill(parent, SIGKILL);
        ASSERT_TRUE(all_end(milliseconds(20000))) << "killed after " << delay << " ms";
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

} // namespace
} // namespace qc::cli
