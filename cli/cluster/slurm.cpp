// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cluster/slurm.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "ffmpeg/probe.hpp"
#include "process/gpus.hpp"
#include "process/process.hpp"
#include "results/results.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr size_t kUsualArraySize = 1001; ///< Slurm's MaxArraySize, unless its administrator says otherwise

/// What this program gives to sbatch, and nobody else may. As sbatch does, it takes beginnings of the long ones.
constexpr std::array<std::string_view, 12> kOwnOptions = {"--array",   "--dependency", "--wrap",      "--parsable",
                                                          "--wait",    "--output",     "--error",     "--input",
                                                          "--requeue", "--no-requeue", "--open-mode", "--test-only"};
constexpr std::string_view kOwnLetters = "adWoei";

bool is_own(const std::string& word) {
    if (!word.starts_with("--")) return word.size() > 1 && kOwnLetters.find(word[1]) != std::string_view::npos;
    const std::string name = word.substr(0, word.find('='));
    return name.size() > 3 && std::any_of(kOwnOptions.begin(), kOwnOptions.end(),
                                          [&](std::string_view own) { return own.starts_with(name); });
}

bool is_of_gpus(const std::string& word) {
    return word.starts_with("--gres") || word.starts_with("--gpu") || word.starts_with("-G");
}

/// One line of what one of Slurm's commands complained.
std::string complaint_of(const std::string& program, const Outcome& outcome) {
    std::istringstream lines(outcome.message);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        for (const std::string& head : {program + ": ", std::string("error: ")})
            if (line.starts_with(head)) line.erase(0, head.size());
        if (!line.empty() && !line.starts_with("Try \"")) text += (text.empty() ? "" : "; ") + line;
    }
    return text.empty() ? "it ended with " + std::to_string(outcome.status) : text;
}

Outcome ask(const std::vector<std::string>& arguments) {
    Outcome outcome = run({arguments, {}});
    if (outcome.status == 127)
        throw Failure("--on=slurm: " + arguments[0] + " cannot be started (" + outcome.message +
                      "); a machine with Slurm's commands on the PATH is accepted");
    return outcome;
}

/// For names that Slurm fills in.
std::string without_percent(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '%' ? std::string("%%") : std::string(1, c);
    return result;
}

std::string own_command(const Options& options, const char* what, const Plan& plan) {
    std::string text = shell_text({own_program()}) + " " + what + " " + shell_text({plan.path});
    if (options.ffmpeg.empty()) return text;
    const bool is_path = options.ffmpeg.find('/') != std::string::npos;
    return text + " --ffmpeg " +
           shell_text({is_path ? std::filesystem::absolute(options.ffmpeg).string() : options.ffmpeg});
}

/// What a task runs. A task that failed is queued again, for another node may do it: not so for mistakes (2), nor when
/// Slurm itself ends it. By its index: the number of an array's last task is the whole array's too.
std::string task_script(const Options& options, const Plan& plan, size_t tasks, size_t offset) {
    std::ostringstream text;
    text << "trap 'exit 143' TERM\n"
         << own_command(options, "shard", plan) << " --hwaccel " << options.hwaccel << " $((SLURM_ARRAY_TASK_ID + "
         << offset << "))/" << tasks << "\ncode=$?\n"
         << "if [ $code -ne 0 ] && [ $code -ne 2 ] && [ \"${SLURM_RESTART_COUNT:-0}\" -lt " << options.cluster.retries
         << " ]; then\n    scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\" && sleep 60\nfi\nexit "
            "$code\n";
    return text.str();
}

std::string merge_script(const Options& options, const Plan& plan) {
    const std::string file = shell_text({plan.folder}) + "/merge-$SLURM_JOB_ID.code";
    return own_command(options, "merge", plan) + " --quiet\ncode=$?\necho $code > " + file + ".unfinished && mv " +
           file + ".unfinished " + file + "\nexit $code\n";
}

/// "0-4,7,9-12"
std::string ranges_of(const std::vector<size_t>& numbers) {
    std::string text;
    for (size_t i = 0; i < numbers.size();) {
        size_t end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
        if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
        i = end;
    }
    return text;
}

size_t largest_array() {
    std::istringstream lines(ask({"scontrol", "show", "config"}).output);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("MaxArraySize"))
            if (const size_t at = line.find('='); at != std::string::npos)
                return std::max<size_t>(1, std::strtoull(line.c_str() + at + 1, nullptr, 10));
    return kUsualArraySize;
}

bool needs_no_gpu(const Options& options, const Plan& plan) {
    return options.hwaccel == "none" && std::all_of(plan.titles.begin(), plan.titles.end(),
                                                    [](const Title& title) { return title.wish.backend == "cpu"; });
}

/// What --gres of sbatch is to be; empty: nothing.
std::string resources(const Options& options, const Plan& plan) {
    if (options.cluster.gres == "none") return "";
    if (options.cluster.gres != "auto") return options.cluster.gres;
    if (needs_no_gpu(options, plan)) return "";
    return ask({"sinfo", "--noheader", "--format=%G"}).output.find("gpu") != std::string::npos ? "gpu:1" : "";
}

/// Shards of one task: as many as its GPUs score side by side. "gpu:h100:2" are two.
size_t shards_of_task(const std::string& gres, const Plan& plan) {
    if (gres.empty()) return 1;
    const size_t colon = gres.rfind(':');
    const size_t count = colon == std::string::npos ? 1 : std::strtoull(gres.c_str() + colon + 1, nullptr, 10);
    return std::max<size_t>(1, count) * parts_of_gpu(plan.titles.front().inputs.size());
}

