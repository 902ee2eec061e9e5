// SPDX-License-Identifier: BSD-2-Clause-Patent
// Slurm: a plan's shards as the tasks of an array, a merge behind them, and what becomes of both. Slurm's own commands
// do all that there is to scheduling.
#pragma once

#include <string>
#include <vector>

#include "parts/commands.hpp"
#include "parts/plan.hpp"

namespace qc::cli {

struct Array {
    std::string job;
    size_t offset = 0; ///< what its indices lack of a task's number
};

struct Jobs {
    std::vector<Array> arrays; ///< none if every shard was done before; several if one may not have so many tasks
    std::string merge;
    size_t tasks = 0;  ///< in which the shards are shared out
    size_t needed = 0; ///< of these, with something left to do
};

/// The words of --sbatch=TEXT, of which quotes may keep some together. @throws Failure
std::vector<std::string> words_of_sbatch(const std::vector<std::string>& texts);

/// @throws Failure with Slurm's reason if it is not there, or refuses; nothing is left in its queue then
Jobs submit_to_slurm(const Options& options, const Plan& plan);

/// Waits for the merge. A signal ends the waiting, not the jobs. @throws Failure that says what is missing and why
void wait_for_slurm(const Options& options, const Plan& plan, const Jobs& jobs);

/// "scancel 12 13 ends them"
std::string how_to_cancel(const Jobs& jobs);

} // namespace qc::cli
