// SPDX-License-Identifier: BSD-2-Clause-Patent
// The page's sections, as HTML, and what its plots are drawn from.
#pragma once

#include <string>

#include "report/report.hpp"

namespace qc::cli {

std::string summary_section(const Report& report);
std::string pairing_section(const Report& report);
std::string provenance_section(const Report& report);
std::string worst_section(const Report& report);
std::string ladder_section(const Report& report);
std::string comparison_section(const Report& report);

/// <script> elements: an index as JSON, and each series in base64, which the page decodes when it draws it.
std::string data_scripts(const Report& report);

} // namespace qc::cli
