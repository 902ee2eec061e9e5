// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is known of the logs that a report is asked for.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace qc::cli {

/// Reads the logs, further renditions' too, and puts names, files and ladders to them.
/// @throws Failure
std::vector<Encode> read_encodes(const ReportOptions& options, std::vector<std::string>* notes);
/// As given, otherwise as the log, the run's record or the file has them.
/// @param tools for bit rates of files; null: none was found
/// @throws Failure
void find_rates(const ReportOptions& options, const Tools* tools, std::vector<Encode>* encodes);

} // namespace qc::cli
