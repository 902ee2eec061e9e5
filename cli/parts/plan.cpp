// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "parts/plan.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "words/failure.hpp"
#include "words/json_text.hpp"

namespace qc::cli {

namespace {

constexpr int kPlanVersion = 1;
constexpr const char* kPlanKey = "quality_cuda_plan";
constexpr size_t kMostListed = 20;

/// What a result is the result of: everything that enters into it but the inputs.
uint64_t entry_checksum(const Title& title, size_t part) {
    Title one; // a title may have thousands
    one.inputs = title.inputs;
    one.wish = title.wish;
    one.frame_rate = title.frame_rate;
    one.tolerance = title.tolerance;
    one.parts = {title.parts[part]};
    nlohmann::json entry = one;
    entry["parts"] = entry["parts"][0];
    entry.erase("log");
    entry.erase("n_subsample"); // the merge's business
    return checksum_of(entry.dump() + QC_VERSION);
}

/// A whole number, which nlohmann would take from any other kind of value.
size_t index_of(const nlohmann::json& entry, const char* key, size_t count) {
    const auto& value = entry.at(key);
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= count)
        throw Failure(std::string("a shard of a ") + key + " that is not there");
    return value.get<size_t>();
}

void read_shards(const nlohmann::json& list, Plan* plan) {
    if (!list.is_array()) throw Failure("its shards are no list");
    Shard next; // each part of each title once, in this order: what a merge puts together
    for (const auto& entry : list) {
        const size_t title = index_of(entry, "title", plan->titles.size());
        const size_t part = index_of(entry, "part", plan->titles[title].parts.size());
        if (title != next.title || part != next.part)
            throw Failure("its shards are not in the order of titles and parts");
        plan->shards.push_back(next);
        if (++next.part == plan->titles[title].parts.size()) next = {title + 1, 0};
    }
    if (next.title != plan->titles.size()) throw Failure("it lacks shards of its titles");
}

std::vector<SourceFile> files_of(const nlohmann::json& title) {
    std::vector<SourceFile> files;
    if (!title.contains("files")) return files;
    for (const auto& each : title.at("files")) files.push_back(source_from(each));
    if (files.size() != title.at("inputs").size()) throw Failure("a title has other files than inputs");
    return files;
}

} // namespace

Plan read_plan(const std::string& path) {
    Plan plan;
    const auto json = nlohmann::json::parse(read_whole(path), nullptr, false);
    if (!json.is_object() || !json.contains(kPlanKey)) throw Failure(path + " is no plan of quality-cuda");
    if (json.at(kPlanKey) != kPlanVersion) throw Failure(path + " is a plan of another version");
    try {
        json.at("titles").get_to(plan.titles);
        if (plan.titles.empty()) throw Failure("it has no titles");
        read_shards(json.at("shards"), &plan);
        for (const auto& title : json.at("titles")) plan.files.push_back(files_of(title));
    } catch (const nlohmann::json::exception& broken) {
        throw Failure(path + " is damaged: " + json_trouble(broken));
    } catch (const Failure& broken) {
        throw Failure(path + " is damaged: " + broken.what());
    }
    if (const auto command = json.find("command"); command != json.end() && command->is_string())
        plan.command = *command;
    plan.path = path;
    plan.folder = path + ".shards";
    return plan;
}

bool is_plan(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return false;
    std::ifstream file(path, std::ios::binary); // a video need not be read to its end
    std::string begin(256, '\0');
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<size_t>(file.gcount()));
    const size_t first = begin.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return true; // nothing in it
    if (begin[first] != '{') return false;
    const auto json = nlohmann::json::parse(read_whole(path), nullptr, false);
    return json.is_object() && json.contains(kPlanKey);
}

void write_plan(const std::string& path, const std::vector<Title>& titles, const std::string& command) {
    nlohmann::json json = {
        {kPlanKey, kPlanVersion}, {"command", command}, {"titles", titles}, {"shards", nlohmann::json::array()}};
    for (size_t i = 0; i < titles.size(); ++i) {
        nlohmann::json& files = json["titles"][i]["files"] = nlohmann::json::array();
        for (const SourceFile& each : sources_of(titles[i])) files.emplace_back(json_of(each));
        for (size_t part = 0; part < titles[i].parts.size(); ++part)
            json["shards"].push_back({{"title", i}, {"part", part}});
    }
    std::string text;
    try {
        text = json.dump(1);
    } catch (const nlohmann::json::exception&) {
        throw Failure(path + " cannot be written: the name of a file is not UTF-8, and JSON accepts no other");
    }
    write_whole(path, text + "\n");
}

Title told_title(const Plan& plan, size_t title, std::vector<std::string>* changed) {
    Title told = plan.titles[title];
    const std::vector<SourceFile>& files = plan.files[title];
    told.facts.assign(files.size(), {});
    for (size_t i = 0; i < files.size(); ++i)
        if (is_unchanged(files[i], told.inputs[i]))
            told.facts[i] = files[i].facts;
        else if (changed != nullptr)
            changed->push_back(told.inputs[i]);
    return told;
}

uint64_t inputs_checksum(const Title& title) {
    Checksum sum;
    for (const std::string& path : title.inputs) sum.add(hex(checksum_of_input(path)));
    return sum.value();
}

Seal seal_of(const Plan& plan, size_t shard, uint64_t inputs) {
    return {entry_checksum(plan.titles[plan.shards[shard].title], plan.shards[shard].part), inputs};
}

std::string result_of(const Plan& plan, size_t shard) {
    return plan.folder + "/" + std::to_string(shard) + ".record";
}

std::vector<std::string> results_of(const Plan& plan, size_t title) {
    std::vector<std::string> results;
    for (size_t i = 0; i < plan.shards.size(); ++i)
        if (plan.shards[i].title == title) results.push_back(result_of(plan, i));
    return results;
}

std::string unfinished(const std::string& path) {
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    return path + "." + host + "." + std::to_string(getpid()) + ".unfinished";
}

Missing find_missing(const Plan& plan) {
    Missing missing;
    std::vector<uint64_t> inputs;
    for (const Title& title : plan.titles) {
        missing.troubles.emplace_back();
        inputs.push_back(0);
        try {
            inputs.back() = inputs_checksum(title);
        } catch (const Failure& trouble) {
            missing.troubles.back() = trouble.what();
        }
    }
    for (size_t i = 0; i < plan.shards.size(); ++i) {
        const size_t title = plan.shards[i].title;
        if (missing.troubles[title].empty() && !has_seal(result_of(plan, i), seal_of(plan, i, inputs[title])))
            missing.shards.push_back(i);
    }
    return missing;
}

std::string listed(const std::vector<size_t>& numbers) {
    std::string text;
    for (size_t i = 0; i < std::min(numbers.size(), kMostListed); ++i)
        text += (i > 0 ? " " : "") + std::to_string(numbers[i]);
    return text + (numbers.size() > kMostListed ? " ..." : "");
}

} // namespace qc::cli
