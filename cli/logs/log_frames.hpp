// SPDX-License-Identifier: BSD-2-Clause-Patent
// The frames of a log that is being read, whatever its layout.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "logs/scores.hpp"
#include "words/failure.hpp"

namespace qc::cli {

inline constexpr const char* kAcceptedLogs =
    "a log with frames is accepted, as the filter and libvmaf write it: JSON, lines of JSON, XML or CSV";

constexpr int kDeepestLog = 16;       ///< levels of JSON: a log of the filter has six
constexpr size_t kMostNames = 4096;   ///< of scores, and keys of any other object of a log
constexpr size_t kMostEntries = 4096; ///< of a list beside the frames: what is beyond them is not kept

/// @throws Failure beyond kMostNames: `what` a log has so many of
void require_few(size_t count, const char* what, const std::string& path);

/// What JSON of a stranger may be, looked at while it is parsed: whatever it is, it takes time and memory by its
/// length.
class LogShape {
public:
    explicit LogShape(const std::string& path) : path_(path) {}

    /// Of each event of a parser. @return whether it is kept. @throws Failure for what nests deeper, or has more keys
    bool allows(int depth, Json::parse_event_t event);
    /// The list at this depth may be as long as it likes.
    void count_no_entries(int depth) { level(depth).is_list = false; }

private:
    struct Level {
        bool is_list = false;
        size_t count = 0; ///< keys, or entries
    };
    Level& level(int depth) { return levels_[static_cast<size_t>(depth)]; }
    bool is_kept(int depth);

    const std::string path_;
    std::array<Level, kDeepestLog + 2> levels_{};
};

/// Puts frames into columns, and holds them against what a log may have.
class LogFrames {
public:
    LogFrames(std::string path, Layout layout);

    /// Of whatever is wrong in the frame that comes next, or is read.
    std::string where() const;
    void begin(int64_t number);
    /// What a frame says of its number as text or as JSON. @throws Failure if that is no whole number from 0 on
    int64_t number_of(const Json& value) const;
    void add(std::string_view name, double score);
    void set_times(double time, double reference_time);
    void end() { ++count_; }

    /// @param head all that the log says beside its frames. @throws Failure if there is nothing to be shown
    ScoreLog finish(Json head);

private:
    Scores& column(std::string_view name);
    void require_dense() const;

    ScoreLog log_;
    std::map<std::string, size_t, std::less<>> places_; ///< of columns, by name
    size_t count_ = 0;                                  ///< frames that are whole
    size_t present_ = 0;                                ///< scores of all frames
    size_t expected_ = 0; ///< the column that the next score is likely to be of: frames are alike
};

/// Takes the next line off a text, without its end.
std::string_view next_line(std::string_view* text);

/// For layouts whose parser does not look. @throws Failure
void require_utf8(std::string_view text, const std::string& path);

/// A score as XML and CSV have it: what is no finite number, such as nan, is none. @throws Failure for other text
double parse_score(std::string_view text, const LogFrames& frames, std::string_view name);

} // namespace qc::cli
