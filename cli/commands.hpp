// SPDX-License-Identifier: BSD-2-Clause-Patent
// What quality-cuda does: score, plan, shard, merge. Each throws Failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "failure.hpp"
#include "title.hpp"

namespace qc::cli {

struct Options {
    std::string ffmpeg;              ///< empty: looked for
    std::vector<std::string> videos; ///< distorted ones, the reference last
    Wish wish;
    int parts = 0; ///< 0: as many as the machine serves well
    std::string hwaccel = "auto";
    std::string output;
    std::vector<std::string> fail_if;
    bool as_json = false, is_quiet = false;
    std::string plan, titles;
    int64_t shard = 0;
};

ExitCode score(const Options& options);
ExitCode make_plan(const Options& options);
ExitCode run_shard(const Options& options);
ExitCode merge_plan(const Options& options);

/// Whether decoding is tried on a GPU.
bool decodes_on_gpu(const Options& options);

/// A title's inputs in the filter's order, its parts and what they go by. @param folder for what has to be tried
Title prepare(const Tools& tools, const Options& options, const std::vector<std::string>& videos,
              const std::string& folder);

} // namespace qc::cli
