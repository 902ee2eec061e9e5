// SPDX-License-Identifier: BSD-2-Clause-Patent
// A plan and its shards: the steps of `score`, each for itself, on whatever machine.
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include "ffmpeg/runs.hpp"
#include "ffmpeg/said.hpp"
#include "logs/log_writing.hpp"
#include "logs/logs.hpp"
#include "parts/commands.hpp"
#include "parts/merging.hpp"
#include "parts/plan.hpp"
#include "process/gpus.hpp"
#include "process/process.hpp"
#include "results/outputs.hpp"
#include "results/results.hpp"
#include "words/advice.hpp"
#include "words/json_text.hpp"
#include "words/terminal.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

std::vector<std::vector<std::string>> titles_of(const Options& options, std::vector<std::string>* logs) {
    std::vector<std::vector<std::string>> titles;
    if (!options.videos.empty()) {
        titles.push_back(options.videos);
        logs->push_back(options.output.empty() ? options.videos.front() + ".scores.json" : options.output);
    }
    if (options.titles.empty()) return titles;
    const auto list = nlohmann::json::parse(read_whole(options.titles), nullptr, false);
    try {
        for (const auto& each : list) {
            auto videos = each.at("distorted").get<std::vector<std::string>>();
            if (videos.empty()) throw Failure(options.titles + ": a title has no distorted video");
            logs->push_back(each.value("log", videos.front() + ".scores.json"));
            videos.push_back(each.at("reference"));
            titles.push_back(std::move(videos));
        }
    } catch (const nlohmann::json::exception& broken) {
        throw Failure(options.titles + R"( is no list of titles, [{"distorted": ["d.mp4"], "reference": "r.mp4"}]: )" +
                      json_trouble(broken));
    }
    if (titles.empty()) throw Failure(options.titles + " has no titles");
    return titles;
}

std::string absolute(const std::string& path) {
    return path.find("://") != std::string::npos ? path : std::filesystem::absolute(path).string();
}

/// @return why the title's log was not written, which was said; empty: it was
std::string merge_title(const Options& options, const Plan& plan, const Title& title,
                        const std::vector<std::string>& records) {
    const Merged merged = merge_records(title, records, title.log);
    if (merged.status != QCR_MERGED) {
        const bool is_inexact = merged.status == QCR_MERGE_INEXACT && title.parts.size() > 1;
        return in_this_commands_words(merged.reason) + (is_inexact ? "; plan this title with --parts 1" : "");
    }
    Provenance made = provenance_of(options);
    if (!plan.command.empty()) made.commands.insert(made.commands.begin(), plan.command);
    for (const std::string& record : records) made.parts.push_back(command_of_record(record));
    made.merge = merger();
    made.files = sources_of(title);
    write_provenance(title.log, made);
    return "";
}

/// A file that goes with the object, unless it was renamed.
struct Leftover {
    explicit Leftover(std::string name) : path(std::move(name)) {}
    ~Leftover() {
        std::error_code ignored;
        for (const char* ending : {"", kUnfinishedRecord}) std::filesystem::remove(path + ending, ignored);
    }
    Leftover(const Leftover&) = delete;
    Leftover& operator=(const Leftover&) = delete;
    const std::string path;
};

/// One of two titles would overwrite what the other has written.
void refuse_common_logs(const std::vector<std::vector<std::string>>& titles, const std::vector<std::string>& logs) {
    std::set<std::string> names;
    for (size_t i = 0; i < titles.size(); ++i)
        for (const std::string& name : log_names(absolute(logs[i]), titles[i].size() - 1))
            if (!names.insert(name).second)
                throw Failure(name + " is the log of two titles; each needs a \"log\" of its own", kMisused);
}

/// A plan that would take the place of a video, a log of what is read or of another title's.
void refuse_overwriting_of(const Options& options, const std::vector<std::vector<std::string>>& titles,
                           const std::vector<std::string>& logs) {
    Outputs outputs;
    for (const auto& videos : titles)
        for (const std::string& each : videos) outputs.reads(each, "a video");
    if (!options.titles.empty()) outputs.reads(options.titles, "the list of titles");
    outputs.writes(options.plan, "the plan");
    for (size_t i = 0; i < titles.size(); ++i)
        for (const std::string& name : log_names(logs[i], titles[i].size() - 1)) outputs.writes(name, "a title's log");
}

/// What only a run that sees all pictures in their order can do.
void refuse_what_a_merge_cannot(const Options& options) {
    if (const std::string option = whole_option(options.wish); !option.empty())
        throw Failure(option + ": a plan's shards cannot do that; score without --on can, in one run", kMisused);
}

