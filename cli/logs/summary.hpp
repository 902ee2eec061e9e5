// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a log says, in a table; and conditions that a score may not meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "logs/scores.hpp"

namespace qc::cli {

/// @param logs without their frames  @param everything all scores; else those of models
std::string table_of(const std::vector<Json>& logs, bool everything);

/// "vmaf.p5<90"
struct Condition {
    std::string text, score, pool, relation;
    double limit = 0;
};
/// @throws Failure that says what is accepted
Condition parse_condition(const std::string& text);
/// @return what is the case, as a line, if the condition is met; @throws Failure if the log has no such value
std::optional<std::string> judge(const Condition& condition, const Json& log, const std::string& name);

} // namespace qc::cli
