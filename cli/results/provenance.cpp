// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "results/provenance.hpp"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/json_text.hpp"
#include "words/terminal.hpp"

namespace qc::cli {

namespace {

constexpr const char* kKey = "quality_cuda_commands";
constexpr int kVersion = 1;

std::vector<std::string> without_passwords_of(std::vector<std::string> commands) {
    for (std::string& each : commands) each = without_passwords(each);
    return commands;
}

} // namespace

std::vector<SourceFile> sources_of(const Title& title) {
    std::vector<SourceFile> files;
    for (size_t i = 0; i < title.inputs.size(); ++i) {
        SourceFile file{.path = title.inputs[i], .checksum = "", .facts = {}};
        if (i < title.facts.size()) file.facts = title.facts[i];
        std::error_code error;
        if (std::filesystem::is_regular_file(file.path, error)) {
            file.bytes = static_cast<int64_t>(std::filesystem::file_size(file.path, error));
            file.checksum = hex(checksum_of_input(file.path));
            file.path = std::filesystem::absolute(file.path).lexically_normal().string();
        }
        files.push_back(std::move(file));
    }
    return files;
}

nlohmann::ordered_json json_of(const SourceFile& file) {
    const StreamFacts& facts = file.facts;
    return {{"path", without_passwords(file.path)},
            {"bytes", file.bytes},
            {"checksum", file.checksum},
            {"codec", facts.codec},
            {"width", facts.width},
            {"height", facts.height},
            {"bit_rate", facts.bit_rate}};
}

SourceFile source_from(const nlohmann::json& json) {
    const auto number = [&](const char* key, double most) {
        const double value = json.at(key).get<double>();
        if (!(value >= 0 && value <= most)) throw Failure(std::string(key) + " of a file that no file has");
        return value;
    };
    constexpr double kMostBytes = 1e18, kLargestSide = 1e6, kHighestRate = 1e15;
    return {json.at("path"),
            static_cast<int64_t>(number("bytes", kMostBytes)),
            json.at("checksum"),
            {json.at("codec"), static_cast<int>(number("width", kLargestSide)),
             static_cast<int>(number("height", kLargestSide)), number("bit_rate", kHighestRate)}};
}

bool is_unchanged(const SourceFile& source, const std::string& path) {
    std::error_code error;
    try {
        return !source.checksum.empty() && std::filesystem::is_regular_file(path, error) &&
               hex(checksum_of_input(path)) == source.checksum;
    } catch (const Failure&) { // what cannot be read is as good as changed
        return false;
    }
}

std::string provenance_name(const std::string& log) {
    return log + ".commands";
}

void write_provenance(const std::string& log, const Provenance& provenance) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(log, error)) return;
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const SourceFile& each : provenance.files) files.push_back(json_of(each));
    const nlohmann::ordered_json json = {{kKey, kVersion},
                                         {"log", hex(checksum_of_input(log))},
                                         {"sha256", sha256_of_file(log)},
                                         {"commands", without_passwords_of(provenance.commands)},
                                         {"folder", provenance.folder},
                                         {"version", provenance.version},
                                         {"parts", without_passwords_of(provenance.parts)},
                                         {"merge", provenance.merge},
                                         {"files", files}};
    write_whole(provenance_name(log), json_text(json, 1) + "\n");
}

namespace {

std::optional<Provenance> read_beside(const std::string& log, bool takes_any, std::string* why_not) {
    const std::string name = provenance_name(log);
    std::error_code error;
    if (!std::filesystem::is_regular_file(name, error)) {
        *why_not = "there is no " + name;
        return std::nullopt;
    }
    try {
        const auto json = nlohmann::json::parse(read_whole(name));
        if (json.at(kKey) != kVersion) throw Failure("another version");
        if (!takes_any && json.at("log") != hex(checksum_of_input(log))) {
            *why_not = name + " is of another log";
            return std::nullopt;
        }
        // Those of an older version may have passwords.
        Provenance made{without_passwords_of(json.at("commands")), json.at("folder"), json.at("version"),
                        without_passwords_of(json.at("parts")),    json.at("merge"),  {}};
        if (json.contains("files"))
            for (const auto& each : json["files"]) made.files.push_back(source_from(each));
        if (json.contains("sha256")) made.sha256 = json["sha256"];
        return made;
    } catch (const std::exception&) { // a report without it is a report
        *why_not = name + " is damaged";
        return std::nullopt;
    }
}

} // namespace

std::optional<Provenance> read_provenance(const std::string& log, std::string* why_not) {
    return read_beside(log, false, why_not);
}

std::optional<Provenance> read_provenance_beside(const std::string& log, std::string* why_not) {
    return read_beside(log, true, why_not);
}

} // namespace qc::cli
