// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filter's report, and libvmaf's: one JSON object.
#include <array>
#include <cmath>
#include <istream>
#include <limits>
#include <utility>

#include "logs/layouts.hpp"
#include "logs/log_frames.hpp"
#include "logs/logs.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Takes frames as they are parsed, so that a long log is never in memory as JSON.
class Reader {
public:
    using Event = Json::parse_event_t;

    explicit Reader(const std::string& path) : path_(path), shape_(path), frames_(path, Layout::kJson) {}

    bool take(int depth, Event event, const Json& value) {
        if (!shape_.allows(depth, event)) return false;
        if (depth == 1 && event == Event::key) in_frames_ = value == "frames";
        if (!in_frames_) return true;
        if (depth == 1 && event == Event::array_start) shape_.count_no_entries(2);
        if (depth == 2) return take_frame(event, value);
        if (depth == 3 && event == Event::key) in_metrics_ = value == "metrics";
        return !in_metrics_ || depth != 4 || take_score(event, value);
    }

    ScoreLog finish(Json head) {
        if (!head.is_object()) throw Failure(path_ + " is no object: " + kAcceptedLogs);
        if (!member(head, "frames").is_array()) throw Failure(path_ + " has no frames: " + kAcceptedLogs);
        head.erase("frames");
        return frames_.finish(std::move(head));
    }

private:
    bool take_frame(Event event, const Json& value) {
        if (event == Event::value) throw Failure(frames_.where() + " is no object: " + kAcceptedLogs);
        if (event == Event::object_start) {
            scores_.clear();
            no_number_.clear();
            in_metrics_ = false;
        }
        if (event != Event::object_end) return true;
        add(value);
        return false;
    }

    /// Scores are taken off here: an object of JSON would look through all its names for each.
    bool take_score(Event event, const Json& value) {
        if (event == Event::key)
            name_ = value.get_ref<const std::string&>();
        else if (event == Event::value && (value.is_number() || value.is_null()))
            scores_.emplace_back(name_, value.is_null() ? kNone : value.get<double>());
        else if (no_number_.empty())
            no_number_ = name_.empty() ? "\"\"" : name_;
        return false;
    }

    void add(const Json& frame) {
        frames_.begin(frames_.number_of(member(frame, "frameNum")));
        if (!member(frame, "metrics").is_object()) throw Failure(frames_.where() + " has no object \"metrics\"");
        if (!no_number_.empty()) throw Failure(frames_.where() + ": " + no_number_ + " is no number");
        for (const auto& [name, score] : scores_) frames_.add(name, score);
        frames_.end();
    }

    const std::string& path_;
    LogShape shape_;
    LogFrames frames_;
    std::vector<std::pair<std::string, double>> scores_; ///< of the frame that is being read
    std::string name_;                                   ///< of the next one
    std::string no_number_;                              ///< the name of one that is none
    bool in_frames_ = false, in_metrics_ = false;
};

using Marks = std::array<bool, 256>;

constexpr Marks marks_of(std::string_view list) {
    Marks marks{};
    for (const char mark : list) marks[static_cast<unsigned char>(mark)] = true;
    return marks;
}

/// Leaves out what the array "frames" of the outermost object holds, over which a parser of JSON would take its time,
/// and for which there need not be memory.
class FramesLeftOut {
public:
    void take(std::string_view block) {
        size_t kept = 0; // what is from here on is kept, unless frames are being left out
        for (size_t at = 0; (at = next_mark(block, at)) < block.size(); ++at) {
            const char c = block[at];
            if (is_in_string_) {
                take_of_string(c);
            } else if (c == '"') {
                is_in_string_ = true;
                if (depth_ == 1) latest_.clear();
            } else if (c == '{' || c == '[') {
                if (++depth_ == 2 && c == '[' && latest_ == kFrames) {
                    rest_.append(block.substr(kept, at + 1 - kept));
                    is_in_frames_ = true;
                }
            } else if (--depth_ == 1 && is_in_frames_) {
                is_in_frames_ = false;
                kept = at;
            }
        }
        if (!is_in_frames_) rest_.append(block.substr(kept));
    }
    std::string rest() { return std::move(rest_); }

private:
    /// What lies between is most of a log. In a string of the outermost object each character counts.
    size_t next_mark(std::string_view text, size_t at) const {
        if (is_in_string_ && (depth_ == 1 || is_escaped_)) return at;
        const auto& marks = is_in_string_ ? kMarksOfString : kMarks;
        while (at < text.size() && !marks[static_cast<unsigned char>(text[at])]) ++at;
        return at;
    }

    void take_of_string(char c) {
        const bool ends = c == '"' && !is_escaped_;
        is_in_string_ = !ends;
        is_escaped_ = c == '\\' && !is_escaped_;
        if (depth_ == 1 && !ends && latest_.size() <= kFrames.size()) latest_ += c;
    }

    static constexpr std::string_view kFrames = "frames";
    static constexpr Marks kMarks = marks_of("\"{}[]"), kMarksOfString = marks_of("\"\\");

    std::string rest_;
    std::string latest_; ///< the beginning of the latest string of the outermost object: a key, where a value begins
    int depth_ = 0;
    bool is_in_frames_ = false, is_in_string_ = false, is_escaped_ = false;
};

} // namespace

ScoreLog parse_json_log(const std::string& path, std::streambuf* text) {
    Reader reader(path);
    std::istream stream(text);
    try {
        Json head = Json::parse(stream, [&](int depth, Json::parse_event_t event, Json& value) {
            return reader.take(depth, event, value);
        });
        return reader.finish(std::move(head));
    } catch (const Json::parse_error& mistake) {
        throw Failure(path + " is no JSON from byte " + std::to_string(mistake.byte) +
                      " on, or ends there too early: " + kAcceptedLogs);
    } catch (const Json::exception&) {
        throw Failure(path + " has a number that no computer can hold: " + kAcceptedLogs);
    }
}

Json read_head(const std::string& path) {
    LogShape shape(path);
    const auto is_kept = [&](int depth, Json::parse_event_t event, const Json&) { return shape.allows(depth, event); };
    FileText text(path);
    FramesLeftOut left_out;
    for (std::string_view block; !(block = text.take_block()).empty();) left_out.take(block);
    Json head = Json::parse(left_out.rest(), is_kept, false);
    if (!member(head, "pooled_metrics").is_object()) throw Failure(path + " is no log of scores");
    return head;
}

} // namespace qc::cli
