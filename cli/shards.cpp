// SPDX-License-Identifier: BSD-2-Clause-Patent
// A plan and its shards: the steps of `score`, each for itself, on whatever machine.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "commands.hpp"
#include "files.hpp"
#include "process.hpp"
#include "runs.hpp"

namespace qc::cli {

namespace {

constexpr int kPlanVersion = 1;
constexpr const char* kPlanKey = "quality_cuda_plan";

struct Shard {
    size_t title = 0, part = 0;
    Seal seal;
};

struct Plan {
    std::vector<Title> titles;
    std::vector<Shard> shards;
    std::string folder; ///< of the results
};

/// What a result is the result of: everything that enters into it but the inputs.
uint64_t entry_checksum(const Title& title, size_t part) {
    nlohmann::json entry = title;
    entry["parts"] = entry["parts"][part];
    entry.erase("log");
    entry.erase("n_subsample"); // the merge's business
    return checksum_of(entry.dump() + QC_VERSION);
}

uint64_t inputs_checksum(const Title& title) {
    Checksum sum;
    for (const std::string& path : title.inputs) sum.add(hex(checksum_of_input(path)));
    return sum.value();
}

Plan read_plan(const std::string& path) {
    Plan plan;
    const auto json = nlohmann::json::parse(read_whole(path), nullptr, false);
    if (!json.is_object() || !json.contains(kPlanKey)) throw Failure(path + " is no plan of quality-cuda");
    try {
        if (json.at(kPlanKey) != kPlanVersion) throw Failure(path + " is a plan of another version");
        json.at("titles").get_to(plan.titles);
        for (const auto& entry : json.at("shards")) {
            const Shard shard{entry.at("title"), entry.at("part"), {}};
            if (shard.title >= plan.titles.size() || shard.part >= plan.titles[shard.title].parts.size())
                throw Failure(path + " is damaged: a shard of a part that is not there");
            plan.shards.push_back(shard);
        }
    } catch (const nlohmann::json::exception& broken) {
        throw Failure(path + " is damaged: " + broken.what());
    }
    plan.folder = path + ".shards";
    return plan;
}

void fill_seals(Plan* plan) {
    std::vector<uint64_t> inputs;
    for (const Title& title : plan->titles) inputs.push_back(inputs_checksum(title));
    for (Shard& shard : plan->shards)
        shard.seal = {entry_checksum(plan->titles[shard.title], shard.part), inputs[shard.title]};
}

std::string result_of(const Plan& plan, size_t shard) {
    return plan.folder + "/" + std::to_string(shard) + ".record";
}

/// A name that no other process has, on whatever machine.
std::string unfinished(const std::string& path) {
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    return path + "." + host + "." + std::to_string(getpid()) + ".unfinished";
}

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
                      broken.what());
    }
    if (titles.empty()) throw Failure(options.titles + " has no titles");
    return titles;
}

std::string absolute(const std::string& path) {
    return path.find("://") != std::string::npos ? path : std::filesystem::absolute(path).string();
}

/// @return whether the title's log was written
bool merge_title(const Tools& tools, const Plan& plan, size_t index, const std::vector<std::string>& records) {
    const Title& title = plan.titles[index];
    const std::string list = unfinished(plan.folder + "/title" + std::to_string(index));
    write_whole(list, replay_list(title, records));
    const Outcome merged = run(merge_command(tools, title, list, title.log));
    std::filesystem::remove(list);
    if (!merged.ok()) {
        const bool is_inexact = reason_of(merged).find("replay=") != std::string::npos && title.parts.size() > 1;
        std::fprintf(stderr, "%s: %s%s\n", title.log.c_str(), reason_of(merged).c_str(),
                     is_inexact ? "; plan this title with --parts 1" : "");
        return false;
    }
    for (const std::string& line : warnings_of(merged))
        std::fprintf(stderr, "%s: warning: %s\n", title.log.c_str(), line.c_str());
    return true;
}

std::string listed(const std::vector<size_t>& numbers) {
    constexpr size_t kMost = 20;
    std::string text;
    for (size_t i = 0; i < std::min(numbers.size(), kMost); ++i)
        text += (i > 0 ? " " : "") + std::to_string(numbers[i]);
    return text + (numbers.size() > kMost ? " ..." : "");
}

} // namespace

