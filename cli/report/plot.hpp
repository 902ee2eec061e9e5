// SPDX-License-Identifier: BSD-2-Clause-Patent
// A report as one picture.
#pragma once

#include <string>

#include "report/report.hpp"

namespace qc::cli {

/// One score over time. SVG
std::string plot_of(const Report& report);
/// @throws Failure that says what is missing
void write_png(const std::string& path, const std::string& svg);

} // namespace qc::cli
