// SPDX-License-Identifier: BSD-2-Clause-Patent
// The page: its frame, which the build made of cli/report/page and embedded, with the sections put in.
#include "report/report_page.hpp"

#include <array>
#include <string_view>

#include "report/html.hpp"
#include "report/plot.hpp"
#include "report/report_sections.hpp"
#include "words/failure.hpp"

#ifdef QC_WITH_REPORT_PAGE
extern "C" const char qc_report_page[], qc_report_page_end[];
#endif

namespace qc::cli {

namespace {

std::string_view frame() {
#ifdef QC_WITH_REPORT_PAGE
    return {qc_report_page, static_cast<size_t>(qc_report_page_end - qc_report_page)};
#else
    return {};
#endif
}

std::string title_of(const Report& report) {
    std::string title = report.encodes[0].label;
    if (report.encodes.size() > 1) title += " and " + std::to_string(report.encodes.size() - 1) + " more";
    return title;
}

} // namespace

bool has_page() {
    return !frame().empty();
}

std::string page_of(const Report& report) {
    if (!has_page()) throw Failure(kWithoutPage);
    const std::string plot = plot_of(report), title = escaped(title_of(report)),
                      comparison = comparison_section(report);
    const std::pair<std::string_view, std::string> sections[] = {
        {"title", title},
        {"heading", title},
        {"summary", summary_section(report)},
        {"plot", plot},
        {"worst", worst_section(report)},
        {"comparison", comparison.empty() ? paragraph("None was asked for (--compare).", "note") : comparison},
        {"ladder", ladder_section(report)},
        {"pairing", pairing_section(report)},
        {"provenance", provenance_section(report)},
        {"data", data_scripts(report)},
    };
    // From the front on: what is put in is never searched.
    std::string page;
    std::string_view rest = frame();
    for (const auto& [name, html] : sections) {
        const std::string marker = "<!--" + std::string(name) + "-->";
        const size_t at = rest.find(marker);
        if (at == std::string_view::npos) throw Failure("the page has no place for " + std::string(name));
        page.append(rest.substr(0, at)).append(html);
        rest.remove_prefix(at + marker.size());
    }
    return page.append(rest);
}

} // namespace qc::cli
