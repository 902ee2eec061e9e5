// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reports of logs of strangers: the page's data are JSON, and what a log says ends neither a script nor begins one.
#include "report/report.hpp"

#include <nlohmann/json.hpp>

#include "report/report_page.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/scratch.hpp"

namespace {

size_t count_of(std::string_view text, std::string_view part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

void check_page(const std::string& page) {
    constexpr std::string_view kBegin = "id=\"index\">", kEnd = "</script>";
    const size_t begin = page.find(kBegin) + kBegin.size(), end = page.find(kEnd, begin);
    QC_FUZZ_CHECK(begin >= kBegin.size() && end != std::string::npos, page);
    const auto index = nlohmann::json::parse(page.substr(begin, end - begin), nullptr, false);
    QC_FUZZ_CHECK(index.is_object(), page.substr(begin, end - begin));
    // Each series and each uneven row of frames has a script beside those of the page itself.
    size_t scripts = index.at("series").size();
    for (const auto& encode : index.at("encodes")) scripts += encode.at("frames").contains("id") ? 1 : 0;
    QC_FUZZ_CHECK(count_of(page, "<script type=\"text/plain\"") == scripts, std::to_string(scripts));
    QC_FUZZ_CHECK(count_of(page, "<iframe") + count_of(page, "<img src=x") + count_of(page, "<form") == 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string log = qc::fuzz::scratch("log"), page = qc::fuzz::scratch("page"),
                             table = qc::fuzz::scratch("table");
    qc::fuzz::Input input(data, size);
    qc::cli::ReportOptions options;
    options.logs = {log};
    options.output = qc::cli::has_page() ? page : "";
    options.csv = table;
    options.is_quiet = true;
    options.thumbnails = 0;
    options.compare = input.flag();
    if (options.compare) options.logs.push_back(log);
    qc::fuzz::write_file(log, input.rest());
    try {
        qc::cli::report(options);
        if (qc::cli::has_page()) check_page(qc::fuzz::read_file(page));
    } catch (const qc::cli::Failure& refused) {
        QC_FUZZ_CHECK(*refused.what() != 0); // say() makes a line of it
    }
    return 0;
}
