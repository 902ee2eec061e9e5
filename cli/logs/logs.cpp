// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "logs/logs.hpp"

#include <filesystem>

#include "logs/layouts.hpp"
#include "logs/log_frames.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

/// The file's name says nothing: `log_fmt` is another option than `log_path`. @param text the file's beginning
Layout layout_of(const std::string& path, std::string_view text) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start != std::string_view::npos) text.remove_prefix(start);
    if (text.starts_with("<")) return Layout::kXml;
    if (text.starts_with("Frame,")) return Layout::kCsv;
    // Only lines say their type; a report's first line is its brace.
    LogShape shape(path);
    const auto is_outermost = [&](int depth, Json::parse_event_t event, const Json&) {
        return depth <= 1 && shape.allows(depth, event);
    };
    const Json first = Json::parse(next_line(&text), is_outermost, false);
    return member(first, "type").is_string() ? Layout::kJsonLines : Layout::kJson;
}

} // namespace

std::vector<ScoreLog> read_log(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw Failure(path + " is a folder: " + kAcceptedLogs);
    FileText text(path);
    if (text.ahead().empty()) throw Failure(path + " is empty: " + kAcceptedLogs);
    if (text.ahead().starts_with("\xef\xbb\xbf")) // some editors' mark of UTF-8
        for (int i = 0; i < 3; ++i) text.sbumpc();
    std::vector<ScoreLog> logs;
    switch (layout_of(path, text.ahead())) {
    case Layout::kJsonLines:
        return parse_json_lines(path, text.take_rest());
    case Layout::kXml:
        logs.push_back(parse_xml_log(path, text.take_rest()));
        break;
    case Layout::kCsv:
        logs.push_back(parse_csv_log(path, text.take_rest()));
        break;
    case Layout::kJson:
        logs.push_back(parse_json_log(path, &text));
        break;
    }
    return logs;
}

ScoreLog read_scores(const std::string& path) {
    return std::move(read_log(path).front());
}

std::vector<std::string> log_names(const std::string& log, size_t renditions) {
    std::vector<std::string> names{log};
    const size_t dot = log.rfind('.'), slash = log.rfind('/');
    const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
    for (size_t k = 1; k < renditions; ++k) {
        const std::string number = ".rendition" + std::to_string(k);
        names.push_back(has_ending ? log.substr(0, dot) + number + log.substr(dot) : log + number);
    }
    return names;
}

} // namespace qc::cli
