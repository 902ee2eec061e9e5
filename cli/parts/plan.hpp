// SPDX-License-Identifier: BSD-2-Clause-Patent
// A plan: titles, and numbered shards, each a part of one of them. Its results lie in a folder beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "ffmpeg/title.hpp"
#include "results/provenance.hpp"
#include "results/results.hpp"

namespace qc::cli {

struct Shard {
    size_t title = 0, part = 0;
};

struct Plan {
    std::string path;
    std::vector<Title> titles;
    std::vector<std::vector<SourceFile>> files; ///< of each title, as they were; none: an older version made the plan
    std::vector<Shard> shards;                  ///< those of a title follow each other, in the order of its parts
    std::string folder;                         ///< of the results
    std::string command;                        ///< that made it; empty: not known
};

/// @throws Failure if it is none, or damaged
Plan read_plan(const std::string& path);

/// Whether a file is one, be it damaged.
bool is_plan(const std::string& path);

/// Under a temporary name, then renamed. @param command that makes it. @throws Failure
void write_plan(const std::string& path, const std::vector<Title>& titles, const std::string& command);

/// A title with what the plan knows of its videos, as far as their files are still the same.
/// @param changed those that are not
Title told_title(const Plan& plan, size_t title, std::vector<std::string>* changed);

/// What a result of a title's inputs as they are now is made of. @throws Failure if one cannot be read
uint64_t inputs_checksum(const Title& title);

/// What a shard's result has to say of itself.
Seal seal_of(const Plan& plan, size_t shard, uint64_t inputs);

std::string result_of(const Plan& plan, size_t shard);
std::vector<std::string> results_of(const Plan& plan, size_t title);

/// A name that no other process has, on whatever machine.
std::string unfinished(const std::string& path);

/// Which shards have no result that stands.
struct Missing {
    std::vector<size_t> shards;
    std::vector<std::string> troubles; ///< one for each title: why its inputs cannot be read; empty: they can
};
Missing find_missing(const Plan& plan);

/// "0 3 4 ...", of the first twenty
std::string listed(const std::vector<size_t>& numbers);

} // namespace qc::cli