ExitCode make_plan(const Options& options) {
    const Tools tools = find_tools(options.ffmpeg);
    const TemporaryFolder folder;
    std::vector<std::string> logs;
    const auto titles = titles_of(options, &logs);
    nlohmann::json json = {
        {kPlanKey, kPlanVersion}, {"titles", nlohmann::json::array()}, {"shards", nlohmann::json::array()}};
    for (size_t i = 0; i < titles.size(); ++i) {
        std::vector<std::string> videos;
        for (const std::string& path : titles[i]) videos.push_back(absolute(path));
        Title title = prepare(tools, options, videos, folder.file(""));
        title.log = absolute(logs[i]);
        if (!title.why_one_part.empty() && !options.is_quiet)
            std::fprintf(stderr, "%s: scored in one part\n", title.why_one_part.c_str());
        for (size_t part = 0; part < title.parts.size(); ++part)
            json["shards"].push_back({{"title", i}, {"part", part}});
        json["titles"].push_back(title);
    }
    write_whole(options.plan, json.dump(1) + "\n");
    if (!options.is_quiet) std::printf("%zu\n", json["shards"].size());
    return kDone;
}

ExitCode run_shard(const Options& options) {
    Plan plan = read_plan(options.plan);
    if (options.shard < 0 || static_cast<size_t>(options.shard) >= plan.shards.size())
        throw Failure("shard " + std::to_string(options.shard) + ": the plan has 0.." +
                          std::to_string(plan.shards.size() - 1),
                      kMisused);
    const auto number = static_cast<size_t>(options.shard);
    Shard& shard = plan.shards[number];
    Title title = plan.titles[shard.title];
    title.decodes_on_gpu = decodes_on_gpu(options);
    shard.seal = {entry_checksum(title, shard.part), inputs_checksum(title)};
    const std::string result = result_of(plan, number);
    if (has_seal(result, shard.seal)) {
        if (!options.is_quiet) std::printf("shard %zu: done before\n", number);
        return kDone;
    }
    const Tools tools = find_tools(options.ffmpeg);
    std::error_code error;
    std::filesystem::create_directories(plan.folder, error);
    if (error) throw Failure(plan.folder + " cannot be made: " + error.message());
    const std::string record = unfinished(result);
    const auto attempt = [&] {
        std::filesystem::remove(record, error);
        return run_side_by_side({part_command(tools, title, shard.part, record, number)}, 1,
                                [](size_t, const std::string&) {})
            .front();
    };
    Outcome outcome = attempt();
    if (!outcome.ok() && title.decodes_on_gpu && options.hwaccel != "cuda") {
        title.decodes_on_gpu = false;
        outcome = attempt();
    }
    if (!outcome.ok()) {
        std::filesystem::remove(record, error);
        throw Failure("shard " + std::to_string(number) + ": " + reason_of(outcome));
    }
    seal(record, shard.seal);
    if (std::rename(record.c_str(), result.c_str()) != 0)
        throw Failure(result + " cannot be written: " + std::strerror(errno));
    if (!options.is_quiet) std::printf("shard %zu: done\n", number);
    return kDone;
}

ExitCode merge_plan(const Options& options) {
    Plan plan = read_plan(options.plan);
    const Tools tools = find_tools(options.ffmpeg);
    fill_seals(&plan);
    std::vector<size_t> missing;
    std::vector<std::vector<std::string>> records(plan.titles.size());
    std::vector<bool> is_whole(plan.titles.size(), true);
    for (size_t i = 0; i < plan.shards.size(); ++i) {
        const Shard& shard = plan.shards[i];
        records[shard.title].push_back(result_of(plan, i));
        if (has_seal(records[shard.title].back(), plan.shards[i].seal)) continue;
        missing.push_back(i);
        is_whole[shard.title] = false;
    }
    size_t merged = 0;
    for (size_t i = 0; i < plan.titles.size(); ++i)
        if (is_whole[i] && merge_title(tools, plan, i, records[i])) ++merged;
    if (!options.is_quiet) std::printf("titles merged: %zu of %zu\n", merged, plan.titles.size());
    if (!missing.empty())
        throw Failure("missing shards: " + listed(missing) + " (" + std::to_string(missing.size()) + " of " +
                      std::to_string(plan.shards.size()) + "); quality-cuda shard " + options.plan + " N makes each");
    return merged == plan.titles.size() ? kDone : kFailed;
}

} // namespace qc::cli
