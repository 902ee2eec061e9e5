// SPDX-License-Identifier: BSD-2-Clause-Patent
// One name for scores of different models would put them into one table, one curve and one BD-rate.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace qc::cli {

/// What a score is made by, if it is a model's; empty: it is not, or the log does not say.
std::string model_of(const ScoreLog& log, const std::string& score);

/// Renames scores that have one name and several models: "vmaf (vmaf_v0.6.1)". Says so in a note for each.
void tell_models_apart(std::vector<Encode>* encodes, std::vector<std::string>* notes);

} // namespace qc::cli
