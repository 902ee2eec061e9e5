// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "logs/log_frames.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace qc::cli {

namespace {

constexpr double kLastFrame = 9007199254740992.0; ///< 2^53: beyond it numbers of frames are no longer exact
constexpr double kLargestScore = 1e15;            ///< cubes and sums of such are still finite
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

} // namespace

void require_few(size_t count, const char* what, const std::string& path) {
    if (count > kMostNames)
        throw Failure(path + " has more than " + std::to_string(kMostNames) + " " + what + ": " + kAcceptedLogs);
}

bool LogShape::is_kept(int depth) {
    Level& around = level(depth);
    return !around.is_list || ++around.count <= kMostEntries;
}

bool LogShape::allows(int depth, Json::parse_event_t event) {
    using Event = Json::parse_event_t;
    if (depth > kDeepestLog) throw Failure(path_ + " nests deeper than any log: " + kAcceptedLogs);
    switch (event) {
    case Event::key:
        require_few(++level(depth).count, "names in one object", path_);
        return true;
    case Event::object_start:
    case Event::array_start: {
        const bool is_wanted = is_kept(depth);
        level(depth + 1) = {event == Event::array_start, 0};
        return is_wanted;
    }
    case Event::value:
        return is_kept(depth);
    default:
        return true;
    }
}

LogFrames::LogFrames(std::string path, Layout layout) {
    log_.path = std::move(path);
    log_.layout = layout;
}

std::string LogFrames::where() const {
    return log_.path + ": frame " + std::to_string(count_) + " of the list";
}

int64_t LogFrames::number_of(const Json& value) const {
    if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > kLastFrame)
        throw Failure(where() + " has no frameNum that is a whole number from 0 on");
    return value.get<int64_t>();
}

void LogFrames::begin(int64_t number) {
    if (!log_.frames.empty() && number <= log_.frames.back())
        throw Failure(where() + " has frameNum " + std::to_string(number) + " behind " +
                      std::to_string(log_.frames.back()) + ": frames have to ascend");
    log_.frames.push_back(number);
    expected_ = 0;
}

void LogFrames::add(std::string_view name, double score) {
    if (std::fabs(score) > kLargestScore)
        throw Failure(where() + ": " + std::string(name) + " is beyond 1e15, which is no score of the filter");
    std::vector<double>& values = column(name).values;
    ++present_;
    values.resize(count_, kNone);
    values.push_back(score);
}

/// A few scores of names that come once would take a column each.
void LogFrames::require_dense() const {
    constexpr size_t kMostCells = 1U << 22U, kMostCellsOfAScore = 16;
    if (log_.scores.size() * count_ > kMostCells + kMostCellsOfAScore * present_)
        throw Failure(log_.path + " has " + std::to_string(log_.scores.size()) +
                      " names of scores, and most frames lack most of them: " + kAcceptedLogs);
}

void LogFrames::set_times(double time, double reference_time) {
    log_.times.push_back(time);
    log_.reference_times.push_back(reference_time);
}

Scores& LogFrames::column(std::string_view name) {
    if (expected_ < log_.scores.size() && log_.scores[expected_].name == name) return log_.scores[expected_++];
    if (const auto known = places_.find(name); known != places_.end()) {
        expected_ = known->second + 1;
        return log_.scores[known->second];
    }
    require_utf8(name, log_.path);
    require_few(log_.scores.size() + 1, "names of scores", log_.path);
    require_dense();
    places_.emplace(name, log_.scores.size());
    log_.scores.push_back({std::string(name), {}});
    expected_ = log_.scores.size();
    return log_.scores.back();
}

ScoreLog LogFrames::finish(Json head) {
    log_.head = std::move(head);
    if (log_.frames.empty()) throw Failure(log_.path + " has no frames with scores: nothing can be shown of it");
    if (log_.scores.empty()) throw Failure(log_.path + " has frames without any score: nothing can be shown of it");
    require_dense();
    for (Scores& each : log_.scores) each.values.resize(log_.frames.size(), kNone);
    return std::move(log_);
}

std::string_view next_line(std::string_view* text) {
    const size_t end = std::min(text->find('\n'), text->size());
    std::string_view line = text->substr(0, end);
    text->remove_prefix(std::min(end + 1, text->size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

void require_utf8(std::string_view text, const std::string& path) {
    try {
        static_cast<void>(Json(text).dump());
    } catch (const Json::exception&) {
        throw Failure(path + " has a name or a value that is no UTF-8: " + kAcceptedLogs);
    }
}

double parse_score(std::string_view text, const LogFrames& frames, std::string_view name) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
        throw Failure(frames.where() + ": " + std::string(name) + " is a number that no computer can hold");
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        throw Failure(frames.where() + ": " + std::string(name) + " is no number");
    return std::isfinite(value) ? value : kNone;
}

} // namespace qc::cli
