// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a log says, in a table; and conditions that a score may not meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace qc::cli {

/// The log but for its frames. @throws Failure
nlohmann::json read_summary(const std::string& log);

/// scores.json, scores.rendition1.json, ... @param renditions how many
std::vector<std::string> log_names(const std::string& log, size_t renditions);

/// @param everything all scores; else those of models
std::string table_of(const std::vector<nlohmann::json>& logs, bool everything);

/// "vmaf.p5<90"
struct Condition {
    std::string text, score, pool, relation;
    double limit = 0;
};
/// @throws Failure that says what is accepted
Condition parse_condition(const std::string& text);
/// @return what is the case, as a line, if the condition is met; @throws Failure if the log has no such value
std::optional<std::string> judge(const Condition& condition, const nlohmann::json& log, const std::string& name);

} // namespace qc::cli
