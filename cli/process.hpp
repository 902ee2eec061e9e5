// SPDX-License-Identifier: BSD-2-Clause-Patent
// Other programs: started side by side, listened to, waited for.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace qc::cli {

struct Command {
    std::vector<std::string> arguments; ///< the program first, looked for on the PATH unless it has a slash
    std::vector<std::pair<std::string, std::string>> environment; ///< beyond this process's own
};

struct Outcome {
    int status = 0;      ///< exit code; 128 and the signal's number; 127: it could not be started
    std::string output;  ///< standard output, unless somebody listened to it
    std::string message; ///< standard error, the end of it if it is long
    bool ok() const { return status == 0; }
};

/// Called with each line of standard output. @param which of the commands
using LineListener = std::function<void(size_t which, const std::string& line)>;

/// Runs the commands side by side, at most `at_once` of them. When one fails, those that run are ended and none is
/// started. Children die with this process. Reads nothing from standard input unless `gives_input`.
/// @return in the order of the commands; status -1 of those that were not started or were ended for another's failure
std::vector<Outcome> run_side_by_side(const std::vector<Command>& commands, size_t at_once,
                                      const LineListener& listener, bool gives_input = false);

Outcome run(const Command& command);

/// From here on SIGINT, SIGTERM and SIGHUP end the waiting for children by a Failure, so that what is temporary goes
/// too.
void heed_signals();

} // namespace qc::cli