/// @return the job's number
std::string submit(const Options& options, const std::vector<std::string>& more, const std::string& output,
                   const std::string& script) {
    std::vector<std::string> arguments{"sbatch",    "--parsable",         "--job-name=quality-cuda",
                                       "--requeue", "--open-mode=append", "--output=" + output};
    const std::vector<std::string> words = words_of_sbatch(options.cluster.sbatch);
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), words.begin(), words.end());
    arguments.push_back("--wrap=" + script);
    const Outcome outcome = ask(arguments);
    if (!outcome.ok()) throw Failure("--on=slurm: sbatch refused: " + complaint_of("sbatch", outcome));
    return outcome.output.substr(0, outcome.output.find_first_of(";\n")); // behind a semicolon: of which cluster
}

/// Which of the tasks have a shard to do.
std::vector<size_t> needed_tasks(const std::vector<size_t>& shards, size_t tasks) {
    std::vector<bool> is_needed(tasks);
    for (const size_t shard : shards) is_needed[shard % tasks] = true;
    std::vector<size_t> numbers;
    for (size_t i = 0; i < tasks; ++i)
        if (is_needed[i]) numbers.push_back(i);
    return numbers;
}

void submit_arrays(const Options& options, const Plan& plan, const std::vector<size_t>& needed, const std::string& gres,
                   Jobs* jobs) {
    const size_t most = needed.empty() ? 1 : largest_array();
    for (auto begin = needed.begin(); begin != needed.end();) {
        const size_t offset = *begin / most * most;
        const auto end = std::lower_bound(begin, needed.end(), offset + most);
        std::vector<size_t> indices;
        std::transform(begin, end, std::back_inserter(indices), [offset](size_t number) { return number - offset; });
        std::vector<std::string> more{"--array=" + ranges_of(indices)};
        if (!gres.empty()) more.push_back("--gres=" + gres);
        jobs->arrays.push_back({submit(options, more, without_percent(plan.folder) + "/task-%A_%a.out",
                                       task_script(options, plan, jobs->tasks, offset)),
                                offset});
        begin = end;
    }
}

void cancel(const Jobs& jobs) {
    std::vector<std::string> arguments{"scancel"};
    for (const Array& array : jobs.arrays) arguments.push_back(array.job);
    if (arguments.size() > 1) ask(arguments);
}

Failure no_options(const std::string& text, const char* why) {
    return Failure("--sbatch=" + text + ": " + why +
                       "; options of sbatch, such as '--partition=gpu --time=1:00:00', are accepted",
                   kMisused);
}

/// At spaces, except those between quotes.
std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> words;
    char quote = 0;
    bool in_word = false;
    for (const char c : text) {
        const bool is_quote = quote != 0 ? c == quote : c == '\'' || c == '"';
        const bool is_space = quote == 0 && (c == ' ' || c == '\t' || c == '\n');
        if (is_quote) quote = quote != 0 ? '\0' : c;
        if (!is_space && !in_word) words.emplace_back();
        in_word = !is_space;
        if (!is_quote && !is_space) words.back() += c;
    }
    if (quote != 0) throw no_options(text, "a quote is not closed");
    return words;
}

} // namespace

std::vector<std::string> words_of_sbatch(const std::vector<std::string>& texts) {
    std::vector<std::string> words;
    for (const std::string& text : texts) {
        const std::vector<std::string> some = split(text);
        if (some.empty() || !some.front().starts_with("-")) throw no_options(text, "no option");
        for (const std::string& word : some) {
            if (is_of_gpus(word)) throw Failure("--sbatch=" + word + ": --gres says which GPUs a task gets", kMisused);
            if (word.starts_with("-") && is_own(word)) throw no_options(word, "this one quality-cuda gives itself");
        }
        words.insert(words.end(), some.begin(), some.end());
    }
    return words;
}

Jobs submit_to_slurm(const Options& options, const Plan& plan) {
    words_of_sbatch(options.cluster.sbatch); // mistakes first
    const Missing missing = find_missing(plan);
    for (const std::string& trouble : missing.troubles)
        if (!trouble.empty()) throw Failure(trouble);
    std::error_code error;
    std::filesystem::create_directories(plan.folder, error);
    if (error) throw Failure(plan.folder + " cannot be made: " + error.message());
    const std::string gres = resources(options, plan);
    const size_t each = shards_of_task(gres, plan);
    Jobs jobs;
    jobs.tasks = (plan.shards.size() + each - 1) / each;
    const std::vector<size_t> needed = needed_tasks(missing.shards, jobs.tasks);
    jobs.needed = needed.size();
    try {
        submit_arrays(options, plan, needed, gres, &jobs);
        // After any end of the tasks: where some failed for good, the merge says what is missing.
        std::string dependency = "--dependency=afterany";
        for (const Array& array : jobs.arrays) dependency += ":" + array.job;
        jobs.merge = submit(options, jobs.arrays.empty() ? std::vector<std::string>{} : std::vector{dependency},
                            without_percent(plan.folder) + "/merge-%j.out", merge_script(options, plan));
    } catch (const Interrupted& interrupted) {
        if (jobs.arrays.empty()) throw;
        throw Interrupted(interrupted.what() + std::string("; ") + how_to_cancel(jobs));
    } catch (const Failure&) {
        cancel(jobs);
        throw;
    }
    return jobs;
}

std::string how_to_cancel(const Jobs& jobs) {
    std::string text = "scancel";
    for (const Array& array : jobs.arrays) text += " " + array.job;
    return text + (jobs.merge.empty() ? "" : " " + jobs.merge) + " ends what was submitted";
}

} // namespace qc::cli
