// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which encodes make one ladder of one title, and how much less rate a ladder takes than another.
#pragma once

#include "report/report.hpp"

namespace qc::cli {

/// Puts ladders, titles and the styles of lines to the encodes. @throws Failure
void group_encodes(const ReportOptions& options, Report* report);

/// BD-rates of each title against its first ladder, by all scores that a reader looks for, and their averages.
void compare_ladders(const Resampling& resampling, Report* report);

} // namespace qc::cli
