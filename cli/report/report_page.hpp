// SPDX-License-Identifier: BSD-2-Clause-Patent
// A report as one page of HTML, which needs no network.
#pragma once

#include <string>

#include "report/report.hpp"

namespace qc::cli {

/// The page, whole. @throws Failure if this program was built without it
std::string page_of(const Report& report);
/// A page of many titles. @param body HTML
std::string index_page_of(const std::string& heading, const std::string& body);
/// Whether this program was built with the page's library.
bool has_page();
constexpr const char* kWithoutPage =
    "-o: this quality-cuda was built without the report's page, for the library dygraphs was missing "
    "(Debian's libjs-dygraphs); --csv and --png are accepted";

} // namespace qc::cli
