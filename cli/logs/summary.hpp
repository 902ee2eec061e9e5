// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a log says of scores; and conditions that a score may not meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "logs/scores.hpp"

namespace qc::cli {

/// What a log, without its frames, has of a score: a way of pooling, or the value of the whole video. Infinite where
/// JSON has no word for that; NaN: it has none.
double pooled_of(const Json& log, const std::string& score, const char* pool);
/// What is meant where a log has null for a score: infinity, or no number.
double without_word(const std::string& score);
double whole_value_of(const Json& log, const std::string& score);

/// "vmaf.p5<90", or "axpsnr_y<33", without a pool
struct Condition {
    std::string text, score, pool, relation;
    double limit = 0;
};
/// @throws Failure that says what is accepted
Condition parse_condition(const std::string& text);
/// Scores that a log has: of frames, which are pooled, and of a whole video.
struct Names {
    std::vector<std::string> pooled, whole;
};
/// @param whose they are  @throws Failure if the condition's is not among them, which says what is
void require_score(const Condition& condition, const Names& names, const std::string& whose);
/// @return what is the case, as a line, if the condition is met; @throws Failure if the log has no such value
std::optional<std::string> judge(const Condition& condition, const Json& log, const std::string& name);

} // namespace qc::cli
