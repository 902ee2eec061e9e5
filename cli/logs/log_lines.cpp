// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the filter writes while a run goes on (log_fmt=jsonl): a line for each frame, and one of the end.
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "logs/layouts.hpp"
#include "logs/log_frames.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr size_t kMostRenditions = 16; ///< of the filter

/// Keys of metadata have no capitals, and names of reports have them here alone.
std::string name_in_reports(std::string_view key) {
    constexpr std::string_view kKey = "vmaf_integer_feature_", kName = "VMAF_integer_feature_";
    return key.starts_with(kKey) ? std::string(kName).append(key.substr(kKey.size())) : std::string(key);
}

/// "2.vmaf" is vmaf of rendition 2; no score's own name begins with a number and a dot.
std::pair<size_t, std::string> split_name(std::string_view name) {
    size_t rendition = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rendition);
    const auto digits = static_cast<size_t>(end - name.data());
    if (error != std::errc() || digits == name.size() || *end != '.' || rendition == 0 || rendition >= kMostRenditions)
        return {0, name_in_reports(name)};
    return {rendition, name_in_reports(name.substr(digits + 1))};
}

class Lines {
public:
    explicit Lines(const std::string& path) : path_(path) { frames_.emplace_back(path, Layout::kJsonLines); }

    void take(std::string_view text) {
        ++number_;
        // What a receiver may not have got is sent again, and a file may have it twice.
        if (text.empty() || text == last_) return;
        last_ = text;
        LogShape shape(path_);
        const auto is_kept = [&](int depth, Json::parse_event_t event, const Json&) {
            return shape.allows(depth, event);
        };
        const Json line = Json::parse(text, is_kept, false);
        const std::string type = text_of(line, "type");
        if (type.empty())
            throw Failure(path_ + ": line " + std::to_string(number_) +
                          " is no line of the filter, or ends too early: " + kAcceptedLogs);
        if (type == "frame" && member(line, "scores").is_object()) add_frame(line);
        if (type == "window") has_windows_ = true;
        if (type == "end") end_ = line;
        if (type == "begin") begin_ = line;
    }

    std::vector<ScoreLog> finish() {
        if (!has_frames_ && has_windows_)
            throw Failure(path_ + " has windows and no frames (window was given): " + kAcceptedLogs);
        std::vector<ScoreLog> logs;
        for (size_t k = 0; k < frames_.size(); ++k) logs.push_back(frames_[k].finish(head_of(k)));
        return logs;
    }

private:
    void add_frame(const Json& line) {
        const Json& scores = member(line, "scores");
        std::vector<bool> has_begun(kMostRenditions);
        has_frames_ = true;
        for (const auto& [name, value] : scores.items()) {
            const auto [rendition, own_name] = split_name(name);
            while (frames_.size() <= rendition) frames_.emplace_back(path_, Layout::kJsonLines);
            LogFrames& frames = frames_[rendition];
            if (!value.is_number() && !value.is_null())
                throw Failure(path_ + ": line " + std::to_string(number_) + ": " + name + " is no number");
            if (!has_begun[rendition]) {
                frames.begin(frames.number_of(member(line, "n")));
                frames.set_times(cli::number_of(line, "pts_time", NAN), cli::number_of(line, "ref_pts_time", NAN));
            }
            has_begun[rendition] = true;
            frames.add(own_name, value.is_null() ? NAN : value.get<double>());
        }
        for (size_t k = 0; k < frames_.size(); ++k)
            if (has_begun[k]) frames_[k].end();
    }

    /// As a report would have it.
    Json head_of(size_t rendition) const {
        Json head = Json::object();
        head["complete"] = member(end_, "complete") == true;
        head["reason"] = member(end_, "reason");
        if (!end_.is_object()) head["reason"] = "the log has no line of the run's end";
        for (const char* key : {"end", "renditions", "dropped"})
            if (const Json& value = member(end_, key); !value.is_null()) head[key] = value;
        for (const char* key : kOriginKeys)
            for (const Json* line : {&begin_, &end_})
                if (const Json& value = member(*line, key); value.is_object()) head[key] = value;
        for (const char* key : {"frames", "scored", "unscored"})
            if (const Json& value = member(end_, key); !value.is_null() && rendition == 0) head["pairing"][key] = value;
        const Json& pooled = member(end_, "scores");
        if (!pooled.is_object()) return head;
        for (const auto& [name, pools] : pooled.items())
            if (const auto [k, own_name] = split_name(name); k == rendition) head["pooled_metrics"][own_name] = pools;
        return head;
    }

    const std::string& path_;
    std::vector<LogFrames> frames_; ///< by rendition
    std::string_view last_;
    Json begin_, end_;
    size_t number_ = 0;
    bool has_frames_ = false, has_windows_ = false;
};

} // namespace

std::vector<ScoreLog> parse_json_lines(const std::string& path, std::string_view text) {
    Lines lines(path);
    try {
        while (!text.empty()) lines.take(next_line(&text));
    } catch (const Json::exception&) {
        throw Failure(path + " has a number that no computer can hold: " + kAcceptedLogs);
    }
    return lines.finish();
}

} // namespace qc::cli