/// One shard, or those of one of so many tasks.
struct Share {
    size_t first = 0, tasks = 0; ///< tasks 0: this shard alone
};

std::optional<size_t> whole_number(const std::string& text) {
    size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

Share parse_share(const std::string& text, size_t shards) {
    const size_t slash = text.find('/');
    const auto first = whole_number(text.substr(0, slash));
    if (slash == std::string::npos) {
        if (!first || *first >= shards)
            throw Failure("shard " + text + ": the plan has 0.." + std::to_string(shards - 1), kMisused);
        return {*first, 0};
    }
    const auto tasks = whole_number(text.substr(slash + 1));
    if (!first || !tasks || *first >= *tasks)
        throw Failure("shard " + text + ": a task's number and how many there are, such as 0/8 to 7/8, are accepted",
                      kMisused);
    return {*first, *tasks};
}

/// What was found when shards were scored, be it before. @param numbers of those that are done
ExitCode present_shards(const Options& options, const Plan& plan, const std::vector<size_t>& numbers) {
    Json list = Json::array();
    std::vector<Finding> all;
    for (const size_t number : numbers) {
        Findings findings("shard " + std::to_string(number));
        find_again({}, {result_of(plan, number)}, &findings);
        all.insert(all.end(), findings.list().begin(), findings.list().end());
        list.push_back(
            {{"shard", number}, {"findings", json_of(findings)}, {"decoder_errors", findings.decoder_errors()}});
    }
    if (options.as_json) print_whole(DataText(json_text(list, 2) + "\n"));
    return exit_code_of(options, all, false);
}

bool is_talkative(const Options& options) {
    return !options.is_quiet && !options.as_json;
}

/// Every shard of a task is a process of its own: what befalls one of them does not befall the others.
ExitCode run_share(const Options& options, const Plan& plan, const Share& share, const std::vector<std::string>& gpus) {
    std::vector<size_t> numbers;
    std::vector<Command> commands;
    for (size_t number = share.first; number < plan.shards.size(); number += share.tasks) {
        Command command{{own_program(), "shard", options.plan, std::to_string(number), "--hwaccel", options.hwaccel},
                        {}};
        if (!options.ffmpeg.empty()) command.arguments.insert(command.arguments.end(), {"--ffmpeg", options.ffmpeg});
        numbers.push_back(number);
        commands.push_back(std::move(command));
    }
    const size_t videos = plan.titles[plan.shards[share.first % plan.shards.size()].title].inputs.size();
    const auto outcomes = run_side_by_side(commands, parts_of_machine(gpus, videos),
                                           [&](size_t, const std::string& line) {
                                               if (is_talkative(options)) print_whole(TerminalText(line + "\n"));
                                           },
                                           {.goes_on = true, .gpus = gpus});
    std::vector<size_t> failed, done;
    for (size_t i = 0; i < outcomes.size(); ++i) {
        (outcomes[i].ok() ? done : failed).push_back(numbers[i]);
        if (outcomes[i].ok()) continue;
        std::istringstream lines(outcomes[i].message);
        for (std::string line; std::getline(lines, line);) say(line);
    }
    const ExitCode code = present_shards(options, plan, done);
    if (failed.empty()) return code;
    throw Failure("failed shards: " + listed(failed) + " (" + std::to_string(failed.size()) + " of " +
                  std::to_string(numbers.size()) + ")");
}

/// @return whether there was anything left to do
bool score_shard(const Options& options, const Plan& plan, size_t number, const std::vector<std::string>& gpus) {
    Title title = plan.titles[plan.shards[number].title];
    title.decodes_on_gpu = decodes_on_gpu(options, gpus);
    settle_decoding(options, &title);
    const Seal result_seal = seal_of(plan, number, inputs_checksum(title));
    const std::string result = result_of(plan, number);
    if (has_seal(result, result_seal)) return false;
    const Tools tools = find_tools(options.ffmpeg);
    std::error_code error;
    std::filesystem::create_directories(plan.folder, error);
    if (error) throw Failure(plan.folder + " cannot be made: " + error.message());
    const Leftover record(unfinished(result));
    // Whoever runs shards side by side by their numbers has them take turns.
    const std::vector<std::string> gpu = gpus.empty() ? gpus : std::vector{gpus[number % gpus.size()]};
    Command command;
    const auto attempt = [&] {
        for (const char* ending : {"", kUnfinishedRecord}) std::filesystem::remove(record.path + ending, error);
        command = parts_command(tools, title, {plan.shards[number].part}, {record.path});
        return run_side_by_side({command}, 1, [](size_t, const std::string&) {}, {.gpus = gpu}).front();
    };
    Outcome outcome = attempt();
    if (!outcome.ok() && title.decodes_on_gpu && options.hwaccel != "cuda") {
        if (!options.is_quiet)
            say("shard " + std::to_string(number) +
                ": decoding on the GPU failed, decoding on the CPU: " + reason_of(outcome));
        title.decodes_on_gpu = false;
        outcome = attempt();
    }
    if (!outcome.ok())
        throw Failure("shard " + std::to_string(number) + ": " + in_this_commands_words(reason_of(outcome)));
    seal(record.path, Damage({outcome}, {command}).to_text(), without_passwords(shell_text(command.arguments)),
         result_seal);
    if (std::rename(record.path.c_str(), result.c_str()) != 0)
        throw Failure(result + " cannot be written: " + std::strerror(errno));
    return true;
}

} // namespace

