// SPDX-License-Identifier: BSD-2-Clause-Patent
// The options of `report` and `compare`.
#pragma once

#include "compare/compare.hpp"
#include "report/report.hpp"

namespace CLI {
class App;
}

namespace qc::cli {

void define_report(CLI::App* app, ReportOptions* options);
void define_compare(CLI::App* app, CompareOptions* options);

} // namespace qc::cli
