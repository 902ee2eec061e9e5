// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which files were scored, by the records that lie beside logs.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace qc::cli {

/// Holds the files that were named against the records, and takes those that were not named from there. A file is
/// believed if its checksum is that of the run; one that was moved along with its log is found beside it.
/// @throws Failure if a named file is another one than was scored
void take_sources(const ReportOptions& options, std::vector<Encode>* encodes, std::vector<std::string>* notes);

} // namespace qc::cli
