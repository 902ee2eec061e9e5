// SPDX-License-Identifier: BSD-2-Clause-Patent
// Logs of the filter and of libvmaf, in each of their layouts: the one reader of `score`, `report` and `compare`.
#pragma once

#include <string>
#include <vector>

#include "logs/scores.hpp"

namespace qc::cli {

/// The renditions that a file holds: lines of JSON have those of a ladder, any other layout has one.
/// @throws Failure, with one line, whatever the file is
std::vector<ScoreLog> read_log(const std::string& path);

/// The first one. @throws Failure
ScoreLog read_scores(const std::string& path);

/// A JSON log without its frames, which of a long video are nearly all of it. @throws Failure
Json read_head(const std::string& path);

/// scores.json, scores.rendition1.json, ... @param renditions how many
std::vector<std::string> log_names(const std::string& log, size_t renditions);

} // namespace qc::cli
