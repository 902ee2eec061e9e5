// SPDX-License-Identifier: BSD-2-Clause-Patent
// A title, or a whole plan, on a cluster: planned here, scored there.
#include "cluster/cluster.hpp"

#include <filesystem>

#include "cluster/slurm.hpp"
#include "parts/commands.hpp"
#include "parts/plan.hpp"
#include "results/results.hpp"
#include "words/json_text.hpp"
#include "words/terminal.hpp"

namespace qc::cli {

namespace {

void announce(const Options& options, const Jobs& jobs) {
    std::vector<std::string> arrays;
    std::string text = jobs.arrays.empty() ? "submitted: nothing was left to score, " : "submitted: array ";
    for (const Array& array : jobs.arrays) {
        arrays.push_back(array.job);
        text += array.job + " ";
    }
    if (!arrays.empty()) text += "of " + std::to_string(jobs.needed) + (jobs.needed > 1 ? " tasks, " : " task, ");
    const nlohmann::json json = {{"arrays", arrays}, {"merge", jobs.merge}, {"tasks", jobs.needed}};
    const std::string line = text + "merge " + jobs.merge + "; " + how_to_cancel(jobs);
    if (!options.cluster.returns_at_once) {
        if (!options.is_quiet) say(line);
    } else if (options.as_json) {
        print_whole(DataText(json_text(json) + "\n"));
    } else if (!options.is_quiet) {
        print_whole(TerminalText(line + "\n"));
    }
}

void refuse_what_is_of_here(const Options& options) {
    if (!options.gpus.empty())
        throw Failure("--gpus=" + options.gpus + ": of this machine; with --on=slurm it is --gres that is accepted",
                      kMisused);
    if (options.cluster.returns_at_once && !options.fail_if.empty())
        throw Failure("--fail-if=" + options.fail_if.front() + ": there is no score yet where --no-wait is given",
                      kMisused);
    if (options.cluster.returns_at_once && options.is_strict)
        throw Failure("--strict: nothing is found yet where --no-wait is given; merge with --strict tells it later",
                      kMisused);
    for (const char c : options.cluster.gres)
        if (c == ' ' || c == '\n')
            throw Failure("--gres=" + options.cluster.gres +
                              ": auto, none, or what Slurm takes, such as gpu:h100:2, is accepted",
                          kMisused);
}

} // namespace

ExitCode submit_plan(const Options& options) {
    refuse_what_is_of_here(options);
    Options absolute = options;
    absolute.plan = std::filesystem::absolute(options.plan).string();
    const Plan plan = read_plan(absolute.plan);
    const Jobs jobs = submit_to_slurm(absolute, plan);
    announce(options, jobs);
    if (options.cluster.returns_at_once) return kDone;
    wait_for_slurm(absolute, plan, jobs);
    std::vector<MergedTitle> titles;
    for (size_t i = 0; i < plan.titles.size(); ++i)
        titles.push_back({told_title(plan, i, nullptr), results_of(plan, i), ""});
    const ExitCode code = present_merged(options, titles);
    if (!options.is_quiet && !options.as_json) tell_merged(plan.titles.size(), plan.titles.size());
    return code;
}

ExitCode score_on_cluster(const Options& options) {
    refuse_what_is_of_here(options);
    const std::vector<Condition> conditions = conditions_of(options);
    words_of_sbatch(options.cluster.sbatch);
    if (options.output.empty())
        throw Failure(
            "--on=slurm: --output is needed too; the plan and its results go beside it, where all nodes see them",
            kMisused);
    const std::string log = std::filesystem::absolute(options.output).string(), path = log + ".plan";
    write_plan(path, planned_titles(options), provenance_of(options).commands.front());
    const Plan plan = read_plan(path);
    const Jobs jobs = submit_to_slurm(options, plan);
    announce(options, jobs);
    if (options.cluster.returns_at_once) return kDone;
    wait_for_slurm(options, plan, jobs);
    Findings findings;
    find_again(heads_of(plan.titles.front(), log).front(), results_of(plan, 0), &findings);
    const ExitCode code = present(options, told_title(plan, 0, nullptr), log, conditions, findings, 0);
    std::error_code ignored; // who asked for a title's scores has no use for its plan
    std::filesystem::remove_all(plan.folder, ignored);
    std::filesystem::remove(path, ignored);
    return code;
}

} // namespace qc::cli
