// SPDX-License-Identifier: BSD-2-Clause-Patent
// The page's sections, as HTML, and what its plots are drawn from.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace qc::cli {

/// What is wrong with the run or the pictures, each as a line that names its encodes.
std::vector<std::string> findings_of(const Report& report);

/// What was compared, as text, and with what, as HTML.
std::string heading_of(const Report& report);
std::string subject_section(const Report& report);
/// Of a score in a table: two, or four of one that stays within -2 and 2.
int decimals_of(const Report& report, const std::string& score);
std::string shares_section(const Report& report);
std::string summary_section(const Report& report);
std::string pairing_section(const Report& report);
std::string provenance_section(const Report& report);
std::string worst_section(const Report& report);
std::string ladder_section(const Report& report);
std::string comparison_section(const Report& report);

/// <script> elements: an index as JSON, and each series in base64, which the page decodes when it draws it.
std::string data_scripts(const Report& report);

} // namespace qc::cli
