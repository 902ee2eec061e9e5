// SPDX-License-Identifier: BSD-2-Clause-Patent
// Waiting for Slurm's jobs: what its queue says of them, and what they leave in the plan's folder.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "cluster/slurm.hpp"
#include "process/process.hpp"
#include "process/progress.hpp"
#include "results/results.hpp"
#include "words/terminal.hpp"

namespace qc::cli {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kFirstPause{500}, kLongestPause{10000}; ///< the controller is everybody's
/// For files of another machine to be seen here: of a job that came to its end, and of one that did not.
constexpr std::chrono::seconds kForFiles{60}, kForRest{5};
constexpr std::array kEnds = {"COMPLETED", "FAILED",        "CANCELLED", "TIMEOUT",  "NODE_FAIL",
                              "PREEMPTED", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REVOKED"};

struct Queue {
    bool is_known = false; ///< the controller answered
    std::string merge;     ///< state of the merge, empty: it has forgotten it
    size_t running = 0, waiting = 0;
    std::string reason; ///< why a task waits
};

Queue look(const Jobs& jobs) {
    std::string list = jobs.merge;
    for (const Array& array : jobs.arrays) list += "," + array.job;
    const Outcome outcome =
        run({{"squeue", "--noheader", "--array", "--states=all", "--jobs=" + list, "--format=%i|%T|%r"}, {}});
    Queue queue;
    queue.is_known = outcome.ok() || outcome.message.find("Invalid job id") != std::string::npos;
    std::istringstream lines(outcome.output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string job, state, reason;
        std::getline(fields, job, '|');
        std::getline(fields, state, '|');
        std::getline(fields, reason);
        if (job == jobs.merge) {
            queue.merge = state;
        } else if (state == "PENDING") {
            ++queue.waiting;
            queue.reason = reason;
        } else if (state == "RUNNING" || state == "COMPLETING" || state == "CONFIGURING") {
            ++queue.running;
        }
    }
    return queue;
}

std::string text_of(const Queue& queue) {
    if (!queue.is_known) return "Slurm does not answer";
    std::string text = std::to_string(queue.running) + " tasks run";
    if (queue.waiting > 0) text += ", " + std::to_string(queue.waiting) + " wait (" + queue.reason + ")";
    return text;
}

/// The results that appear, as frames of the progress bar.
class Results {
public:
    Results(const Plan& plan, bool is_wanted) {
        std::vector<Progress::Run> runs;
        std::error_code error;
        for (size_t i = 0; i < plan.shards.size(); ++i) {
            if (std::filesystem::exists(result_of(plan, i), error)) continue;
            files_.push_back(result_of(plan, i));
            frames_.push_back(plan.titles[plan.shards[i].title].parts[plan.shards[i].part].frames);
            runs.push_back({frames_.back()});
        }
        progress_.emplace(std::move(runs), is_wanted);
    }
    void look() {
        std::error_code error;
        for (size_t i = 0; i < files_.size(); ++i) {
            if (files_[i].empty() || !std::filesystem::exists(files_[i], error)) continue;
            files_[i].clear();
            progress_->take(i, "frame=" + std::to_string(frames_[i]));
        }
    }
    void note(const std::string& text) { progress_->note(text); }

private:
    std::vector<std::string> files_; ///< emptied when they are there
    std::vector<int64_t> frames_;
    std::optional<Progress> progress_;
};

/// @return the merge's exit code; none: it did not come to its end, and `state` says why
std::optional<int> wait_for_code(const Options& options, const Plan& plan, const Jobs& jobs, std::string* state) {
    const std::string file = plan.folder + "/merge-" + jobs.merge + ".code";
    Results results(plan, !options.is_quiet);
    bool is_over = false;
    Clock::time_point ended;
    milliseconds pause = kFirstPause;
    while (true) {
        std::error_code error;
        if (std::filesystem::exists(file, error)) return std::atoi(read_whole(file).c_str());
        const Queue queue = look(jobs);
        const bool was_over = is_over;
        is_over = queue.is_known &&
                  (queue.merge.empty() || std::find(kEnds.begin(), kEnds.end(), queue.merge) != kEnds.end());
        if (is_over && !was_over) {
            ended = Clock::now();
            pause = kFirstPause;
        }
        *state = queue.merge.empty() ? "ended" : queue.merge;
        const bool came_to_its_end = queue.merge == "COMPLETED" || queue.merge == "FAILED";
        if (is_over && Clock::now() - ended > (came_to_its_end ? kForFiles : kForRest)) return std::nullopt;
        results.look();
        results.note(text_of(queue));
        pause_for(pause);
        pause = std::min(pause * 5 / 4, kLongestPause);
    }
}

std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return lines;
    std::istringstream text(read_whole(path));
    for (std::string line; std::getline(text, line);)
        if (!line.empty()) lines.push_back(line);
    return lines;
}

std::string without_own_name(const std::string& line) {
    const std::string name = "quality-cuda: ";
    return line.starts_with(name) ? line.substr(name.size()) : line;
}

/// The last words of the first task whose shards are missing.
std::string words_of_task(const Plan& plan, const Jobs& jobs) {
    const Missing missing = find_missing(plan);
    if (missing.shards.empty()) return "";
    const size_t task = missing.shards.front() % jobs.tasks;
    const auto array = std::find_if(jobs.arrays.rbegin(), jobs.arrays.rend(),
                                    [task](const Array& each) { return each.offset <= task; });
    if (array == jobs.arrays.rend()) return "";
    const std::vector<std::string> lines =
        lines_of(plan.folder + "/task-" + array->job + "_" + std::to_string(task - array->offset) + ".out");
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
        if (line->starts_with("quality-cuda: shard ")) return "; " + without_own_name(*line);
    return lines.empty() ? "" : "; " + lines.back();
}

} // namespace

void wait_for_slurm(const Options& options, const Plan& plan, const Jobs& jobs) {
    std::string state;
    std::optional<int> code;
    try {
        code = wait_for_code(options, plan, jobs, &state);
    } catch (const Interrupted& interrupted) {
        throw Interrupted(std::string(interrupted.what()) + "; the jobs go on, and " + how_to_cancel(jobs));
    }
    if (!code)
        throw Failure("the merge, job " + jobs.merge + ", gave no result (" + state +
                      "); what is done stays done, submit again");
    if (*code == 0) return; // what was found is found again in the logs
    const std::vector<std::string> said = lines_of(plan.folder + "/merge-" + jobs.merge + ".out");
    for (size_t i = 0; i + 1 < said.size(); ++i) say(said[i]);
    throw Failure((said.empty() ? "the merge failed" : without_own_name(said.back())) + words_of_task(plan, jobs));
}

} // namespace qc::cli