std::vector<Title> planned_titles(const Options& options) {
    refuse_what_a_merge_cannot(options);
    const Tools tools = find_tools(options.ffmpeg);
    const TemporaryFolder folder;
    std::vector<std::string> logs;
    std::vector<Title> planned;
    const auto titles = titles_of(options, &logs);
    for (const std::string& log : logs) require_layout(log, true);
    refuse_common_logs(titles, logs);
    if (!options.plan.empty()) refuse_overwriting_of(options, titles, logs);
    for (size_t i = 0; i < titles.size(); ++i) {
        std::vector<std::string> videos;
        for (const std::string& path : titles[i]) videos.push_back(absolute(path));
        std::future<Outcome> untold;
        planned.push_back(prepare(tools, options, videos, folder.file(""), &untold));
        planned.back().log = absolute(logs[i]);
        if (!planned.back().why_one_part.empty() && !options.is_quiet)
            say(planned.back().why_one_part + ": scored in one part");
    }
    return planned;
}

ExitCode make_plan(const Options& options) {
    if (std::error_code error; std::filesystem::exists(options.plan, error) && !is_plan(options.plan))
        throw Failure(options.plan +
                          " is there already and is no plan: nothing is written over it; the plan comes first, "
                          "before the videos",
                      kMisused);
    const std::vector<Title> titles = planned_titles(options);
    write_plan(options.plan, titles, provenance_of(options).commands.front());
    size_t shards = 0;
    for (const Title& title : titles) shards += title.parts.size();
    if (!options.is_quiet) print_whole(TerminalText(std::to_string(shards) + "\n"));
    return kDone;
}

ExitCode run_shard(const Options& options) {
    const Plan plan = read_plan(options.plan);
    const Share share = parse_share(options.shard, plan.shards.size());
    const std::vector<std::string> gpus = find_gpus(options.gpus);
    if (share.tasks > 0) return run_share(options, plan, share, gpus);
    const bool is_new = score_shard(options, plan, share.first, gpus);
    if (is_talkative(options))
        print_whole(TerminalText("shard " + std::to_string(share.first) + (is_new ? ": done\n" : ": done before\n")));
    return present_shards(options, plan, {share.first});
}

ExitCode merge_plan(const Options& options) {
    const Plan plan = read_plan(options.plan);
    const Missing missing = find_missing(plan);
    std::vector<std::vector<std::string>> records(plan.titles.size());
    for (size_t i = 0; i < plan.shards.size(); ++i) records[plan.shards[i].title].push_back(result_of(plan, i));
    std::vector<bool> is_whole(plan.titles.size(), true);
    for (const size_t shard : missing.shards) is_whole[plan.shards[shard].title] = false;
    size_t merged = 0;
    std::vector<MergedTitle> titles;
    for (size_t i = 0; i < plan.titles.size(); ++i) {
        std::vector<std::string> changed;
        MergedTitle title{told_title(plan, i, &changed), records[i], missing.troubles[i]};
        if (title.error.empty() && is_whole[i] && !options.is_quiet)
            for (const std::string& each : changed)
                say("note: " + each + " has changed since it was planned: its codec and bit rate are not recorded");
        if (!title.error.empty())
            say(title.title.log + ": not merged: " + title.error);
        else if (!is_whole[i])
            title.error = "shards are missing";
        else if (title.error = merge_title(options, plan, title.title, records[i]); title.error.empty())
            ++merged;
        else
            say(title.title.log + ": " + title.error);
        titles.push_back(std::move(title));
    }
    const ExitCode code = present_merged(options, titles);
    if (is_talkative(options)) tell_merged(merged, plan.titles.size());
    if (!missing.shards.empty())
        throw Failure("missing shards: " + listed(missing.shards) + " (" + std::to_string(missing.shards.size()) +
                      " of " + std::to_string(plan.shards.size()) + "); quality-cuda shard " + options.plan +
                      " N makes each");
    return merged == plan.titles.size() ? code : kFailed;
}

} // namespace qc::cli
