// SPDX-License-Identifier: BSD-2-Clause-Patent
// A report as one picture.
#pragma once

#include <string>

#include "report/report.hpp"

namespace qc::cli {

/// Of lines, as an SVG has them; the page's scripts get them with its data.
inline constexpr const char* kDashes[] = {"none", "9 4", "3 3", "9 3 3 3", "15 5"};
std::string dash_of(const Style& style);

/// One score over time. SVG
std::string plot_of(const Report& report);
/// @throws Failure that says what is missing
void write_png(const std::string& path, const std::string& svg);

} // namespace qc::cli
