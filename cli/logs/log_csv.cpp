// SPDX-License-Identifier: BSD-2-Clause-Patent
// A table of scores: a line of names, then one for each frame, each with a comma at its end.
#include <charconv>
#include <limits>

#include "logs/layouts.hpp"
#include "logs/log_frames.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

/// The last one ends with the line or, as here, with a comma behind it.
std::vector<std::string_view> fields_of(std::string_view line) {
    if (line.ends_with(',')) line.remove_suffix(1);
    std::vector<std::string_view> fields;
    for (size_t at = 0; at <= line.size();) {
        const size_t end = std::min(line.find(',', at), line.size());
        fields.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return fields;
}

Json whole_number(std::string_view text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? Json(value) : Json();
}

void add_row(const std::vector<std::string_view>& names, const std::vector<std::string_view>& fields,
             LogFrames* frames) {
    // libvmaf leaves out what a frame lacks, without a comma, so that what follows stands below other names.
    if (fields.size() != names.size())
        throw Failure(frames->where() + " has " + std::to_string(fields.size() - 1) + " scores of " +
                      std::to_string(names.size() - 1) +
                      ", and nobody can tell which: such a log has to be written as JSON");
    frames->begin(frames->number_of(whole_number(fields[0])));
    for (size_t i = 1; i < names.size(); ++i)
        frames->add(names[i], fields[i].empty() ? std::numeric_limits<double>::quiet_NaN()
                                                : parse_score(fields[i], *frames, names[i]));
    frames->end();
}

} // namespace

ScoreLog parse_csv_log(const std::string& path, std::string_view text) {
    LogFrames frames(path, Layout::kCsv);
    text.remove_prefix(text.find("Frame,"));
    const std::vector<std::string_view> names = fields_of(next_line(&text));
    require_few(names.size(), "names of scores", path);
    while (!text.empty())
        if (const std::string_view line = next_line(&text); !line.empty()) add_row(names, fields_of(line), &frames);
    return frames.finish(Json::object());
}

} // namespace qc::cli
