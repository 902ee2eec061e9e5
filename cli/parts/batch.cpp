// SPDX-License-Identifier: BSD-2-Clause-Patent
// Folders and patterns: many pairs of files, each scored for itself, that belong together by their names.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <glob.h>

#include "ffmpeg/runs.hpp"
#include "ffmpeg/said.hpp"
#include "logs/logs.hpp"
#include "parts/commands.hpp"
#include "process/gpus.hpp"
#include "results/results.hpp"
#include "words/advice.hpp"
#include "words/json_text.hpp"
#include "words/terminal.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

namespace fs = std::filesystem;

constexpr size_t kRunsOfGpu = 4; ///< side by side

constexpr const char* kVideoEndings[] = {".mp4",  ".mkv", ".mov", ".webm", ".m4v", ".ts",  ".m2ts",
                                         ".avi",  ".y4m", ".yuv", ".raw",  ".ivf", ".obu", ".h264",
                                         ".hevc", ".264", ".265", ".mxf",  ".nut", ".mpg", ".mpeg"};

bool is_folder(const std::string& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

bool is_pattern(const std::string& path) {
    std::error_code error;
    return !is_url(path) && path.find_first_of("*?[") != std::string::npos && !fs::exists(path, error);
}

bool is_media(const std::string& path) {
    const std::string ending = fs::path(path).extension().string();
    return is_picture_name(path) ||
           std::find(std::begin(kVideoEndings), std::end(kVideoEndings), ending) != std::end(kVideoEndings);
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> files;
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    return files;
}

/// The files that an argument means, in the order of their names. @throws Failure if there is none
std::vector<std::string> files_of(const std::string& argument) {
    std::vector<std::string> files;
    if (is_folder(argument)) {
        std::error_code error;
        for (const auto& each : fs::directory_iterator(argument, error))
            if (each.is_regular_file(error) && is_media(each.path().string())) files.push_back(each.path().string());
        if (error) throw Failure(argument + " cannot be read: " + error.message());
        if (files.empty()) throw Failure(argument + " has no pictures and no videos");
    } else if (is_pattern(argument)) {
        for (std::string& each : files_of_pattern(argument))
            if (!is_folder(each)) files.push_back(std::move(each));
        if (files.empty()) throw Failure(argument + ": no file has such a name");
    } else {
        files.push_back(argument);
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string stem_of(const std::string& path) {
    return fs::path(path).stem().string();
}

struct Pair {
    std::string distorted, reference;
    Title title;
    std::vector<SourceFile> files; ///< as they were before they were scored
    std::string log;
    Findings findings;
    std::string error; ///< why there are no scores
    Json log_head;     ///< of its log

    Pair(std::string one, std::string other)
        : distorted(std::move(one)), reference(std::move(other)), findings(distorted) {}
};

/// Those that have a partner of their name, and what is to be said of the others.
std::vector<Pair> pairs_of(const std::vector<std::string>& arguments, Findings* unmatched) {
    std::vector<std::string> distorted;
    for (size_t i = 0; i + 1 < arguments.size(); ++i)
        for (std::string& each : files_of(arguments[i])) distorted.push_back(std::move(each));
    const std::string& last = arguments.back();
    const bool is_one = !is_folder(last) && !is_pattern(last);
    std::map<std::string, std::string> references;
    for (const std::string& each : files_of(last))
        if (const auto [known, is_new] = references.emplace(stem_of(each), each); !is_new)
            throw Failure(known->second + " and " + each + ": two references of one name", kMisused);
    std::vector<Pair> pairs;
    std::set<std::string> used;
    for (const std::string& each : distorted) {
        const auto partner = is_one ? references.begin() : references.find(stem_of(each));
        if (partner == references.end()) {
            std::string text = each;
            text.append(" is not scored: ").append(last).append(" has no file of that name");
            unmatched->add("command", text);
            continue;
        }
        used.insert(partner->first);
        pairs.emplace_back(each, partner->second);
    }
    for (const auto& [stem, path] : references)
        if (used.count(stem) == 0) unmatched->add("command", path + " is not used: no distorted file has that name");
    if (pairs.empty()) throw Failure("no two files have one name (without what follows its last dot)");
    return pairs;
}

/// What is found out of each before it is scored. Side by side: of pictures this takes as long as their scores.
void prepare_pairs(const Tools& tools, const Options& options, const std::string& folder, std::vector<Pair>* pairs) {
    Options whole = options;
    whole.parts = 1;
    const size_t at_once = std::max<size_t>(1, std::thread::hardware_concurrency());
    for (size_t begin = 0; begin < pairs->size(); begin += at_once) {
        const size_t end = std::min(begin + at_once, pairs->size());
        std::vector<std::future<Title>> prepared;
        for (size_t i = begin; i < end; ++i)
            prepared.push_back(std::async(std::launch::async, [&, &pair = (*pairs)[i]] {
                std::future<Outcome> untold;
                return prepare(tools, whole, {pair.distorted, pair.reference}, folder, &untold);
            }));
        for (size_t i = begin; i < end; ++i) {
            try {
                (*pairs)[i].title = prepared[i - begin].get();
            } catch (const Interrupted&) {
                throw;
            } catch (const Failure& failure) {
                if (failure.code() == kMisused) throw;
                (*pairs)[i].error = failure.what();
            }
        }
    }
}

/// A row for each pair, with whatever score any of them has.
Table table_of_pairs(const std::vector<Pair>& pairs, const Options& options, double seconds) {
    Table table;
    const AskedScores asked = asked_scores(options.wish, options.shows_all);
    double frames = 0;
    for (const Pair& pair : pairs) {
        table.rows.push_back({pair.distorted, facts_of(pair.title, 0), pair.log_head, !pair.error.empty()});
        frames += frames_of(pair.log_head);
        for (const std::string& score : asked.of(pair.log_head))
            if (std::find(table.scores.begin(), table.scores.end(), score) == table.scores.end())
                table.scores.push_back(score);
    }
    table.reference = options.videos.back();
    if (pairs.front().reference == table.reference) table.reference_video = facts_of(pairs.front().title, 1);
    if (seconds > 0) table.frames_per_second = frames / seconds;
    return table;
}

Json json_of_pairs(const std::vector<Pair>& pairs, const Table& table, const Findings& unmatched) {
    Json list = Json::array();
    for (size_t i = 0; i < pairs.size(); ++i) {
        const Pair& pair = pairs[i];
        Json row = {{"distorted", pair.distorted}, {"reference", pair.reference}};
        if (pair.error.empty()) {
            row["log"] = pair.log;
            row["findings"] = json_of(pair.findings);
            row["decoder_errors"] = pair.findings.decoder_errors();
            row["reference_video"] = json_of(facts_of(pair.title, 1));
            row["backend"] = backend_of(pair.log_head);
            row.update(json_of_row(table, table.rows[i]));
        } else {
            row["error"] = pair.error;
        }
        list.push_back(std::move(row));
    }
    for (const Finding& each : unmatched.list()) list.push_back({{"error", each.text}});
    return list;
}

void run_pairs(const Tools& tools, const Options& options, const TemporaryFolder& folder, std::vector<Pair>* pairs) {
    const std::vector<std::string> gpus = find_gpus(options.gpus);
    prepare_pairs(tools, options, folder.file(""), pairs);
    std::vector<Command> commands;
    std::vector<Pair*> run;
    for (Pair& pair : *pairs) {
        const std::string name = fs::path(pair.distorted).filename().string() + ".json";
        pair.log = options.output.empty() ? folder.file(std::to_string(commands.size()) + ".json")
                                          : (fs::absolute(options.output) / name).string();
        if (!pair.error.empty()) continue;
        commands.push_back(whole_command(tools, pair.title, pair.log));
        pair.files = sources_of(pair.title);
        run.push_back(&pair);
    }
    const size_t at_once =
        gpus.empty() ? std::max<size_t>(1, std::thread::hardware_concurrency() / 2) : kRunsOfGpu * gpus.size();
    const auto outcomes =
        run_side_by_side(commands, at_once, [](size_t, const std::string&) {}, {.goes_on = true, .gpus = gpus});
    for (size_t i = 0; i < run.size(); ++i) {
        Pair& pair = *run[i];
        if (!outcomes[i].ok()) {
            pair.error = in_this_commands_words(reason_of(outcomes[i]));
            continue;
        }
        const Damage damage({outcomes[i]}, {commands[i]});
        pair.findings.add_damage(damage.count(), damage.text());
        for (const std::string& line : warnings_of(outcomes[i]))
            pair.findings.add("filter", in_this_commands_words(line));
        pair.log_head = read_head(pair.log);
        if (options.output.empty()) {
            pair.log.clear();
            continue;
        }
        Provenance made = provenance_of(options);
        made.parts = {shell_text(commands[i].arguments)};
        made.files = std::move(pair.files);
        write_provenance(pair.log, made);
    }
}

} // namespace

bool is_batch(const std::vector<std::string>& videos) {
    return std::any_of(videos.begin(), videos.end() - (videos.empty() ? 0 : 1),
                       [](const std::string& each) { return is_folder(each) || is_pattern(each); });
}

ExitCode score_batch(const Options& options) {
    const std::vector<Condition> conditions = conditions_of(options);
    const Tools tools = find_tools(options.ffmpeg);
    const TemporaryFolder folder;
    Findings unmatched;
    std::vector<Pair> pairs = pairs_of(options.videos, &unmatched);
    if (std::error_code error; !options.output.empty() && !fs::is_directory(options.output, error))
        throw Failure("--output=" + options.output + ": of folders and patterns, the logs go to a folder that is there",
                      kMisused);
    const auto begin = std::chrono::steady_clock::now();
    run_pairs(tools, options, folder, &pairs);
    const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
    const Table table = table_of_pairs(pairs, options, lasted.count());
    if (options.as_json)
        print_whole(DataText(json_text(json_of_pairs(pairs, table, unmatched), 2) + "\n"));
    else if (!options.is_quiet)
        print_whole(text_of(table, terminal_width(), shows_bold()));
    std::vector<Finding> findings = unmatched.list();
    size_t failed = 0;
    bool is_below = false;
    for (const Pair& pair : pairs) {
        findings.insert(findings.end(), pair.findings.list().begin(), pair.findings.list().end());
        if (pair.error.empty()) {
            is_below = is_any_met(conditions, pair.log_head, pair.distorted) || is_below;
            continue;
        }
        ++failed;
        say("quality-cuda: " + pair.distorted + ": " + pair.error);
    }
    if (failed > 0)
        throw Failure(std::to_string(failed) + " of " + std::to_string(pairs.size()) + " pairs have no scores");
    return exit_code_of(options, findings, is_below);
}

} // namespace qc::cli
