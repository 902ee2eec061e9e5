// SPDX-License-Identifier: BSD-2-Clause-Patent
// What quality-cuda does on this machine: score, plan, shard, merge. Each throws Failure.
#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "ffmpeg/title.hpp"
#include "logs/summary.hpp"
#include "logs/table.hpp"
#include "process/process.hpp"
#include "results/provenance.hpp"
#include "words/failure.hpp"
#include "words/findings.hpp"

namespace qc::cli {

/// Where a plan's shards are run if not here, and how.
struct Cluster {
    std::string engine;              ///< slurm, or empty: this machine
    std::vector<std::string> sbatch; ///< options of sbatch, each option a text
    std::string gres = "auto";       ///< generic resources of a task
    int retries = 2;                 ///< of a task that has failed
    bool returns_at_once = false;
};

struct Options {
    std::vector<std::string> command_line; ///< as it was typed, the program's name first
    std::string ffmpeg;                    ///< empty: looked for
    std::vector<std::string> videos;       ///< distorted ones, the reference last
    OpeningWishes openings;
    Wish wish;
    int parts = 0; ///< 0: as many as the machine serves well
    std::string hwaccel = "auto";
    std::string output;
    std::vector<std::string> fail_if;
    bool as_json = false, is_quiet = false;
    bool is_strict = false; ///< whatever is doubtful fails
    bool shows_all = false; ///< all scores, not only those that were asked for
    std::string plan, titles;
    std::string shard; ///< its number, or TASK/TASKS
    std::string gpus;  ///< empty: all that may be seen
    Cluster cluster;
};

ExitCode score(const Options& options);
ExitCode make_plan(const Options& options);
ExitCode run_shard(const Options& options);
ExitCode merge_plan(const Options& options);

/// Tells what this machine can do.
ExitCode examine(const Options& options);

/// Whether decoding is tried on a GPU.
bool decodes_on_gpu(const Options& options, const std::vector<std::string>& gpus);

/// What ffmpeg does to pictures before they are scored it does in host memory: a title with such videos is decoded
/// there.
/// @throws Failure if the GPU was asked for
void settle_decoding(const Options& options, Title* title);

/// Parts that this machine scores at a time. @param videos of each
size_t parts_of_machine(const std::vector<std::string>& gpus, size_t videos);

/// The titles of a plan. @throws Failure
std::vector<Title> planned_titles(const Options& options);

/// Shows what the logs of a title say, and holds it against the conditions.
/// @param seconds that scoring took; 0: not known
ExitCode present(const Options& options, const Title& title, const std::string& log,
                 const std::vector<Condition>& conditions, const Findings& findings, double seconds);

/// What a person asked to see: the models' scores come first, and their features are left out.
struct AskedScores {
    bool all = false;
    std::vector<std::string> names; ///< of metrics

    std::vector<std::string> of(const Json& log) const;
};
AskedScores asked_scores(const Wish& wish, bool shows_all);

/// What is known of an input's video.
StreamFacts facts_of(const Title& title, size_t input);
/// Of the first distorted video, as a log counts them.
double frames_of(const Json& log);

/// What of a log's head goes into a summary for programs.
Json told_of(const Json& log);
/// What the table has of a row, and what else its log tells.
Json json_of_row(const Table& table, const TableRow& row);
Json json_of(const StreamFacts& facts);
Json json_of(const Findings& findings);
/// A title's summary. @param logs the heads of its logs, of each rendition  @param kept where the log is kept
/// @param shows_all all scores, not only those that were asked for  @param seconds that scoring took; 0: not known
Json summary_of(const Title& title, const std::vector<Json>& logs, const std::string& kept, const Findings& findings,
                bool shows_all = false, double seconds = 0);
std::vector<Json> heads_of(const Title& title, const std::string& log);

/// The findings of scores that other processes have made: those that the log has, and what decoders complained of when
/// the records were made.
void find_again(const Json& log, const std::vector<std::string>& records, Findings* findings);

/// Says them, with --json as a list of the titles' summaries. @return the exit code of titles whose logs are all there
struct MergedTitle {
    Title title;
    std::vector<std::string> records;
    std::string error; ///< why there is no log; it was said
};
/// The line that ends a merge.
void tell_merged(size_t merged, size_t titles);

ExitCode present_merged(const Options& options, const std::vector<MergedTitle>& titles);

/// Says which conditions a log meets. @param name of what was scored
bool is_any_met(const std::vector<Condition>& conditions, const Json& log, const std::string& name);
ExitCode exit_code_of(const Options& options, const std::vector<Finding>& findings, bool is_below);

/// Whether folders or patterns were named, each file of which is scored for itself.
bool is_batch(const std::vector<std::string>& videos);
ExitCode score_batch(const Options& options);

/// @param log empty: none is kept. @throws Failure if it would take the place of a video
void refuse_overwriting(const std::vector<std::string>& videos, const std::string& log);

/// What this run puts beside the logs that it makes.
Provenance provenance_of(const Options& options);

/// Those of --fail-if. @throws Failure, also for one on a score that there will not be
std::vector<Condition> conditions_of(const Options& options);

/// Scores that are computed for a wish; none if it cannot be told before the pictures are known.
Names names_of_scores(const Wish& wish);

/// A title's inputs in the filter's order, its parts and what they go by.
/// @param folder for what has to be tried  @param untold what is being tried there and turned out not to be needed: its
/// end, for which a future waits when it goes, is nothing that the title's scores have to wait for
Title prepare(const Tools& tools, const Options& options, const std::vector<std::string>& videos,
              const std::string& folder, std::future<Outcome>* untold);

} // namespace qc::cli
