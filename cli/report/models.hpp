// SPDX-License-Identifier: BSD-2-Clause-Patent
// One name for scores of different models would put them into one table, one curve and one BD-rate.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace qc::cli {

/// Renames scores that have one name and several models: "vmaf (vmaf_v0.6.1)". Says so in a note for each.
void tell_models_apart(std::vector<Encode>* encodes, std::vector<std::string>* notes);

} // namespace qc::cli
