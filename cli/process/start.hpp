// SPDX-License-Identifier: BSD-2-Clause-Patent
// One other program, started; safe in a process of many threads.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace qc::cli {

struct Command {
    std::vector<std::string> arguments; ///< the program first, looked for on the PATH unless it has a slash
    std::vector<std::pair<std::string, std::string>> environment; ///< beyond this process's own
};

struct Child {
    size_t which = 0, gpu = 0;
    pid_t pid = -1;
    int output = -1, message = -1; ///< read ends, the owner's to close
    std::string line;
};

/// Starts a program, whose standard output and error go to the child's ends. The child is killed when the thread that
/// started it ends, as it is when this process is killed. If there is no such program, the child says why on standard
/// error and ends with 127.
/// @param which of somebody's commands it is  @param input its standard input, which stays the caller's; below 0: this
/// process's own
/// @throws Failure if there are no more pipes or processes
Child start(const Command& command, size_t which, int input);

} // namespace qc::cli
