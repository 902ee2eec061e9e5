// SPDX-License-Identifier: BSD-2-Clause-Patent
// Other programs: started side by side, listened to, waited for.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "process/start.hpp"

namespace qc::cli {

struct Outcome {
    int status = 0;            ///< exit code; 128 and the signal's number; 127: it could not be started
    std::string output;        ///< standard output, unless somebody listened to it
    std::string message;       ///< standard error; if it is long, its beginning and its end
    size_t lines_left_out = 0; ///< between these: of lines that are alike one, and none that is like one that is kept
    bool ok() const { return status == 0; }
};

/// Called with each line of standard output. @param which of the commands
using LineListener = std::function<void(size_t which, const std::string& line)>;

/// Processes that were started before all that they need was known: each waits for the end of its standard input.
class Begun {
public:
    Begun();
    /// Ends those that are still its own.
    ~Begun();
    Begun(const Begun&) = delete;
    Begun& operator=(const Begun&) = delete;

    /// @param gpu that it sees, as one of many by number and by name  @throws Failure
    void start(const Command& command, size_t gpu, const std::string& name);
    /// All that a process is given. One that has ended does not take it, which is told where it is waited for.
    void give(size_t which, const std::string& text);
    size_t count() const { return children_.size(); }
    /// From now on they are somebody else's.
    std::vector<Child> take();

private:
    std::vector<Child> children_;
    std::vector<int> inputs_; ///< our ends, -1: closed
};

/// What goes on in a thread of this process.
struct Companion {
    int end = -1;                        ///< a descriptor that can be read once it is over
    std::function<bool()> has_succeeded; ///< asked then; if it has not, the commands are ended
};

struct Manner {
    bool gives_input = false; ///< standard input is the commands'; otherwise they have none
    bool goes_on = false;     ///< when one fails; otherwise those that run are ended, and none is started
    /// Each command sees that one of these on which the fewest run: its context is made on no other, and no other is
    /// woken. Empty: it sees what this process sees.
    std::vector<std::string> gpus = {};
    /// What goes on beside the commands, and waits for what they make; nullptr: nothing.
    const Companion* companion = nullptr;
    /// Asked about each command that has succeeded. @return why it has failed after all, or an empty text
    std::function<std::string(size_t which)> check = {};
    /// When the companion has succeeded, what there was to do is done: a process that `check` finds nothing wrong
    /// with, and that has not complained, is killed, and not waited for. A context on a GPU takes its time to go.
    bool leaves_at_once = false;
    Begun* begun = nullptr; ///< the first of the commands, which run already; nullptr: none
};

/// Runs the commands side by side, at most `at_once` of them. Children die with this process.
/// @return in the order of the commands; status -1 of those that were not started or were ended for another's failure
std::vector<Outcome> run_side_by_side(const std::vector<Command>& commands, size_t at_once,
                                      const LineListener& listener, const Manner& manner = {});

Outcome run(const Command& command);

/// Waits, as for a child.
void pause_for(std::chrono::milliseconds time);

/// From here on SIGINT, SIGTERM and SIGHUP end the waiting for children by a Failure, so that what is temporary goes
/// too.
void heed_signals();
/// Whether one of them came.
bool was_interrupted();
/// @throws Interrupted if one came
void end_if_interrupted();

} // namespace qc::cli
