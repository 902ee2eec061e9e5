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
extern "C" const char qc_report_page[], qc_report_page_end[], qc_index_page[], qc_index_page_end[];
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

std::string_view frame_of_index() {
#ifdef QC_WITH_REPORT_PAGE
    return {qc_index_page, static_cast<size_t>(qc_index_page_end - qc_index_page)};
#else
    return {};
#endif
}

/// From the front on: what is put in is never searched.
std::string filled(std::string_view rest, const std::vector<std::pair<std::string_view, std::string>>& sections) {
    std::string page;
    for (const auto& [name, html] : sections) {
        const std::string marker = "<!--" + std::string(name) + "-->";
        const size_t at = rest.find(marker);
        if (at == std::string_view::npos) throw Failure("the page has no place for " + std::string(name));
        page.append(rest.substr(0, at)).append(html);
        rest.remove_prefix(at + marker.size());
    }
    return page.append(rest);
}

/// What the page's policy has to allow for its clips, and nothing without them.
std::string media_of(const Report& report) {
    for (const WorstScene& each : report.worst)
        if (each.clip) return each.clip->is_linked ? "; media-src 'self'" : "; media-src blob:";
    return "";
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
    return filled(frame(), {
                               {"media", media_of(report)},
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
                           });
}

std::string index_page_of(const std::string& heading, const std::string& body) {
    return filled(frame_of_index(), {{"title", escaped(heading)}, {"heading", escaped(heading)}, {"body", body}});
}

} // namespace qc::cli
