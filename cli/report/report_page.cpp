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

/// Links to the sections that there are.
std::string nav_of(const std::vector<std::pair<const char*, const char*>>& parts) {
    std::string html = "<nav aria-label=\"Sections\">\n";
    for (const auto& [id, name] : parts) html += "<a href=\"#" + std::string(id) + "\">" + name + "</a> ";
    return html + "\n</nav>";
}

} // namespace

bool has_page() {
    return !frame().empty();
}

std::string page_of(const Report& report) {
    if (!has_page()) throw Failure(kWithoutPage);
    const std::string plot = plot_of(report), heading = escaped(heading_of(report)),
                      ladder = section("ladder", "Rate and distortion", ladder_section(report)),
                      worst = section("worst", "Worst scenes", worst_section(report)),
                      comparison = section("comparison", "Comparison", comparison_section(report));
    std::vector<std::pair<const char*, const char*>> parts = {{"summary", "Summary"}};
    if (!ladder.empty()) parts.emplace_back("ladder", "Rate");
    parts.insert(parts.end(), {{"time", "Over time"}, {"distribution", "Distribution"}});
    if (!worst.empty()) parts.emplace_back("worst", "Worst scenes");
    if (!comparison.empty()) parts.emplace_back("comparison", "Comparison");
    parts.insert(parts.end(), {{"pairing", "Pairs"}, {"provenance", "Provenance"}});
    const std::pair<std::string_view, std::string> sections[] = {
        {"title", heading},
        {"heading", heading},
        {"subject", subject_section(report)},
        {"nav", nav_of(parts)},
        {"summary", summary_section(report)},
        {"ladder", ladder},
        {"plot", plot},
        {"shares", shares_section(report)},
        {"worst", worst},
        {"comparison", comparison},
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
