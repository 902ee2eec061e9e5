// SPDX-License-Identifier: BSD-2-Clause-Patent
// The page's sections, as HTML, and what its plots are drawn from.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace qc::cli {

/// What is wrong with the run or the pictures, each as a line that names its encodes.
std::vector<std::string> findings_of(const Report& report);

/// Which encode is better and by how much, whether that holds, where it is worst. @param findings of the report
std::vector<std::string> verdicts_of(const Report& report, const std::vector<std::string>& findings);

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
/// All scenes: a row for each, a column for each encode that has it.
std::string scene_tables(const Report& report);
/// "12-40", and a button that shows these frames in the plot.
std::string scene_text(const Encode& encode, const Scene& scene);
std::string scene_button(const Encode& encode, const Scene& scene);
/// The name of a script that holds a clip. @param number among the worst scenes
std::string clip_id(size_t number, const char* which);
std::string ladder_section(const Report& report);
std::string comparison_section(const Report& report);

/// <script> elements: an index as JSON, and each series in base64, which the page decodes when it draws it.
std::string data_scripts(const Report& report);

} // namespace qc::cli
