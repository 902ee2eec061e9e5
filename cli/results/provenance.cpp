// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "results/provenance.hpp"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/json_text.hpp"

namespace qc::cli {

namespace {

constexpr const char* kKey = "quality_cuda_commands";
constexpr int kVersion = 1;

} // namespace

std::string provenance_name(const std::string& log) {
    return log + ".commands";
}

void write_provenance(const std::string& log, const Provenance& provenance) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(log, error)) return;
    const nlohmann::ordered_json json = {{kKey, kVersion},
                                         {"log", hex(checksum_of_input(log))},
                                         {"commands", provenance.commands},
                                         {"folder", provenance.folder},
                                         {"version", provenance.version},
                                         {"parts", provenance.parts},
                                         {"merge", provenance.merge}};
    write_whole(provenance_name(log), json_text(json, 1) + "\n");
}

std::optional<Provenance> read_provenance(const std::string& log, std::string* why_not) {
    const std::string name = provenance_name(log);
    std::error_code error;
    if (!std::filesystem::is_regular_file(name, error)) {
        *why_not = "there is no " + name;
        return std::nullopt;
    }
    try {
        const auto json = nlohmann::json::parse(read_whole(name));
        if (json.at(kKey) != kVersion) throw Failure("another version");
        if (json.at("log") != hex(checksum_of_input(log))) {
            *why_not = name + " is of another log";
            return std::nullopt;
        }
        return Provenance{json.at("commands"), json.at("folder"), json.at("version"), json.at("parts"),
                          json.at("merge")};
    } catch (const std::exception&) { // a report without it is a report
        *why_not = name + " is damaged";
        return std::nullopt;
    }
}

} // namespace qc::cli
